//! Breadth-first search
//!
//! # Idea
//! Visits the nodes in order of their distance from the source and records the node that each was reached from.
//!
//! # One step
//! All nodes at the next distance are reached at once.
//!
//! # Number of steps
//! One per layer of the search tree: the largest distance of a reachable node plus one, at most `n`.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.2.
//!
//! # Correctness
//! Any tree of paths with the fewest edges; unreachable nodes point to themselves.
//!
//! # Differences from dm-clrs
//! dm-clrs follows only edges with positive weights, but its `adj` contains all edges with non-zero weights. Weights other than
//! 0, 1, 2, ... are rejected here.

use std::mem::swap;

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::cell::{Edge, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, RandomSourcedGraphs, SourcedGraph, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Breadth-first search; see the [module](self).
pub struct Bfs;

probes! {
    Bfs;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// source of the search
        source as "s": Node<MaskOne>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// parent in the search tree; the source and unreachable nodes point to themselves
        pi: Node<Pointer> as i64,
    }
    hint {
        /// whether the node has been reached
        reach_h: Node<Mask>,
        /// current parent in the search tree
        pi_h: Node<Pointer>,
    }
}

impl Algorithm for Bfs {
    const NAME: &'static str = "bfs";
    const SOURCE: Source = Source(include_str!("bfs.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = SourcedGraph;
    type Distribution = RandomSourcedGraphs;

    fn distribution() -> RandomSourcedGraphs {
        RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Undirected, 0.5))
    }

    fn preconditions(problem: &SourcedGraph) -> Result<(), InvalidProblem> {
        problem.weights.integer_weights()
    }

    fn input(SourcedGraph { weights, source }: &SourcedGraph) -> Input {
        Input { pos: positions(weights.n()), source: *source, weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<SourcedGraph, InvalidProblem> {
        Ok(SourcedGraph { weights: Graph::from_inputs(&input.weights, &input.adj)?.weights, source: input.source })
    }

    fn max_steps(n: usize) -> usize {
        n
    }

    fn run(SourcedGraph { weights, source }: &SourcedGraph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut reached = vec![false; n];
        let mut parent: Vec<usize> = (0..n).collect();
        reached[*source] = true;
        let (mut layer, mut next) = (vec![*source], Vec::new());
        while !layer.is_empty() {
            hints.push(Hint { reach_h: &reached, pi_h: &parent });
            layer.sort_unstable(); // the parent is the smallest of the possible nodes
            for u in layer.drain(..) {
                for v in weights.neighbors(u) {
                    if !reached[v] {
                        reached[v] = true;
                        parent[v] = u;
                        next.push(v);
                    }
                }
            }
            swap(&mut layer, &mut next);
        }
        Output { pi: parent }
    }

    fn check(SourcedGraph { weights, source }: &SourcedGraph, output: &Output) -> Result<(), CheckFailure> {
        let hops = hops(weights, *source);
        for (node, &parent) in output.pi.iter().enumerate() {
            let is_correct = match (hops[node], hops[parent]) {
                (None | Some(0), _) => parent == node,
                (Some(here), Some(there)) => there + 1 == here && weights.has_edge(parent, node),
                (Some(_), None) => false,
            };
            if !is_correct {
                return Err(CheckFailure(format!(
                    "node {node} points to {parent}, which is not on a shortest path from {source}"
                )));
            }
        }
        Ok(())
    }
}

/// Minimum number of edges on a path from the source; `None` if there is no path.
fn hops(weights: &Matrix, source: usize) -> Vec<Option<usize>> {
    let mut hops = vec![None; weights.n()];
    hops[source] = Some(0);
    let mut queue = std::collections::VecDeque::from([(source, 0)]);
    while let Some((u, distance)) = queue.pop_front() {
        for v in weights.neighbors(u) {
            if hops[v].is_none() {
                hops[v] = Some(distance + 1);
                queue.push_back((v, distance + 1));
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests {
    use crate::{AnyAlgorithm, Cells, CheckError, Stage};

    use super::Bfs;

    const DIAMOND: &str = r#"{"weights": [[0,1,1,0],[1,0,0,1],[1,0,0,1],[0,1,1,0]], "source": 0}"#;

    #[test]
    fn check_accepts_either_parent_of_the_far_corner_of_a_diamond() {
        let mut recorder = Bfs.recorder();
        Bfs.record_json(DIAMOND, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 0, 0, 1])));
        assert_eq!(sample.get("reach_h"), Some(Cells::Class(&[1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1])));
        for (parent, is_correct) in [(1, true), (2, true), (0, false), (3, false)] {
            let result = Bfs.check(4, &sample.stage(Stage::Input), &[Cells::Node(&[0, 0, 0, parent])]);
            assert_eq!(result.is_ok(), is_correct, "parent {parent}: {result:?}");
        }
    }

    #[test]
    fn invalid_problems_are_rejected_with_a_reason() {
        let reason = |json| Bfs.record_json(json, &mut Bfs.recorder()).expect_err("an invalid problem").to_string();
        assert_eq!(reason(r#"{"weights": [[0]], "source": 4}"#), "`source` is 4; it must be less than the number of nodes, 1");
        assert_eq!(reason(r#"{"weights": [[-1]], "source": 0}"#), "`weights` has a value that is not a non-negative integer");
        assert!(reason(r#"{"weights": [[0]], "sorce": 0}"#).contains("unknown field `sorce`"));
        assert!(reason(r#"{"weights": [[0], []], "source": 0}"#).contains("not 2 x 2"));
    }

    #[test]
    fn malformed_columns_are_rejected_without_a_panic() {
        let inputs = [Cells::Scalar(&[0.0]), Cells::Node(&[0]), Cells::Scalar(&[f64::NAN]), Cells::Class(&[1])];
        let reason = |n, outputs: &[Cells<'_>]| match Bfs.check(n, &inputs, outputs) {
            Err(CheckError::Malformed(reason)) => reason.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(1, &[Cells::Node(&[0])]), "`weights` has a value that is not finite");
        assert_eq!(reason(2, &[Cells::Node(&[0])]), "`pos` has 1 cells, expected 2");
        assert_eq!(reason(usize::MAX, &[]), format!("{} nodes are too many; the limit is 65536", usize::MAX));
    }
}
