//! The report as one page that needs no other file, no script and no network.

mod provenance;
mod tables;

use std::fmt::Write;

use crate::figures::Figure;
use crate::figures::svg::escaped;
use crate::report::{Counts, Report};
use crate::tables::{Format, Table};

const STYLE: &str = include_str!("style.css");

/// The page.
pub(crate) fn page(report: &Report<'_>) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>CLRS report: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escaped(&report.headline())
    );
    // On paper, the title is on the page of the first table.
    let wide = report.tables.first().map(wide).unwrap_or_default();
    let _ = writeln!(out, "<header{wide}>\n<h1>CLRS report</h1>");
    out += &overview(report);
    out += "</header>\n<main>\n";
    let mut noted: Vec<&String> = Vec::new();
    for table in &report.tables {
        out += &table_section(table, &noted);
        noted.extend(&table.notes);
    }
    for figure in &report.figures {
        out += &figure_section(figure);
    }
    out += &provenance::section(report);
    out += "</main>\n<footer>Scores beside \u{201c}paper\u{201d} are from \u{201c}The CLRS Algorithmic Reasoning Benchmark\u{201d} \
            (ICML 2022), appendix C, on version 1.0.0 of the benchmark.</footer>\n</body>\n</html>\n";
    out
}

/// What there is, what is missing, and where to find it.
fn overview(report: &Report<'_>) -> String {
    let Counts { runs, done, evaluated, unfinished, failed, not_started } = report.counts;
    let mut out = format!("<p class=\"lead\">{}</p>\n", escaped(&report.headline()));
    if done < runs || evaluated < done {
        let share = |count: usize| 100.0 * count as f64 / runs.max(1) as f64;
        let _ =
            writeln!(out, "<div class=\"progress\" role=\"presentation\"><i style=\"width:{:.2}%\"></i></div>", share(evaluated));
        let counts = [(unfinished, "unfinished"), (failed, "failed"), (not_started, "not started")];
        let mut parts: Vec<String> = vec![format!("{evaluated} of {runs} runs are finished and evaluated")];
        if evaluated < done {
            parts.push(format!("{} finished without an evaluation", done - evaluated));
        }
        parts.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
        let _ = writeln!(
            out,
            "<div class=\"warn\"><p>This report is partial: {}. Means are over finished and evaluated runs only; cells that lack some \
             of their runs say so, and means over algorithms are shown only where all of them are complete.</p></div>",
            parts.join("; ")
        );
    }
    if !report.problems.is_empty() {
        out += "<div class=\"warn\"><p>Left out:</p><ul>\n";
        for problem in &report.problems {
            let _ = writeln!(out, "<li>{}</li>", escaped(problem));
        }
        out += "</ul></div>\n";
    }
    for note in &report.notes {
        let _ = writeln!(out, "<p class=\"caption\">{}</p>", escaped(note));
    }
    out += "<nav aria-label=\"Contents\">";
    let sections = report.tables.iter().map(|table| (table.name, table.title));
    let sections = sections.chain(report.figures.iter().map(|figure| (figure.name, figure.title)));
    for (name, title) in sections.chain([("runs", "What was run")]) {
        let _ = write!(out, "<a href=\"#{name}\">{title}</a>");
    }
    out + "</nav>\n"
}

/// A table with its notes, without those that are on the page already.
fn table_section(table: &Table, noted: &[&String]) -> String {
    let mut out = format!("<section id=\"{}\"{}>\n<h2>{}</h2>\n", table.name, wide(table), escaped(table.title));
    let _ = writeln!(out, "<p class=\"caption\">{}</p>", escaped(&table.caption));
    out += &tables::table(table);
    for note in table.notes.iter().filter(|note| !noted.contains(note)) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(note));
    }
    out += &files("tables", table.name, &Format::ALL.map(Format::extension));
    out + "</section>\n"
}

/// The class of what needs a wide page when printed.
fn wide(table: &Table) -> &'static str {
    if table.header.len() > MAX_COLUMNS && !table.rows.is_empty() { " class=\"wide\"" } else { "" }
}

/// Columns of a table that fits an upright page.
const MAX_COLUMNS: usize = 7;

fn figure_section(figure: &Figure) -> String {
    let mut out = format!("<section id=\"{}\">\n<h2>{}</h2>\n<figure>\n", figure.name, escaped(figure.title));
    let _ = writeln!(
        out,
        "<figcaption>{} Horizontal axes: {}.</figcaption>\n<ul class=\"legend\">",
        escaped(&figure.caption),
        escaped(figure.x_label)
    );
    for (line, label) in figure.legend_svgs() {
        let _ = writeln!(out, "<li>{line}{}</li>", escaped(label));
    }
    out += "</ul>\n<div class=\"panels\">\n";
    for panel in figure.panel_svgs() {
        out += &panel;
        out.push('\n');
    }
    out += "</div>\n</figure>\n";
    let pdf: &[&str] = if cfg!(feature = "pdf") { &["pdf"] } else { &[] };
    out += &files("figures", figure.name, &[&["svg"], pdf, &["csv", "json"]].concat());
    out + "</section>\n"
}

/// Links to the files beside the page.
fn files(folder: &str, name: &str, extensions: &[&str]) -> String {
    let link = |extension: &&str| format!("<a href=\"{folder}/{name}.{extension}\">{extension}</a>");
    format!("<p class=\"files\">{}</p>\n", extensions.iter().map(link).collect::<Vec<_>>().join(" \u{b7} "))
}
