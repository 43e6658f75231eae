//! Kruskal's minimum spanning tree
//!
//! # Idea
//! Considers the edges in order of increasing weight and selects each one that connects two trees. The tree of a node is
//! identified by its root in a disjoint-set forest, whose pointers are shortened during each search (path compression).
//!
//! # One step
//! An edge is considered, one pointer is followed from either of its endpoints towards a root, or the edge is selected or
//! skipped.
//!
//! # Number of steps
//! The initial state, two per edge, and one per pointer followed. Pointers lead to higher nodes, and every pointer followed,
//! except the last one of a search, is changed to a higher node. There are at most `n(n - 1)` searches, of which the `n - 1`
//! that start at the last node follow no pointer. The others follow one pointer each, plus one for every time the pointer of a
//! node is raised, which for node `i` happens at most `n - 2 - i` times. In total at most
//! `1 + n(n - 1) + (n - 1)² + (n - 1)(n - 2) / 2`, which is `1 + (n - 1)(5n - 4) / 2`.
//!
//! # Textbook
//! CLRS 3rd ed., section 23.2, with the disjoint-set forests of section 21.3.
//!
//! # Correctness
//! Any minimum spanning forest, with each edge marked in both directions and nothing else marked; the diagonal is ignored. A
//! forest is minimum if no edge in it can be replaced by one that is lighter by more than a relative tolerance of 1e-9.
//!
//! # Differences from dm-clrs
//! Directed graphs and negative weights are rejected; dm-clrs includes negative edges in `adj` but never considers them. As in
//! dm-clrs, the lower root is linked to the higher one, and self-loops are never considered. dm-clrs sorts with an unstable
//! sort, so its order of equal weights is unspecified; here they are ordered by their endpoints.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::trees;
use crate::cell::{Categorical, Edge, Graph as Global, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{Graph, InvalidProblem, Matrix, RandomGraphs, Structure, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Kruskal's minimum spanning tree; see the [module](self).
pub struct MstKruskal;

probes! {
    MstKruskal;
    input {
        /// position in the list of nodes, scaled to [0, 1)
        pos: Node<Scalar>,
        /// weight of the edge from row to column; 0 if there is none
        weights as "A": Edge<Scalar>,
        /// whether there is an edge from row to column; true on the diagonal
        adj: Edge<Mask>,
    }
    output {
        /// whether the edge is in the spanning forest
        in_mst: Edge<Mask>,
    }
    hint {
        /// whether the edge has been selected so far
        in_mst_h: Edge<Mask>,
        /// next node towards the root; roots point to themselves
        pi: Node<Pointer>,
        /// lower endpoint of the edge
        u: Node<MaskOne>,
        /// higher endpoint of the edge
        v: Node<MaskOne>,
        /// current node in the search for the root of `u`
        root_u: Node<MaskOne>,
        /// current node in the search for the root of `v`
        root_v: Node<MaskOne>,
        /// whether the search for the root of `u` has visited the node
        mask_u: Node<Mask>,
        /// whether the search for the root of `v` has visited the node
        mask_v: Node<Mask>,
        /// 0 edge selected or skipped, 1 search from `u`, 2 search from `v`
        phase: Global<Categorical<3>>,
    }
}

impl Algorithm for MstKruskal {
    const NAME: &'static str = "mst_kruskal";
    const SOURCE: Source = Source(include_str!("mst_kruskal.rs"));
    const FAMILY: Family = Family::Graphs;
    const EDGE_PROBABILITY_SCALE: f64 = 0.5;
    type Problem = Graph;
    type Distribution = RandomGraphs;

    fn distribution() -> RandomGraphs {
        RandomGraphs::erdos_renyi(Structure::Undirected, 0.2).weighted()
    }

    fn preconditions(graph: &Graph) -> Result<(), InvalidProblem> {
        graph.weights.non_negative()?;
        graph.weights.symmetric()
    }

    fn input(Graph { weights }: &Graph) -> Input {
        Input { pos: positions(weights.n()), weights: weights.cells().to_vec(), adj: weights.adjacency() }
    }

    fn problem(input: &Input) -> Result<Graph, InvalidProblem> {
        Graph::from_inputs(&input.weights, &input.adj)
    }

    fn max_steps(n: usize) -> usize {
        1 + n.saturating_sub(1) * (5 * n).saturating_sub(4) / 2
    }

    fn run(Graph { weights }: &Graph, hints: &mut Hints<'_, Self>) -> Output {
        let mut forest = Forest::new(weights.n());
        hints.push(forest.hint());
        for (u, v) in edges_by_weight(weights) {
            forest.consider(u, v);
            hints.push(forest.hint());
            while forest.pi[forest.root_u] != forest.root_u {
                climb(&mut forest.root_u, &mut forest.mask_u, &mut forest.pi);
                hints.push(forest.hint());
            }
            forest.phase = SEARCH_FROM_V;
            while forest.pi[forest.root_v] != forest.root_v {
                climb(&mut forest.root_v, &mut forest.mask_v, &mut forest.pi);
                hints.push(forest.hint());
            }
            forest.join();
            hints.push(forest.hint());
        }
        Output { in_mst: forest.in_mst }
    }

    fn check(Graph { weights }: &Graph, Output { in_mst }: &Output) -> Result<(), CheckFailure> {
        let n = weights.n();
        let mut edges = Vec::new();
        let mut tree: Vec<usize> = (0..n).collect(); // a label that is common to all nodes of a tree
        for (u, v) in (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))) {
            let selected = in_mst[u * n + v];
            ensure(selected == in_mst[v * n + u], || format!("the edge {u} - {v} is selected in one direction only"))?;
            if selected {
                ensure(weights.has_edge(u, v), || format!("{u} - {v} is selected, but there is no such edge"))?;
                let (tree_u, tree_v) = (tree[u], tree[v]);
                ensure(tree_u != tree_v, || format!("the edge {u} - {v} closes a cycle"))?;
                tree.iter_mut().filter(|tree| **tree == tree_v).for_each(|tree| *tree = tree_u);
                edges.push((u, v));
            }
        }
        trees::check_minimum_forest(weights, &edges, 0..n)
    }
}

/// The edges by increasing weight; edges of equal weight are ordered by their endpoints.
fn edges_by_weight(weights: &Matrix) -> impl Iterator<Item = (usize, usize)> {
    let n = weights.n();
    let edges = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v)));
    let mut edges: Vec<(f64, usize, usize)> =
        edges.map(|(u, v)| (weights[(u, v)], u, v)).filter(|&(weight, ..)| weight > 0.0).collect();
    edges.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    edges.into_iter().map(|(_, u, v)| (u, v))
}

const DECIDED: usize = 0;
const SEARCH_FROM_U: usize = 1;
const SEARCH_FROM_V: usize = 2;

/// The disjoint-set forest and the current edge.
struct Forest {
    in_mst: Vec<bool>,
    pi: Vec<usize>,
    u: usize,
    v: usize,
    root_u: usize,
    root_v: usize,
    mask_u: Vec<bool>,
    mask_v: Vec<bool>,
    phase: usize,
}

impl Forest {
    /// Creates a forest of single nodes.
    fn new(n: usize) -> Forest {
        Forest {
            in_mst: vec![false; n * n],
            pi: (0..n).collect(),
            u: 0,
            v: 0,
            root_u: 0,
            root_v: 0,
            mask_u: vec![false; n],
            mask_v: vec![false; n],
            phase: DECIDED,
        }
    }

    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        Hint {
            in_mst_h: &self.in_mst,
            pi: &self.pi,
            u: self.u,
            v: self.v,
            root_u: self.root_u,
            root_v: self.root_v,
            mask_u: &self.mask_u,
            mask_v: &self.mask_v,
            phase: self.phase,
        }
    }

    /// Starts the search for the roots of an edge.
    fn consider(&mut self, u: usize, v: usize) {
        (self.u, self.v, self.root_u, self.root_v) = (u, v, u, v);
        self.mask_u.fill(false);
        self.mask_u[u] = true;
        self.mask_v.fill(false);
        self.mask_v[v] = true;
        self.phase = SEARCH_FROM_U;
    }

    /// Selects the edge if its endpoints have different roots, and links the lower root to the higher one.
    fn join(&mut self) {
        let n = self.pi.len();
        if self.root_u != self.root_v {
            self.in_mst[self.u * n + self.v] = true;
            self.in_mst[self.v * n + self.u] = true;
            self.pi[self.root_u.min(self.root_v)] = self.root_u.max(self.root_v);
        }
        self.phase = DECIDED;
    }
}

/// Follows one pointer, and lets all nodes that the search has visited point to the new node.
fn climb(root: &mut usize, mask: &mut [bool], pi: &mut [usize]) {
    *root = pi[*root];
    for (pi, _) in pi.iter_mut().zip(&*mask).filter(|(_, visited)| **visited) {
        *pi = *root;
    }
    mask[*root] = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Problem, Recorder};

    /// Figure 23.4 of the textbook; a to i are nodes 0 to 8.
    const FIGURE: &str = r#"{"weights": [
        [0,4,0,0,0,0,0,8,0], [4,0,8,0,0,0,0,11,0], [0,8,0,7,0,4,0,0,2], [0,0,7,0,9,14,0,0,0], [0,0,0,9,0,10,0,0,0],
        [0,0,4,14,10,0,2,0,0], [0,0,0,0,0,2,0,1,6], [8,11,0,0,0,0,1,0,7], [0,0,2,0,0,0,6,7,0]]}"#;

    fn selection(n: usize, edges: &[(usize, usize)]) -> Output {
        let mut in_mst = vec![false; n * n];
        for &(u, v) in edges {
            in_mst[u * n + v] = true;
            in_mst[v * n + u] = true;
        }
        Output { in_mst }
    }

    fn record(json: &str) -> Result<Recorder, InvalidProblem> {
        let mut recorder = Recorder::new::<MstKruskal>();
        recorder.record::<MstKruskal>(&Graph::from_json(json)?)?;
        Ok(recorder)
    }

    #[test]
    fn considers_the_edges_of_the_textbook_by_increasing_weight() {
        let recorder = record(FIGURE).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let (Some(Cells::Node(u)), Some(Cells::Node(v))) = (sample.get("u"), sample.get("v")) else { panic!("one node per row") };
        let mut considered: Vec<(u32, u32)> = u.iter().copied().zip(v.iter().copied()).collect();
        considered.dedup();
        assert_eq!(considered[1..6], [(6, 7), (2, 8), (5, 6), (0, 1), (2, 5)]);
        let Some(Cells::Class(in_mst)) = sample.get("in_mst") else { panic!("`in_mst` is a mask") };
        let tree = selection(9, &[(0, 1), (0, 7), (2, 3), (2, 5), (2, 8), (3, 4), (5, 6), (6, 7)]);
        assert!(in_mst.iter().eq(tree.in_mst.iter().map(|&selected| i8::from(selected)).collect::<Vec<_>>().iter()));
    }

    #[test]
    fn check_accepts_either_of_two_edges_of_the_same_weight_and_any_diagonal() {
        let graph = Graph::from_json(FIGURE).expect("a valid problem");
        let other = [(0, 1), (1, 2), (2, 3), (2, 5), (2, 8), (3, 4), (5, 6), (6, 7)];
        let mut output = selection(9, &other);
        output.in_mst[0] = true;
        assert_eq!(MstKruskal::check(&graph, &output), Ok(()));
    }

    #[test]
    fn check_reports_the_first_error_of_a_forest() {
        let graph = Graph::from_json(r#"{"weights": [[0,1,2,0],[1,0,3,0],[2,3,0,0],[0,0,0,4]]}"#).expect("a valid problem");
        let reason = |output| MstKruskal::check(&graph, &output).err().map(|failure| failure.0);
        assert_eq!(reason(selection(4, &[(0, 1), (0, 2)])), None);
        let heavier = "the edge 1 - 2 weighs 3, but could be replaced by 0 - 2, which weighs 2";
        assert_eq!(reason(selection(4, &[(0, 1), (1, 2)])).as_deref(), Some(heavier));
        let disconnected = "nodes 0 and 2 are connected by an edge, but not by the tree";
        assert_eq!(reason(selection(4, &[(0, 1)])).as_deref(), Some(disconnected));
        assert_eq!(reason(selection(4, &[(0, 1), (0, 2), (1, 2)])).as_deref(), Some("the edge 1 - 2 closes a cycle"));
        assert_eq!(
            reason(selection(4, &[(0, 1), (0, 2), (0, 3)])).as_deref(),
            Some("0 - 3 is selected, but there is no such edge")
        );
        let mut one_direction = selection(4, &[(0, 1), (0, 2)]);
        one_direction.in_mst[4] = false;
        assert_eq!(reason(one_direction).as_deref(), Some("the edge 0 - 1 is selected in one direction only"));
    }

    #[test]
    fn directed_graphs_and_negative_weights_are_rejected() {
        let reason = |json| record(json).err().expect("an invalid problem").to_string();
        assert_eq!(reason(r#"{"weights": [[0,1],[0,0]]}"#), "the graph is directed: `weights` is not symmetric");
        assert_eq!(reason(r#"{"weights": [[0,-1],[-1,0]]}"#), "`weights` has a negative value");
    }

    /// Complete graphs with random orders of the edges.
    #[test]
    fn no_order_of_edges_exceeds_max_steps() {
        let mut random = crate::RandomState::new(1);
        for n in 1..8 {
            for _ in 0..200 {
                let order = random.permutation(n * n);
                let cell = |u: usize, v: usize| order[u.min(v) * n + u.max(v)] as f64 + 1.0;
                let mut recorder = Recorder::new::<MstKruskal>();
                let graph = Graph { weights: Matrix::from_fn(n, |u, v| if u == v { 0.0 } else { cell(u, v) }) };
                recorder.record::<MstKruskal>(&graph).expect("a valid problem");
                assert!(recorder.last().expect("a recorded sample").steps() <= MstKruskal::max_steps(n), "{graph:?}");
            }
        }
    }
}
