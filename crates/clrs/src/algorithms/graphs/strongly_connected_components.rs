//! Strongly connected components
//!
//! # Idea
//! Runs two depth-first searches: the first along the edges, the second against them, with roots in order of decreasing
//! finishing time. Each tree of the second search is a component.
//!
//! # One step
//! A node becomes a root, a node is discovered, a white neighbor is pushed, or a node is finished. In the second search, only
//! roots are discovered.
//!
//! # Number of steps
//! `3n` in the first search; two per node and one more per component in the second: at most `6n`.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.5.
//!
//! # Correctness
//! All nodes of a component point to the same node of that component, which may be any of them.
//!
//! # Differences from dm-clrs
//! None. As in dm-clrs, times are multiples of 0.01, accumulated in floating point. The clock continues in the second search,
//! which overwrites the discovery times of the roots and all finishing times. `v` is the last node whenever a node is finished.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::acyclic::topological_order;
use crate::algorithms::depth_first::{BLACK, Clock, GRAY, WHITE, Walk};
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Strongly connected components; see the [module](self).
pub struct StronglyConnectedComponents;

probes! {
    StronglyConnectedComponents;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar>,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// representative node of the component
        scc_id: Node<Pointer> as i64,
    }
    hint {
        /// representative node of the component; the node itself until known
        scc_id_h: Node<Pointer>,
        /// whether there is an edge from column to row; true on the diagonal
        transposed as "A_t": Edge<Mask>,
        /// 0 white (undiscovered), 1 gray (on the stack), 2 black (finished), in the current search
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
        /// 0 first search, 1 second search
        phase: Global<Mask>,
    }
}

impl Algorithm for StronglyConnectedComponents {
    const NAME: &'static str = "strongly_connected_components";
    const SOURCE: Source = Source(include_str!("strongly_connected_components.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::communities()
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, InvalidProblem> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        6 * n
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let transposed = Matrix::from_fn(n, |u, v| weights[(v, u)]);
        let mut search = Search {
            scc_id: (0..n).collect(),
            transposed: transposed.adjacency(),
            walk: Walk::new(n),
            clock: Clock::new(n),
            second: false,
        };
        search.forest(0..n, weights, hints);

        let mut last_finished_first: Vec<usize> = (0..n).collect();
        last_finished_first.sort_by(|&u, &v| search.clock.f[v].total_cmp(&search.clock.f[u]));
        search.walk = Walk::new(n);
        search.second = true;
        search.forest(last_finished_first, &transposed, hints);
        Output { scc_id: search.scc_id }
    }

    /// Groups of nodes are the components if each is strongly connected and no cycle leads through several of them.
    fn check(Graph { weights }: &Graph, Output { scc_id }: &Output) -> Result<(), CheckFailure> {
        let n = weights.n();
        for (node, &id) in scc_id.iter().enumerate() {
            ensure(scc_id[id] == id, || format!("node {node} has `scc_id` {id}, but node {id} has `scc_id` {}", scc_id[id]))?;
        }
        let forward = reached_within_group(scc_id, |u, v| weights.has_edge(u, v));
        let backward = reached_within_group(scc_id, |u, v| weights.has_edge(v, u));
        for (node, &id) in scc_id.iter().enumerate() {
            ensure(forward[node] && backward[node], || {
                format!("node {node} and its `scc_id` {id} do not reach each other within the group")
            })?;
        }
        let mut group_edge = vec![false; n * n];
        for u in 0..n {
            for v in weights.neighbors(u).filter(|&v| scc_id[v] != scc_id[u]) {
                group_edge[scc_id[u] * n + scc_id[v]] = true;
            }
        }
        topological_order(n, |from, to| group_edge[from * n + to])
            .map(|_| ())
            .map_err(|id| CheckFailure(format!("the component of node {id} contains nodes with another `scc_id`")))
    }
}

struct Search {
    scc_id: Vec<usize>,
    transposed: Vec<bool>,
    walk: Walk,
    clock: Clock,
    second: bool,
}

impl Search {
    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let Search { scc_id, transposed, walk, clock, second } = self;
        Hint {
            scc_id_h: scc_id,
            transposed,
            color: &walk.color,
            d: &clock.d,
            f: &clock.f,
            s_prev: &walk.s_prev,
            s: walk.s,
            u: walk.u,
            v: walk.v,
            s_last: walk.s_last,
            time: clock.time,
            phase: *second,
        }
    }

    /// Searches all nodes, with roots in the given order.
    fn forest(
        &mut self,
        roots: impl IntoIterator<Item = usize>,
        weights: &Matrix,
        hints: &mut Hints<'_, StronglyConnectedComponents>,
    ) {
        for s in roots {
            if self.walk.color[s] == WHITE {
                self.visit(s, weights, hints);
            }
        }
    }

    /// Visits all white nodes that `s` reaches. In the second search they are its component.
    fn visit(&mut self, s: usize, weights: &Matrix, hints: &mut Hints<'_, StronglyConnectedComponents>) {
        self.walk.begin(s);
        hints.push(self.hint());
        loop {
            let u = self.walk.u;
            if self.second {
                self.scc_id[u] = s;
            }
            if self.walk.color[u] == WHITE || self.clock.d[u] == 0.0 {
                self.walk.color[u] = GRAY;
                self.clock.discover(u);
                hints.push(self.hint());
            }
            if self.walk.push_white(weights).is_some() {
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

/// Whether each node is reachable from its `scc_id` through nodes with the same `scc_id`.
fn reached_within_group(scc_id: &[usize], edge: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let mut reached: Vec<bool> = scc_id.iter().enumerate().map(|(node, &id)| node == id).collect();
    let mut open: Vec<usize> = (0..scc_id.len()).filter(|&node| reached[node]).collect();
    while let Some(u) = open.pop() {
        for v in (0..scc_id.len()).filter(|&v| scc_id[v] == scc_id[u] && edge(u, v)) {
            if !std::mem::replace(&mut reached[v], true) {
                open.push(v);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 22.9 of the textbook; a to h are nodes 0 to 7.
    fn textbook() -> Graph {
        let neighbors: [&[usize]; 8] = [&[1], &[2, 4, 5], &[3, 6], &[2, 7], &[0, 5], &[6], &[5, 7], &[7]];
        Graph { weights: Matrix::from_fn(8, |u, v| f64::from(neighbors[u].contains(&v))) }
    }

    #[test]
    fn finds_the_four_components_of_the_textbook() {
        let mut recorder = Recorder::new::<StronglyConnectedComponents>();
        recorder.record::<StronglyConnectedComponents>(&textbook()).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("scc_id"), Some(Cells::Node(&[0, 0, 2, 2, 0, 6, 6, 7])));
        assert_eq!(sample.steps(), 5 * 8 + 4);
    }

    #[test]
    fn check_accepts_any_representative_of_a_component_and_nothing_else() {
        let result = |scc_id: [usize; 8]| StronglyConnectedComponents::check(&textbook(), &Output { scc_id: scc_id.into() });
        assert_eq!(result([4, 4, 3, 3, 4, 6, 6, 7]), Ok(()));
        let reason = |scc_id| result(scc_id).expect_err("an incorrect output").to_string();
        assert_eq!(reason([1, 4, 3, 3, 4, 6, 6, 7]), "node 0 has `scc_id` 1, but node 1 has `scc_id` 4");
        assert_eq!(reason([4, 4, 3, 3, 4, 6, 6, 6]), "node 7 and its `scc_id` 6 do not reach each other within the group");
        assert_eq!(reason([4, 4, 2, 3, 4, 6, 6, 7]), "the component of node 2 contains nodes with another `scc_id`");
    }
}
