//! Quickselect (Hoare 1961)
//!
//! # Idea
//! Brings the keys that are not above the last one before it and the others behind it, as quicksort does, and goes on in the
//! part that holds the median.
//!
//! # One step
//! One key is compared with the last one, the pivot, and joins the small ones at the front if it is not above it; or, when all
//! are compared, the pivot goes between the parts.
//!
//! # Steps
//! The sizes of all parts gone through, summed: at most `n (n + 1) / 2`, when every part is one key smaller than the one before.
//!
//! # Textbook
//! CLRS 3rd ed., section 9.2, with the last key as the pivot instead of a random one.
//!
//! # What counts as right
//! Any node whose key is the median, the one that `n / 2` keys (rounded down) precede in sorted order: of an even number of
//! keys the upper one. It does not matter which of equal keys is named.
//!
//! # Differences
//! As in the reference, the first row is already after the first comparison. `i_rank` counts from the start of the array while a
//! part is scanned, but from the start of the part once the pivot is in its place; `target` always counts from the start of
//! the part.

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
        /// place in the array, from 0 to 1
        pos: Node<Scalar>,
        /// number to select by
        key: Node<Scalar>,
    }
    output {
        /// node whose key is the median
        median: Node<MaskOne>,
    }
    hint {
        /// predecessor in the array as it stands
        pred_h: Node<Pointer>,
        /// node in the first place of the part
        p: Node<MaskOne>,
        /// node in the last place of the part
        r: Node<MaskOne>,
        /// node in the place where the next small key will go; in the end the pivot
        i: Node<MaskOne>,
        /// node in the place just compared; in the end the last place
        j: Node<MaskOne>,
        /// place of `i`, over the number of nodes
        i_rank: Graph<Scalar>,
        /// place in the part that the median would have, were it sorted, over the number of nodes
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
            let part = Part { n, p, r, target, pivot: array[r] };
            let q = array.partition(p, r, |array, i, j| hints.push(part.hint(array, i, j, i)));
            hints.push(part.hint(&array, q, r, q - p));
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

/// The places from `p` to `r`, which are partitioned; what does not change meanwhile.
struct Part {
    n: usize,
    p: usize,
    r: usize,
    target: usize,
    pivot: usize,
}

impl Part {
    /// The one place where a row is made.
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

    /// The part of figure 7.1 of the textbook, then 7 5 6 8 without its largest, then 5 alone.
    #[test]
    fn goes_on_in_the_part_that_holds_the_median() {
        let mut recorder = Recorder::new::<Quickselect>();
        recorder.record::<Quickselect>(&Keys { key: vec![2.0, 8.0, 7.0, 1.0, 3.0, 5.0, 6.0, 4.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("median"), Some(Cells::Node(&[5])));
        assert_eq!(sample.steps(), 8 + 4 + 3 + 1);
        let Some(Cells::Node(pivot)) = sample.get("pivot") else { panic!("a node per row") };
        assert_eq!(pivot, [[7; 8].as_slice(), &[1; 4], &[6; 3], &[5]].concat());
        let Some(Cells::Scalar(target)) = sample.get("target") else { panic!("a number per row") };
        assert_eq!(target, [[0.5; 8].as_slice(), &[0.0; 8]].concat());
        let Some(Cells::Scalar(i_rank)) = sample.get("i_rank") else { panic!("a number per row") };
        assert_eq!(i_rank[6..12], [0.375, 0.375, 0.625, 0.75, 0.875, 0.375], "of the array, but the closing rows of the part");
    }

    #[test]
    fn most_steps_are_reached() {
        for n in 1..20 {
            // 1 2 3 0 4 5: the largest leave from the end, then the smallest one by one.
            let mut key = positions(n);
            key[..=n / 2].rotate_left(1);
            let mut recorder = Recorder::new::<Quickselect>();
            recorder.record::<Quickselect>(&Keys { key }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Quickselect::max_steps(n));
        }
    }

    #[test]
    fn check_accepts_any_node_that_holds_the_median() {
        let accepted = |key: &[f64]| -> Vec<usize> {
            let keys = Keys { key: key.to_vec() };
            (0..key.len()).filter(|&median| Quickselect::check(&keys, &Output { median }).is_ok()).collect()
        };
        assert_eq!(accepted(&[4.0, 1.0, 3.0, 2.0]), [2], "the upper one of two");
        assert_eq!(accepted(&[2.0, 0.0, 2.0, 2.0, 9.0]), [0, 2, 3]);
    }
}
