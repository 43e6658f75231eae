//! Depth-first search
//!
//! # Idea
//! Continues from the most recently discovered node as long as it has an undiscovered neighbor, then backtracks. Nodes that no
//! tree has reached become the roots of further trees.
//!
//! # One step
//! A node becomes a root, a node is discovered, a white neighbor is pushed, or a node is finished.
//!
//! # Number of steps
//! `3n`: each node becomes a root or is pushed, is discovered, and is finished.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.3.
//!
//! # Correctness
//! Any depth-first forest, for any order of the roots and of the neighbors of each node. Roots point to themselves.
//!
//! # Differences from dm-clrs
//! Weights other than 0, 1, 2, ... are rejected. As in dm-clrs, times are multiples of 0.01, accumulated in floating point, a
//! pushed node is gray before it is discovered, and `v` is the last node whenever a node is finished.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::acyclic::topological_order;
use crate::algorithms::depth_first::{BLACK, Clock, GRAY, WHITE, Walk};
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Depth-first search; see the [module](self).
pub struct Dfs;

probes! {
    Dfs;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// parent in the search forest; roots point to themselves
        pi: Node<Pointer> as i64,
    }
    hint {
        /// current parent in the search forest; the node itself if it has none
        pi_h: Node<Pointer>,
        /// 0 white (undiscovered), 1 gray (on the stack), 2 black (finished)
        color: Node<Categorical<3>>,
        /// discovery time; 0 if not discovered
        d: Node<Scalar>,
        /// finishing time; 0 if not finished
        f: Node<Scalar>,
        /// next node below on the stack; the node itself at the bottom or off the stack
        s_prev: Node<Pointer>,
        /// root of the current tree
        s: Node<MaskOne>,
        /// current node
        u: Node<MaskOne>,
        /// current neighbor of `u`
        v: Node<MaskOne>,
        /// node on top of the stack
        s_last: Node<MaskOne>,
        /// current time
        time: Global<Scalar>,
    }
}

impl Algorithm for Dfs {
    const NAME: &'static str = "dfs";
    const SOURCE: Source = Source(include_str!("dfs.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::erdos_renyi(Structure::Directed, 0.5)
    }

    fn preconditions(graph: &Graph) -> Result<(), InvalidProblem> {
        graph.weights.integer_weights()
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, InvalidProblem> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        3 * n
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut search = Search { pi: (0..n).collect(), walk: Walk::new(n), clock: Clock::new(n) };
        for s in 0..n {
            if search.walk.color[s] == WHITE {
                search.visit(s, weights, hints);
            }
        }
        Output { pi: search.pi }
    }

    /// A forest is correct if its trees, and the subtrees of each node, have an order that is consistent with all edges.
    fn check(Graph { weights }: &Graph, Output { pi }: &Output) -> Result<(), CheckFailure> {
        let n = weights.n();
        for (v, &u) in pi.iter().enumerate() {
            ensure(u == v || weights.has_edge(u, v), || format!("node {v} points to {u}, but there is no edge from {u} to {v}"))?;
        }
        let parents_first = topological_order(n, |u, v| u != v && pi[v] == u)
            .map_err(|node| CheckFailure(format!("the pointers from node {node} form a cycle")))?;
        let before = constraints(weights, pi, &parents_first);
        match topological_order(n, |earlier, later| before[earlier * n + later]) {
            Ok(_) => Ok(()),
            Err(v) if pi[v] == v => {
                Err(CheckFailure(format!("no order of the trees is consistent with the edges of the tree of {v}")))
            }
            Err(v) => Err(CheckFailure(format!(
                "no order of the children of {} is consistent with the edges of the subtree of {v}",
                pi[v]
            ))),
        }
    }
}

struct Search {
    pi: Vec<usize>,
    walk: Walk,
    clock: Clock,
}

impl Search {
    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let Search { pi, walk, clock } = self;
        Hint {
            pi_h: pi,
            color: &walk.color,
            d: &clock.d,
            f: &clock.f,
            s_prev: &walk.s_prev,
            s: walk.s,
            u: walk.u,
            v: walk.v,
            s_last: walk.s_last,
            time: clock.time,
        }
    }

    /// Visits all white nodes that `s` reaches.
    fn visit(&mut self, s: usize, weights: &Matrix, hints: &mut Hints<'_, Dfs>) {
        self.walk.begin(s);
        hints.push(self.hint());
        loop {
            let u = self.walk.u;
            if self.clock.d[u] == 0.0 {
                self.walk.color[u] = GRAY;
                self.clock.discover(u);
                hints.push(self.hint());
            }
            if let Some(v) = self.walk.push_white(weights) {
                self.pi[v] = u;
                hints.push(self.hint());
                self.walk.descend();
            } else {
                self.walk.color[u] = BLACK;
                self.clock.finish(u);
                hints.push(self.hint());
                if !self.walk.ascend() {
                    return;
                }
            }
        }
    }
}

/// For each pair of siblings (or roots), whether the first must be visited before the second. An edge between nodes of which
/// neither is an ancestor of the other leads to the one visited earlier, so the subtree of its head precedes that of its
/// tail.
fn constraints(weights: &Matrix, pi: &[usize], parents_first: &[usize]) -> Vec<bool> {
    let n = weights.n();
    let mut depth = vec![0; n];
    for &v in parents_first.iter().filter(|&&v| pi[v] != v) {
        depth[v] = depth[pi[v]] + 1;
    }
    let mut before = vec![false; n * n];
    let mut path = Vec::new();
    let mut branch = vec![None; n];
    for u in 0..n {
        path.clear();
        path.extend(std::iter::successors(Some(u), |&v| (pi[v] != v).then_some(pi[v])));
        path.reverse();
        let on_path = |v: usize| path.get(depth[v]) == Some(&v);
        // For each node, the ancestor (or the node itself) that branches off the path from the root to `u`.
        for &v in parents_first {
            branch[v] = match pi[v] {
                _ if on_path(v) => None,
                parent if parent == v || on_path(parent) => Some(v),
                parent => branch[parent],
            };
        }
        for earlier in weights.neighbors(u).filter_map(|v| branch[v]) {
            // Descendants of `u` impose no constraint: they are visited from it.
            if let Some(later) = path.get(depth[earlier]) {
                before[earlier * n + later] = true;
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    fn graph(n: usize, edges: &[(usize, usize)]) -> Graph {
        Graph { weights: Matrix::from_fn(n, |u, v| f64::from(edges.contains(&(u, v)))) }
    }

    fn accepts(graph: &Graph, pi: &[usize]) -> bool {
        Dfs::check(graph, &Output { pi: pi.to_vec() }).is_ok()
    }

    /// Figure 22.4 of the textbook; u, v, w, x, y, z are nodes 0 to 5.
    #[test]
    fn finds_the_forest_and_the_times_of_the_textbook() {
        let mut recorder = Recorder::new::<Dfs>();
        let textbook = graph(6, &[(0, 1), (0, 3), (1, 4), (2, 4), (2, 5), (3, 1), (4, 3), (5, 5)]);
        recorder.record::<Dfs>(&textbook).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 0, 2, 4, 1, 2])));
        let ticks = |name| {
            let Some(Cells::Scalar(times)) = sample.get(name) else { panic!("`{name}` is a scalar") };
            times[times.len() - 6..].iter().map(|time| (time / Clock::TICK).round()).collect::<Vec<f64>>()
        };
        assert_eq!(ticks("d"), [1.0, 2.0, 9.0, 4.0, 3.0, 10.0]);
        assert_eq!(ticks("f"), [8.0, 7.0, 12.0, 5.0, 6.0, 11.0]);
        assert_eq!(sample.steps(), 18);
    }

    #[test]
    fn check_accepts_any_order_of_roots_and_neighbors() {
        let path = graph(3, &[(0, 1), (1, 2)]);
        for pi in [[0, 0, 1], [0, 0, 2], [0, 1, 1], [0, 1, 2]] {
            assert!(accepts(&path, &pi), "{pi:?}");
        }
        let triangle = graph(3, &[(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]);
        for pi in [[0, 0, 1], [0, 2, 0], [1, 1, 0], [2, 1, 1], [1, 2, 2], [2, 0, 2]] {
            assert!(accepts(&triangle, &pi), "{pi:?}");
        }
    }

    #[test]
    fn check_rejects_forests_that_no_search_produces() {
        let reason = |graph: &Graph, pi: &[usize]| {
            Dfs::check(graph, &Output { pi: pi.into() }).expect_err("an incorrect output").to_string()
        };
        let triangle = graph(3, &[(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]);
        assert!(reason(&triangle, &[0, 0, 0]).contains("no order of the children of 0"), "a breadth-first tree");
        assert!(reason(&triangle, &[0, 1, 1]).contains("no order of the trees"));
        assert_eq!(reason(&graph(2, &[(0, 1)]), &[1, 1]), "node 0 points to 1, but there is no edge from 1 to 0");
        assert!(reason(&triangle, &[1, 2, 0]).contains("form a cycle"));
        // Each constraint can be satisfied alone, but not all three together.
        let ring = graph(7, &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6), (4, 2), (5, 3), (6, 1)]);
        assert!(!accepts(&ring, &[0, 0, 0, 0, 1, 2, 3]));
    }

    #[test]
    fn non_integer_weights_are_rejected() {
        let rejected = Recorder::new::<Dfs>()
            .record::<Dfs>(&Graph::from_json(r#"{"weights": [[0,0.5],[0,0]]}"#).expect("a graph"))
            .expect_err("not an integer");
        assert_eq!(rejected.to_string(), "`weights` has a value that is not a non-negative integer");
    }
}
