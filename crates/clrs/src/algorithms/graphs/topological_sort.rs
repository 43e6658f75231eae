//! Topological sort
//!
//! # Idea
//! Searches in depth, and puts each node in front of the list when it is finished: all that it leads to are in the list already.
//!
//! # One step
//! A node is taken as root, a root is discovered, a white neighbour is moved to, or a node is finished and goes to the front.
//!
//! # Steps
//! Two per node, and one more per root of the search: at most `3n`, where no edge is followed.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.4.
//!
//! # What counts as right
//! Any order of the nodes in which all edges lead forward: each node points to the next, the last to itself, and `topo_head` is
//! the first.
//!
//! # Differences
//! Graphs with a cycle, and weights other than 0, 1, 2, .., are refused. As in the reference, `topo_head_h` is node 0 while the
//! list is empty, and `v` is the last node whenever one finishes.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::acyclic::acyclic;
use crate::algorithms::depth_first::{BLACK, GRAY, WHITE, Walk};
use crate::algorithms::order;
use crate::cell::{Categorical, Edge, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Topological sort; see the [module](self).
pub struct TopologicalSort;

probes! {
    TopologicalSort;
    input {
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// weight of the edge
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
    }
    output {
        /// next node in the order, itself at the end
        topo: Node<Pointer> as i64,
        /// first node in the order
        topo_head: Node<MaskOne>,
    }
    hint {
        /// next node in the list so far, itself at the end or outside
        topo_h: Node<Pointer>,
        /// first node in the list so far
        topo_head_h: Node<MaskOne>,
        /// not seen, open or finished
        color: Node<Categorical<3>>,
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
    }
}

impl Algorithm for TopologicalSort {
    const NAME: &'static str = "topological_sort";
    const SOURCE: Source = Source(include_str!("topological_sort.rs"));
    const FAMILY: Family = Family::Graphs;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5)
    }

    fn preconditions(graph: &Graph) -> Result<(), InvalidProblem> {
        graph.weights.integer_weights()?;
        acyclic(&graph.weights)
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, InvalidProblem> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        3 * n
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let n = weights.n();
        let mut search = Search { topo: (0..n).collect(), topo_head: 0, walk: Walk::new(n) };
        for s in 0..n {
            if search.walk.color[s] == WHITE {
                search.visit(s, weights, hints);
            }
        }
        Output { topo: search.topo, topo_head: search.topo_head }
    }

    fn check(Graph { weights }: &Graph, Output { topo, topo_head }: &Output) -> Result<(), CheckFailure> {
        // Read backwards, the pointers go to predecessors.
        let Some(backwards) = order::from_predecessors(topo) else {
            return Err(CheckFailure("`topo` is not one chain through all nodes".into()));
        };
        let mut position = vec![0; topo.len()];
        for (at, &node) in backwards.iter().rev().enumerate() {
            position[node] = at;
        }
        ensure(position[*topo_head] == 0, || format!("`topo_head` is {topo_head}, but the chain of `topo` starts elsewhere"))?;
        for u in 0..topo.len() {
            if let Some(v) = weights.neighbours(u).find(|&v| position[v] <= position[u]) {
                return Err(CheckFailure(format!("node {u} comes after node {v}, but has an edge to it")));
            }
        }
        Ok(())
    }
}

struct Search {
    topo: Vec<usize>,
    topo_head: usize,
    walk: Walk,
}

impl Search {
    /// The one place where a row is made.
    fn hint(&self) -> Hint<'_> {
        let Search { topo, topo_head, walk } = self;
        Hint {
            topo_h: topo,
            topo_head_h: *topo_head,
            color: &walk.color,
            s_prev: &walk.s_prev,
            s: walk.s,
            u: walk.u,
            v: walk.v,
            s_last: walk.s_last,
        }
    }

    /// Puts everything white that `s` reaches in front of the list.
    fn visit(&mut self, s: usize, weights: &Matrix, hints: &mut Hints<'_, TopologicalSort>) {
        self.walk.begin(s);
        hints.push(self.hint());
        self.walk.color[s] = GRAY;
        hints.push(self.hint());
        loop {
            if self.walk.push_white(weights).is_some() {
                hints.push(self.hint());
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

    fn finish(&mut self) {
        let Search { topo, topo_head, walk } = self;
        walk.color[walk.u] = BLACK;
        // While the list is empty, its head is no finished node.
        if walk.color[*topo_head] == BLACK {
            topo[walk.u] = *topo_head;
        }
        *topo_head = walk.u;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Figure 22.7 of the book: shirt, tie, jacket, belt, watch, undershorts, pants, shoes, socks are 0 to 8.
    #[test]
    fn dresses_professor_bumstead_in_the_order_of_the_book() {
        let edges = [(5, 6), (5, 7), (6, 7), (6, 3), (3, 2), (0, 3), (0, 1), (1, 2), (8, 7)];
        let clothes = Graph { weights: Matrix::from_fn(9, |u, v| f64::from(edges.contains(&(u, v)))) };
        let mut recorder = Recorder::new::<TopologicalSort>();
        recorder.record::<TopologicalSort>(&clothes).expect("acyclic");
        let sample = recorder.last().expect("a recorded sample");
        let (Some(Cells::Node(&[head])), Some(Cells::Node(next))) = (sample.get("topo_head"), sample.get("topo")) else {
            panic!("a head and pointers")
        };
        let order: Vec<u32> = std::iter::successors(Some(head), |&u| Some(next[u as usize])).take(9).collect();
        assert_eq!(order, [8, 5, 6, 7, 4, 0, 3, 1, 2]);
    }

    #[test]
    fn check_accepts_any_order_in_which_edges_lead_forward() {
        let fork = Graph { weights: Matrix::from_fn(3, |u, v| f64::from(u == 0 && v > 0)) };
        let result = |topo: [usize; 3], topo_head| TopologicalSort::check(&fork, &Output { topo: topo.into(), topo_head });
        assert_eq!(result([1, 2, 2], 0), Ok(()));
        assert_eq!(result([2, 1, 1], 0), Ok(()));
        let reason = |topo, topo_head| result(topo, topo_head).expect_err("an incorrect output").to_string();
        assert_eq!(reason([2, 0, 2], 1), "node 0 comes after node 1, but has an edge to it");
        assert_eq!(reason([1, 2, 2], 1), "`topo_head` is 1, but the chain of `topo` starts elsewhere");
        assert_eq!(reason([1, 2, 0], 0), "`topo` is not one chain through all nodes");
    }

    #[test]
    fn graphs_with_a_cycle_are_rejected() {
        let reason = |json| {
            Recorder::new::<TopologicalSort>()
                .record::<TopologicalSort>(&Graph::from_json(json).expect("a graph"))
                .expect_err("an invalid problem")
                .to_string()
        };
        assert_eq!(reason(r#"{"weights": [[0,1],[0,1]]}"#), "the graph has a cycle through node 1");
        assert!(reason(r#"{"weights": [[0,1],[1,0]]}"#).contains("a cycle through node"));
        assert!(reason(r#"{"weights": [[0,0.5],[0,0]]}"#).contains("not a non-negative integer"));
    }
}
