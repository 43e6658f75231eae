//! Insertion sort
//!
//! # Idea
//! Takes the keys one by one and inserts each into the sorted prefix before it.
//!
//! # One step
//! One key is inserted. Shifting the larger keys is part of the step, since a network can process the entire prefix at once.
//!
//! # Number of steps
//! `n`: the initial array, then one per key from the second on.
//!
//! # Textbook
//! CLRS 3rd ed., section 2.1.
//!
//! # Correctness
//! Any order with non-decreasing keys. Equal keys may appear in any order.
//!
//! # Differences from dm-clrs
//! None. As in dm-clrs, `i` is the node that was at the insertion position; if nothing moved, that is `j` itself.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::array::check_sorted;
use crate::algorithms::order;
use crate::cell::{MaskOne, Node, Permutation, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Insertion sort; see the [module](self).
pub struct InsertionSort;

probes! {
    InsertionSort;
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
        /// node that was at the position where the key was inserted
        i: Node<MaskOne>,
        /// node of the inserted key
        j: Node<MaskOne>,
    }
}

impl Algorithm for InsertionSort {
    const NAME: &'static str = "insertion_sort";
    const SOURCE: Source = Source(include_str!("insertion_sort.rs"));
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
        n
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let mut sorted: Vec<usize> = (0..key.len()).collect();
        let mut pred = Vec::with_capacity(key.len());
        order::predecessors_into(&sorted, &mut pred);
        hints.push(Hint { pred_h: &pred, i: 0, j: 0 });
        for j in 1..key.len() {
            let position = sorted[..j].iter().rposition(|&node| key[node] <= key[j]).map_or(0, |before| before + 1);
            let displaced = sorted[position];
            sorted[position..=j].rotate_right(1);
            order::predecessors_into(&sorted, &mut pred);
            hints.push(Hint { pred_h: &pred, i: displaced, j });
        }
        Output { pred }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        check_sorted(key, &output.pred)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// The worked example of the paper (section 3.3).
    #[test]
    fn sorts_five_two_four_three_one() {
        let mut recorder = Recorder::new::<InsertionSort>();
        recorder.record::<InsertionSort>(&Keys { key: vec![5.0, 2.0, 4.0, 3.0, 1.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("j"), Some(Cells::Node(&[0, 1, 2, 3, 4])));
        assert_eq!(sample.get("i"), Some(Cells::Node(&[0, 0, 0, 2, 1])));
        assert_eq!(sample.get("pred"), Some(Cells::Node(&[2, 4, 3, 1, 4])));
    }

    #[test]
    fn check_accepts_any_order_of_equal_keys_and_nothing_else() {
        let keys = Keys { key: vec![1.0, 0.0, 1.0] };
        let accepts = |pred: [usize; 3]| InsertionSort::check(&keys, &Output { pred: pred.into() }).is_ok();
        assert!(accepts([1, 1, 0]), "1 0 2");
        assert!(accepts([2, 1, 1]), "1 2 0");
        assert!(!accepts([0, 0, 1]), "0 1 2");
        assert!(!accepts([1, 0, 2]), "a cycle");
    }
}
