//! Quicksort (Hoare 1962)
//!
//! # Idea
//! Brings the keys that are not above the last one before it and the others behind it, and does the same with both parts.
//!
//! # One step
//! One key is compared with the last one, the pivot, and joins the small ones at the front if it is not above it; or, when all
//! are compared, the pivot goes between the parts.
//!
//! # Steps
//! The sizes of all parts of two keys or more, summed: at most `n (n + 1) / 2 - 1`, which sorted keys need.
//!
//! # Textbook
//! CLRS 3rd ed., section 7.1.
//!
//! # What counts as right
//! Any order in which no key comes before a smaller one: equal keys may stand either way.
//!
//! # Differences
//! As in the reference, the first row is already after the first comparison, and places are named by the nodes that stand there
//! now: the node of `p` can change while a part is scanned. One key alone has nothing to tell, and is refused.

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
        /// node in the first place of the part
        p: Node<MaskOne>,
        /// node in the last place of the part
        r: Node<MaskOne>,
        /// node in the place where the next small key will go; in the end the pivot
        i: Node<MaskOne>,
        /// node in the place just compared; in the end the last place
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

/// Sorts the places from `p` to `r`.
fn quicksort(array: &mut Array<'_>, p: usize, r: usize, hints: &mut Hints<'_, Quicksort>) {
    if p < r {
        let q = array.partition(p, r, |array, i, j| hints.push(hint(array, p, r, i, j)));
        hints.push(hint(array, p, r, q, r));
        quicksort(array, p, q.saturating_sub(1), hints); // where `q` is 0 this is one place
        quicksort(array, q + 1, r, hints);
    }
}

/// The row that tells four places.
fn hint<'a>(array: &'a Array<'_>, p: usize, r: usize, i: usize, j: usize) -> Hint<'a> {
    Hint { pred_h: array.pred(), p: array[p], r: array[r], i: array[i], j: array[j] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 7.1 of the textbook: eight rows, then the parts 2 1 3 and 7 5 6 8.
    #[test]
    fn partitions_as_the_textbook_does() {
        let mut recorder = Recorder::new::<Quicksort>();
        recorder.record::<Quicksort>(&Keys { key: vec![2.0, 8.0, 7.0, 1.0, 3.0, 5.0, 6.0, 4.0] }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Node(i)) = sample.get("i") else { panic!("a node per row") };
        let Some(Cells::Node(j)) = sample.get("j") else { panic!("a node per row") };
        assert_eq!(i[..8], [1, 1, 1, 2, 1, 1, 1, 7]);
        assert_eq!(j[..8], [0, 1, 2, 1, 2, 5, 6, 1]);
        assert_eq!(sample.get("pred"), Some(Cells::Node(&[3, 2, 6, 3, 0, 7, 5, 4])));
    }

    #[test]
    fn sorted_keys_take_the_most_steps() {
        for n in 2..9 {
            let mut recorder = Recorder::new::<Quicksort>();
            recorder.record::<Quicksort>(&Keys { key: positions(n) }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Quicksort::max_steps(n));
        }
    }

    #[test]
    fn one_key_is_rejected() {
        let alone = Keys { key: vec![1.0] };
        let rejected = Recorder::new::<Quicksort>().record::<Quicksort>(&alone).expect_err("nothing to tell");
        assert_eq!(rejected.to_string(), "quicksort needs at least 2 nodes, found 1");
    }
}
