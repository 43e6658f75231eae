//! Tables in docs/recipes.md are generated from the code.
//!
//! `UPDATE_DOCS=1 cargo test -p clrs-nn --release --test docs` rewrites them.

use std::fs;
use std::path::Path;

use clrs_nn::config::fields::{FieldDoc, fields};
use clrs_nn::config::recipe::SHIPPED;
use clrs_nn::model::processors::ProcessorRegistry;

/// Headings of the tables of fields, and the field that each starts with.
const GROUPS: [(&str, &str); 3] = [("Model", "processor"), ("Data", "algorithms"), ("Training", "fused")];

#[test]
fn recipe_tables_agree_with_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recipes.md");
    // A packaged crate comes without the repository's docs.
    if !path.parent().is_some_and(Path::exists) {
        return;
    }
    let text = fs::read_to_string(&path).expect("docs/recipes.md");
    let mut expected = text.clone();
    for (name, content) in [("shipped recipes", shipped()), ("recipe fields", field_tables()), ("processors", processors())] {
        expected = with_generated(&expected, name, &content);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, expected).expect("docs/recipes.md is writable");
        return;
    }
    assert!(text == expected, "docs/recipes.md is out of date; UPDATE_DOCS=1 cargo test -p clrs-nn --release --test docs");
}

/// Replaces the text between the markers of a name.
fn with_generated(text: &str, name: &str, content: &str) -> String {
    let (start, end) = (format!("<!-- generated: {name} -->"), "<!-- end generated -->");
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("no marker {start}"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("no marker {end} after {start}"));
    format!("{before}{start}\n\n{content}\n{end}{after}")
}

/// Name and first comment sentence of every shipped recipe.
fn shipped() -> String {
    let row = |(name, text): &(&str, &str)| {
        let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let comment = comment.join(" ");
        let sentence = comment.split_once(". ").map_or(&*comment, |(sentence, _)| sentence);
        format!("| [`{name}`](../crates/clrs-nn/recipes/{name}.toml) | {}. |\n", sentence.trim_end_matches('.'))
    };
    format!("| recipe | description |\n|---|---|\n{}", SHIPPED.iter().map(row).collect::<String>())
}

fn field_tables() -> String {
    let fields = fields();
    let start = |(_, first): &(&str, &str)| {
        fields.iter().position(|field| field.name == *first).unwrap_or_else(|| panic!("no field `{first}`"))
    };
    let mut starts: Vec<usize> = GROUPS.iter().map(start).collect();
    assert!(starts[0] == 0 && starts.is_sorted(), "groups are in the order of the fields: {starts:?}");
    starts.push(fields.len());
    let table = |((title, _), range): (&(&str, &str), &[usize])| {
        let rows: String = fields[range[0]..range[1]].iter().map(row).collect();
        format!("### {title}\n\n| field | default | description |\n|---|---|---|\n{rows}")
    };
    GROUPS.iter().zip(starts.windows(2)).map(table).collect::<Vec<_>>().join("\n")
}

fn row(FieldDoc { name, default, description, .. }: &FieldDoc) -> String {
    format!("| `{name}` | `{default}` | {description} |\n")
}

fn processors() -> String {
    let registry = ProcessorRegistry::builtin();
    let rows = registry.iter().map(|entry| format!("| `{}` | {} |\n", entry.name, entry.description));
    format!("| processor | description |\n|---|---|\n{}", rows.collect::<String>())
}
