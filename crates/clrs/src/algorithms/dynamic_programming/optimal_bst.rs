//! Optimal binary search tree
//!
//! # Idea
//! A search tree is good if frequent searches end near its root. An optimal tree over a range of keys has a root `r`, with
//! optimal trees over the keys before and after it as subtrees. So optimal roots of long ranges follow from those of shorter
//! ones.
//!
//! # One step
//! All ranges of `l` consecutive keys get their optimal root, for `l` from 1 up.
//!
//! # Number of steps
//! `n`, the number of gaps, which is the number of keys plus one: the empty trees, then one per length of a range.
//!
//! # Textbook
//! CLRS 3rd ed., section 15.5; Aho, Hopcroft and Ullman 1974.
//!
//! # Correctness
//! For every `i < j`, any root with the minimum expected cost over the keys `i` to `j - 1`. All other cells are ignored.
//!
//! # Differences from dm-clrs
//! Probabilities that sum to more than 1 are rejected. As in dm-clrs, keys are counted from 0, the input `p` ends with a 0 that
//! belongs to no key, and unknown roots are 0.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure, same_cost};
use crate::algorithms::array;
use crate::cell::{Edge, Mask, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, RandomSearchProbabilities, SearchProbabilities, ensure_valid, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Optimal binary search tree; see the [module](self).
pub struct OptimalBst;

probes! {
    OptimalBst;
    input {
        /// position in the list of gaps, scaled to [0, 1)
        pos: Node<Scalar>,
        /// probability of a search for the key after the gap; 0 for the last gap
        p: Node<Scalar>,
        /// probability of a search that ends in the gap
        q: Node<Scalar>,
    }
    output {
        /// root of an optimal tree over the keys between the gaps of row and column
        root: Edge<Pointer>,
    }
    hint {
        /// predecessor in the list of gaps; the first node points to itself
        pred_h: Node<Pointer>,
        /// root of an optimal tree; 0 if unknown
        root_h: Edge<Pointer>,
        /// expected search cost of that tree, weighted by the probability of a search within the range
        e: Edge<Scalar>,
        /// probability of a search within the range, both gaps included
        w: Edge<Scalar>,
        /// whether the tree is known
        msk: Edge<Mask>,
    }
}

impl Algorithm for OptimalBst {
    const NAME: &'static str = "optimal_bst";
    const SOURCE: Source = Source(include_str!("optimal_bst.rs"));
    const FAMILY: Family = Family::DynamicProgramming;
    const MIN_NODES: usize = 2;
    const FIXED_ORDER: bool = true;
    type Problem = SearchProbabilities;
    type Distribution = RandomSearchProbabilities;

    fn distribution() -> RandomSearchProbabilities {
        RandomSearchProbabilities
    }

    fn input(SearchProbabilities { key_probabilities, gap_probabilities }: &SearchProbabilities) -> Input {
        let p = key_probabilities.iter().copied().chain([0.0]).collect();
        Input { pos: positions(gap_probabilities.len()), p, q: gap_probabilities.clone() }
    }

    fn problem(input: &Input) -> Result<SearchProbabilities, InvalidProblem> {
        let mut key_probabilities = input.p.clone();
        ensure_valid(key_probabilities.pop() == Some(0.0), || "the last value of `p`, which belongs to no key, is not 0".into())?;
        Ok(SearchProbabilities { key_probabilities, gap_probabilities: input.q.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n
    }

    fn run(
        SearchProbabilities { key_probabilities: p, gap_probabilities: q }: &SearchProbabilities,
        hints: &mut Hints<'_, Self>,
    ) -> Output {
        let n = q.len();
        let mut trees = Trees::new(q);
        hints.push(trees.hint());
        for l in 1..n {
            for i in 0..n - l {
                let j = i + l;
                let cell = i * n + j;
                trees.w[cell] = trees.w[cell - 1] + p[j - 1] + q[j];
                let mut least = f64::INFINITY;
                for r in i..j {
                    let t = trees.e[i * n + r] + trees.e[(r + 1) * n + j] + trees.w[cell];
                    if t < least {
                        least = t;
                        trees.root[cell] = r;
                    }
                }
                trees.e[cell] = least;
                trees.known[cell] = true;
            }
            hints.push(trees.hint());
        }
        Output { root: trees.root }
    }

    fn check(
        SearchProbabilities { key_probabilities: p, gap_probabilities: q }: &SearchProbabilities,
        output: &Output,
    ) -> Result<(), CheckFailure> {
        let n = q.len();
        let mut least = vec![0.0; n * n];
        for j in 0..n {
            least[j * n + j] = q[j];
            let mut probability = q[j];
            for i in (0..j).rev() {
                probability += p[i] + q[i];
                let cost = |r: usize| least[i * n + r] + least[(r + 1) * n + j] + probability;
                let best = (i..j).map(cost).fold(f64::INFINITY, f64::min);
                let r = output.root[i * n + j];
                ensure((i..j).contains(&r) && same_cost(cost(r), best), || {
                    format!("node {r} is not the root of an optimal tree between gaps {i} and {j}")
                })?;
                least[i * n + j] = best;
            }
        }
        Ok(())
    }
}

/// The optimal trees between any two gaps.
struct Trees {
    pred: Vec<usize>,
    root: Vec<usize>,
    e: Vec<f64>,
    w: Vec<f64>,
    known: Vec<bool>,
}

impl Trees {
    /// Creates the empty trees, which lie between a gap and itself.
    fn new(q: &[f64]) -> Trees {
        let n = q.len();
        let pred = array::initial_predecessors(n);
        let mut trees = Trees { pred, root: vec![0; n * n], e: vec![0.0; n * n], w: vec![0.0; n * n], known: vec![false; n * n] };
        for (i, &q) in q.iter().enumerate() {
            let cell = i * n + i;
            (trees.e[cell], trees.w[cell], trees.known[cell]) = (q, q, true);
        }
        trees
    }

    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        Hint { pred_h: &self.pred, root_h: &self.root, e: &self.e, w: &self.w, msk: &self.known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Problem, Stage};

    /// CLRS figure 15.10, whose keys are counted from 1.
    const TEXTBOOK: &str =
        r#"{"key_probabilities": [0.15, 0.1, 0.05, 0.1, 0.2], "gap_probabilities": [0.05, 0.1, 0.05, 0.05, 0.05, 0.1]}"#;

    #[test]
    fn finds_the_tree_of_the_textbook() {
        let mut recorder = OptimalBst.recorder();
        OptimalBst.record_json(TEXTBOOK, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let (Some(Cells::Node(root)), Some(Cells::Scalar(e))) = (sample.get("root"), sample.get("e")) else { panic!("tables") };
        assert_eq!([root[5], root[1], root[2 * 6 + 5]], [1, 0, 4]);
        assert!(same_cost(e[5 * 36 + 5], 2.75));
        assert_eq!(sample.steps(), 6);
    }

    #[test]
    fn check_accepts_any_root_of_minimum_cost_and_ignores_other_cells() {
        let even = SearchProbabilities { key_probabilities: vec![0.2; 2], gap_probabilities: vec![0.2; 3] };
        let mut recorder = OptimalBst.recorder();
        OptimalBst.record_json(&even.to_json(), &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let accepts = |root: [u32; 9]| OptimalBst.check(3, &sample.stage(Stage::Input), &[Cells::Node(&root)]).is_ok();
        assert!(accepts([0, 0, 0, 0, 0, 1, 0, 0, 0]) && accepts([0, 0, 1, 0, 0, 1, 0, 0, 0]), "either of two keys");
        assert!(accepts([2, 0, 0, 1, 2, 1, 2, 1, 2]), "cells that do not represent a tree");
        assert!(!accepts([0, 0, 2, 0, 0, 1, 0, 0, 0]), "not a key");
        assert!(!accepts([0, 1, 0, 0, 0, 1, 0, 0, 0]), "a key outside the range");
    }

    #[test]
    fn probabilities_must_be_valid() {
        let reason = |json| OptimalBst.record_json(json, &mut OptimalBst.recorder()).expect_err("an invalid problem").to_string();
        assert_eq!(
            reason(r#"{"key_probabilities": [0.5], "gap_probabilities": [0.5]}"#),
            "the algorithm needs at least 2 nodes, found 1"
        );
        assert_eq!(
            reason(r#"{"key_probabilities": [], "gap_probabilities": [0.5, 0.5]}"#),
            "`gap_probabilities` must have one value more than `key_probabilities`: found 2 and 0"
        );
        assert_eq!(reason(r#"{"key_probabilities": [-0.5], "gap_probabilities": [0.5, 0]}"#), "a probability is negative");
        assert_eq!(
            reason(r#"{"key_probabilities": [1], "gap_probabilities": [0.5, 0]}"#),
            "the probabilities sum to 1.5, more than 1"
        );
    }
}
