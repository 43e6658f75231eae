//! Strongly connected components
//!
//! # Idea
//! Searches in depth twice: along the edges, then against them, with the roots in the order of decreasing finishing times. Each
//! tree of the second search is a component.
//!
//! # One step
//! A node is taken as root, a node is discovered, a white neighbour is moved to, or a node is finished. In the second search
//! only roots are discovered.
//!
//! # Steps
//! `3n` in the first search; two per node and one more per component in the second: at most `6n`.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.5.
//!
//! # What counts as right
//! All nodes of a component point to one of its nodes, whichever it is.
//!
//! # Differences
//! None. As in the reference, times are sums of 0.01 and go on in the second search, which changes the discovery of roots and
//! the finishing of all nodes; `v` is the last node whenever one finishes.

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
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// weight of the edge
        weights as "A": Edge<Scalar>,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// a node that stands for the component
        scc_id: Node<Pointer> as i64,
    }
    hint {
        /// node that stands for the component, itself while that is not known
        scc_id_h: Node<Pointer>,
        /// whether there is an edge the other way, or a node's loop to itself
        transposed as "A_t": Edge<Mask>,
        /// not seen, open or finished in this search
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
        /// whether this is the second search
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

    /// Groups are the components if ways lead to and fro inside each, and none leads from group to group and back.
    fn check(Graph { weights }: &Graph, Output { scc_id }: &Output) -> Result<(), CheckFailure> {
        let n = weights.n();
        for (node, &id) in scc_id.iter().enumerate() {
            ensure(scc_id[id] == id, || format!("node {node} points to {id}, which points on to {}", scc_id[id]))?;
        }
        let along = reached_inside(scc_id, |u, v| weights.has_edge(u, v));
        let against = reached_inside(scc_id, |u, v| weights.has_edge(v, u));
        for (node, &id) in scc_id.iter().enumerate() {
            ensure(along[node] && against[node], || {
                format!("no ways lead to and fro between node {node} and {id}, its `scc_id`")
            })?;
        }
        let mut leads = vec![false; n * n];
        for u in 0..n {
            for v in weights.neighbours(u).filter(|&v| scc_id[v] != scc_id[u]) {
                leads[scc_id[u] * n + scc_id[v]] = true;
            }
        }
        topological_order(n, |from, to| leads[from * n + to])
            .map(|_| ())
            .map_err(|id| CheckFailure(format!("the component of node {id} is larger than what points to it")))
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
    /// The one place where a row is made.
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

    /// Searches all nodes, taking roots in the order given.
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

    /// Visits everything white that `s` reaches. In the second search that is its component.
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

/// Whether each node is reached from the one it points to without leaving the group.
fn reached_inside(scc_id: &[usize], edge: impl Fn(usize, usize) -> bool) -> Vec<bool> {
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

    /// Figure 22.9 of the book: a to h are 0 to 7.
    fn book() -> Graph {
        let leads_to: [&[usize]; 8] = [&[1], &[2, 4, 5], &[3, 6], &[2, 7], &[0, 5], &[6], &[5, 7], &[7]];
        Graph { weights: Matrix::from_fn(8, |u, v| f64::from(leads_to[u].contains(&v))) }
    }

    #[test]
    fn finds_the_four_components_of_the_book() {
        let mut recorder = Recorder::new::<StronglyConnectedComponents>();
        recorder.record::<StronglyConnectedComponents>(&book()).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("scc_id"), Some(Cells::Node(&[0, 0, 2, 2, 0, 6, 6, 7])));
        assert_eq!(sample.steps(), 5 * 8 + 4);
    }

    #[test]
    fn check_accepts_any_member_of_a_component_and_nothing_else() {
        let result = |scc_id: [usize; 8]| StronglyConnectedComponents::check(&book(), &Output { scc_id: scc_id.into() });
        assert_eq!(result([4, 4, 3, 3, 4, 6, 6, 7]), Ok(()));
        let reason = |scc_id| result(scc_id).expect_err("an incorrect output").to_string();
        assert_eq!(reason([1, 4, 3, 3, 4, 6, 6, 7]), "node 0 points to 1, which points on to 4");
        assert_eq!(reason([4, 4, 3, 3, 4, 6, 6, 6]), "no ways lead to and fro between node 7 and 6, its `scc_id`");
        assert_eq!(reason([4, 4, 2, 3, 4, 6, 6, 7]), "the component of node 2 is larger than what points to it");
    }
}
