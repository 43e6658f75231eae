//! Floyd-Warshall algorithm
//!
//! # Idea
//! Finds shortest paths between all pairs of nodes. Given the shortest paths through the first `k` nodes only, a path through
//! one more node either avoids that node or consists of two known paths that meet there.
//!
//! # One step
//! All pairs try the paths through one more node, `k`.
//!
//! # Number of steps
//! `n`: the state before each node `k`. The state after the last one appears only in the output.
//!
//! # Textbook
//! CLRS 3rd ed., section 25.2.
//!
//! # Correctness
//! For every source, any tree of shortest paths, with lengths compared up to a relative tolerance of 1e-9; unreachable nodes
//! point to the source. The diagonal is ignored.
//!
//! # Differences from dm-clrs
//! Negative weights are accepted. A graph is rejected if it has a cycle of negative weight (an undirected negative edge is
//! one), or a cycle whose weight is so close to 0 that rounding makes it negative. As in dm-clrs, the path from a node to
//! itself starts with the weight of its self-loop, or 0 without one, and is replaced by a lighter cycle, with the last node
//! before the end of that cycle as predecessor.

use std::hint::select_unpredictable;

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::trees;
use crate::cell::{Edge, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, Structure, ensure_valid, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Floyd-Warshall algorithm; see the [module](self).
pub struct FloydWarshall;

probes! {
    FloydWarshall;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar>,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// predecessor of the column on a shortest path from the row
        pi as "Pi": Edge<Pointer>,
    }
    hint {
        /// predecessor of the column on the shortest path from the row known so far
        pi_h as "Pi_h": Edge<Pointer>,
        /// length of the shortest path known so far; 0 if none is known
        d as "D": Edge<Scalar>,
        /// whether a path is known
        msk: Edge<Mask>,
        /// intermediate node that is tried next
        k: Node<MaskOne>,
    }
}

impl Algorithm for FloydWarshall {
    const NAME: &'static str = "floyd_warshall";
    const SOURCE: Source = Source(include_str!("floyd_warshall.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted()
    }

    fn preconditions(graph: &Graph) -> Result<(), InvalidProblem> {
        let Graph { weights } = graph;
        trees::finite_sums(weights)?;
        if weights.non_negative().is_ok() {
            return Ok(());
        }
        let mut paths = Paths::new(weights);
        let message = || "the graph has a cycle whose weight is negative, or too close to 0 to compare".into();
        for k in 0..weights.n() {
            ensure_valid(!paths.has_negative_cycle(), message)?;
            paths.relax_through(k);
        }
        ensure_valid(!paths.has_negative_cycle() && Self::check(graph, &Output { pi: paths.pi }).is_ok(), message)
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, InvalidProblem> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        n
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut paths = Paths::new(weights);
        let (mut d, mut msk) = (vec![0.0; n * n], vec![false; n * n]);
        for k in 0..n {
            for ((d, msk), &length) in d.iter_mut().zip(&mut msk).zip(&paths.length) {
                *msk = length < NO_PATH;
                *d = if *msk { length } else { 0.0 };
            }
            hints.push(Hint { pi_h: &paths.pi, d: &d, msk: &msk, k });
            paths.relax_through(k);
        }
        Output { pi: paths.pi }
    }

    fn check(Graph { weights }: &Graph, output: &Output) -> Result<(), CheckFailure> {
        let n = weights.n();
        for (source, row) in output.pi.chunks(n).enumerate() {
            let mut pi = row.to_vec();
            pi[source] = source;
            for (node, reached) in trees::reachable(weights, source).into_iter().enumerate() {
                if !reached {
                    ensure(pi[node] == source, || {
                        format!(
                            "node {node} is not reachable from {source}, but its predecessor is {} instead of {source}",
                            pi[node]
                        )
                    })?;
                    pi[node] = node;
                }
            }
            trees::check_shortest_paths(weights, source, &pi)?;
        }
        Ok(())
    }
}

const NO_PATH: f64 = f64::INFINITY;

/// The shortest paths between all pairs known so far.
struct Paths {
    n: usize,
    pi: Vec<usize>,
    length: Vec<f64>,
    /// Copies of the row of `k`, which does not change while paths through `k` are tried, because no cycle is negative.
    pi_from_k: Vec<usize>,
    length_from_k: Vec<f64>,
}

impl Paths {
    /// Creates the paths of a single edge.
    fn new(weights: &Matrix) -> Paths {
        let n = weights.n();
        let length = |(&weight, is_path)| if is_path { weight } else { NO_PATH };
        Paths {
            n,
            pi: (0..n * n).map(|cell| cell / n).collect(),
            length: weights.cells().iter().zip(weights.adjacency()).map(length).collect(),
            pi_from_k: vec![0; n],
            length_from_k: vec![0.0; n],
        }
    }

    /// Tries all paths through `k`.
    fn relax_through(&mut self, k: usize) {
        let n = self.n;
        self.pi_from_k.copy_from_slice(&self.pi[k * n..][..n]);
        self.length_from_k.copy_from_slice(&self.length[k * n..][..n]);
        for (pi, length) in self.pi.chunks_mut(n).zip(self.length.chunks_mut(n)) {
            let to_k = length[k];
            if to_k < NO_PATH {
                relax(pi, length, to_k, &self.pi_from_k, &self.length_from_k);
            }
        }
    }

    fn has_negative_cycle(&self) -> bool {
        (0..self.n).any(|node| self.length[node * self.n + node] < 0.0)
    }
}

/// Relaxes a row of paths through `k`. Branch-free, so that it is vectorized: most of the run time is spent here.
fn relax(pi: &mut [usize], length: &mut [f64], to_k: f64, pi_from_k: &[usize], length_from_k: &[f64]) {
    for (((pi, length), &pi_from_k), &from_k) in pi.iter_mut().zip(length).zip(pi_from_k).zip(length_from_k) {
        let through = to_k + from_k;
        let shorter = through < *length;
        *length = select_unpredictable(shorter, through, *length);
        *pi = select_unpredictable(shorter, pi_from_k, *pi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Figure 25.1 of the textbook, whose nodes are counted from 1.
    const FIGURE: &str = r#"{"weights": [[0,3,8,0,-4], [0,0,0,1,7], [0,4,0,0,0], [2,0,-5,0,0], [0,0,0,6,0]]}"#;

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<FloydWarshall>();
        recorder.record::<FloydWarshall>(&Graph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn finds_the_predecessors_of_the_textbook() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let pi = [0, 2, 3, 4, 0, 3, 1, 3, 1, 0, 3, 2, 2, 1, 0, 3, 2, 3, 3, 0, 3, 2, 3, 4, 4];
        assert_eq!(sample.get("Pi"), Some(Cells::Node(&pi)));
        let Some(Cells::Scalar(d)) = sample.get("D") else { panic!("`D` is a scalar") };
        let d_4 = [0.0, 3.0, -1.0, 4.0, -4.0, 3.0, 0.0, -4.0, 1.0, -1.0, 7.0, 4.0, 0.0, 5.0, 3.0];
        assert_eq!(d[100..115], d_4, "before the last node is tried");
    }

    #[test]
    fn check_accepts_any_shortest_path_and_ignores_the_diagonal() {
        // A square with two paths to the opposite corner, and an isolated node.
        let square = r#"{"weights": [[0,1,1,0,0],[1,0,0,1,0],[1,0,0,1,0],[0,1,1,5,0],[0,0,0,0,0]]}"#;
        let graph = Graph::from_json(square).expect("a valid problem");
        let correct = [0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 2, 0, 2, 2, 2, 1, 3, 3, 3, 3, 4, 4, 4, 4, 4];
        let reason = |cell: usize, node: usize| {
            let mut pi = correct.to_vec();
            pi[cell] = node;
            FloydWarshall::check(&graph, &Output { pi }).err().map(|failure| failure.0)
        };
        assert_eq!(reason(0, 4), None, "the diagonal");
        assert_eq!(reason(3, 2), None, "the other path to the opposite corner");
        assert_eq!(reason(1, 3).as_deref(), Some("the pointers from node 1 do not lead to 0"));
        assert_eq!(reason(1, 2).as_deref(), Some("node 1 points to 2, but there is no edge from 2 to 1"));
        let unreachable = "node 4 is not reachable from 0, but its predecessor is 4 instead of 0";
        assert_eq!(reason(4, 4).as_deref(), Some(unreachable));
    }

    #[test]
    fn negative_cycles_are_rejected() {
        let rejected = |json| record(json).err().map(|error| error.to_string());
        let reason = "the graph has a cycle whose weight is negative, or too close to 0 to compare";
        assert_eq!(rejected(r#"{"weights": [[0,-1],[-1,0]]}"#).as_deref(), Some(reason));
        assert_eq!(rejected(r#"{"weights": [[0,1],[0,-1]]}"#).as_deref(), Some(reason));
        assert_eq!(rejected(r#"{"weights": [[0,1],[-1,0]]}"#), None, "exactly 0");
        let vanishes = r#"{"weights": [[0,1,0],[0,0,1e20],[0,-1e20,0]]}"#;
        assert_eq!(rejected(vanishes).as_deref(), Some(reason), "1 + 1e20 - 1e20 is 0 in floating point");
    }
}
