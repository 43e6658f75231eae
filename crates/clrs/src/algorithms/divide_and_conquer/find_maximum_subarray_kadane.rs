//! Maximum subarray, Kadane's algorithm (Bentley 1984)
//!
//! # Idea
//! Scans the array and maintains the maximum subarray that ends at the current key: either the previous one extended by the
//! key, or the key alone. The best of these subarrays is the result.
//!
//! # One step
//! One key extends the subarray that ended before it, or starts a new one.
//!
//! # Number of steps
//! `n`: the first key, then one per key from the second on.
//!
//! # Textbook
//! CLRS 3rd ed., exercise 4.1-5.
//!
//! # Correctness
//! Any non-empty subarray with the largest sum.
//!
//! # Differences from dm-clrs
//! Keys whose sum overflows are rejected. As in dm-clrs, a subarray whose sum is 0 is extended, and the first of several
//! equally good subarrays wins.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::array::initial_predecessors;
use crate::algorithms::subarray;
use crate::cell::{Graph, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Kadane's algorithm; see the [module](self).
pub struct FindMaximumSubarrayKadane;

probes! {
    FindMaximumSubarrayKadane;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key to add up
        key: Node<Scalar>,
    }
    output {
        /// first node of the maximum subarray
        start: Node<MaskOne>,
        /// last node of the maximum subarray
        end: Node<MaskOne>,
    }
    hint {
        /// predecessor in the array; the first node points to itself
        pred_h: Node<Pointer>,
        /// first node of the maximum subarray so far
        best_low: Node<MaskOne>,
        /// last node of the maximum subarray so far
        best_high: Node<MaskOne>,
        /// sum of the maximum subarray so far
        best_sum: Graph<Scalar>,
        /// first node of the maximum subarray that ends at `j`
        i: Node<MaskOne>,
        /// node of the key just added
        j: Node<MaskOne>,
        /// sum of the keys from `i` to `j`
        sum: Graph<Scalar>,
    }
}

impl Algorithm for FindMaximumSubarrayKadane {
    const NAME: &'static str = "find_maximum_subarray_kadane";
    const SOURCE: Source = Source(include_str!("find_maximum_subarray_kadane.rs"));
    const FAMILY: Family = Family::DivideAndConquer;
    const FIXED_ORDER: bool = true;
    const EVAL_MULTIPLIER: usize = 32;
    const TEXT_TRACE: &'static [&'static str] = &["best_low", "best_high"];
    type Problem = Keys;
    type Distribution = UniformKeys;

    fn distribution() -> UniformKeys {
        UniformKeys { low: -1.0, high: 1.0 }
    }

    fn preconditions(Keys { key }: &Keys) -> Result<(), InvalidProblem> {
        subarray::sums_are_finite(key)
    }

    fn input(Keys { key }: &Keys) -> Input {
        Input { pos: positions(key.len()), key: key.clone() }
    }

    fn problem(input: &Input) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: input.key.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let pred = initial_predecessors(key.len());
        let (mut best_low, mut best_high, mut best_sum) = (0, 0, key[0]);
        let (mut i, mut sum) = (0, key[0]);
        hints.push(Hint { pred_h: &pred, best_low, best_high, best_sum, i, j: 0, sum });
        for (j, &x) in key.iter().enumerate().skip(1) {
            if sum + x >= x {
                sum += x;
            } else {
                (i, sum) = (j, x);
            }
            if sum > best_sum {
                (best_low, best_high, best_sum) = (i, j, sum);
            }
            hints.push(Hint { pred_h: &pred, best_low, best_high, best_sum, i, j, sum });
        }
        Output { start: best_low, end: best_high }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        subarray::check_maximum(key, output.start, output.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 4.3 of the textbook: the sum is 43.
    #[test]
    fn finds_the_maximum_subarray_of_the_textbook() {
        let key = vec![13., -3., -25., 20., -3., -16., -23., 18., 20., -7., 12., -5., -22., 15., -4., 7.];
        let mut recorder = Recorder::new::<FindMaximumSubarrayKadane>();
        recorder.record::<FindMaximumSubarrayKadane>(&Keys { key }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!((sample.get("start"), sample.get("end")), (Some(Cells::Node(&[7])), Some(Cells::Node(&[10]))));
        assert_eq!(sample.get("i"), Some(Cells::Node(&[0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7])));
        let Some(Cells::Scalar(best)) = sample.get("best_sum") else { panic!("one value per row") };
        assert_eq!(best[..8], [13.0, 13.0, 13.0, 20.0, 20.0, 20.0, 20.0, 20.0]);
        assert_eq!(best[15], 43.0);
    }

    #[test]
    fn keys_whose_sum_overflows_are_rejected() {
        let large = Keys { key: vec![1e308, 1e308] };
        let mut recorder = Recorder::new::<FindMaximumSubarrayKadane>();
        let rejected = recorder.record::<FindMaximumSubarrayKadane>(&large).expect_err("too large");
        assert_eq!(rejected.to_string(), "the values of `key` are too large: their sum overflows");
    }
}
