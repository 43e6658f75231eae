//! Bridges
//!
//! # Idea
//! Searches in depth, and keeps for each node how early a discovery its subtree can reach without the edge to its parent
//! (`low`). Where a child's subtree reaches nothing as early as its parent, the edge between them is a bridge.
//!
//! # One step
//! A node is discovered, a white neighbour is moved to, a neighbour met before is looked back at, or a node is finished.
//! After each return the scan of the neighbours starts over, and looks back at the same ones again.
//!
//! # Steps
//! `3n`, plus one for each look back. There are at most `2n - 1` scans, and each looks back at most `n - 1` times:
//! never more than `3n + (2n - 1)(n - 1) = 2n² + 1`.
//!
//! # Textbook
//! CLRS 3rd ed., problem 22-2; Tarjan 1974.
//!
//! # What counts as right
//! Yes in both directions for each edge whose removal parts its ends, no for the other edges and on the whole diagonal, not
//! asked where there is no edge. There is one right answer.
//!
//! # Differences
//! Directed graphs are refused. As in the reference, times are sums of 0.01, and `v` is the last node whenever one finishes.

use crate::algorithm::{Algorithm, Family, Wrong};
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Maybe, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, Invalid, Matrix, RandomGraphs, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Bridges; see the [module](self).
pub struct Bridges;

probes! {
    Bridges;
    input {
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// weight of the edge
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// whether the edge is a bridge
        is_bridge: Edge<Maybe<Mask>>,
    }
    hint {
        /// whether the edge is known to be a bridge
        is_bridge_h: Edge<Maybe<Mask>>,
        /// parent in the search forest so far
        pi_h: Node<Pointer>,
        /// not seen, open or finished
        color: Node<Categorical<3>>,
        /// time of discovery
        d: Node<Scalar>,
        /// time of finishing
        f: Node<Scalar>,
        /// earliest discovery that the subtree is known to reach
        low: Node<Scalar>,
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

impl Algorithm for Bridges {
    const NAME: &'static str = "bridges";
    const SOURCE: Source = Source(include_str!("bridges.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::coins(Structure::Undirected, 0.2)
    }

    fn admits(graph: &Graph) -> Result<(), Invalid> {
        graph.weights.whole_weights()?;
        graph.weights.symmetric()
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, Invalid> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        2 * n * n + 1
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let mut search = Search::new(weights);
        for s in 0..weights.n() {
            if search.color[s] == WHITE {
                search.tree(s, hints);
            }
        }
        Output { is_bridge: search.is_bridge }
    }

    fn check(Graph { weights }: &Graph, output: &Output) -> Result<(), Wrong> {
        let n = weights.n();
        for (cell, &answer) in output.is_bridge.iter().enumerate() {
            let (u, v) = (cell / n, cell % n);
            let right = match weights.has_edge(u, v) {
                _ if u == v => Some(false),
                true => Some(!connected_without_edge(weights, u, v)),
                false => None,
            };
            if answer != right {
                return Err(Wrong(format!("`is_bridge` from {u} to {v} is {answer:?}, not {right:?}")));
            }
        }
        Ok(())
    }
}

const WHITE: usize = 0;
const GRAY: usize = 1;
const BLACK: usize = 2;

/// The reference counts time in hundredths, summed one by one: the rounding is part of the data.
const TICK: f64 = 0.01;

/// A depth-first search without recursion; the stack is the list from `s_last` along `s_prev`.
struct Search<'g> {
    weights: &'g Matrix,
    is_bridge: Vec<Option<bool>>,
    pi: Vec<usize>,
    color: Vec<usize>,
    d: Vec<f64>,
    f: Vec<f64>,
    low: Vec<f64>,
    s_prev: Vec<usize>,
    s: usize,
    u: usize,
    v: usize,
    s_last: usize,
    time: f64,
}

impl<'g> Search<'g> {
    fn new(weights: &'g Matrix) -> Self {
        let n = weights.n();
        Search {
            weights,
            is_bridge: weights.adjacency().into_iter().map(|edge| edge.then_some(false)).collect(),
            pi: (0..n).collect(),
            color: vec![WHITE; n],
            d: vec![0.0; n],
            f: vec![0.0; n],
            low: vec![0.0; n],
            s_prev: (0..n).collect(),
            s: 0,
            u: 0,
            v: 0,
            s_last: 0,
            time: 0.0,
        }
    }

    /// The one place where a row is made.
    fn hint(&self) -> Hint<'_> {
        Hint {
            is_bridge_h: &self.is_bridge,
            pi_h: &self.pi,
            color: &self.color,
            d: &self.d,
            f: &self.f,
            low: &self.low,
            s_prev: &self.s_prev,
            s: self.s,
            u: self.u,
            v: self.v,
            s_last: self.s_last,
            time: self.time,
        }
    }

    /// Searches everything that `root` reaches.
    fn tree(&mut self, root: usize, hints: &mut Hints<'_, Bridges>) {
        (self.s, self.u, self.v, self.s_last) = (root, root, root, root);
        hints.push(self.hint());
        loop {
            if self.d[self.u] == 0.0 {
                self.discover();
                hints.push(self.hint());
            }
            self.scan(hints);
            if self.s_last == self.u {
                self.finish();
                hints.push(self.hint());
                if self.u == root {
                    return;
                }
                self.s_last = std::mem::replace(&mut self.s_prev[self.u], self.u);
            }
            self.u = self.s_last;
        }
    }

    fn discover(&mut self) {
        self.time += TICK;
        self.d[self.u] = self.time;
        self.low[self.u] = self.time;
        self.color[self.u] = GRAY;
    }

    /// Looks at the neighbours of `u` in turn, up to the first white one, which goes on the stack.
    fn scan(&mut self, hints: &mut Hints<'_, Bridges>) {
        let u = self.u;
        for v in 0..self.weights.n() {
            self.v = v;
            if !self.weights.has_edge(u, v) {
                continue;
            }
            if self.color[v] == WHITE {
                self.pi[v] = u;
                self.color[v] = GRAY;
                self.s_prev[v] = self.s_last;
                self.s_last = v;
                hints.push(self.hint());
                return;
            }
            if v != self.pi[u] {
                self.low[u] = self.low[u].min(self.d[v]);
                hints.push(self.hint());
            }
        }
    }

    fn finish(&mut self) {
        let (u, n) = (self.u, self.weights.n());
        self.color[u] = BLACK;
        self.time += TICK;
        self.f[u] = self.time;
        for v in (0..n).filter(|&v| self.pi[v] == u) {
            self.low[u] = self.low[u].min(self.low[v]);
            if self.low[v] > self.d[u] {
                self.is_bridge[u * n + v] = Some(true);
                self.is_bridge[v * n + u] = Some(true);
            }
        }
    }
}

/// Whether a way leads from one end of an edge to the other when the edge is gone.
fn connected_without_edge(weights: &Matrix, from: usize, to: usize) -> bool {
    let mut seen = vec![false; weights.n()];
    seen[from] = true;
    let mut open = vec![from];
    while let Some(u) = open.pop() {
        for v in weights.neighbours(u).filter(|&v| (u, v) != (from, to)) {
            if !std::mem::replace(&mut seen[v], true) {
                open.push(v);
            }
        }
    }
    seen[to]
}

#[cfg(test)]
mod tests {
    use super::Bridges;
    use crate::{AnyAlgorithm, Cells};

    #[test]
    fn a_tail_is_a_bridge_and_a_triangle_has_none() {
        let mut recorder = Bridges.recorder();
        let kite = r#"{"weights": [[0,1,1,0],[1,0,1,0],[1,1,0,1],[0,0,1,0]]}"#;
        Bridges.record_json(kite, &mut recorder).expect("valid");
        let run = recorder.last().expect("recorded");
        let right = [0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, -1, 1, 0];
        assert_eq!(run.get("is_bridge"), Some(Cells::Class(&right)));
    }

    #[test]
    fn every_step_knows_the_line_that_recorded_it() {
        let mut recorder = Bridges.recorder();
        Bridges.record_json(r#"{"weights": [[0,1],[1,0]]}"#, &mut recorder).expect("valid");
        for site in recorder.sites(0) {
            assert!(site.file().ends_with("bridges.rs"), "{site}");
            assert!(Bridges.source().line(site.line()).expect("in the file").contains("hints.push"), "{site}");
        }
    }

    #[test]
    fn directed_graphs_are_refused() {
        let refused = Bridges.record_json(r#"{"weights": [[0,1],[0,0]]}"#, &mut Bridges.recorder()).expect_err("directed");
        assert_eq!(refused.to_string(), "the graph is directed: `weights` is not symmetric");
    }
}
