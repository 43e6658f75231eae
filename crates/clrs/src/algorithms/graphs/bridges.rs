//! Bridges
//!
//! # Idea
//! Runs a depth-first search and computes for each node the earliest discovery time reachable from its subtree without the edge
//! to its parent (`low`). If neither the parent nor a node above it is reachable from a child's subtree, the edge between them
//! is a bridge.
//!
//! # One step
//! A node becomes a root, a node is discovered, a white neighbor is pushed, an edge to a visited node other than the parent is
//! examined, or a node is finished. After each return to a node, the scan of its neighbors restarts and examines the same
//! edges again.
//!
//! # Number of steps
//! `3n`, plus one per edge examined. The last scan of a node examines at most `n - 1` edges; the scan that discovers the `k`-th
//! node, counted from 0, at most `k - 1`. In total at most `(3n² + n + 2) / 2`, attained by the complete graph with all
//! self-loops.
//!
//! # Textbook
//! CLRS 3rd ed., problem 22-2; Tarjan 1974.
//!
//! # Correctness
//! For each edge, in both directions: true if its removal disconnects its endpoints, false otherwise. The diagonal and pairs
//! without an edge are ignored. The output for the edges is unique.
//!
//! # Differences from dm-clrs
//! Directed graphs and weights other than 0, 1, 2, ... are rejected. As in dm-clrs, the diagonal is false rather than masked
//! out, times are multiples of 0.01, accumulated in floating point, and `v` is the last node whenever a node is finished.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::depth_first::{BLACK, Clock, GRAY, WHITE, Walk};
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Masked, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Bridges; see the [module](self).
pub struct Bridges;

probes! {
    Bridges;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// whether the edge is a bridge; masked out if there is no edge
        is_bridge: Edge<Masked<Mask>>,
    }
    hint {
        /// whether the edge is known to be a bridge; masked out if there is no edge
        is_bridge_h: Edge<Masked<Mask>>,
        /// current parent in the search forest; the node itself if it has none
        pi_h: Node<Pointer>,
        /// 0 white (undiscovered), 1 gray (on the stack), 2 black (finished)
        color: Node<Categorical<3>>,
        /// discovery time; 0 if not discovered
        d: Node<Scalar>,
        /// finishing time; 0 if not finished
        f: Node<Scalar>,
        /// earliest discovery time known to be reachable from the subtree
        low: Node<Scalar>,
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

impl Algorithm for Bridges {
    const NAME: &'static str = "bridges";
    const SOURCE: Source = Source(include_str!("bridges.rs"));
    const FAMILY: Family = Family::Graphs;
    const EDGE_PROBABILITY_SCALE: f64 = 0.5;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::erdos_renyi(Structure::Undirected, 0.2)
    }

    fn preconditions(graph: &Graph) -> Result<(), InvalidProblem> {
        graph.weights.integer_weights()?;
        graph.weights.symmetric()
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, InvalidProblem> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        (3 * n * n + n + 2) / 2
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut search = Search {
            is_bridge: weights.adjacency().into_iter().map(|edge| edge.then_some(false)).collect(),
            pi: (0..n).collect(),
            low: vec![0.0; n],
            walk: Walk::new(n),
            clock: Clock::new(n),
        };
        for s in 0..n {
            if search.walk.color[s] == WHITE {
                search.visit(s, weights, hints);
            }
        }
        Output { is_bridge: search.is_bridge }
    }

    /// A bridge is an edge of a spanning forest that is not on a cycle.
    fn check(Graph { weights }: &Graph, Output { is_bridge }: &Output) -> Result<(), CheckFailure> {
        let Forest { parent, on_cycle } = Forest::new(weights);
        for u in 0..weights.n() {
            for v in weights.neighbors(u).filter(|&v| v != u) {
                let below = |child: usize, upper: usize| parent[child] == upper && !on_cycle[child];
                let (claimed, actual) = (is_bridge[u * weights.n() + v], below(u, v) || below(v, u));
                ensure(claimed == Some(actual), || {
                    let claimed = claimed.map_or("masked out".into(), |claimed| claimed.to_string());
                    format!("`is_bridge` from {u} to {v} is {claimed}, expected {actual}")
                })?;
            }
        }
        Ok(())
    }
}

struct Search {
    is_bridge: Vec<Option<bool>>,
    pi: Vec<usize>,
    low: Vec<f64>,
    walk: Walk,
    clock: Clock,
}

impl Search {
    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let Search { is_bridge, pi, low, walk, clock } = self;
        Hint {
            is_bridge_h: is_bridge,
            pi_h: pi,
            color: &walk.color,
            d: &clock.d,
            f: &clock.f,
            low,
            s_prev: &walk.s_prev,
            s: walk.s,
            u: walk.u,
            v: walk.v,
            s_last: walk.s_last,
            time: clock.time,
        }
    }

    /// Visits all nodes that `s` reaches.
    fn visit(&mut self, s: usize, weights: &Matrix, hints: &mut Hints<'_, Bridges>) {
        self.walk.begin(s);
        hints.push(self.hint());
        loop {
            let u = self.walk.u;
            if self.clock.d[u] == 0.0 {
                self.walk.color[u] = GRAY;
                self.clock.discover(u);
                self.low[u] = self.clock.time;
                hints.push(self.hint());
            }
            if self.scan(weights, hints) {
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

    /// Scans the neighbors of `u` up to the first white one, which is pushed. Returns `false` if there is none.
    fn scan(&mut self, weights: &Matrix, hints: &mut Hints<'_, Bridges>) -> bool {
        let u = self.walk.u;
        for v in weights.neighbors(u) {
            self.walk.v = v;
            if self.walk.color[v] == WHITE {
                self.pi[v] = u;
                self.walk.push(v);
                hints.push(self.hint());
                return true;
            }
            if v != self.pi[u] {
                self.low[u] = self.low[u].min(self.clock.d[v]);
                hints.push(self.hint());
            }
        }
        self.walk.v = weights.n() - 1;
        false
    }

    fn finish(&mut self) {
        let (u, n) = (self.walk.u, self.pi.len());
        self.walk.color[u] = BLACK;
        self.clock.finish(u);
        for v in (0..n).filter(|&v| self.pi[v] == u) {
            self.low[u] = self.low[u].min(self.low[v]);
            if self.low[v] > self.clock.d[u] {
                self.is_bridge[u * n + v] = Some(true);
                self.is_bridge[v * n + u] = Some(true);
            }
        }
    }
}

/// A breadth-first spanning forest, and for each node whether the edge to its parent is on a cycle.
struct Forest {
    parent: Vec<usize>,
    on_cycle: Vec<bool>,
}

impl Forest {
    fn new(weights: &Matrix) -> Forest {
        let n = weights.n();
        let mut parent: Vec<usize> = (0..n).collect();
        let mut depth = vec![None; n];
        for root in 0..n {
            if depth[root].is_some() {
                continue;
            }
            depth[root] = Some(0);
            let mut queue = std::collections::VecDeque::from([(root, 0)]);
            while let Some((u, level)) = queue.pop_front() {
                for v in weights.neighbors(u).filter(|&v| depth[v].is_none()).collect::<Vec<_>>() {
                    depth[v] = Some(level + 1);
                    parent[v] = u;
                    queue.push_back((v, level + 1));
                }
            }
        }
        // Every other edge closes a cycle with the paths from its endpoints to their lowest common ancestor.
        let mut on_cycle = vec![false; n];
        for u in 0..n {
            for v in weights.neighbors(u).filter(|&v| v < u && parent[u] != v && parent[v] != u) {
                let (mut a, mut b) = (u, v);
                while a != b {
                    let lower = if depth[a] >= depth[b] { &mut a } else { &mut b };
                    on_cycle[*lower] = true;
                    *lower = parent[*lower];
                }
            }
        }
        Forest { parent, on_cycle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// A triangle and an edge to a fourth node.
    fn kite() -> Graph {
        let edges = [(0, 1), (0, 2), (1, 2), (2, 3)];
        Graph { weights: Matrix::from_fn(4, |u, v| f64::from(edges.contains(&(u.min(v), u.max(v))))) }
    }

    #[test]
    fn an_edge_outside_the_triangle_is_the_only_bridge() {
        let mut recorder = Recorder::new::<Bridges>();
        recorder.record::<Bridges>(&kite()).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let expected = [0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, -1, 1, 0];
        assert_eq!(sample.get("is_bridge"), Some(Cells::Class(&expected)));
    }

    #[test]
    fn check_compares_edges_in_both_directions_and_nothing_else() {
        let values = [None, Some(false), Some(true)];
        let check = |other: Option<bool>, there: Option<bool>, back: Option<bool>| {
            let mut is_bridge: Vec<Option<bool>> =
                kite().weights.cells().iter().map(|&weight| if weight == 0.0 { other } else { Some(false) }).collect();
            (is_bridge[2 * 4 + 3], is_bridge[3 * 4 + 2]) = (there, back);
            Bridges::check(&kite(), &Output { is_bridge })
        };
        for other in values {
            assert_eq!(check(other, Some(true), Some(true)), Ok(()), "{other:?} on the diagonal and for pairs without an edge");
        }
        for (there, back) in values.into_iter().flat_map(|there| values.map(|back| (there, back))) {
            let correct = there == Some(true) && back == Some(true);
            assert_eq!(check(None, there, back).is_ok(), correct, "{there:?} and {back:?} on the bridge");
        }
        let reason = check(None, Some(true), None).expect_err("an incorrect output").to_string();
        assert_eq!(reason, "`is_bridge` from 3 to 2 is masked out, expected true");
    }

    #[test]
    fn the_complete_graph_with_self_loops_attains_max_steps() {
        for n in 1..8 {
            let mut recorder = Recorder::new::<Bridges>();
            recorder.record::<Bridges>(&Graph { weights: Matrix::from_fn(n, |_, _| 1.0) }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Bridges::max_steps(n));
        }
    }

    #[test]
    fn directed_graphs_are_rejected() {
        let rejected = Recorder::new::<Bridges>()
            .record::<Bridges>(&Graph::from_json(r#"{"weights": [[0,1],[0,0]]}"#).expect("a graph"))
            .expect_err("directed");
        assert_eq!(rejected.to_string(), "the graph is directed: `weights` is not symmetric");
    }
}
