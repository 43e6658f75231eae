//! Tables in a terminal: aligned columns, numbers to the right.

use std::io::Write;

/// A count with its noun: `1 set`, `2 sets`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Rows of text below a header.
pub(crate) struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&'static str]) -> Table {
        Table { header: header.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes the table, each line indented by two; nothing if it has no rows.
    pub(crate) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let header: Vec<String> = self.header.iter().map(ToString::to_string).collect();
        let all = || std::iter::once(&header).chain(&self.rows);
        let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        let is_number =
            |column: usize| self.rows.iter().all(|row| row[column].starts_with(|c: char| c.is_ascii_digit() || c == '-'));
        let right: Vec<bool> = (0..header.len()).map(is_number).collect();
        for row in all() {
            let cells = row
                .iter()
                .zip(&widths)
                .zip(&right)
                .map(|((cell, &width), right)| if *right { format!("{cell:>width$}") } else { format!("{cell:<width$}") });
            writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
