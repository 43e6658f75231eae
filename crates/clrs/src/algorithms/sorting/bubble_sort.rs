//! Bubble sort
//!
//! # Idea
//! Sweeps from the end of the array to the front and exchanges adjacent keys that are out of order. Each sweep moves the
//! smallest of the remaining keys to its final position.
//!
//! # One step
//! Two adjacent keys are compared, and exchanged if the later one is smaller.
//!
//! # Number of steps
//! `1 + n(n - 1) / 2`: the initial array, then one per comparison. A sweep without an exchange does not end the run.
//!
//! # Textbook
//! CLRS 3rd ed., problem 2-2.
//!
//! # Correctness
//! Any order with non-decreasing keys. Equal keys may appear in any order.
//!
//! # Differences from dm-clrs
//! None. As in dm-clrs, `i` and `j` are the nodes at these positions after the exchange.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::array::{Array, check_sorted};
use crate::cell::{MaskOne, Node, Permutation, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Bubble sort; see the [module](self).
pub struct BubbleSort;

probes! {
    BubbleSort;
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
        /// node at the front position of the current sweep
        i: Node<MaskOne>,
        /// node at the later of the two positions compared
        j: Node<MaskOne>,
    }
}

impl Algorithm for BubbleSort {
    const NAME: &'static str = "bubble_sort";
    const SOURCE: Source = Source(include_str!("bubble_sort.rs"));
    const FAMILY: Family = Family::Sorting;
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
        1 + n * n.saturating_sub(1) / 2
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let n = key.len();
        let mut array = Array::new(key);
        hints.push(Hint { pred_h: array.pred(), i: 0, j: 0 });
        for i in 0..n - 1 {
            for j in (i + 1..n).rev() {
                if array.key(j) < array.key(j - 1) {
                    array.swap(j, j - 1);
                }
                hints.push(Hint { pred_h: array.pred(), i: array[i], j: array[j] });
            }
        }
        Output { pred: array.into_pred() }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        check_sorted(key, &output.pred)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    #[test]
    fn the_smallest_key_bubbles_to_the_front_first() {
        let mut recorder = Recorder::new::<BubbleSort>();
        recorder.record::<BubbleSort>(&Keys { key: vec![5.0, 2.0, 4.0, 1.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.steps(), BubbleSort::max_steps(4));
        // 5 2 1 4, 5 1 2 4, 1 5 2 4; then 1 5 2 4, 1 2 5 4; then 1 2 4 5.
        assert_eq!(sample.get("i"), Some(Cells::Node(&[0, 0, 0, 3, 0, 1, 2])));
        assert_eq!(sample.get("j"), Some(Cells::Node(&[0, 2, 1, 0, 2, 0, 0])));
        assert_eq!(sample.get("pred"), Some(Cells::Node(&[2, 3, 1, 3])));
    }

    #[test]
    fn equal_keys_keep_their_order_but_need_not() {
        let keys = Keys { key: vec![1.0, 0.0, 1.0] };
        let mut recorder = Recorder::new::<BubbleSort>();
        recorder.record::<BubbleSort>(&keys).expect("a valid problem");
        assert_eq!(recorder.last().expect("a recorded sample").get("pred"), Some(Cells::Node(&[1, 1, 0])));
        assert_eq!(BubbleSort::check(&keys, &Output { pred: vec![2, 1, 1] }), Ok(()));
    }
}
