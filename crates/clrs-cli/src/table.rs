//! Tables in a terminal: columns aligned, numbers to the right.

use std::io::Write;

/// Rows of text under a head.
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&'static str]) -> Table {
        Table { head: head.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes it, each line indented by two; nothing where there are no rows.
    pub(crate) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let head: Vec<String> = self.head.iter().map(ToString::to_string).collect();
        let all = || std::iter::once(&head).chain(&self.rows);
        let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let is_number =
            |column: usize| self.rows.iter().all(|row| row[column].starts_with(|c: char| c.is_ascii_digit() || c == '-'));
        let right: Vec<bool> = (0..head.len()).map(|column| !self.rows.is_empty() && is_number(column)).collect();
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
