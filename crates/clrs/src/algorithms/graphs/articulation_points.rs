//! Articulation points
//!
//! # Idea
//! Runs a depth-first search and computes for each node the earliest discovery time reachable from its subtree without the edge
//! to its parent (`low`). If no node above the parent is reachable from a child's subtree, the parent is an articulation point.
//! A root is one if it has more than one child.
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
//! True for each node whose removal disconnects some of its neighbors, false for all others. The correct output is unique.
//!
//! # Differences from dm-clrs
//! Directed graphs and weights other than 0, 1, 2, ... are rejected. As in dm-clrs, times and child counts are multiples of
//! 0.01, accumulated in floating point, and `v` is the last node whenever a node is finished.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::depth_first::{BLACK, Clock, GRAY, WHITE, Walk};
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Articulation points; see the [module](self).
pub struct ArticulationPoints;

probes! {
    ArticulationPoints;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// whether the node is an articulation point
        is_cut: Node<Mask>,
    }
    hint {
        /// whether the node is known to be an articulation point
        is_cut_h: Node<Mask>,
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
        /// number of children in the search forest, times 0.01
        child_cnt: Node<Scalar>,
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

impl Algorithm for ArticulationPoints {
    const NAME: &'static str = "articulation_points";
    const SOURCE: Source = Source(include_str!("articulation_points.rs"));
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
            is_cut: vec![false; n],
            pi: (0..n).collect(),
            low: vec![0.0; n],
            child_cnt: vec![0.0; n],
            walk: Walk::new(n),
            clock: Clock::new(n),
        };
        for s in 0..n {
            if search.walk.color[s] == WHITE {
                search.visit(s, weights, hints);
            }
        }
        Output { is_cut: search.is_cut }
    }

    fn check(Graph { weights }: &Graph, Output { is_cut }: &Output) -> Result<(), CheckFailure> {
        for (node, &claimed) in is_cut.iter().enumerate() {
            ensure(claimed == separates_neighbors(weights, node), || {
                let state = if claimed { "stay connected" } else { "are disconnected" };
                format!("`is_cut` of node {node} is {claimed}, but its neighbors {state} without it")
            })?;
        }
        Ok(())
    }
}

struct Search {
    is_cut: Vec<bool>,
    pi: Vec<usize>,
    low: Vec<f64>,
    child_cnt: Vec<f64>,
    walk: Walk,
    clock: Clock,
}

impl Search {
    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let Search { is_cut, pi, low, child_cnt, walk, clock } = self;
        Hint {
            is_cut_h: is_cut,
            pi_h: pi,
            color: &walk.color,
            d: &clock.d,
            f: &clock.f,
            low,
            child_cnt,
            s_prev: &walk.s_prev,
            s: walk.s,
            u: walk.u,
            v: walk.v,
            s_last: walk.s_last,
            time: clock.time,
        }
    }

    /// Visits all nodes that `s` reaches.
    fn visit(&mut self, s: usize, weights: &Matrix, hints: &mut Hints<'_, ArticulationPoints>) {
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
    fn scan(&mut self, weights: &Matrix, hints: &mut Hints<'_, ArticulationPoints>) -> bool {
        let u = self.walk.u;
        for v in weights.neighbors(u) {
            self.walk.v = v;
            if self.walk.color[v] == WHITE {
                self.pi[v] = u;
                self.child_cnt[u] += Clock::TICK;
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
        let u = self.walk.u;
        self.walk.color[u] = BLACK;
        self.clock.finish(u);
        let is_root = self.pi[u] == u;
        for v in (0..self.pi.len()).filter(|&v| self.pi[v] == u) {
            self.low[u] = self.low[u].min(self.low[v]);
            if !is_root && self.low[v] >= self.clock.d[u] {
                self.is_cut[u] = true;
            }
        }
        if is_root && self.child_cnt[u] > Clock::TICK {
            self.is_cut[u] = true;
        }
    }
}

/// Whether the removal of a node disconnects some of its neighbors.
fn separates_neighbors(weights: &Matrix, node: usize) -> bool {
    let Some(first) = weights.neighbors(node).find(|&v| v != node) else { return false };
    let mut seen = vec![false; weights.n()];
    seen[node] = true;
    seen[first] = true;
    let mut open = vec![first];
    while let Some(u) = open.pop() {
        for v in weights.neighbors(u) {
            if !std::mem::replace(&mut seen[v], true) {
                open.push(v);
            }
        }
    }
    weights.neighbors(node).any(|v| !seen[v])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Two triangles that share node 0, and a path from 4 through 5 to 6.
    const BOW_TIE: [(usize, usize); 8] = [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4), (4, 5), (5, 6)];

    fn bow_tie() -> Graph {
        Graph { weights: Matrix::from_fn(7, |u, v| f64::from(BOW_TIE.contains(&(u.min(v), u.max(v))))) }
    }

    #[test]
    fn a_shared_corner_and_inner_nodes_of_a_path_are_articulation_points() {
        let mut recorder = Recorder::new::<ArticulationPoints>();
        recorder.record::<ArticulationPoints>(&bow_tie()).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("is_cut"), Some(Cells::Class(&[1, 0, 0, 0, 1, 1, 0])));
    }

    #[test]
    fn check_reports_the_incorrect_node() {
        let reason = |is_cut: [bool; 7]| {
            ArticulationPoints::check(&bow_tie(), &Output { is_cut: is_cut.into() }).expect_err("an incorrect output").to_string()
        };
        assert_eq!(reason([true; 7]), "`is_cut` of node 1 is true, but its neighbors stay connected without it");
        assert_eq!(reason([false; 7]), "`is_cut` of node 0 is false, but its neighbors are disconnected without it");
    }

    #[test]
    fn the_complete_graph_with_self_loops_attains_max_steps() {
        for n in 1..8 {
            let mut recorder = Recorder::new::<ArticulationPoints>();
            recorder.record::<ArticulationPoints>(&Graph { weights: Matrix::from_fn(n, |_, _| 1.0) }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), ArticulationPoints::max_steps(n));
        }
    }

    #[test]
    fn directed_graphs_are_rejected() {
        let json = r#"{"weights": [[0,1],[0,0]]}"#;
        let rejected = Recorder::new::<ArticulationPoints>()
            .record::<ArticulationPoints>(&Graph::from_json(json).expect("a graph"))
            .expect_err("directed");
        assert_eq!(rejected.to_string(), "the graph is directed: `weights` is not symmetric");
    }
}
