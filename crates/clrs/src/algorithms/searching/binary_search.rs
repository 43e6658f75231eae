//! Binary search
//!
//! # Idea
//! Compares the target with the middle key of a sorted array and continues in the half that the target belongs to.
//!
//! # One step
//! One comparison halves the range from `low` to `high`.
//!
//! # Number of steps
//! At most `1 + ceil(lg n)`: the full range, then one per halving until a single node is left.
//!
//! # Textbook
//! CLRS 3rd ed., exercise 2.3-5.
//!
//! # Correctness
//! Any node with the smallest key that is not less than the target or, if all keys are less, any node with the largest key. Any
//! of several equal keys is accepted. Of unsorted keys, only the node that the search ends at is accepted.
//!
//! # Differences from dm-clrs
//! CLRS asks for the index of the target itself, or reports that it is absent. In the benchmark the target is almost never
//! among the keys. As in dm-clrs, the result is its insertion position, or the last position if that is past the end. dm-clrs
//! also runs on unsorted keys, and its samplers did not sort them until May 2022. Here they are rejected unless a problem or the
//! sampler asks for them, as `clrs30@1.0.0-unsorted` does.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::array::initial_predecessors;
use crate::cell::{Graph, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Lookup, UniformLookups, ensure_valid, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Binary search; see the [module](self).
pub struct BinarySearch;

probes! {
    BinarySearch;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key; no key is less than the one before
        key: Node<Scalar>,
        /// value to search for
        target: Graph<Scalar>,
    }
    output {
        /// node with the smallest key not less than the target, or the last node
        found as "return": Node<MaskOne>,
    }
    hint {
        /// predecessor in the array; the first node points to itself
        pred_h: Node<Pointer>,
        /// first node of the range
        low: Node<MaskOne>,
        /// last node of the range
        high: Node<MaskOne>,
        /// middle node of the range, which is compared next
        mid: Node<MaskOne>,
    }
}

impl Algorithm for BinarySearch {
    const NAME: &'static str = "binary_search";
    const SOURCE: Source = Source(include_str!("binary_search.rs"));
    const FAMILY: Family = Family::Searching;
    const FIXED_ORDER: bool = true;
    const EVAL_MULTIPLIER: usize = 64;
    const UNSORTED_OPTIONS: &'static [&'static str] = &["sorted=false"];
    const TEXT_TRACE: &'static [&'static str] = &["low", "high"];
    type Problem = Lookup;
    type Distribution = UniformLookups;

    fn distribution() -> UniformLookups {
        UniformLookups::default()
    }

    fn preconditions(Lookup { key, unsorted, .. }: &Lookup) -> Result<(), InvalidProblem> {
        ensure_valid(*unsorted || key.is_sorted(), || "`key` is not sorted".into())
    }

    fn input(Lookup { key, target, .. }: &Lookup) -> Input {
        Input { pos: positions(key.len()), key: key.clone(), target: *target }
    }

    fn problem(input: &Input) -> Result<Lookup, InvalidProblem> {
        Ok(Lookup { key: input.key.clone(), target: input.target, unsorted: !input.key.is_sorted() })
    }

    fn max_steps(n: usize) -> usize {
        1 + n.next_power_of_two().ilog2() as usize
    }

    fn run(Lookup { key, target, .. }: &Lookup, hints: &mut Hints<'_, Self>) -> Output {
        let pred = initial_predecessors(key.len());
        let found = search(key, *target, |low, high, mid| hints.push(Hint { pred_h: &pred, low, high, mid }));
        Output { found }
    }

    fn check(Lookup { key, target, .. }: &Lookup, &Output { found }: &Output) -> Result<(), CheckFailure> {
        if !key.is_sorted() {
            let expected = search(key, *target, |_, _, _| ());
            return ensure(found == expected, || format!("the search in unsorted keys ends at node {expected}, not at {found}"));
        }
        let next = key.iter().copied().find(|x| x >= target).unwrap_or(key[key.len() - 1]);
        ensure(key[found] == next, || format!("the key of node {found} is {}, expected {next}", key[found]))
    }
}

/// Calls `step` with the range and its middle until a single node is left, and returns that node.
fn search(key: &[f64], target: f64, mut step: impl FnMut(usize, usize, usize)) -> usize {
    let (mut low, mut high) = (0, key.len() - 1);
    loop {
        let mid = usize::midpoint(low, high);
        step(low, high, mid);
        if low == high {
            return high;
        }
        if target <= key[mid] {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    fn found(key: &[f64], target: f64) -> usize {
        let mut recorder = Recorder::new::<BinarySearch>();
        recorder.record::<BinarySearch>(&Lookup { key: key.to_vec(), target, unsorted: false }).expect("a valid problem");
        match recorder.last().expect("a recorded sample").get("return") {
            Some(Cells::Node(&[node])) => node as usize,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn halves_the_range_until_one_node_is_left() {
        let mut recorder = Recorder::new::<BinarySearch>();
        recorder
            .record::<BinarySearch>(&Lookup { key: vec![1.0, 3.0, 5.0, 7.0, 9.0], target: 4.0, unsorted: false })
            .expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("low"), Some(Cells::Node(&[0, 0, 2])));
        assert_eq!(sample.get("high"), Some(Cells::Node(&[4, 2, 2])));
        assert_eq!(sample.get("mid"), Some(Cells::Node(&[2, 1, 2])));
    }

    #[test]
    fn finds_the_first_key_not_less_than_the_target_or_the_last_key() {
        let key = [1.0, 3.0, 3.0, 3.0, 9.0];
        let nodes = [0.0, 1.0, 2.0, 3.0, 4.0, 9.0, 10.0].map(|target| found(&key, target));
        assert_eq!(nodes, [0, 0, 1, 1, 4, 4, 4]);
    }

    #[test]
    fn check_accepts_exactly_the_nodes_with_the_right_key() {
        let accepted = |key: &[f64], target| -> Vec<usize> {
            let problem = Lookup { key: key.to_vec(), target, unsorted: false };
            (0..key.len()).filter(|&found| BinarySearch::check(&problem, &Output { found }).is_ok()).collect()
        };
        assert_eq!(accepted(&[1.0, 3.0, 3.0, 4.0], 2.0), [1, 2]);
        assert_eq!(accepted(&[1.0, 3.0, 3.0], 5.0), [1, 2], "all keys are less than the target");
        assert_eq!(accepted(&[1.0, 3.0, 3.0], 0.0), [0]);
        let failure = BinarySearch::check(&Lookup { key: vec![1.0, 3.0], target: 2.0, unsorted: false }, &Output { found: 0 });
        assert_eq!(failure, Err(CheckFailure("the key of node 0 is 1, expected 3".into())));
    }

    #[test]
    fn max_steps_is_attained() {
        for n in 1..20u32 {
            let mut recorder = Recorder::new::<BinarySearch>();
            let key: Vec<f64> = (0..n).map(f64::from).collect();
            let steps = (0..n).map(|target| {
                recorder
                    .record::<BinarySearch>(&Lookup { key: key.clone(), target: f64::from(target), unsorted: false })
                    .expect("a valid problem");
                recorder.last().expect("a recorded sample").steps()
            });
            assert_eq!(steps.max(), Some(BinarySearch::max_steps(key.len())));
        }
    }

    #[test]
    fn unsorted_keys_are_rejected_unless_asked_for() {
        let mut problem = Lookup { key: vec![2.0, 1.0, 3.0], target: 1.5, unsorted: false };
        let mut recorder = Recorder::new::<BinarySearch>();
        let rejected = recorder.record::<BinarySearch>(&problem).expect_err("unsorted");
        assert_eq!(rejected.to_string(), "`key` is not sorted");

        problem.unsorted = true;
        recorder.record::<BinarySearch>(&problem).expect("unsorted keys");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("return"), Some(Cells::Node(&[2])), "1 < 1.5, so the search goes right");
    }

    #[test]
    fn check_accepts_the_end_of_the_search_in_unsorted_keys() {
        let problem = Lookup { key: vec![2.0, 1.0, 3.0], target: 1.5, unsorted: true };
        assert_eq!(BinarySearch::check(&problem, &Output { found: 2 }), Ok(()));
        let failure = BinarySearch::check(&problem, &Output { found: 0 });
        assert_eq!(failure, Err(CheckFailure("the search in unsorted keys ends at node 2, not at 0".into())));
    }
}
