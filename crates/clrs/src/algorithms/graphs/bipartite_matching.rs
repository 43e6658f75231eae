//! Maximum bipartite matching
//!
//! # Idea
//! Sends flow from a source through the left and the right side to a sink, one unit at a time along a shortest augmenting path.
//! Edges that carry flow are reversed, so that a later path can undo an earlier choice. When no augmenting path is left, the
//! edges with flow between the sides are a maximum matching (Edmonds and Karp 1972).
//!
//! # One step
//! In phase 0 (search), all nodes at the next distance from the source are reached at once. In phase 1 (augment), one edge of
//! the path is reversed, starting at the sink.
//!
//! # Number of steps
//! A path of `l` edges takes `l` steps to find and `l + 1` to reverse. With `i` of `m` edges matched, there are `m - i`
//! disjoint augmenting paths that share the `i` matched edges, so the shortest one has at most `3 + 2⌊i / (m - i)⌋` edges; the
//! sum over all `i` is at most `3m + 4(⌊m/1⌋ + ⌊m/2⌋ + ... + ⌊m/m⌋)` steps. The last search, which finds no path, alternates
//! between the sides along matched edges and takes at most `2m + 2` steps. `m` is at most the size of the smaller side, hence
//! at most half of `n - 2`.
//!
//! # Textbook
//! CLRS 3rd ed., sections 26.2 and 26.3.
//!
//! # Correctness
//! Any matching with the maximum number of edges. Only the cells of edges from the left to the right side are evaluated; all
//! others, including those of the source and the sink, are ignored.
//!
//! # Differences from dm-clrs
//! None. As in dm-clrs, `in_matching` is defined for edges, in both directions, and on the diagonal, where it is true; edges
//! with flow, including those of the source and the sink, are marked from the lower to the higher node only. In phase 1, `d`
//! and `msk` are those of the search before its last layer. `u` is the sink in phase 0, except that it is the source in the
//! first step of every search but the first.

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
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// capacity of the edge from row to column
        capacity as "A": Edge<Scalar>,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
        /// source of the flow
        source as "s": Node<MaskOne>,
        /// sink of the flow
        sink as "t": Node<MaskOne>,
    }
    output {
        /// whether the edge is in the matching; masked out if there is no edge
        in_matching: Edge<Masked<Mask>>,
    }
    hint {
        /// whether the edge is in the current matching; masked out if there is no edge
        in_matching_h: Edge<Masked<Mask>>,
        /// residual capacity
        residual as "A_h": Edge<Scalar>,
        /// whether there is residual capacity; true on the diagonal
        adj_h: Edge<Mask>,
        /// number of edges from the source; 0 if no path is known
        d: Node<Scalar>,
        /// whether a path from the source is known
        msk: Node<Mask>,
        /// predecessor on a path from the source; the node itself if none is known
        pi: Node<Pointer>,
        /// node up to which the path has been reversed
        u: Node<MaskOne>,
        /// 0 search, 1 augment
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
        ensure_valid(input.source == SOURCE_NODE, || format!("the source `s` is {}, expected the first node", input.source))?;
        ensure_valid(input.sink == graph.nodes() - 1, || format!("the sink `t` is {}, expected the last node", input.sink))?;
        Ok(graph)
    }

    fn max_steps(n: usize) -> usize {
        let m = n.saturating_sub(2) / 2;
        let quotients: usize = (1..=m).map(|paths| m / paths).sum();
        3 * m + 4 * quotients + 2 * m + 2
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
                flow.finish_layer();
                hints.push(flow.hint());
            }
            if !flow.is_reached(flow.sink()) {
                return Output { in_matching: flow.in_matching };
            }
            flow.start_augmenting();
            hints.push(flow.hint());
            while flow.u != SOURCE_NODE {
                flow.reverse_edge();
                hints.push(flow.hint());
            }
        }
    }

    fn check(graph: &BipartiteGraph, output: &Output) -> Result<(), CheckFailure> {
        let mut left_of = vec![None; graph.right];
        let mut right_of = vec![None; graph.left];
        let mut neighbors = vec![Vec::new(); graph.left];
        for &(l, r) in &graph.edges {
            neighbors[l].push(r);
            let (u, v) = (graph.left_node(l), graph.right_node(r));
            let Some(matched) = output.in_matching[u * graph.nodes() + v] else {
                return Err(CheckFailure(format!("`in_matching` from {u} to {v} is masked out, but there is an edge")));
            };
            if matched {
                let (other_r, other_l) = (right_of[l].replace(r), left_of[r].replace(l));
                ensure(other_r.is_none(), || format!("node {u} is matched twice"))?;
                ensure(other_l.is_none(), || format!("node {v} is matched twice"))?;
            }
        }
        // Berge (1957): a matching is maximum if no path between two unmatched nodes alternates between unmatched and
        // matched edges.
        let mut open: Vec<usize> = (0..graph.left).filter(|&l| right_of[l].is_none()).collect();
        let mut seen = vec![false; graph.right];
        while let Some(l) = open.pop() {
            for &r in &neighbors[l] {
                if !std::mem::replace(&mut seen[r], true) {
                    let Some(next) = left_of[r] else {
                        let node = graph.right_node(r);
                        return Err(CheckFailure(format!("the matching is not maximum: an augmenting path ends at node {node}")));
                    };
                    open.push(next);
                }
            }
        }
        Ok(())
    }
}

const SOURCE_NODE: usize = 0;

/// A flow, its residual network, and the search for an augmenting path.
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
    /// Nodes of the last layer, in ascending order.
    layer: Vec<usize>,
    /// Nodes of the next layer.
    is_next: Vec<bool>,
}

impl Flow {
    fn new(graph: &BipartiteGraph) -> Flow {
        let (n, network) = (graph.nodes(), graph.network());
        let initial = |cell: usize| {
            let (u, v) = (cell / n, cell % n);
            if u == v { Some(true) } else { (network.has_edge(u, v) || network.has_edge(v, u)).then_some(false) }
        };
        Flow {
            n,
            in_matching: (0..n * n).map(initial).collect(),
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

    /// The hint row of the current state.
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

    /// Finds the nodes of the next layer and their smallest predecessors. Returns `false` if there are none.
    fn reach_next_layer(&mut self) -> bool {
        for &u in &self.layer {
            let row = &self.residual[u * self.n..][..self.n];
            for (v, _) in row.iter().enumerate().filter(|(_, capacity)| **capacity != 0.0) {
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

    /// Sets the distances of the nodes just reached.
    fn finish_layer(&mut self) {
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

    /// Reverses the edge of the path that ends at `u`: sends a unit of flow along it or, if it is reversed, takes one back.
    fn reverse_edge(&mut self) {
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

    /// Figure 26.8 of the textbook: five left nodes, four right nodes, and a maximum matching of three edges.
    const FIGURE: &str = r#"{"left": 5, "right": 4, "edges": [[0,0],[1,0],[1,2],[2,1],[2,2],[2,3],[3,2],[4,2]]}"#;

    #[test]
    fn finds_a_maximum_matching_of_the_textbook() {
        let mut recorder = BipartiteMatching.recorder();
        BipartiteMatching.record_json(FIGURE, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(in_matching)) = sample.get("in_matching") else { panic!("`in_matching` is a mask") };
        let matched: Vec<(usize, usize)> =
            (1..6).flat_map(|u| (6..10).map(move |v| (u, v))).filter(|(u, v)| in_matching[u * 11 + v] == 1).collect();
        assert_eq!(matched, [(1, 6), (2, 8), (3, 7)]);
        assert_eq!(sample.steps(), 3 * (3 + 4) + 6, "three paths of three edges, and a search that finds none");
    }

    /// The first path matches the two smallest nodes; the second one has to undo that.
    #[test]
    fn a_later_path_undoes_an_earlier_choice() {
        let mut recorder = BipartiteMatching.recorder();
        let path = r#"{"left": 2, "right": 2, "edges": [[0,0],[0,1],[1,0]]}"#;
        BipartiteMatching.record_json(path, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(in_matching)) = sample.get("in_matching") else { panic!("`in_matching` is a mask") };
        assert_eq!([in_matching[9], in_matching[10], in_matching[15]], [0, 1, 1]);
        assert_eq!(sample.steps(), (3 + 4) + (5 + 6) + 1);
    }

    #[test]
    fn check_accepts_any_maximum_matching_and_ignores_other_cells() {
        let mut recorder = BipartiteMatching.recorder();
        BipartiteMatching.record_json(FIGURE, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let reason = |matched: &[(usize, usize)], elsewhere: i8, at_unmatched: i8| {
            let mut cells = [elsewhere; 121];
            let graph = BipartiteGraph::from_json(FIGURE).expect("a valid problem");
            for (edges, value) in [(&graph.edges[..], at_unmatched), (matched, 1)] {
                for (l, r) in edges {
                    cells[(l + 1) * 11 + r + 6] = value;
                }
            }
            let result = BipartiteMatching.check(11, &sample.stage(Stage::Input), &[Cells::Class(&cells)]);
            result.err().map(|failure| failure.to_string())
        };
        for elsewhere in [-1, 0, 1] {
            assert_eq!(reason(&[(1, 0), (4, 2), (2, 3)], elsewhere, 0), None);
        }
        let not_maximum = "the matching is not maximum: an augmenting path ends at node 7";
        assert_eq!(reason(&[(1, 0), (4, 2)], 0, 0).as_deref(), Some(not_maximum));
        assert_eq!(reason(&[(1, 0), (4, 2), (2, 3), (2, 1)], 0, 0).as_deref(), Some("node 3 is matched twice"));
        assert_eq!(reason(&[(1, 0), (4, 2), (2, 3), (0, 0)], 0, 0).as_deref(), Some("node 6 is matched twice"));
        let masked = "`in_matching` from 1 to 6 is masked out, but there is an edge";
        assert_eq!(reason(&[(1, 0), (4, 2), (2, 3)], 0, -1).as_deref(), Some(masked));
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
