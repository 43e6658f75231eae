//! Topological sort
//!
//! # Idea
//! Runs a depth-first search and prepends each node to a list when it is finished. At that time, all nodes that it has edges to
//! are already in the list.
//!
//! # One step
//! A node becomes a root, a root is discovered, a white neighbor is pushed, or a node is finished and prepended.
//!
//! # Number of steps
//! Two per node and one more per root of the search: at most `3n`, attained if every node is a root.
//!
//! # Textbook
//! CLRS 3rd ed., section 22.4.
//!
//! # Correctness
//! Any order of the nodes in which all edges lead forward. Each node points to the next, the last one to itself, and
//! `topo_head` is the first.
//!
//! # Differences from dm-clrs
//! Graphs with a cycle and weights other than 0, 1, 2, ... are rejected. As in dm-clrs, `topo_head_h` is node 0 while the list
//! is empty, and `v` is the last node whenever a node is finished.

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
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar> as i64,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// next node in the order; the last node points to itself
        topo: Node<Pointer> as i64,
        /// first node of the order
        topo_head: Node<MaskOne>,
    }
    hint {
        /// next node in the current list; the node itself at the end or outside
        topo_h: Node<Pointer>,
        /// first node of the current list; node 0 if it is empty
        topo_head_h: Node<MaskOne>,
        /// 0 white (undiscovered), 1 gray (on the stack), 2 black (finished)
        color: Node<Categorical<3>>,
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
        // Pointers to successors are pointers to predecessors of the reverse order.
        let Some(reversed) = order::from_predecessors(topo) else {
            return Err(CheckFailure("`topo` is not a single chain through all nodes".into()));
        };
        let mut position = vec![0; topo.len()];
        for (index, &node) in reversed.iter().rev().enumerate() {
            position[node] = index;
        }
        ensure(position[*topo_head] == 0, || format!("`topo_head` is {topo_head}, but the chain of `topo` starts elsewhere"))?;
        for u in 0..topo.len() {
            if let Some(v) = weights.neighbors(u).find(|&v| position[v] <= position[u]) {
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
    /// The hint row of the current state.
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

    /// Prepends all white nodes that `s` reaches to the list.
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
        // While the list is empty, `topo_head` is not a finished node.
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

    /// Figure 22.7 of the textbook; shirt, tie, jacket, belt, watch, undershorts, pants, shoes, socks are nodes 0 to 8.
    #[test]
    fn finds_an_order_of_the_clothes_of_the_textbook() {
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
        assert_eq!(reason([1, 2, 0], 0), "`topo` is not a single chain through all nodes");
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
