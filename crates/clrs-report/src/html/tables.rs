//! Tables of the page. The paper's results are in the cells of ours, below them.

use std::fmt::Write;

use crate::figures::svg::escaped;
use crate::tables::{Row, RowKind, Table, TextCell};

/// A table that scrolls sideways where it is wider than the page; nothing if it has no rows.
pub(super) fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    // Columns of text, not of numbers: models.
    let is_text = |column: usize| {
        let starts_with_letter = |row: &Row| row.cells[column].text.starts_with(char::is_alphabetic);
        table.rows.iter().all(starts_with_letter)
    };
    let text: Vec<bool> = (0..table.header.len() - 1).map(is_text).collect();
    let class = |column: usize| if text[column] { " class=\"text\"" } else { "" };
    let label = escaped(table.title);
    let mut out = format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n<thead><tr>");
    for (index, name) in table.header.iter().enumerate() {
        let class = if index == 0 { "" } else { class(index - 1) };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escaped(name));
    }
    out += "</tr></thead>\n<tbody>\n";
    let mut rows = table.rows.iter().peekable();
    while let Some(row) = rows.next() {
        let paper = rows.next_if(|next| next.kind == RowKind::Paper);
        let kind = match row.kind {
            RowKind::Total => " class=\"total\"",
            RowKind::Continued => " class=\"more\"",
            _ => "",
        };
        // Long names may break at their underscores, where the page is narrow.
        let label = if row.kind == RowKind::Continued { String::new() } else { escaped(&row.label).replace('_', "_<wbr>") };
        let below = if paper.is_some() { "<span class=\"paper\">paper</span>" } else { "" };
        let _ = write!(out, "<tr{kind}><th scope=\"row\">{label}{below}</th>");
        for (column, cell) in row.cells.iter().enumerate() {
            let paper = paper.map(|row| &row.cells[column]).filter(|cell| !cell.text.is_empty());
            let _ = write!(out, "<td{}>{}</td>", class(column), contents(cell, paper));
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table>\n</div>\n"
}

fn contents(cell: &TextCell, paper: Option<&TextCell>) -> String {
    let mut out = match cell.text.split_once(" ± ") {
        Some((mean, stddev)) => format!("{} <span class=\"pm\">± {}</span>", bold(mean, cell.is_best), escaped(stddev)),
        // What is missing takes its place.
        None if cell.text.is_empty() && !cell.missing.is_empty() => String::new(),
        None if cell.text.is_empty() => "<span class=\"pm\" aria-label=\"missing\">–</span>".into(),
        None => bold(&cell.text, cell.is_best),
    };
    if !cell.missing.is_empty() {
        // A number that lacks runs stands out; one that does not exist yet does not.
        let class = if cell.text.is_empty() { "none" } else { "gap" };
        let _ = write!(out, "<span class=\"{class}\">{}</span>", escaped(&cell.missing));
    }
    if let Some(paper) = paper {
        let text = escaped(&paper.text).replace("(-", "(\u{2212}");
        let _ = write!(out, "<span class=\"paper\">{text}</span>");
    }
    out
}

fn bold(text: &str, is_best: bool) -> String {
    let text = escaped(text);
    if is_best { format!("<b>{text}</b>") } else { text }
}
