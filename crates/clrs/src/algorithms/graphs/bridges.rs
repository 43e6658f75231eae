//! Bridges
//!
//! # Idea
//! Searches in depth, and keeps for each node how early a discovery its subtree can reach without the edge to its parent
//! (`low`). Where a child's subtree reaches nothing as early as its parent, the edge between them is a bridge.
//!
//! # One step
//! A node is taken as root, a node is discovered, a white neighbour is moved to, a neighbour met before is looked back at, or a
//! node is finished. After each return the scan of the neighbours starts over, and looks back at the same ones again.
//!
//! # Steps
//! `3n`, plus one for each look back. The last scan of a node looks back at most `n - 1` times; the one that finds the node
//! discovered in place `k`, counted from 0, at most `k - 1` times. Together never more than `(3n² + n + 2) / 2`, which the
//! complete graph with all loops takes.
//!
//! # Textbook
//! CLRS 3rd ed., problem 22-2; Tarjan 1974.
//!
//! # What counts as right
//! Yes in both directions for each edge whose removal parts its ends, no for the other edges. Nothing is asked on the diagonal
//! and where there is no edge: any answer will do there. Elsewhere there is one right answer.
//!
//! # Differences
//! Directed graphs, and weights other than 0, 1, 2, .., are refused. As in the reference, the answer is no on the whole diagonal,
//! times are sums of 0.01, and `v` is the last node whenever one finishes.

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
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// weight of the edge
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// whether the edge is a bridge
        is_bridge: Edge<Masked<Mask>>,
    }
    hint {
        /// whether the edge is known to be a bridge
        is_bridge_h: Edge<Masked<Mask>>,
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

    /// A bridge is an edge of a spanning forest that no other edge leads around.
    fn check(Graph { weights }: &Graph, Output { is_bridge }: &Output) -> Result<(), CheckFailure> {
        let Forest { parent, bypassed } = Forest::new(weights);
        for u in 0..weights.n() {
            for v in weights.neighbours(u).filter(|&v| v != u) {
                let below = |child: usize, top: usize| parent[child] == top && !bypassed[child];
                let (answer, truth) = (is_bridge[u * weights.n() + v], below(u, v) || below(v, u));
                ensure(answer == Some(truth), || {
                    let answer = answer.map_or("not given".into(), |answer| answer.to_string());
                    format!("`is_bridge` from {u} to {v} is {answer}, not {truth}")
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
    /// The one place where a row is made.
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

    /// Visits everything that `s` reaches.
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

    /// Looks at the neighbours of `u` in turn, up to the first white one, which goes on the stack; `false` if there is none.
    fn scan(&mut self, weights: &Matrix, hints: &mut Hints<'_, Bridges>) -> bool {
        let u = self.walk.u;
        for v in weights.neighbours(u) {
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

/// A spanning forest by breadth, and for each node whether the edge to its parent is part of a cycle.
struct Forest {
    parent: Vec<usize>,
    bypassed: Vec<bool>,
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
            while let Some((u, above)) = queue.pop_front() {
                for v in weights.neighbours(u).filter(|&v| depth[v].is_none()).collect::<Vec<_>>() {
                    depth[v] = Some(above + 1);
                    parent[v] = u;
                    queue.push_back((v, above + 1));
                }
            }
        }
        // Every other edge closes a cycle with the ways from its ends up to where they meet.
        let mut bypassed = vec![false; n];
        for u in 0..n {
            for v in weights.neighbours(u).filter(|&v| v < u && parent[u] != v && parent[v] != u) {
                let (mut a, mut b) = (u, v);
                while a != b {
                    let lower = if depth[a] >= depth[b] { &mut a } else { &mut b };
                    bypassed[*lower] = true;
                    *lower = parent[*lower];
                }
            }
        }
        Forest { parent, bypassed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// A triangle with a tail.
    fn kite() -> Graph {
        let edges = [(0, 1), (0, 2), (1, 2), (2, 3)];
        Graph { weights: Matrix::from_fn(4, |u, v| f64::from(edges.contains(&(u.min(v), u.max(v))))) }
    }

    #[test]
    fn a_tail_is_a_bridge_and_a_triangle_has_none() {
        let mut recorder = Recorder::new::<Bridges>();
        recorder.record::<Bridges>(&kite()).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let right = [0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 1, -1, -1, 1, 0];
        assert_eq!(sample.get("is_bridge"), Some(Cells::Class(&right)));
    }

    #[test]
    fn check_compares_edges_in_both_directions_and_nothing_else() {
        let anything = [None, Some(false), Some(true)];
        let answer = |other: Option<bool>, there: Option<bool>, back: Option<bool>| {
            let mut is_bridge: Vec<Option<bool>> =
                kite().weights.cells().iter().map(|&weight| if weight == 0.0 { other } else { Some(false) }).collect();
            (is_bridge[2 * 4 + 3], is_bridge[3 * 4 + 2]) = (there, back);
            Bridges::check(&kite(), &Output { is_bridge })
        };
        for other in anything {
            assert_eq!(answer(other, Some(true), Some(true)), Ok(()), "{other:?} on the diagonal and where there is no edge");
        }
        for (there, back) in anything.into_iter().flat_map(|there| anything.map(|back| (there, back))) {
            let right = there == Some(true) && back == Some(true);
            assert_eq!(answer(None, there, back).is_ok(), right, "{there:?} and {back:?} on the bridge");
        }
        let reason = answer(None, Some(true), None).expect_err("an incorrect output").to_string();
        assert_eq!(reason, "`is_bridge` from 3 to 2 is not given, not true");
    }

    #[test]
    fn the_complete_graph_with_loops_takes_the_most_steps() {
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
