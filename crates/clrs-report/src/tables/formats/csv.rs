//! Records as comma-separated values (RFC 4180), with a header.

use serde_json::{Map, Value};

/// All records; the first one determines the columns.
pub(crate) fn records(records: &[Map<String, Value>]) -> String {
    let Some(first) = records.first() else { return String::new() };
    let header = first.keys().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    let line = |record: &Map<String, Value>| {
        let value = |name: &String| record.get(name).map(text).unwrap_or_default();
        first.keys().map(value).collect::<Vec<_>>().join(",") + "\n"
    };
    format!("{header}\n{}", records.iter().map(line).collect::<String>())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => quoted(text),
        value => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}
