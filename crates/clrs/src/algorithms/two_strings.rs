//! Problems on two strings: the nodes are the letters of the first string, then those of the second.

use crate::algorithm::{CheckFailure, ensure};
use crate::problems::{InvalidProblem, Letters, StringSearch, ensure_valid, positions};

/// The input `string`: whether a node belongs to the second string.
pub fn in_second(first: &Letters, second: &Letters) -> Vec<bool> {
    let nodes = first.len() + second.len();
    (0..nodes).map(|node| node >= first.len()).collect()
}

/// The input `pos`: the position within the node's string.
pub fn string_positions(first: &Letters, second: &Letters) -> Vec<f64> {
    [positions(first.len()), positions(second.len())].concat()
}

/// The input `key`: the letter.
pub fn letters(first: &Letters, second: &Letters) -> Vec<usize> {
    [&first[..], &second[..]].concat()
}

/// The hint `pred_h`: the previous node in the same string; the first node points to itself.
pub fn predecessors(first: &Letters, second: &Letters) -> Vec<usize> {
    let nodes = first.len() + second.len();
    (0..nodes).map(|node| if node == 0 || node == first.len() { node } else { node - 1 }).collect()
}

/// Recovers the strings from the inputs `string` and `key`.
pub fn split(string: &[bool], key: &[usize]) -> Result<(Letters, Letters), InvalidProblem> {
    ensure_valid(string.is_sorted(), || "`string` has nodes of the first string after the second".into())?;
    let (first, second) = key.split_at(string.partition_point(|&second| !second));
    Ok((Letters::from_indices(first)?, Letters::from_indices(second)?))
}

/// Accepts the leftmost match of the pattern, or the first node of the pattern if there is no match.
pub fn check_match(StringSearch { text, pattern }: &StringSearch, found: usize) -> Result<(), CheckFailure> {
    let leftmost = text.windows(pattern.len()).position(|window| window == &pattern[..]);
    ensure(found == leftmost.unwrap_or(text.len()), || match leftmost {
        Some(start) => format!("the leftmost match starts at node {start}, not at {found}"),
        None => format!("the pattern does not occur; expected its first node, {}, not {found}", text.len()),
    })
}
