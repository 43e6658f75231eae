//! Suggestions for misspelled names.

use std::fmt::Display;

/// The most similar known name, if at most a third of its letters differ. Ignores case.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let nearest = known.into_iter().map(|known| (edits(&name, &known.to_lowercase()), known)).min();
    nearest.filter(|(edits, near)| edits * 3 <= near.len()).map(|(_, near)| near)
}

/// The end of an error message: `; did you mean ..?`, or nothing.
pub fn did_you_mean(near: Option<impl Display>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// Levenshtein distance in bytes, with the exchange of two adjacent bytes as a single edit.
fn edits(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut table = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            table[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let replace = table[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                    let exchange = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
                    let exchange = if exchange { table[i - 2][j - 2] + 1 } else { usize::MAX };
                    replace.min(exchange).min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
                }
            };
        }
    }
    table[from.len()][to.len()]
}
