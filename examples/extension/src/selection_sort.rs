//! Selection sort
//!
//! # Idea
//! Finds the smallest of the remaining keys and swaps it to the front of them.
//!
//! # One step
//! One key reaches its final position.
//!
//! # Number of steps
//! `n`: the initial order, and one for every key but the last.
//!
//! # Textbook
//! CLRS 3rd ed., exercise 2.2-2.
//!
//! # Correctness
//! Any order in which no key is greater than the one after it.
//!
//! # Differences from dm-clrs
//! dm-clrs does not have this algorithm.

use clrs::cell::{MaskOne, Node, Permutation, Pointer, Scalar};
use clrs::problems::{InvalidProblem, Keys, positions};
use clrs::source::Source;
use clrs::{Algorithm, CheckFailure, Family, Hints, probes};

use crate::nearly_sorted::NearlySortedKeys;

/// Selection sort; see the [module](self).
pub struct SelectionSort;

probes! {
    SelectionSort;
    input {
        /// position in the array, from 0 to 1
        pos: Node<Scalar>,
        /// key to sort by
        key: Node<Scalar>,
    }
    output {
        /// predecessor in sorted order
        pred: Node<Permutation> as i64,
    }
    hint {
        /// predecessor in the current array
        pred_h: Node<Pointer>,
        /// key that was moved to its final position
        smallest: Node<MaskOne>,
    }
}

impl Algorithm for SelectionSort {
    const NAME: &'static str = "selection_sort";
    const SOURCE: Source = Source(include_str!("selection_sort.rs"));
    const FAMILY: Family = Family::Sorting;
    type Problem = Keys;
    type Distribution = NearlySortedKeys;

    fn distribution() -> NearlySortedKeys {
        NearlySortedKeys::default()
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
        let mut array: Vec<usize> = (0..key.len()).collect();
        hints.push(Hint { pred_h: &predecessors(&array), smallest: 0 });
        for i in 0..key.len() - 1 {
            let smallest = (i..key.len()).min_by(|&a, &b| key[array[a]].total_cmp(&key[array[b]])).unwrap_or(i);
            array.swap(i, smallest);
            hints.push(Hint { pred_h: &predecessors(&array), smallest: array[i] });
        }
        Output { pred: predecessors(&array) }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        let mut successor = vec![None; key.len()];
        let mut first = None;
        for (node, &pred) in output.pred.iter().enumerate() {
            let taken = if pred == node { first.replace(node) } else { successor[pred].replace(node) };
            if let Some(other) = taken {
                return Err(CheckFailure(format!("nodes {other} and {node} have the same position")));
            }
        }
        let mut node = first.ok_or_else(|| CheckFailure("no node points to itself: the order has no first node".into()))?;
        for position in 1..key.len() {
            let next = successor[node].ok_or_else(|| CheckFailure(format!("the order ends after {position} nodes")))?;
            if key[next] < key[node] {
                return Err(CheckFailure(format!("node {next} follows node {node}, but its key is smaller")));
            }
            node = next;
        }
        Ok(())
    }
}

/// Predecessor of every node in an order; the first node points to itself.
fn predecessors(order: &[usize]) -> Vec<usize> {
    let mut pred = vec![0; order.len()];
    for (position, &node) in order.iter().enumerate() {
        pred[node] = order[position.saturating_sub(1)];
    }
    pred
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::{Cells, Recorder};

    #[test]
    fn every_step_moves_the_smallest_remaining_key() {
        let mut recorder = Recorder::new::<SelectionSort>();
        recorder.record::<SelectionSort>(&Keys { key: vec![5.0, 2.0, 4.0, 1.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("smallest"), Some(Cells::Node(&[0, 3, 1, 2])));
        assert_eq!(sample.get("pred"), Some(Cells::Node(&[2, 3, 1, 3])));
    }

    #[test]
    fn check_accepts_any_order_of_equal_keys_and_nothing_else() {
        let keys = Keys { key: vec![1.0, 0.0, 1.0] };
        let accepts = |pred: [usize; 3]| SelectionSort::check(&keys, &Output { pred: pred.into() }).is_ok();
        assert!(accepts([1, 1, 0]), "1 0 2");
        assert!(accepts([2, 1, 1]), "1 2 0");
        assert!(!accepts([0, 0, 1]), "0 1 2");
        assert!(!accepts([1, 0, 2]), "a cycle");
    }
}
