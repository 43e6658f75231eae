//! Aligned columns for a terminal.

use std::fmt::Write;

use crate::tables::table::{RowKind, Table, TextCell};

pub(super) fn text(table: &Table) -> String {
    let Table { title, caption, header, rows, notes, .. } = table;
    let mut lines: Vec<Vec<String>> = vec![header.clone()];
    for row in rows {
        let label = match row.kind {
            RowKind::Paper => format!("  {}", row.label),
            RowKind::Continued => String::new(),
            RowKind::Results | RowKind::Total => row.label.clone(),
        };
        lines.push(std::iter::once(label).chain(row.cells.iter().map(cell)).collect());
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = format!("{title}\n{caption}\n");
    for line in lines.iter().take(if rows.is_empty() { 0 } else { usize::MAX }) {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    for note in notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn cell(TextCell { text, missing, .. }: &TextCell) -> String {
    let value = if text.is_empty() { "-" } else { text };
    if missing.is_empty() { value.into() } else { format!("{value} [{}]", missing.trim_end_matches(" runs")) }
}
