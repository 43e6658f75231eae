//! Shared precondition and check of the maximum subarray algorithms.

use crate::algorithm::{CheckFailure, ensure, same_cost};
use crate::problems::{InvalidProblem, ensure_valid};

/// Checks that no sum of keys overflows.
pub fn sums_are_finite(key: &[f64]) -> Result<(), InvalidProblem> {
    let all: f64 = key.iter().map(|x| x.abs()).sum();
    ensure_valid(all.is_finite(), || "the values of `key` are too large: their sum overflows".into())
}

/// Accepts any non-empty subarray with the largest sum.
pub fn check_maximum(key: &[f64], start: usize, end: usize) -> Result<(), CheckFailure> {
    ensure(start <= end, || format!("the subarray starts at {start}, after its end {end}"))?;
    let sum: f64 = key[start..=end].iter().sum();
    let largest = largest_sum(key);
    ensure(same_cost(sum, largest), || format!("the keys from {start} to {end} sum to {sum}; the largest sum is {largest}"))
}

/// Kadane's recurrence: the best sum that ends at a key is the key plus the best sum that ends before it, if positive.
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
    fn any_subarray_with_the_largest_sum_is_accepted() {
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
        let failure = CheckFailure("the keys from 0 to 0 sum to -2; the largest sum is -1".into());
        assert_eq!(check_maximum(&[-2.0, -1.0, -3.0], 0, 0), Err(failure));
    }

    /// Differences of prefix sums would lose the small keys to rounding.
    #[test]
    fn small_keys_after_a_large_one_are_not_lost() {
        assert_eq!(check_maximum(&[-1e15, 0.001, 0.002], 1, 2), Ok(()));
        assert!(check_maximum(&[-1e15, 0.001, 0.002], 2, 2).is_err());
    }
}
