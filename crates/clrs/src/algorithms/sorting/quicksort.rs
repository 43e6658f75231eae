//! Quicksort (Hoare 1962)
//!
//! # Idea
//! Partitions the array around its last key, the pivot: keys not greater than the pivot move before it, the others after it.
//! Then sorts both sides in the same way.
//!
//! # One step
//! One key is compared with the pivot and moved to the front side if it is not greater; or, after all comparisons, the pivot is
//! moved between the two sides.
//!
//! # Number of steps
//! The sum of the sizes of all subarrays of at least two keys: at most `n(n + 1) / 2 - 1`, which sorted keys attain.
//!
//! # Textbook
//! CLRS 3rd ed., section 7.1.
//!
//! # Correctness
//! Any order with non-decreasing keys. Equal keys may appear in any order.
//!
//! # Differences from dm-clrs
//! As in dm-clrs, the first row is recorded after the first comparison, and positions are represented by the nodes that are
//! there after the step, so `p` can change while a subarray is partitioned. A single key has no steps and is rejected.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::array::{Array, check_sorted};
use crate::cell::{MaskOne, Node, Permutation, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Quicksort; see the [module](self).
pub struct Quicksort;

probes! {
    Quicksort;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key to sort by
        key: Node<Scalar>,
    }
    output {
        /// predecessor in sorted order; the first node points to itself
        pred: Node<Permutation> as i64,
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
    }
}

impl Algorithm for Quicksort {
    const NAME: &'static str = "quicksort";
    const SOURCE: Source = Source(include_str!("quicksort.rs"));
    const FAMILY: Family = Family::Sorting;
    const MIN_NODES: usize = 2;
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
        (n * (n + 1) / 2).saturating_sub(1)
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let mut array = Array::new(key);
        quicksort(&mut array, 0, key.len() - 1, hints);
        Output { pred: array.into_pred() }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        check_sorted(key, &output.pred)
    }
}

/// Sorts the positions from `p` to `r`.
fn quicksort(array: &mut Array<'_>, p: usize, r: usize, hints: &mut Hints<'_, Quicksort>) {
    if p < r {
        let q = array.partition(p, r, |array, i, j| hints.push(hint(array, p, r, i, j)));
        hints.push(hint(array, p, r, q, r));
        quicksort(array, p, q.saturating_sub(1), hints); // if `q` is 0, this is a single position
        quicksort(array, q + 1, r, hints);
    }
}

/// The hint row of four positions.
fn hint<'a>(array: &'a Array<'_>, p: usize, r: usize, i: usize, j: usize) -> Hint<'a> {
    Hint { pred_h: array.pred(), p: array[p], r: array[r], i: array[i], j: array[j] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 7.1 of the textbook: eight rows, then the subarrays 2 1 3 and 7 5 6 8.
    #[test]
    fn partitions_as_the_textbook_does() {
        let mut recorder = Recorder::new::<Quicksort>();
        recorder.record::<Quicksort>(&Keys { key: vec![2.0, 8.0, 7.0, 1.0, 3.0, 5.0, 6.0, 4.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Node(i)) = sample.get("i") else { panic!("one node per row") };
        let Some(Cells::Node(j)) = sample.get("j") else { panic!("one node per row") };
        assert_eq!(i[..8], [1, 1, 1, 2, 1, 1, 1, 7]);
        assert_eq!(j[..8], [0, 1, 2, 1, 2, 5, 6, 1]);
        assert_eq!(sample.get("pred"), Some(Cells::Node(&[3, 2, 6, 3, 0, 7, 5, 4])));
    }

    #[test]
    fn sorted_keys_attain_max_steps() {
        for n in 2..9 {
            let mut recorder = Recorder::new::<Quicksort>();
            recorder.record::<Quicksort>(&Keys { key: positions(n) }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Quicksort::max_steps(n));
        }
    }

    #[test]
    fn one_key_is_rejected() {
        let single = Keys { key: vec![1.0] };
        let rejected = Recorder::new::<Quicksort>().record::<Quicksort>(&single).expect_err("no steps");
        assert_eq!(rejected.to_string(), "the algorithm needs at least 2 nodes, found 1");
    }
}
