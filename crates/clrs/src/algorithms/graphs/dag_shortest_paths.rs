//! Shortest paths in an acyclic graph
//!
//! # Idea
//! Sorts what the source reaches topologically, then relaxes the edges of each node in that order: when a node's turn comes,
//! all ways to it are known.
//!
//! # One step
//! First as in the topological sort: the source is taken as root, it is discovered, a white neighbour is moved to, or a node is
//! finished. Then all edges of one node are relaxed.
//!
//! # Steps
//! `3r + 1` if the source reaches `r` nodes, itself included: at most `3n + 1`.
//!
//! # Textbook
//! CLRS 3rd ed., section 24.2.
//!
//! # What counts as right
//! Any tree of shortest paths from the source; nodes that cannot be reached point to themselves. Lengths that differ by less
//! than 1e-9 of what was added up count as equal.
//!
//! # Differences
//! Graphs with a cycle are refused; negative weights are not. As in the reference, only what the source reaches is sorted,
//! `topo_head_h` is node 0 while the list is empty, and `v` stays the last node once the sort is done.

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
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// node the paths start from
        source as "s": Node<MaskOne>,
        /// weight of the edge
        weights as "A": Edge<Scalar>,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// parent in the tree of shortest paths
        pi: Node<Pointer> as i64,
    }
    hint {
        /// parent in the tree of shortest paths so far
        pi_h: Node<Pointer>,
        /// length of the shortest path so far
        d: Node<Scalar>,
        /// whether a path has been found
        mark: Node<Mask>,
        /// next node in the list so far, itself at the end or outside
        topo_h: Node<Pointer>,
        /// first node in the list so far, then the one whose edges are relaxed next
        topo_head_h: Node<MaskOne>,
        /// not seen, open or finished
        color: Node<Categorical<3>>,
        /// node below on the stack, itself at the bottom or off the stack
        s_prev: Node<Pointer>,
        /// node being worked on
        u: Node<MaskOne>,
        /// neighbour being looked at
        v: Node<MaskOne>,
        /// top of the stack
        s_last: Node<MaskOne>,
        /// whether the sort is done
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
        ensure_valid(total.is_finite(), || "`weights` are so large that the lengths of paths are not finite".into())?;
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
            let holds = match (lengths[node], lengths[parent]) {
                (Some(here), Some(there)) if node != *source && weights.has_edge(parent, node) => {
                    let weight = weights[(parent, node)];
                    (there + weight - here).abs() <= 1e-9 * there.abs().max(weight.abs())
                }
                (Some(_), _) => node == *source && parent == node,
                (None, _) => parent == node,
            };
            ensure(holds, || format!("node {node} points to {parent}, which is not on a shortest path from {source}"))?;
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
    /// The one place where a row is made.
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

    /// Sorts everything that the source reaches topologically.
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
        // While the list is empty, its head is no finished node.
        if walk.color[*topo_head] == BLACK {
            topo[walk.u] = *topo_head;
        }
        *topo_head = walk.u;
    }

    /// Relaxes all edges of the node whose turn it is.
    fn relax(&mut self, weights: &Matrix) {
        let u = self.topo_head;
        for v in weights.neighbours(u) {
            let length = self.d[u] + weights[(u, v)];
            if !self.mark[v] || length < self.d[v] {
                self.d[v] = length;
                self.pi[v] = u;
                self.mark[v] = true;
            }
        }
    }
}

/// The length of a shortest path to each node, `None` where there is no path.
fn lengths(weights: &Matrix, source: usize) -> Vec<Option<f64>> {
    let n = weights.n();
    let mut lengths = vec![None; n];
    lengths[source] = Some(0.0);
    for u in topological_order(n, |u, v| weights.has_edge(u, v)).expect("`admits` refuses cycles") {
        if let Some(there) = lengths[u] {
            for v in weights.neighbours(u) {
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

    /// Figure 24.5 of the book: r, s, t, x, y, z are 0 to 5, and s is the source.
    #[test]
    fn finds_the_paths_of_the_book_negative_weights_included() {
        let rows = "[[0,5,3,0,0,0], [0,0,2,6,0,0], [0,0,0,7,4,2], [0,0,0,0,-1,1], [0,0,0,0,0,-2], [0,0,0,0,0,0]]";
        let book = format!(r#"{{"weights": {rows}, "source": 1}}"#);
        let mut recorder = Recorder::new::<DagShortestPaths>();
        recorder.record::<DagShortestPaths>(&SourcedGraph::from_json(&book).expect("a graph")).expect("acyclic");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 1, 1, 1, 3, 4])), "r cannot be reached");
        let Some(Cells::Scalar(lengths)) = sample.get("d") else { panic!("lengths are numbers") };
        assert_eq!(lengths[lengths.len() - 6..], [0.0, 0.0, 2.0, 6.0, 5.0, 3.0]);
        assert_eq!(sample.steps(), 3 * 5 + 1);
    }

    #[test]
    fn check_accepts_any_of_the_paths_that_are_equally_short() {
        let diamond = graph(4, 0, &[(0, 1, 0.1), (0, 2, 0.2), (1, 3, 0.2), (2, 3, 0.1), (0, 3, 0.4)]);
        let accepts = |pi: [usize; 4]| DagShortestPaths::check(&diamond, &Output { pi: pi.into() }).is_ok();
        assert!(accepts([0, 0, 0, 1]) && accepts([0, 0, 0, 2]));
        assert!(!accepts([0, 0, 0, 0]) && !accepts([0, 0, 0, 3]) && !accepts([0, 1, 0, 2]) && !accepts([1, 0, 0, 1]));
    }

    /// 0.1 + 0.2 - 0.3 is not 0 in binary, but the difference is nothing beside the three.
    #[test]
    fn check_measures_differences_beside_what_was_added_up() {
        let edges = [(0, 1, 0.1), (1, 2, 0.2), (2, 3, -0.3), (0, 4, 0.5), (4, 3, -0.5)];
        let cancelling = graph(5, 0, &edges);
        for parent in [2, 4] {
            assert_eq!(DagShortestPaths::check(&cancelling, &Output { pi: vec![0, 0, 1, parent, 0] }), Ok(()));
        }
    }

    #[test]
    fn cycles_and_infinite_lengths_are_rejected() {
        let reason = |json| {
            Recorder::new::<DagShortestPaths>()
                .record::<DagShortestPaths>(&SourcedGraph::from_json(json).expect("a graph"))
                .expect_err("an invalid problem")
                .to_string()
        };
        assert!(reason(r#"{"weights": [[0,1],[1,0]], "source": 0}"#).contains("a cycle through node"));
        assert_eq!(reason(r#"{"weights": [[0.5]], "source": 0}"#), "the graph has a cycle through node 0");
        assert!(reason(r#"{"weights": [[0,1e308,1e308],[0,0,0],[0,0,0]], "source": 0}"#).contains("not finite"));
    }
}
