//! Two strings side by side as the nodes of one problem: the letters of the first, then those of the second.

use crate::algorithm::{CheckFailure, ensure};
use crate::problems::{InvalidProblem, Letters, StringSearch, ensure_valid, positions};

/// The input `string`: whether a node is of the second string.
pub fn which(first: &Letters, second: &Letters) -> Vec<bool> {
    let nodes = first.len() + second.len();
    (0..nodes).map(|node| node >= first.len()).collect()
}

/// The input `pos`: the place in the node's own string.
pub fn string_positions(first: &Letters, second: &Letters) -> Vec<f64> {
    [positions(first.len()), positions(second.len())].concat()
}

/// The input `key`: the letter.
pub fn letters(first: &Letters, second: &Letters) -> Vec<usize> {
    [&first[..], &second[..]].concat()
}

/// The hint `pred_h`: the node before in the same string, itself for the first.
pub fn predecessors(first: &Letters, second: &Letters) -> Vec<usize> {
    let nodes = first.len() + second.len();
    (0..nodes).map(|node| if node == 0 || node == first.len() { node } else { node - 1 }).collect()
}

/// The strings of the inputs `string` and `key`.
pub fn split(string: &[bool], key: &[usize]) -> Result<(Letters, Letters), InvalidProblem> {
    ensure_valid(string.is_sorted(), || "`string` has nodes of the first string after the second".into())?;
    let (first, second) = key.split_at(string.partition_point(|&second| !second));
    Ok((Letters::from_numbers(first)?, Letters::from_numbers(second)?))
}

/// Accepts the leftmost match of a pattern, or where there is none the pattern's own first node.
pub fn check_match(StringSearch { text, pattern }: &StringSearch, found: usize) -> Result<(), CheckFailure> {
    let leftmost = text.windows(pattern.len()).position(|window| window == &pattern[..]);
    ensure(found == leftmost.unwrap_or(text.len()), || match leftmost {
        Some(place) => format!("the leftmost match starts at node {place}, not at {found}"),
        None => format!("the pattern does not occur: the answer is its first node, {}, not {found}", text.len()),
    })
}
