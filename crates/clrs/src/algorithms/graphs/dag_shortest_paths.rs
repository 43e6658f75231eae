//! Shortest paths in an acyclic graph
//!
//! # Idea
//! Sorts the nodes that the source reaches topologically, then relaxes the edges of each node in that order. When the edges of
//! a node are relaxed, its distance is final.
//!
//! # One step
//! As in topological sort: the source becomes the root, it is discovered, a white neighbor is pushed, or a node is finished.
//! Then, in phase 1, all edges of one node are relaxed.
//!
//! # Number of steps
//! `3r + 1` if the source reaches `r` nodes, itself included: at most `3n + 1`.
//!
//! # Textbook
//! CLRS 3rd ed., section 24.2.
//!
//! # Correctness
//! Any tree of shortest paths from the source; unreachable nodes point to themselves. Lengths are compared up to a tolerance of
//! 1e-9, relative to the values added.
//!
//! # Differences from dm-clrs
//! Graphs with a cycle are rejected; negative weights are accepted. As in dm-clrs, only the nodes that the source reaches are
//! sorted, `topo_head_h` is node 0 while the list is empty, and `v` stays at the last node once the sort is done.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::acyclic::{acyclic, topological_order};
use crate::algorithms::depth_first::{BLACK, GRAY, Walk};
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{
    Graph, InvalidProblem, Matrix, RandomGraphs, RandomSourcedGraphs, SourcedGraph, Structure, ensure_valid, positions,
};
use crate::recorder::Hints;
use crate::source::Source;

/// Shortest paths in an acyclic graph; see the [module](self).
pub struct DagShortestPaths;

probes! {
    DagShortestPaths;
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
        /// parent in the tree of shortest paths; the source and unreachable nodes point to themselves
        pi: Node<Pointer> as i64,
    }
    hint {
        /// current parent in the tree of shortest paths
        pi_h: Node<Pointer>,
        /// length of the shortest path so far; 0 if none is known
        d: Node<Scalar>,
        /// whether a path is known
        mark: Node<Mask>,
        /// next node in the current list; the node itself at the end or outside
        topo_h: Node<Pointer>,
        /// first node of the current list (phase 0), then the node whose edges are relaxed next (phase 1)
        topo_head_h: Node<MaskOne>,
        /// 0 white (undiscovered), 1 gray (on the stack), 2 black (finished)
        color: Node<Categorical<3>>,
        /// next node below on the stack; the node itself at the bottom or off the stack
        s_prev: Node<Pointer>,
        /// current node
        u: Node<MaskOne>,
        /// current neighbor of `u`
        v: Node<MaskOne>,
        /// node on top of the stack
        s_last: Node<MaskOne>,
        /// 0 topological sort, 1 relaxation
        phase: Global<Mask>,
    }
}

impl Algorithm for DagShortestPaths {
    const NAME: &'static str = "dag_shortest_paths";
    const SOURCE: Source = Source(include_str!("dag_shortest_paths.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = SourcedGraph;
    type Distribution = RandomSourcedGraphs;

    fn distribution() -> RandomSourcedGraphs {
        RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5).weighted())
    }

    fn preconditions(problem: &SourcedGraph) -> Result<(), InvalidProblem> {
        let total: f64 = problem.weights.cells().iter().map(|weight| weight.abs()).sum();
        ensure_valid(total.is_finite(), || "the values of `weights` are too large: their sum overflows".into())?;
        acyclic(&problem.weights)
    }

    fn input(SourcedGraph { weights, source }: &SourcedGraph) -> Input {
        Input { pos: positions(weights.n()), source: *source, weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<SourcedGraph, InvalidProblem> {
        Ok(SourcedGraph { weights: Graph::from_inputs(&input.weights, &input.adj)?.weights, source: input.source })
    }

    fn max_steps(n: usize) -> usize {
        3 * n + 1
    }

    fn run(SourcedGraph { weights, source }: &SourcedGraph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut search = Search {
            pi: (0..n).collect(),
            d: vec![0.0; n],
            mark: vec![false; n],
            topo: (0..n).collect(),
            topo_head: 0,
            walk: Walk::new(n),
            sorted: false,
        };
        search.sort(*source, weights, hints);
        search.sorted = true;
        search.mark[*source] = true;
        hints.push(search.hint());
        while search.topo[search.topo_head] != search.topo_head {
            search.relax(weights);
            search.topo_head = search.topo[search.topo_head];
            hints.push(search.hint());
        }
        Output { pi: search.pi }
    }

    fn check(SourcedGraph { weights, source }: &SourcedGraph, Output { pi }: &Output) -> Result<(), CheckFailure> {
        let lengths = lengths(weights, *source);
        for (node, &parent) in pi.iter().enumerate() {
            let is_shortest = match (lengths[node], lengths[parent]) {
                (Some(here), Some(there)) if node != *source && weights.has_edge(parent, node) => {
                    let weight = weights[(parent, node)];
                    (there + weight - here).abs() <= 1e-9 * there.abs().max(weight.abs())
                }
                (Some(_), _) => node == *source && parent == node,
                (None, _) => parent == node,
            };
            ensure(is_shortest, || format!("node {node} points to {parent}, which is not on a shortest path from {source}"))?;
        }
        Ok(())
    }
}

struct Search {
    pi: Vec<usize>,
    d: Vec<f64>,
    mark: Vec<bool>,
    topo: Vec<usize>,
    topo_head: usize,
    walk: Walk,
    sorted: bool,
}

impl Search {
    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let Search { pi, d, mark, topo, topo_head, walk, sorted } = self;
        Hint {
            pi_h: pi,
            d,
            mark,
            topo_h: topo,
            topo_head_h: *topo_head,
            color: &walk.color,
            s_prev: &walk.s_prev,
            u: walk.u,
            v: walk.v,
            s_last: walk.s_last,
            phase: *sorted,
        }
    }

    /// Sorts all nodes that the source reaches topologically.
    fn sort(&mut self, source: usize, weights: &Matrix, hints: &mut Hints<'_, DagShortestPaths>) {
        self.walk.begin(source);
        hints.push(self.hint());
        self.walk.color[source] = GRAY;
        hints.push(self.hint());
        loop {
            if self.walk.push_white(weights).is_some() {
                hints.push(self.hint());
                self.walk.descend();
            } else {
                self.finish();
                hints.push(self.hint());
                if !self.walk.ascend() {
                    return;
                }
            }
        }
    }

    fn finish(&mut self) {
        let Search { topo, topo_head, walk, .. } = self;
        walk.color[walk.u] = BLACK;
        // While the list is empty, `topo_head` is not a finished node.
        if walk.color[*topo_head] == BLACK {
            topo[walk.u] = *topo_head;
        }
        *topo_head = walk.u;
    }

    /// Relaxes all edges of `topo_head`.
    fn relax(&mut self, weights: &Matrix) {
        let u = self.topo_head;
        for v in weights.neighbors(u) {
            let length = self.d[u] + weights[(u, v)];
            if !self.mark[v] || length < self.d[v] {
                self.d[v] = length;
                self.pi[v] = u;
                self.mark[v] = true;
            }
        }
    }
}

/// Length of a shortest path to each node; `None` if there is no path.
fn lengths(weights: &Matrix, source: usize) -> Vec<Option<f64>> {
    let n = weights.n();
    let mut lengths = vec![None; n];
    lengths[source] = Some(0.0);
    for u in topological_order(n, |u, v| weights.has_edge(u, v)).expect("`preconditions` rejects cycles") {
        if let Some(there) = lengths[u] {
            for v in weights.neighbors(u) {
                let length = there + weights[(u, v)];
                lengths[v] = Some(lengths[v].map_or(length, |known: f64| known.min(length)));
            }
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    fn graph(n: usize, source: usize, edges: &[(usize, usize, f64)]) -> SourcedGraph {
        let mut weights = Matrix::zeros(n);
        for &(u, v, weight) in edges {
            weights[(u, v)] = weight;
        }
        SourcedGraph { weights, source }
    }

    /// Figure 24.5 of the textbook; r, s, t, x, y, z are nodes 0 to 5, and s is the source.
    #[test]
    fn finds_the_paths_of_the_textbook_with_negative_weights() {
        let rows = "[[0,5,3,0,0,0], [0,0,2,6,0,0], [0,0,0,7,4,2], [0,0,0,0,-1,1], [0,0,0,0,0,-2], [0,0,0,0,0,0]]";
        let textbook = format!(r#"{{"weights": {rows}, "source": 1}}"#);
        let mut recorder = Recorder::new::<DagShortestPaths>();
        recorder.record::<DagShortestPaths>(&SourcedGraph::from_json(&textbook).expect("a graph")).expect("acyclic");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 1, 1, 1, 3, 4])), "r is unreachable");
        let Some(Cells::Scalar(lengths)) = sample.get("d") else { panic!("`d` is a scalar") };
        assert_eq!(lengths[lengths.len() - 6..], [0.0, 0.0, 2.0, 6.0, 5.0, 3.0]);
        assert_eq!(sample.steps(), 3 * 5 + 1);
    }

    #[test]
    fn check_accepts_any_of_several_shortest_paths() {
        let diamond = graph(4, 0, &[(0, 1, 0.1), (0, 2, 0.2), (1, 3, 0.2), (2, 3, 0.1), (0, 3, 0.4)]);
        let accepts = |pi: [usize; 4]| DagShortestPaths::check(&diamond, &Output { pi: pi.into() }).is_ok();
        assert!(accepts([0, 0, 0, 1]) && accepts([0, 0, 0, 2]));
        assert!(!accepts([0, 0, 0, 0]) && !accepts([0, 0, 0, 3]) && !accepts([0, 1, 0, 2]) && !accepts([1, 0, 0, 1]));
    }

    /// In floating point, 0.1 + 0.2 - 0.3 is not 0, but the difference is negligible relative to the terms.
    #[test]
    fn the_tolerance_is_relative_to_the_values_added() {
        let edges = [(0, 1, 0.1), (1, 2, 0.2), (2, 3, -0.3), (0, 4, 0.5), (4, 3, -0.5)];
        let cancelling = graph(5, 0, &edges);
        for parent in [2, 4] {
            assert_eq!(DagShortestPaths::check(&cancelling, &Output { pi: vec![0, 0, 1, parent, 0] }), Ok(()));
        }
    }

    #[test]
    fn cycles_and_sums_that_overflow_are_rejected() {
        let reason = |json| {
            Recorder::new::<DagShortestPaths>()
                .record::<DagShortestPaths>(&SourcedGraph::from_json(json).expect("a graph"))
                .expect_err("an invalid problem")
                .to_string()
        };
        assert!(reason(r#"{"weights": [[0,1],[1,0]], "source": 0}"#).contains("a cycle through node"));
        assert_eq!(reason(r#"{"weights": [[0.5]], "source": 0}"#), "the graph has a cycle through node 0");
        assert!(reason(r#"{"weights": [[0,1e308,1e308],[0,0,0],[0,0,0]], "source": 0}"#).contains("their sum overflows"));
    }
}
