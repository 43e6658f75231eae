//! LaTeX tables, for the package `booktabs`.

use std::fmt::Write;

use crate::tables::table::{RowKind, Table, TextCell};

pub(super) fn text(table: &Table) -> String {
    let Table { name, title, caption, header, rows, notes, .. } = table;
    let about: Vec<String> = std::iter::once(caption).chain(notes).map(|text| escaped(text)).collect();
    let mut text = "% Requires \\usepackage{booktabs}.\n\\begin{table}\n  \\centering\n".to_owned();
    let _ = writeln!(text, "  \\caption{{{}. {}}}", escaped(title), about.join(" "));
    let _ = writeln!(text, "  \\label{{tab:{name}}}\n  \\begin{{tabular}}{{l{}}}\n    \\toprule", "r".repeat(header.len() - 1));
    let line = |cells: Vec<String>| format!("    {} \\\\\n", cells.join(" & "));
    text += &line(header.iter().map(|name| escaped(name)).collect());
    text += "    \\midrule\n";
    for (index, row) in rows.iter().enumerate() {
        if row.kind == RowKind::Total && index > 0 && rows[index - 1].kind != RowKind::Total {
            text += "    \\midrule\n";
        }
        let label = match row.kind {
            RowKind::Paper => format!("\\quad\\emph{{{}}}", escaped(&row.label)),
            RowKind::Continued => String::new(),
            RowKind::Results | RowKind::Total => escaped(&row.label),
        };
        text += &line(std::iter::once(label).chain(row.cells.iter().map(cell)).collect());
    }
    text + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
}

fn cell(TextCell { text, is_best, missing }: &TextCell) -> String {
    let value = match (text.is_empty(), is_best) {
        (true, _) => "--".into(),
        (false, true) => format!("\\textbf{{{}}}", escaped(text)),
        (false, false) => escaped(text),
    };
    if missing.is_empty() { value } else { format!("{value} {{\\scriptsize ({})}}", escaped(missing)) }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '~' | '^' => out.extend(['\\', c, '{', '}']),
            '\\' => out += "\\textbackslash{}",
            '±' => out += "$\\pm$",
            'σ' => out += "$\\sigma$",
            '²' => out += "$^2$",
            '√' => out += "$\\surd$",
            '-' if out.is_empty() || out.ends_with('(') => out += "$-$",
            c => out.push(c),
        }
    }
    out
}
