//! Bubble sort
//!
//! # Idea
//! Sweeps from the end of the array to the front and exchanges neighbours that are out of order: each sweep brings the
//! smallest of the remaining keys to its place.
//!
//! # One step
//! One comparison of neighbours, and their exchange if the later key is smaller.
//!
//! # Steps
//! `1 + n (n - 1) / 2`: the array as given, then one per comparison. A sweep that exchanges nothing does not end the run.
//!
//! # Textbook
//! CLRS 3rd ed., problem 2-2.
//!
//! # What counts as right
//! Any order in which no key comes before a smaller one: equal keys may stand either way.
//!
//! # Differences
//! None. As in the reference, `i` and `j` are the nodes that stand in the two places after the exchange.

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
        /// place in the array, from 0 to 1
        pos: Node<Scalar>,
        /// number to sort by
        key: Node<Scalar>,
    }
    output {
        /// predecessor in sorted order
        pred: Node<Permutation> as i64,
    }
    hint {
        /// predecessor in the array as it stands
        pred_h: Node<Pointer>,
        /// node in the place that the sweep will fill
        i: Node<MaskOne>,
        /// node in the later of the two places compared
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
