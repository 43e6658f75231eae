//! Bellman-Ford algorithm
//!
//! # Idea
//! Finds shortest paths from a source by trying all edges at once, again and again: after `k` rounds the lengths are at most
//! those of the best paths of `k` edges. They cannot get shorter for ever, unless a cycle has a weight below 0.
//!
//! # One step
//! All edges are relaxed at once, with the distances of the step before.
//!
//! # Steps
//! One per round that changes a distance, and a last one that changes none: at most `n`, for a shortest path has fewer than
//! `n` edges.
//!
//! # Textbook
//! CLRS 3rd ed., section 24.1, with rounds as in Bellman 1958.
//!
//! # What counts as right
//! Any tree of shortest paths, with lengths compared within 1e-9; nodes that cannot be reached point to themselves.
//!
//! # Differences
//! Weights may be negative. Refused are graphs where the source reaches a cycle of weight below 0, which an undirected edge
//! below 0 is too, or a cycle so near to 0 that rounding takes it for one. The reference never ends on those. It also stops
//! when the only nodes it newly reached have distance 0: here it goes on. As in the reference, distances are 0 until a node
//! is reached.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::trees;
use crate::cell::{Edge, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{
    Graph, InvalidProblem, Matrix, RandomGraphs, RandomSourcedGraphs, SourcedGraph, Structure, ensure_valid, positions,
};
use crate::recorder::Hints;
use crate::source::Source;

/// Bellman-Ford algorithm; see the [module](self).
pub struct BellmanFord;

probes! {
    BellmanFord;
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
        /// predecessor on a shortest path from the source
        pi: Node<Pointer> as i64,
    }
    hint {
        /// predecessor on the shortest path known so far
        pi_h: Node<Pointer>,
        /// length of the shortest path known so far, 0 if none is
        d: Node<Scalar>,
        /// whether a path is known
        msk: Node<Mask>,
    }
}

impl Algorithm for BellmanFord {
    const NAME: &'static str = "bellman_ford";
    const SOURCE: Source = Source(include_str!("bellman_ford.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = SourcedGraph;
    type Distribution = RandomSourcedGraphs;

    fn distribution() -> RandomSourcedGraphs {
        RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted())
    }

    fn preconditions(SourcedGraph { weights, source }: &SourcedGraph) -> Result<(), InvalidProblem> {
        trees::finite_sums(weights)?;
        if weights.non_negative().is_ok() {
            return Ok(());
        }
        let mut paths = Paths::new(weights, *source);
        (0..weights.n()).for_each(|_| paths.relax());
        let settled = paths.changed.is_empty() && trees::shortest_paths(weights, *source, &paths.pi).is_ok();
        ensure_valid(settled, || {
            format!("from {source}, a cycle can be reached whose weights add up to less than 0, or to 0 but for rounding")
        })
    }

    fn input(SourcedGraph { weights, source }: &SourcedGraph) -> Input {
        Input { pos: positions(weights.n()), source: *source, weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<SourcedGraph, InvalidProblem> {
        Ok(SourcedGraph { weights: Graph::from_inputs(&input.weights, &input.adj)?.weights, source: input.source })
    }

    fn max_steps(n: usize) -> usize {
        n
    }

    fn run(SourcedGraph { weights, source }: &SourcedGraph, hints: &mut Hints<'_, Self>) -> Output {
        let mut paths = Paths::new(weights, *source);
        while !paths.changed.is_empty() {
            hints.push(Hint { pi_h: &paths.pi, d: &paths.d, msk: &paths.msk });
            paths.relax();
        }
        Output { pi: paths.pi }
    }

    fn check(SourcedGraph { weights, source }: &SourcedGraph, output: &Output) -> Result<(), CheckFailure> {
        trees::shortest_paths(weights, *source, &output.pi)
    }
}

/// The shortest paths known so far.
struct Paths<'g> {
    weights: &'g Matrix,
    pi: Vec<usize>,
    d: Vec<f64>,
    msk: Vec<bool>,
    /// Nodes whose distance changed in the last round, with that distance: the edges of the others have nothing new to offer.
    changed: Vec<(usize, f64)>,
    is_new: Vec<bool>,
}

impl<'g> Paths<'g> {
    fn new(weights: &'g Matrix, source: usize) -> Self {
        let n = weights.n();
        let mut msk = vec![false; n];
        msk[source] = true;
        let changed = vec![(source, 0.0)];
        Paths { weights, pi: (0..n).collect(), d: vec![0.0; n], msk, changed, is_new: vec![false; n] }
    }

    /// Relaxes all edges with the distances of the round before. Of the best predecessors, the first is kept.
    fn relax(&mut self) {
        for (u, distance) in self.changed.drain(..) {
            for v in self.weights.neighbours(u) {
                let length = distance + self.weights[(u, v)];
                if !self.msk[v] || length < self.d[v] {
                    self.pi[v] = u;
                    self.d[v] = length;
                    self.msk[v] = true;
                    self.is_new[v] = true;
                }
            }
        }
        for (v, is_new) in self.is_new.iter_mut().enumerate() {
            if std::mem::take(is_new) {
                self.changed.push((v, self.d[v]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Figure 24.4 of the book; nodes s, t, x, y, z.
    const FIGURE: &str = r#"{"source": 0,
        "weights": [[0,6,0,7,0], [0,0,5,8,-4], [0,-2,0,0,0], [0,0,-3,0,9], [2,0,7,0,0]]}"#;

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<BellmanFord>();
        recorder.record::<BellmanFord>(&SourcedGraph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn relaxes_the_books_figure_in_five_rounds() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 2, 3, 0, 1])));
        let Some(Cells::Scalar(d)) = sample.get("d") else { panic!("lengths") };
        let rounds: Vec<&[f64]> = d.chunks(5).collect();
        assert_eq!(rounds[1], [0.0, 6.0, 0.0, 7.0, 0.0]);
        assert_eq!(rounds[2], [0.0, 6.0, 4.0, 7.0, 2.0]);
        assert_eq!(rounds[3], [0.0, 2.0, 4.0, 7.0, 2.0]);
        assert_eq!(rounds[4], [0.0, 2.0, 4.0, 7.0, -2.0]);
        assert_eq!(rounds.len(), 5);
    }

    #[test]
    fn a_node_at_distance_zero_is_gone_on_from() {
        let recorder =
            record(r#"{"weights": [[0,1,0,0],[0,0,-1,0],[0,0,0,2],[0,0,0,0]], "source": 0}"#).expect("a valid problem");
        assert_eq!(recorder.last().expect("a recorded sample").get("pi"), Some(Cells::Node(&[0, 0, 1, 2])));
    }

    #[test]
    fn reachable_negative_cycles_are_rejected() {
        let rejected = |json| record(json).err().map(|error| error.to_string());
        let reason = "from 0, a cycle can be reached whose weights add up to less than 0, or to 0 but for rounding";
        let undirected = r#"{"weights": [[0,1,0],[1,0,-1],[0,-1,0]], "source": 0}"#;
        assert_eq!(rejected(undirected).as_deref(), Some(reason));
        assert_eq!(rejected(r#"{"weights": [[0,1],[0,-1]], "source": 0}"#).as_deref(), Some(reason), "a loop");
        assert_eq!(rejected(r#"{"weights": [[0,0,1],[0,-1,1],[0,0,0]], "source": 0}"#), None, "out of reach");
        assert_eq!(rejected(r#"{"weights": [[0,1,0],[0,0,2],[0,-2,0]], "source": 0}"#), None, "exactly 0");
        let vanishes = r#"{"weights": [[0,1,0],[0,0,1e20],[0,-1e20,0]], "source": 0}"#;
        assert_eq!(rejected(vanishes).as_deref(), Some(reason), "1 + 1e20 - 1e20 is 0 in floating point");
    }

    #[test]
    fn check_accepts_either_of_two_shortest_paths_and_no_cycle_of_weight_zero() {
        let graph = r#"{"weights": [[0,1,3,0],[0,0,2,0],[0,-2,0,4],[0,0,0,0]], "source": 0}"#;
        let graph = SourcedGraph::from_json(graph).expect("a valid problem");
        let reason = |pi: [usize; 4]| BellmanFord::check(&graph, &Output { pi: pi.into() }).err().map(|failure| failure.0);
        assert_eq!(reason([0, 0, 0, 2]), None);
        assert_eq!(reason([0, 0, 1, 2]), None);
        assert_eq!(reason([0, 2, 0, 2]), None);
        assert_eq!(reason([0, 2, 1, 2]).as_deref(), Some("the pointers from node 1 do not lead to 0"));
    }
}
