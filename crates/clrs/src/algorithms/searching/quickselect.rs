//! Quickselect (Hoare 1961)
//!
//! # Idea
//! Partitions the array around its last key, the pivot, as quicksort does, and continues in the side that contains the median.
//!
//! # One step
//! One key is compared with the pivot and moved to the front side if it is not greater; or, after all comparisons, the pivot is
//! moved between the two sides.
//!
//! # Number of steps
//! The sum of the sizes of all subarrays partitioned: at most `n(n + 1) / 2`, attained if every subarray is one key smaller
//! than the one before.
//!
//! # Textbook
//! CLRS 3rd ed., section 9.2, with the last key as the pivot instead of a random one.
//!
//! # Correctness
//! Any node whose key is the median: the key at index `floor(n / 2)` in sorted order, which is the upper median if `n` is even.
//! Any of several equal keys is accepted.
//!
//! # Differences from dm-clrs
//! None. As in dm-clrs, the first row is recorded after the first comparison. `i_rank` counts from the start of the array
//! during the comparisons, but from the start of the subarray once the pivot is in its final position; `target` always counts
//! from the start of the subarray.

use std::cmp::Ordering;

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::array::Array;
use crate::cell::{Graph, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Quickselect; see the [module](self).
pub struct Quickselect;

probes! {
    Quickselect;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key to select by
        key: Node<Scalar>,
    }
    output {
        /// node with the median key
        median: Node<MaskOne>,
    }
    hint {
        /// predecessor in the current array; the first node points to itself
        pred_h: Node<Pointer>,
        /// node at the first position of the subarray
        p: Node<MaskOne>,
        /// node at the last position of the subarray
        r: Node<MaskOne>,
        /// node at the position for the next small key; at the end the pivot
        i: Node<MaskOne>,
        /// node at the position just compared; at the end the last position
        j: Node<MaskOne>,
        /// position of `i`, divided by the number of nodes
        i_rank: Graph<Scalar>,
        /// position of the median in the sorted subarray, divided by the number of nodes
        target: Graph<Scalar>,
        /// node that the others are compared with
        pivot: Node<MaskOne>,
    }
}

impl Algorithm for Quickselect {
    const NAME: &'static str = "quickselect";
    const SOURCE: Source = Source(include_str!("quickselect.rs"));
    const FAMILY: Family = Family::Searching;
    const EVAL_MULTIPLIER: usize = 64;
    const ADDED_SINCE_1_0_0: &'static [&'static str] = &["pivot"];
    const TEXT_TRACE: &'static [&'static str] = &["pivot"];
    type Problem = Keys;
    type Distribution = UniformKeys;

    fn distribution() -> UniformKeys {
        UniformKeys::default()
    }

    fn input(Keys { key }: &Keys) -> Input {
        Input { pos: positions(key.len()), key: key.clone() }
    }

    fn problem(input: &Input) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: input.key.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n * (n + 1) / 2
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let n = key.len();
        let mut array = Array::new(key);
        let (mut p, mut r, mut target) = (0, n - 1, n / 2);
        loop {
            let subarray = Subarray { n, p, r, target, pivot: array[r] };
            let q = array.partition(p, r, |array, i, j| hints.push(subarray.hint(array, i, j, i)));
            hints.push(subarray.hint(&array, q, r, q - p));
            match target.cmp(&(q - p)) {
                Ordering::Equal => return Output { median: array[q] },
                Ordering::Less => r = q - 1,
                Ordering::Greater => {
                    target -= q - p + 1;
                    p = q + 1;
                }
            }
        }
    }

    fn check(Keys { key }: &Keys, &Output { median }: &Output) -> Result<(), CheckFailure> {
        let smaller = key.iter().filter(|&&other| other < key[median]).count();
        let larger = key.iter().filter(|&&other| other > key[median]).count();
        ensure((smaller..key.len() - larger).contains(&(key.len() / 2)), || {
            format!("node {median} is not the median: {smaller} keys are smaller, {larger} larger")
        })
    }
}

/// The subarray from `p` to `r`: the values that do not change while it is partitioned.
struct Subarray {
    n: usize,
    p: usize,
    r: usize,
    target: usize,
    pivot: usize,
}

impl Subarray {
    /// The hint row of the current state.
    fn hint<'a>(&self, array: &'a Array<'_>, i: usize, j: usize, i_rank: usize) -> Hint<'a> {
        Hint {
            pred_h: array.pred(),
            p: array[self.p],
            r: array[self.r],
            i: array[i],
            j: array[j],
            i_rank: i_rank as f64 / self.n as f64,
            target: self.target as f64 / self.n as f64,
            pivot: self.pivot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 7.1 of the textbook, then its right side 7 5 6 8, then 7 5 6, then 5 alone.
    #[test]
    fn continues_in_the_side_that_contains_the_median() {
        let mut recorder = Recorder::new::<Quickselect>();
        recorder.record::<Quickselect>(&Keys { key: vec![2.0, 8.0, 7.0, 1.0, 3.0, 5.0, 6.0, 4.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("median"), Some(Cells::Node(&[5])));
        assert_eq!(sample.steps(), 8 + 4 + 3 + 1);
        let Some(Cells::Node(pivot)) = sample.get("pivot") else { panic!("one node per row") };
        assert_eq!(pivot, [[7; 8].as_slice(), &[1; 4], &[6; 3], &[5]].concat());
        let Some(Cells::Scalar(target)) = sample.get("target") else { panic!("one value per row") };
        assert_eq!(target, [[0.5; 8].as_slice(), &[0.0; 8]].concat());
        let Some(Cells::Scalar(i_rank)) = sample.get("i_rank") else { panic!("one value per row") };
        assert_eq!(i_rank[6..12], [0.375, 0.375, 0.625, 0.75, 0.875, 0.375], "closing rows count from the start of the subarray");
    }

    #[test]
    fn max_steps_is_attained() {
        for n in 1..20 {
            // 1 2 3 0 4 5: the largest keys are dropped one by one, then the smallest.
            let mut key = positions(n);
            key[..=n / 2].rotate_left(1);
            let mut recorder = Recorder::new::<Quickselect>();
            recorder.record::<Quickselect>(&Keys { key }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Quickselect::max_steps(n));
        }
    }

    #[test]
    fn check_accepts_any_node_with_the_median_key() {
        let accepted = |key: &[f64]| -> Vec<usize> {
            let keys = Keys { key: key.to_vec() };
            (0..key.len()).filter(|&median| Quickselect::check(&keys, &Output { median }).is_ok()).collect()
        };
        assert_eq!(accepted(&[4.0, 1.0, 3.0, 2.0]), [2], "the upper median");
        assert_eq!(accepted(&[2.0, 0.0, 2.0, 2.0, 9.0]), [0, 2, 3]);
    }
}
