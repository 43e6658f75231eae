//! Bellman-Ford algorithm
//!
//! # Idea
//! Finds shortest paths from a source by relaxing all edges in rounds. After `k` rounds, no length exceeds that of the shortest
//! path with at most `k` edges. Unless there is a negative cycle, the lengths become final.
//!
//! # One step
//! All edges are relaxed at once, with the distances before the step.
//!
//! # Number of steps
//! At most `n`: the initial state, then one per round that changes a distance. A shortest path has fewer than `n` edges.
//!
//! # Textbook
//! CLRS 3rd ed., section 24.1, with rounds as in Bellman 1958.
//!
//! # Correctness
//! Any tree of shortest paths, with lengths compared up to a relative tolerance of 1e-9; unreachable nodes point to themselves.
//!
//! # Differences from dm-clrs
//! Negative weights are accepted. A graph is rejected if the source reaches a cycle of negative weight (an undirected negative
//! edge is one), or a cycle whose weight is so close to 0 that rounding makes it negative; dm-clrs does not terminate on these
//! graphs. dm-clrs also stops after a round that only reaches new nodes at distance 0; this implementation continues. As in
//! dm-clrs, distances are 0 until a node is reached.

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
        /// predecessor on a shortest path from the source; the source and unreachable nodes point to themselves
        pi: Node<Pointer> as i64,
    }
    hint {
        /// predecessor on the shortest path known so far
        pi_h: Node<Pointer>,
        /// length of the shortest path known so far; 0 if none is known
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
        let converged = paths.changed.is_empty() && trees::check_shortest_paths(weights, *source, &paths.pi).is_ok();
        ensure_valid(converged, || {
            format!("node {source} reaches a cycle whose weight is negative, or too close to 0 to compare")
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
        trees::check_shortest_paths(weights, *source, &output.pi)
    }
}

/// The shortest paths known so far.
struct Paths<'g> {
    weights: &'g Matrix,
    pi: Vec<usize>,
    d: Vec<f64>,
    msk: Vec<bool>,
    /// Nodes whose distance changed in the last round, with that distance. Only their edges can shorten a path.
    changed: Vec<(usize, f64)>,
    /// Nodes whose distance has changed in this round.
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

    /// Relaxes all edges with the distances of the previous round. Of several best predecessors, the first is used.
    fn relax(&mut self) {
        for (u, distance) in self.changed.drain(..) {
            for v in self.weights.neighbors(u) {
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

    /// Figure 24.4 of the textbook; s, t, x, y, z are nodes 0 to 4.
    const FIGURE: &str = r#"{"source": 0,
        "weights": [[0,6,0,7,0], [0,0,5,8,-4], [0,-2,0,0,0], [0,0,-3,0,9], [2,0,7,0,0]]}"#;

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<BellmanFord>();
        recorder.record::<BellmanFord>(&SourcedGraph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn solves_the_example_of_the_textbook_in_five_rounds() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("pi"), Some(Cells::Node(&[0, 2, 3, 0, 1])));
        let Some(Cells::Scalar(d)) = sample.get("d") else { panic!("`d` is a scalar") };
        let rounds: Vec<&[f64]> = d.chunks(5).collect();
        assert_eq!(rounds[1], [0.0, 6.0, 0.0, 7.0, 0.0]);
        assert_eq!(rounds[2], [0.0, 6.0, 4.0, 7.0, 2.0]);
        assert_eq!(rounds[3], [0.0, 2.0, 4.0, 7.0, 2.0]);
        assert_eq!(rounds[4], [0.0, 2.0, 4.0, 7.0, -2.0]);
        assert_eq!(rounds.len(), 5);
    }

    #[test]
    fn the_search_continues_from_nodes_at_distance_zero() {
        let recorder =
            record(r#"{"weights": [[0,1,0,0],[0,0,-1,0],[0,0,0,2],[0,0,0,0]], "source": 0}"#).expect("a valid problem");
        assert_eq!(recorder.last().expect("a recorded sample").get("pi"), Some(Cells::Node(&[0, 0, 1, 2])));
    }

    #[test]
    fn reachable_negative_cycles_are_rejected() {
        let rejected = |json| record(json).err().map(|error| error.to_string());
        let reason = "node 0 reaches a cycle whose weight is negative, or too close to 0 to compare";
        let undirected = r#"{"weights": [[0,1,0],[1,0,-1],[0,-1,0]], "source": 0}"#;
        assert_eq!(rejected(undirected).as_deref(), Some(reason));
        assert_eq!(rejected(r#"{"weights": [[0,1],[0,-1]], "source": 0}"#).as_deref(), Some(reason), "a self-loop");
        assert_eq!(rejected(r#"{"weights": [[0,0,1],[0,-1,1],[0,0,0]], "source": 0}"#), None, "unreachable");
        assert_eq!(rejected(r#"{"weights": [[0,1,0],[0,0,2],[0,-2,0]], "source": 0}"#), None, "exactly 0");
        let vanishes = r#"{"weights": [[0,1,0],[0,0,1e20],[0,-1e20,0]], "source": 0}"#;
        assert_eq!(rejected(vanishes).as_deref(), Some(reason), "1 + 1e20 - 1e20 is 0 in floating point");
    }

    #[test]
    fn check_accepts_any_of_several_shortest_paths_but_no_cycle_of_weight_zero() {
        let graph = r#"{"weights": [[0,1,3,0],[0,0,2,0],[0,-2,0,4],[0,0,0,0]], "source": 0}"#;
        let graph = SourcedGraph::from_json(graph).expect("a valid problem");
        let reason = |pi: [usize; 4]| BellmanFord::check(&graph, &Output { pi: pi.into() }).err().map(|failure| failure.0);
        assert_eq!(reason([0, 0, 0, 2]), None);
        assert_eq!(reason([0, 0, 1, 2]), None);
        assert_eq!(reason([0, 2, 0, 2]), None);
        assert_eq!(reason([0, 2, 1, 2]).as_deref(), Some("the pointers from node 1 do not lead to 0"));
    }
}
