//! "Did you mean": the nearest of the names that exist.

use std::fmt::Display;

/// The nearest name, if a third of its letters or fewer are wrong.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = known.into_iter().map(|known| (edits(name, known), known)).min();
    nearest.filter(|(edits, near)| edits * 3 <= near.len()).map(|(_, near)| near)
}

/// The end of an error's sentence: `; did you mean ..?`, or nothing.
pub(crate) fn did_you_mean(near: Option<impl Display>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// Levenshtein's distance in bytes, one row of its table at a time.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.bytes().enumerate() {
            let replace = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
