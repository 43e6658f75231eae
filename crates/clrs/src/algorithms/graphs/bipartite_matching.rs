//! Maximum bipartite matching
//!
//! # Idea
//! Sends flow from a source through the left side and the right side to a sink, one unit along a shortest path at a time. Edges
//! that carry flow are turned around, so that a later path can take an earlier choice back. When no path is left, as many
//! edges between the sides carry flow as can be matched (Edmonds and Karp 1972).
//!
//! # One step
//! While searching (`phase` 0), all nodes of one distance from the source are reached at once; while augmenting (`phase` 1),
//! one edge of the path that was found is turned around, from the sink backwards.
//!
//! # Steps
//! A path of `l` edges takes `l` steps to find and `l + 1` to turn around. With `i` of `m` edges matched, `m - i` disjoint paths
//! could still augment and share the `i` matched edges, so the shortest has at most `3 + 2⌊i / (m - i)⌋` edges; summed up
//! that is at most `3m + 4(⌊m/1⌋ + ⌊m/2⌋ + .. + ⌊m/m⌋)` steps. The last search, which finds no path, alternates between the
//! sides of matched edges: at most `2m + 2`. And `m` is at most the smaller side: half of `n - 2`.
//!
//! # Textbook
//! CLRS 3rd ed., sections 26.2 and 26.3.
//!
//! # What counts as right
//! Any matching with as many edges as possible. Only the cells from left to right where there is an edge are judged: all
//! others, such as those of the source and the sink, may hold anything.
//!
//! # Differences
//! None. As in the reference, `in_matching` is asked where there is an edge, in both directions, and on the diagonal, where it
//! is yes throughout; edges that carry flow are marked from a lower node to a higher one only, those of the source and the
//! sink too. While a path is turned around, `d` and `msk` are still those of the search before its last step. `u` is the sink
//! while searching, but the source in the first step of all searches except the first.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::cell::{Edge, Graph as Global, Mask, MaskOne, Masked, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{BipartiteGraph, Graph, InvalidProblem, Problem, RandomBipartiteGraphs, ensure_valid, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Maximum bipartite matching; see the [module](self).
pub struct BipartiteMatching;

probes! {
    BipartiteMatching;
    input {
        /// place in the node list, from 0 to 1
        pos: Node<Scalar>,
        /// capacity of the edge
        capacity as "A": Edge<Scalar>,
        /// whether there is an edge, or a node's loop to itself
        adj: Edge<Mask>,
        /// where flow comes from
        source as "s": Node<MaskOne>,
        /// where flow goes to
        sink as "t": Node<MaskOne>,
    }
    output {
        /// whether the edge is in the matching
        in_matching: Edge<Masked<Mask>>,
    }
    hint {
        /// whether the edge is in the matching so far
        in_matching_h: Edge<Masked<Mask>>,
        /// capacity that is left
        residual as "A_h": Edge<Scalar>,
        /// whether capacity is left, or a node's loop to itself
        adj_h: Edge<Mask>,
        /// number of edges from the source, 0 if no path is known
        d: Node<Scalar>,
        /// whether a path from the source is known
        msk: Node<Mask>,
        /// predecessor on the path from the source
        pi: Node<Pointer>,
        /// node that the path is turned around up to
        u: Node<MaskOne>,
        /// searching or augmenting
        phase: Global<Mask>,
    }
}

impl Algorithm for BipartiteMatching {
    const NAME: &'static str = "bipartite_matching";
    const SOURCE: Source = Source(include_str!("bipartite_matching.rs"));
    const FAMILY: Family = Family::Graphs;
    const MIN_NODES: usize = 3;
    const EDGE_PROBABILITY_SCALE: f64 = 0.5;
    type Problem = BipartiteGraph;
    type Distribution = RandomBipartiteGraphs;

    fn distribution() -> RandomBipartiteGraphs {
        RandomBipartiteGraphs::default()
    }

    fn input(graph: &BipartiteGraph) -> Input {
        let (n, network) = (graph.nodes(), graph.network());
        Input {
            pos: positions(n),
            capacity: network.cells().to_vec(),
            adj: network.adjacency(),
            source: SOURCE_NODE,
            sink: n - 1,
        }
    }

    fn problem(input: &Input) -> Result<BipartiteGraph, InvalidProblem> {
        let graph = BipartiteGraph::from_network(&Graph::from_inputs(&input.capacity, &input.adj)?.weights)?;
        ensure_valid(input.source == SOURCE_NODE, || format!("the source `s` is {}, not the first node", input.source))?;
        ensure_valid(input.sink == graph.nodes() - 1, || format!("the sink `t` is {}, not the last node", input.sink))?;
        Ok(graph)
    }

    fn max_steps(n: usize) -> usize {
        let m = n.saturating_sub(2) / 2;
        let shares: usize = (1..=m).map(|paths| m / paths).sum();
        3 * m + 4 * shares + 2 * m + 2
    }

    fn run(graph: &BipartiteGraph, hints: &mut Hints<'_, Self>) -> Output {
        let mut flow = Flow::new(graph);
        loop {
            flow.start_search();
            hints.push(flow.hint());
            while flow.reach_next_layer() {
                if flow.is_reached(flow.sink()) {
                    break;
                }
                flow.settle_layer();
                hints.push(flow.hint());
            }
            if !flow.is_reached(flow.sink()) {
                return Output { in_matching: flow.in_matching };
            }
            flow.start_augmenting();
            hints.push(flow.hint());
            while flow.u != SOURCE_NODE {
                flow.turn_around();
                hints.push(flow.hint());
            }
        }
    }

    fn check(graph: &BipartiteGraph, output: &Output) -> Result<(), CheckFailure> {
        let mut left_of = vec![None; graph.right];
        let mut right_of = vec![None; graph.left];
        let mut neighbours = vec![Vec::new(); graph.left];
        for &(l, r) in &graph.edges {
            neighbours[l].push(r);
            let (u, v) = (graph.left_node(l), graph.right_node(r));
            let Some(matched) = output.in_matching[u * graph.nodes() + v] else {
                return Err(CheckFailure(format!("the edge from {u} to {v} is neither in the matching nor not")));
            };
            if matched {
                let (other_r, other_l) = (right_of[l].replace(r), left_of[r].replace(l));
                ensure(other_r.is_none(), || format!("node {u} is matched twice"))?;
                ensure(other_l.is_none(), || format!("node {v} is matched twice"))?;
            }
        }
        // Berge: a matching has as many edges as possible if no path alternates between unmatched and matched edges from an
        // unmatched node to another.
        let mut open: Vec<usize> = (0..graph.left).filter(|&l| right_of[l].is_none()).collect();
        let mut seen = vec![false; graph.right];
        while let Some(l) = open.pop() {
            for &r in &neighbours[l] {
                if !std::mem::replace(&mut seen[r], true) {
                    let Some(next) = left_of[r] else {
                        let node = graph.right_node(r);
                        return Err(CheckFailure(format!("one more edge can be matched, with {node} as an end")));
                    };
                    open.push(next);
                }
            }
        }
        Ok(())
    }
}

const SOURCE_NODE: usize = 0;

/// A flow, what is left of the network, and the search for a path that augments it.
struct Flow {
    n: usize,
    in_matching: Vec<Option<bool>>,
    residual: Vec<f64>,
    adj: Vec<bool>,
    d: Vec<f64>,
    msk: Vec<bool>,
    pi: Vec<usize>,
    u: usize,
    augmenting: bool,
    /// The nodes reached last, in ascending order.
    layer: Vec<usize>,
    is_next: Vec<bool>,
}

impl Flow {
    fn new(graph: &BipartiteGraph) -> Flow {
        let (n, network) = (graph.nodes(), graph.network());
        let asked = |cell: usize| {
            let (u, v) = (cell / n, cell % n);
            if u == v { Some(true) } else { (network.has_edge(u, v) || network.has_edge(v, u)).then_some(false) }
        };
        Flow {
            n,
            in_matching: (0..n * n).map(asked).collect(),
            adj: network.adjacency(),
            residual: network.cells().to_vec(),
            d: vec![0.0; n],
            msk: vec![false; n],
            pi: (0..n).collect(),
            u: n - 1,
            augmenting: false,
            layer: Vec::new(),
            is_next: vec![false; n],
        }
    }

    /// The one place where a row is made.
    fn hint(&self) -> Hint<'_> {
        Hint {
            in_matching_h: &self.in_matching,
            residual: &self.residual,
            adj_h: &self.adj,
            d: &self.d,
            msk: &self.msk,
            pi: &self.pi,
            u: self.u,
            phase: self.augmenting,
        }
    }

    fn sink(&self) -> usize {
        self.n - 1
    }

    fn is_reached(&self, node: usize) -> bool {
        node == SOURCE_NODE || self.pi[node] != node
    }

    fn start_search(&mut self) {
        self.augmenting = false;
        self.d.fill(0.0);
        self.msk.fill(false);
        self.msk[SOURCE_NODE] = true;
        self.pi.iter_mut().enumerate().for_each(|(node, pi)| *pi = node);
        self.layer.clear();
        self.layer.push(SOURCE_NODE);
    }

    /// Finds predecessors, the lowest that there are, for the nodes one edge farther away. Whether there are any.
    fn reach_next_layer(&mut self) -> bool {
        for &u in &self.layer {
            let row = &self.residual[u * self.n..][..self.n];
            for (v, _) in row.iter().enumerate().filter(|(_, left)| **left != 0.0) {
                if v != SOURCE_NODE && self.pi[v] == v {
                    self.pi[v] = u;
                    self.is_next[v] = true;
                }
            }
        }
        self.layer.clear();
        let next = self.is_next.iter_mut().enumerate();
        self.layer.extend(next.filter_map(|(v, is_next)| std::mem::take(is_next).then_some(v)));
        !self.layer.is_empty()
    }

    /// Tells the distances of the nodes just reached.
    fn settle_layer(&mut self) {
        self.u = self.sink();
        for &v in &self.layer {
            self.d[v] = self.d[self.pi[v]] + 1.0;
            self.msk[v] = true;
        }
    }

    fn start_augmenting(&mut self) {
        self.augmenting = true;
        self.u = self.sink();
    }

    /// Sends a unit along the last edge of the path that has none yet. If that edge is itself a turned one, its unit goes back.
    fn turn_around(&mut self) {
        let (u, v) = (self.pi[self.u], self.u);
        let (forward, backward) = (u * self.n + v, v * self.n + u);
        if u < v {
            self.in_matching[forward] = Some(true);
        } else {
            self.in_matching[backward] = Some(false);
        }
        (self.residual[forward], self.residual[backward]) = (0.0, 1.0);
        (self.adj[forward], self.adj[backward]) = (false, true);
        self.u = u;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Stage};

    /// Figure 26.8 of the book: five on the left, four on the right, and at most three can be matched.
    const FIGURE: &str = r#"{"left": 5, "right": 4, "edges": [[0,0],[1,0],[1,2],[2,1],[2,2],[2,3],[3,2],[4,2]]}"#;

    #[test]
    fn matches_three_in_the_books_figure() {
        let mut recorder = BipartiteMatching.recorder();
        BipartiteMatching.record_json(FIGURE, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(in_matching)) = sample.get("in_matching") else { panic!("edges") };
        let matched: Vec<(usize, usize)> =
            (1..6).flat_map(|u| (6..10).map(move |v| (u, v))).filter(|(u, v)| in_matching[u * 11 + v] == 1).collect();
        assert_eq!(matched, [(1, 6), (2, 8), (3, 7)]);
        assert_eq!(sample.steps(), 3 * (3 + 4) + 6, "three paths of three edges, and a search that finds none");
    }

    /// The first path matches the two low nodes, which the second path has to take back.
    #[test]
    fn takes_an_earlier_choice_back() {
        let mut recorder = BipartiteMatching.recorder();
        let path = r#"{"left": 2, "right": 2, "edges": [[0,0],[0,1],[1,0]]}"#;
        BipartiteMatching.record_json(path, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(in_matching)) = sample.get("in_matching") else { panic!("edges") };
        assert_eq!([in_matching[9], in_matching[10], in_matching[15]], [0, 1, 1]);
        assert_eq!(sample.steps(), (3 + 4) + (5 + 6) + 1);
    }

    #[test]
    fn check_accepts_any_maximum_matching_whatever_the_other_cells_hold() {
        let mut recorder = BipartiteMatching.recorder();
        BipartiteMatching.record_json(FIGURE, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let reason = |matched: &[(usize, usize)], elsewhere: i8, at_unmatched: i8| {
            let mut cells = [elsewhere; 121];
            let graph = BipartiteGraph::from_json(FIGURE).expect("a valid problem");
            for (edges, answer) in [(&graph.edges[..], at_unmatched), (matched, 1)] {
                for (l, r) in edges {
                    cells[(l + 1) * 11 + r + 6] = answer;
                }
            }
            let result = BipartiteMatching.check(11, &sample.stage(Stage::Input), &[Cells::Class(&cells)]);
            result.err().map(|failure| failure.to_string())
        };
        for elsewhere in [-1, 0, 1] {
            assert_eq!(reason(&[(1, 0), (4, 2), (2, 3)], elsewhere, 0), None);
        }
        let more = "one more edge can be matched, with 7 as an end";
        assert_eq!(reason(&[(1, 0), (4, 2)], 0, 0).as_deref(), Some(more));
        assert_eq!(reason(&[(1, 0), (4, 2), (2, 3), (2, 1)], 0, 0).as_deref(), Some("node 3 is matched twice"));
        assert_eq!(reason(&[(1, 0), (4, 2), (2, 3), (0, 0)], 0, 0).as_deref(), Some("node 6 is matched twice"));
        let neither = "the edge from 1 to 6 is neither in the matching nor not";
        assert_eq!(reason(&[(1, 0), (4, 2), (2, 3)], 0, -1).as_deref(), Some(neither));
    }

    #[test]
    fn invalid_bipartite_graphs_are_rejected() {
        let reason = |json| {
            BipartiteMatching.record_json(json, &mut BipartiteMatching.recorder()).expect_err("an invalid problem").to_string()
        };
        assert!(reason(r#"{"left": 1, "right": 1, "edges": [[0,1]]}"#).contains("`edges` has (0, 1)"));
        assert!(reason(r#"{"left": 0, "right": 0, "edges": []}"#).contains("needs at least 3 nodes"));
        assert!(reason(r#"{"left": 18446744073709551615, "right": 1, "edges": []}"#).contains("nodes are too many"));
        assert!(reason(r#"{"left": 1, "right": 1, "arcs": []}"#).contains("unknown field `arcs`"));
    }
}
