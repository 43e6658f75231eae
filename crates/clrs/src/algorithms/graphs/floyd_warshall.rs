//! Floyd-Warshall algorithm
//!
//! # Idea
//! Finds shortest paths between all pairs of nodes. Those that pass only through the first `k` nodes are known; with one node
//! more, a path either avoids it or is made of two known ones that meet there.
//!
//! # One step
//! All pairs try the paths that pass through one more node, `k`.
//!
//! # Steps
//! `n`, one before each node is tried. The state after the last one is told by the output only.
//!
//! # Textbook
//! CLRS 3rd ed., section 25.2.
//!
//! # What counts as right
//! For every source, any tree of shortest paths, with lengths compared within 1e-9; nodes that cannot be reached point to the
//! source. The diagonal is not judged.
//!
//! # Differences
//! Weights may be negative. Refused are graphs with a cycle of weight below 0, which an undirected edge below 0 is too, or with
//! a cycle so near to 0 that rounding takes it for one. As in the reference, a node's way to itself has the weight of its
//! loop, or of a cycle found to be lighter, with that cycle's last node but one as predecessor; without a loop its length
//! stays 0.

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
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// weight of the edge
        weights as "A": Edge<Scalar>,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// predecessor of the column on a shortest path from the row
        pi as "Pi": Edge<Pointer>,
    }
    hint {
        /// predecessor of the column on the shortest path known so far
        pi_h as "Pi_h": Edge<Pointer>,
        /// length of the shortest path known so far, 0 if none is
        d as "D": Edge<Scalar>,
        /// whether a path is known
        msk: Edge<Mask>,
        /// node that paths are about to be led through
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
        let below_zero = || "there is a cycle whose weights add up to less than 0, or to 0 but for rounding".into();
        for k in 0..weights.n() {
            ensure_valid(!paths.cycle_below_zero(), below_zero)?;
            paths.lead_through(k);
        }
        ensure_valid(!paths.cycle_below_zero() && Self::check(graph, &Output { pi: paths.pi }).is_ok(), below_zero)
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
            paths.lead_through(k);
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
                        format!("no path leads from {source} to {node}, whose predecessor is {}, not {source}", pi[node])
                    })?;
                    pi[node] = node;
                }
            }
            trees::shortest_paths(weights, source, &pi)?;
        }
        Ok(())
    }
}

const NO_PATH: f64 = f64::INFINITY;

/// The shortest paths known so far, between all pairs.
struct Paths {
    n: usize,
    pi: Vec<usize>,
    length: Vec<f64>,
    /// The row of the node that paths are led through. It does not change meanwhile, for no cycle there is below 0.
    pi_from_k: Vec<usize>,
    length_from_k: Vec<f64>,
}

impl Paths {
    /// Paths of a single edge.
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

    fn lead_through(&mut self, k: usize) {
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

    fn cycle_below_zero(&self) -> bool {
        (0..self.n).any(|node| self.length[node * self.n + node] < 0.0)
    }
}

/// A row of paths, tried by way of `k`. Without branches it takes several columns at a time: most of the time goes here.
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

    /// Figure 25.1 of the book, whose nodes count from 1.
    const FIGURE: &str = r#"{"weights": [[0,3,8,0,-4], [0,0,0,1,7], [0,4,0,0,0], [2,0,-5,0,0], [0,0,0,6,0]]}"#;

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<FloydWarshall>();
        recorder.record::<FloydWarshall>(&Graph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn finds_the_predecessors_of_figure_25_4() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let pi = [0, 2, 3, 4, 0, 3, 1, 3, 1, 0, 3, 2, 2, 1, 0, 3, 2, 3, 3, 0, 3, 2, 3, 4, 4];
        assert_eq!(sample.get("Pi"), Some(Cells::Node(&pi)));
        let Some(Cells::Scalar(d)) = sample.get("D") else { panic!("lengths") };
        let d_4 = [0.0, 3.0, -1.0, 4.0, -4.0, 3.0, 0.0, -4.0, 1.0, -1.0, 7.0, 4.0, 0.0, 5.0, 3.0];
        assert_eq!(d[100..115], d_4, "before the last node");
    }

    #[test]
    fn check_ignores_the_diagonal() {
        // A square with two ways to the opposite corner, and a node that is alone.
        let square = r#"{"weights": [[0,1,1,0,0],[1,0,0,1,0],[1,0,0,1,0],[0,1,1,5,0],[0,0,0,0,0]]}"#;
        let graph = Graph::from_json(square).expect("a valid problem");
        let right = [0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 2, 0, 2, 2, 2, 1, 3, 3, 3, 3, 4, 4, 4, 4, 4];
        let reason = |cell: usize, node: usize| {
            let mut pi = right.to_vec();
            pi[cell] = node;
            FloydWarshall::check(&graph, &Output { pi }).err().map(|failure| failure.0)
        };
        assert_eq!(reason(0, 4), None, "the diagonal");
        assert_eq!(reason(3, 2), None, "the other way around");
        assert_eq!(reason(1, 3).as_deref(), Some("the pointers from node 1 do not lead to 0"));
        assert_eq!(reason(1, 2).as_deref(), Some("node 1 points to 2, but there is no such edge"));
        let alone = "no path leads from 0 to 4, whose predecessor is 4, not 0";
        assert_eq!(reason(4, 4).as_deref(), Some(alone));
    }

    #[test]
    fn negative_cycles_are_rejected() {
        let rejected = |json| record(json).err().map(|error| error.to_string());
        let reason = "there is a cycle whose weights add up to less than 0, or to 0 but for rounding";
        assert_eq!(rejected(r#"{"weights": [[0,-1],[-1,0]]}"#).as_deref(), Some(reason));
        assert_eq!(rejected(r#"{"weights": [[0,1],[0,-1]]}"#).as_deref(), Some(reason));
        assert_eq!(rejected(r#"{"weights": [[0,1],[-1,0]]}"#), None, "exactly 0");
        let vanishes = r#"{"weights": [[0,1,0],[0,0,1e20],[0,-1e20,0]]}"#;
        assert_eq!(rejected(vanishes).as_deref(), Some(reason), "1 + 1e20 - 1e20 is 0 in floating point");
    }
}
