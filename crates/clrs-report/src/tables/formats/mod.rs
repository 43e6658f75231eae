//! Tables as text.

mod csv;
mod latex;
mod markdown;
mod terminal;

pub(crate) use csv::records as csv_records;

use serde_json::json;

use super::table::Table;

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Aligned columns.
    Terminal,
    /// A Markdown table.
    Markdown,
    /// Records as comma-separated values, one number per line: for other programs.
    Csv,
    /// A LaTeX table, for the package `booktabs`.
    Latex,
    /// Records as JSON.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [Format::Terminal, Format::Markdown, Format::Csv, Format::Latex, Format::Json];

    /// Extension of file names.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Terminal => "txt",
            Format::Markdown => "md",
            Format::Csv => "csv",
            Format::Latex => "tex",
            Format::Json => "json",
        }
    }
}

impl Table {
    /// The table in a format.
    pub fn to_text(&self, format: Format) -> String {
        match format {
            Format::Terminal => terminal::text(self),
            Format::Markdown => markdown::text(self),
            Format::Csv => csv::records(&self.records),
            Format::Latex => latex::text(self),
            Format::Json => {
                let Table { name, title, caption, notes, records, .. } = self;
                let value = json!({"table": name, "title": title, "caption": caption, "notes": notes, "records": records});
                serde_json::to_string_pretty(&value).expect("plain values") + "\n"
            }
        }
    }
}
