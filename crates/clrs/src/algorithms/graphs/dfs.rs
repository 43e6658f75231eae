//! Depth-first search
//!
//! # Idea
//! Goes on from the newest node for as long as it has a neighbour that was not seen, then steps back. Nodes that no tree
//! reached become the roots of further ones.
//!
//! # One step
//! A node is taken as root, a node is discovered, a white neighbour is moved to, or a node is finished.
//!
//! # Steps
//! `3n`: each node is taken as root or moved to, discovered, and finished.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.3.
//!
//! # What counts as right
//! Any forest that a depth-first search can give, with the roots and the neighbours of each node in any order. Roots point to
//! themselves.
//!
//! # Differences
//! Weights other than 0, 1, 2, .. are refused. As in the reference, times are sums of 0.01, a node is gray once it is moved to,
//! before it is discovered, and `v` is the last node whenever one finishes.

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
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// weight of the edge
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// parent in the search forest
        pi: Node<Pointer> as i64,
    }
    hint {
        /// parent in the search forest so far
        pi_h: Node<Pointer>,
        /// not seen, open or finished
        color: Node<Categorical<3>>,
        /// time of discovery
        d: Node<Scalar>,
        /// time of finishing
        f: Node<Scalar>,
        /// node below on the stack, itself at the bottom or off the stack
        s_prev: Node<Pointer>,
        /// root of the current tree
        s: Node<MaskOne>,
        /// node being worked on
        u: Node<MaskOne>,
        /// neighbour being looked at
        v: Node<MaskOne>,
        /// top of the stack
        s_last: Node<MaskOne>,
        /// clock
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

    /// A forest is right if the trees, and the branches below each node, can be put in an order that all edges agree with.
    fn check(Graph { weights }: &Graph, Output { pi }: &Output) -> Result<(), CheckFailure> {
        let n = weights.n();
        for (v, &u) in pi.iter().enumerate() {
            ensure(u == v || weights.has_edge(u, v), || format!("node {v} points to {u}, but no edge leads from there"))?;
        }
        let parents_first = topological_order(n, |u, v| u != v && pi[v] == u)
            .map_err(|node| CheckFailure(format!("the parents of node {node} lead back to itself")))?;
        let before = demands(weights, pi, &parents_first);
        match topological_order(n, |earlier, later| before[earlier * n + later]) {
            Ok(_) => Ok(()),
            Err(v) if pi[v] == v => Err(CheckFailure(format!("edges to and from the tree of {v} allow no order of the trees"))),
            Err(v) => {
                Err(CheckFailure(format!("edges to and from the branch of {v} allow no order of the branches below {}", pi[v])))
            }
        }
    }
}

struct Search {
    pi: Vec<usize>,
    walk: Walk,
    clock: Clock,
}

impl Search {
    /// The one place where a row is made.
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

    /// Visits everything white that `s` reaches.
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

/// Which of two siblings must be visited first: an edge between nodes that are not above one another leads to the one that was
/// visited before, and so does the order of the branches that hold them where their ways from the root part.
fn demands(weights: &Matrix, pi: &[usize], parents_first: &[usize]) -> Vec<bool> {
    let n = weights.n();
    let mut depth = vec![0; n];
    for &v in parents_first.iter().filter(|&&v| pi[v] != v) {
        depth[v] = depth[pi[v]] + 1;
    }
    let mut before = vec![false; n * n];
    let mut way = Vec::new();
    let mut branch = vec![None; n];
    for u in 0..n {
        way.clear();
        way.extend(std::iter::successors(Some(u), |&v| (pi[v] != v).then_some(pi[v])));
        way.reverse();
        let on_way = |v: usize| way.get(depth[v]) == Some(&v);
        // For each node, the one above it (or itself) whose way from the root was the same as that of `u` up to its parent.
        for &v in parents_first {
            branch[v] = match pi[v] {
                _ if on_way(v) => None,
                parent if parent == v || on_way(parent) => Some(v),
                parent => branch[parent],
            };
        }
        for earlier in weights.neighbours(u).filter_map(|v| branch[v]) {
            // Below `u` itself there is no one to compare with: its descendants are visited from it.
            if let Some(later) = way.get(depth[earlier]) {
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

    /// Figure 22.4 of the book; u, v, w, x, y, z are 0 to 5.
    #[test]
    fn finds_the_forest_and_the_times_of_the_book() {
        let mut recorder = Recorder::new::<Dfs>();
        let book = graph(6, &[(0, 1), (0, 3), (1, 4), (2, 4), (2, 5), (3, 1), (4, 3), (5, 5)]);
        recorder.record::<Dfs>(&book).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 0, 2, 4, 1, 2])));
        let ticks = |name| {
            let Some(Cells::Scalar(times)) = sample.get(name) else { panic!("{name} is a column of numbers") };
            times[times.len() - 6..].iter().map(|time| (time / Clock::TICK).round()).collect::<Vec<f64>>()
        };
        assert_eq!(ticks("d"), [1.0, 2.0, 9.0, 4.0, 3.0, 10.0]);
        assert_eq!(ticks("f"), [8.0, 7.0, 12.0, 5.0, 6.0, 11.0]);
        assert_eq!(sample.steps(), 18);
    }

    #[test]
    fn check_accepts_any_order_of_roots_and_neighbours() {
        let way = graph(3, &[(0, 1), (1, 2)]);
        for right in [[0, 0, 1], [0, 0, 2], [0, 1, 1], [0, 1, 2]] {
            assert!(accepts(&way, &right), "{right:?}");
        }
        let triangle = graph(3, &[(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]);
        for right in [[0, 0, 1], [0, 2, 0], [1, 1, 0], [2, 1, 1], [1, 2, 2], [2, 0, 2]] {
            assert!(accepts(&triangle, &right), "{right:?}");
        }
    }

    #[test]
    fn check_refuses_forests_that_no_search_gives() {
        let reason = |graph: &Graph, pi: &[usize]| {
            Dfs::check(graph, &Output { pi: pi.into() }).expect_err("an incorrect output").to_string()
        };
        let triangle = graph(3, &[(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]);
        assert!(
            reason(&triangle, &[0, 0, 0]).contains("allow no order of the branches below 0"),
            "as breadth-first search has it"
        );
        assert!(reason(&triangle, &[0, 1, 1]).contains("allow no order of the trees"));
        assert_eq!(reason(&graph(2, &[(0, 1)]), &[1, 1]), "node 0 points to 1, but no edge leads from there");
        assert!(reason(&triangle, &[1, 2, 0]).contains("lead back to itself"));
        // Each demand by itself can be met, but not all three.
        let ring = graph(7, &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6), (4, 2), (5, 3), (6, 1)]);
        assert!(!accepts(&ring, &[0, 0, 0, 0, 1, 2, 3]));
    }

    #[test]
    fn non_integer_weights_are_rejected() {
        let rejected = Recorder::new::<Dfs>()
            .record::<Dfs>(&Graph::from_json(r#"{"weights": [[0,0.5],[0,0]]}"#).expect("a graph"))
            .expect_err("a half");
        assert_eq!(rejected.to_string(), "`weights` has a number that is not a non-negative integer");
    }
}
