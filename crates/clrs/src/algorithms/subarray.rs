//! What both ways to the maximum subarray share: when keys can be added up, and which answers are right.

use crate::algorithm::{CheckFailure, ensure, same_cost};
use crate::problems::{InvalidProblem, ensure_valid};

/// The rule that no sum of keys is too large for a number.
pub fn sums_are_finite(key: &[f64]) -> Result<(), InvalidProblem> {
    let all: f64 = key.iter().map(|x| x.abs()).sum();
    ensure_valid(all.is_finite(), || "the numbers of `key` are too large to be added up".into())
}

/// Accepts any subarray that is not empty and has the largest sum.
pub fn check_maximum(key: &[f64], start: usize, end: usize) -> Result<(), CheckFailure> {
    ensure(start <= end, || format!("the subarray starts at {start}, behind its end {end}"))?;
    let sum: f64 = key[start..=end].iter().sum();
    let most = largest_sum(key);
    ensure(same_cost(sum, most), || format!("the keys from {start} to {end} sum to {sum}, but others to {most}"))
}

/// What ends at a key is the key alone, or with the best that ends before it.
fn largest_sum(key: &[f64]) -> f64 {
    let mut ending_here = 0.0;
    let extended = key.iter().map(|x| {
        ending_here = x + f64::max(ending_here, 0.0);
        ending_here
    });
    extended.fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_subarray_of_the_largest_sum_is_right() {
        let key = [1.0, -1.0, 0.0, 1.0, -5.0];
        let accepted: Vec<(usize, usize)> = (0..5)
            .flat_map(|start| (0..5).map(move |end| (start, end)))
            .filter(|&(start, end)| check_maximum(&key, start, end).is_ok())
            .collect();
        assert_eq!(accepted, [(0, 0), (0, 3), (2, 3), (3, 3)]);
    }

    #[test]
    fn all_keys_may_be_negative() {
        assert_eq!(check_maximum(&[-2.0, -1.0, -3.0], 1, 1), Ok(()));
        let wrong = CheckFailure("the keys from 0 to 0 sum to -2, but others to -1".into());
        assert_eq!(check_maximum(&[-2.0, -1.0, -3.0], 0, 0), Err(wrong));
    }

    /// Differences of prefix sums would lose them beside the large one.
    #[test]
    fn small_keys_count_behind_a_large_one() {
        assert_eq!(check_maximum(&[-1e15, 0.001, 0.002], 1, 2), Ok(()));
        assert!(check_maximum(&[-1e15, 0.001, 0.002], 2, 2).is_err());
    }
}
