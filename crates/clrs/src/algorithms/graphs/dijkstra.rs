//! Dijkstra's algorithm
//!
//! # Idea
//! Finds shortest paths from a source. Because no weight is negative, the distance of the nearest node in the queue is final;
//! its edges may shorten the paths to its neighbors.
//!
//! # One step
//! The nearest node is extracted from the queue, and all its edges are relaxed.
//!
//! # Number of steps
//! At most `n + 1`: the initial state, then one per reachable node.
//!
//! # Textbook
//! CLRS 3rd ed., section 24.3.
//!
//! # Correctness
//! Any tree of shortest paths, with lengths compared up to a relative tolerance of 1e-9; unreachable nodes point to themselves.
//!
//! # Differences from dm-clrs
//! Negative weights are rejected. As in dm-clrs, nodes enter the queue when they are first reached, and their distances are 0
//! until then. dm-clrs selects the nearest node with an unstable sort, so its order of equal distances is unspecified; here the
//! first node is extracted. dm-clrs also stops when all queued nodes are farther than 1e9; this implementation continues.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::trees;
use crate::cell::{Edge, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, RandomGraphs, RandomSourcedGraphs, SourcedGraph, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Dijkstra's algorithm; see the [module](self).
pub struct Dijkstra;

probes! {
    Dijkstra;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// source of the paths
        source as "s": Node<MaskOne>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar>,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// predecessor on a shortest path from the source; the source and unreachable nodes point to themselves
        pi: Node<Pointer> as i64,
    }
    hint {
        /// predecessor on the shortest path known so far
        pi_h: Node<Pointer>,
        /// length of the shortest path known so far; 0 if none is known
        d: Node<Scalar>,
        /// whether the distance is final
        mark: Node<Mask>,
        /// whether the node has been reached and its distance is not final
        in_queue: Node<Mask>,
        /// node whose edges were just relaxed
        u: Node<MaskOne>,
    }
}

impl Algorithm for Dijkstra {
    const NAME: &'static str = "dijkstra";
    const SOURCE: Source = Source(include_str!("dijkstra.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = SourcedGraph;
    type Distribution = RandomSourcedGraphs;

    fn distribution() -> RandomSourcedGraphs {
        RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted())
    }

    fn preconditions(problem: &SourcedGraph) -> Result<(), InvalidProblem> {
        problem.weights.non_negative()?;
        trees::finite_sums(&problem.weights)
    }

    fn input(SourcedGraph { weights, source }: &SourcedGraph) -> Input {
        Input { pos: positions(weights.n()), source: *source, weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<SourcedGraph, InvalidProblem> {
        Ok(SourcedGraph { weights: Graph::from_inputs(&input.weights, &input.adj)?.weights, source: input.source })
    }

    fn max_steps(n: usize) -> usize {
        n + 1
    }

    fn run(SourcedGraph { weights, source }: &SourcedGraph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut pi: Vec<usize> = (0..n).collect();
        let mut d = vec![0.0; n];
        let mut mark = vec![false; n];
        let mut in_queue = vec![false; n];
        let mut u = *source;
        in_queue[u] = true;
        loop {
            hints.push(Hint { pi_h: &pi, d: &d, mark: &mark, in_queue: &in_queue, u });
            let queue = (0..n).filter(|&node| in_queue[node]);
            let Some(nearest) = queue.min_by(|&a, &b| d[a].total_cmp(&d[b])) else {
                return Output { pi };
            };
            u = nearest;
            mark[u] = true;
            in_queue[u] = false;
            for v in weights.neighbors(u).filter(|&v| !mark[v]) {
                let length = d[u] + weights[(u, v)];
                if !in_queue[v] || length < d[v] {
                    pi[v] = u;
                    d[v] = length;
                    in_queue[v] = true;
                }
            }
        }
    }

    fn check(SourcedGraph { weights, source }: &SourcedGraph, output: &Output) -> Result<(), CheckFailure> {
        trees::check_shortest_paths(weights, *source, &output.pi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Figure 24.6 of the textbook; s, t, x, y, z are nodes 0 to 4.
    const FIGURE: &str = r#"{"source": 0,
        "weights": [[0,10,0,5,0], [0,0,1,2,0], [0,0,0,0,4], [0,3,9,0,2], [7,0,6,0,0]]}"#;

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<Dijkstra>();
        recorder.record::<Dijkstra>(&SourcedGraph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn extracts_the_nodes_of_the_textbook_in_order_of_distance() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 3, 1, 0, 3])));
        assert_eq!(sample.get("u"), Some(Cells::Node(&[0, 0, 3, 4, 1, 2])));
        let Some(Cells::Scalar(d)) = sample.get("d") else { panic!("`d` is a scalar") };
        assert_eq!(d[25..], [0.0, 8.0, 9.0, 5.0, 7.0]);
    }

    #[test]
    fn check_accepts_either_of_two_shortest_paths_and_nothing_else() {
        // Node 3 is at distance 0.3 through both 1 and 2, up to rounding; node 4 is unreachable.
        let graph = r#"{"source": 0,
            "weights": [[0,0.1,0.2,1,0], [0,0,0,0.2,0], [0,0,0,0.1,0], [0,0,0,0.5,0], [0,0,0,1,0]]}"#;
        let graph = SourcedGraph::from_json(graph).expect("a valid problem");
        let reason = |pi: [usize; 5]| Dijkstra::check(&graph, &Output { pi: pi.into() }).err().map(|failure| failure.0);
        assert_eq!(reason([0, 0, 0, 1, 4]), None);
        assert_eq!(reason([0, 0, 0, 2, 4]), None);
        assert!(
            reason([0, 0, 0, 0, 4])
                .is_some_and(|reason| reason.starts_with("the path from 0 to 3 has length 1, but one through 1 has length 0.3"))
        );
        assert_eq!(reason([0, 0, 0, 4, 4]).as_deref(), Some("the pointers from node 3 do not lead to 0"));
        assert_eq!(reason([0, 0, 0, 3, 4]).as_deref(), Some("node 3 points to itself, but is reachable from 0"));
        assert_eq!(reason([0, 0, 1, 1, 4]).as_deref(), Some("node 2 points to 1, but there is no edge from 1 to 2"));
        assert_eq!(reason([0, 0, 0, 1, 0]).as_deref(), Some("node 4 points to 0, but is not reachable from 0"));
        assert_eq!(reason([1, 0, 0, 1, 4]).as_deref(), Some("the source 0 points to 1 instead of itself"));
    }

    #[test]
    fn negative_weights_and_sums_that_overflow_are_rejected() {
        let reason = |json| record(json).err().expect("an invalid problem").to_string();
        assert_eq!(reason(r#"{"weights": [[0,-1],[1,0]], "source": 0}"#), "`weights` has a negative value");
        let overflows = "the values of `weights` are too large: their sum overflows";
        assert_eq!(reason(r#"{"weights": [[0,1e308],[1,0]], "source": 0}"#), overflows);
    }
}
