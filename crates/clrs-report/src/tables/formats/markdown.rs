//! Markdown tables.

use std::fmt::Write;

use crate::tables::table::{RowKind, Table, TextCell};

pub(super) fn text(table: &Table) -> String {
    let Table { title, caption, header, rows, notes, .. } = table;
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| escaped(cell)).collect::<Vec<_>>().join(" | "));
    let mut text = format!("### {title}\n\n{}\n", escaped(caption));
    if !rows.is_empty() {
        let _ = writeln!(text, "\n{}|---|{}", line(header), "---:|".repeat(header.len() - 1));
    }
    for row in rows {
        let label = match row.kind {
            RowKind::Paper => format!("*{}*", row.label),
            RowKind::Total => format!("**{}**", row.label),
            RowKind::Continued => String::new(),
            RowKind::Results => row.label.clone(),
        };
        let cells: Vec<String> = std::iter::once(label).chain(row.cells.iter().map(cell)).collect();
        text += &line(&cells);
    }
    for note in notes {
        let _ = writeln!(text, "\n{}", escaped(note));
    }
    text
}

fn cell(TextCell { text, is_best, missing }: &TextCell) -> String {
    let value = match (text.is_empty(), is_best) {
        (true, _) => "-".into(),
        (false, true) => format!("**{text}**"),
        (false, false) => text.clone(),
    };
    if missing.is_empty() { value } else { format!("{value} ({missing})") }
}

/// Text that may be a cell. Names of algorithms have underscores, which need no escape inside words.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
