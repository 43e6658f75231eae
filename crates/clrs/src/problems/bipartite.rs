use serde::{Deserialize, Serialize};

use super::graph_family::FamilyOptions;
use super::{Distribution, InvalidProblem, Matrix, Problem, Structure, ensure_valid, probabilities};
use crate::column::MAX_NODES;
use crate::random::RandomState;
use crate::sampling::{InvalidValue, OptionInfo, Options};

/// A bipartite graph in which to find a maximum matching.
///
/// As a flow network it has two more nodes: node 0 is the source, with an edge to each left node; the left and the right nodes
/// follow; each right node has an edge to the sink, which is the last node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BipartiteGraph {
    /// Number of left nodes.
    pub left: usize,
    /// Number of right nodes.
    pub right: usize,
    /// The left and right node of each edge, counted from 0 on each side.
    pub edges: Vec<(usize, usize)>,
}

impl BipartiteGraph {
    /// The flow network, in which every edge has capacity 1.
    pub fn network(&self) -> Matrix {
        let mut capacity = Matrix::zeros(self.nodes());
        let sink = self.nodes() - 1;
        for left in 0..self.left {
            capacity[(0, self.left_node(left))] = 1.0;
        }
        for right in 0..self.right {
            capacity[(self.right_node(right), sink)] = 1.0;
        }
        for &(left, right) in &self.edges {
            capacity[(self.left_node(left), self.right_node(right))] = 1.0;
        }
        capacity
    }

    /// Inverse of [`network`](BipartiteGraph::network). The edges of the source determine the left side.
    pub fn from_network(capacity: &Matrix) -> Result<BipartiteGraph, InvalidProblem> {
        let message = "`A` is not a bipartite flow network with unit capacities from the source through both sides to the sink";
        let n = capacity.n();
        let left = if n == 0 { 0 } else { capacity.neighbors(0).count() };
        ensure_valid(left + 2 <= n, || message.into())?;
        let mut graph = BipartiteGraph { left, right: n - 2 - left, edges: Vec::new() };
        for l in 0..graph.left {
            let neighbors = (0..graph.right).filter(|&r| capacity.has_edge(graph.left_node(l), graph.right_node(r)));
            let neighbors: Vec<usize> = neighbors.collect();
            graph.edges.extend(neighbors.into_iter().map(|r| (l, r)));
        }
        ensure_valid(graph.network() == *capacity, || message.into())?;
        Ok(graph)
    }

    /// Network node of a left node.
    pub fn left_node(&self, left: usize) -> usize {
        1 + left
    }

    /// Network node of a right node.
    pub fn right_node(&self, right: usize) -> usize {
        1 + self.left + right
    }
}

impl Problem for BipartiteGraph {
    fn nodes(&self) -> usize {
        self.left.saturating_add(self.right).saturating_add(2)
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let mut edges = self.edges.clone();
        edges.sort_unstable();
        if let Some((left, right)) = edges.iter().find(|(left, right)| *left >= self.left || *right >= self.right) {
            return Err(InvalidProblem::Rule(format!(
                "`edges` has ({left}, {right}), but there are {} left and {} right nodes, counted from 0",
                self.left, self.right
            )));
        }
        match edges.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(InvalidProblem::Rule(format!("`edges` has {:?} twice", pair[0]))),
            None => Ok(()),
        }
    }

    /// Does nothing: the problem contains only integers.
    fn truncate(&mut self, _decimals: u32) {}
}

crate::options! {
    /// Options of the benchmark's bipartite graphs.
    pub struct BipartiteOptions {
        /// number of right nodes; the size is then the number of left nodes (auto: the size is split in halves)
        length_2: Option<usize> = None,
        /// edge probability, one value or several of which each graph draws one
        p: Vec<f64> = vec![0.3],
    }
}

/// Random bipartite graphs: each edge exists independently, or the edges are those of a graph family between the sides.
#[derive(Clone, Debug, Default)]
pub struct RandomBipartiteGraphs {
    benchmark: BipartiteOptions,
    p_is_set: bool,
    family: FamilyOptions,
}

impl RandomBipartiteGraphs {
    /// Numbers of left and right nodes.
    fn sides(&self, size: usize) -> (usize, usize) {
        self.benchmark.length_2.map_or((size - size / 2, size / 2), |right| (size, right))
    }
}

impl Options for RandomBipartiteGraphs {
    fn options(&self) -> Vec<OptionInfo> {
        self.benchmark.options().into_iter().chain(self.family.options()).collect()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>> {
        self.p_is_set |= name == "p";
        self.benchmark.try_set(name, value).or_else(|| self.family.try_set(name, value))
    }
}

impl Distribution for RandomBipartiteGraphs {
    type Problem = BipartiteGraph;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let (left, right) = self.sides(size);
        let total = left.saturating_add(right);
        ensure_valid(total <= MAX_NODES - 2, || {
            format!("{left} left and {right} right nodes are too many; the limit is {} in total", MAX_NODES - 2)
        })?;
        probabilities("p", &self.benchmark.p)?;
        self.family.validate(total, self.p_is_set)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<BipartiteGraph, InvalidProblem> {
        let (left, right) = self.sides(size);
        let pairs = (0..left).flat_map(|l| (0..right).map(move |r| (l, r)));
        let edges = if let Some(family) = self.family.graph {
            let graph = self.family.draw(family, left + right, Structure::Undirected, None, random);
            pairs.filter(|&(l, r)| graph.has_edge(l, left + r)).collect()
        } else {
            let p = self.benchmark.p[random.choice(self.benchmark.p.len())];
            let sampled = random.bernoullis(p, left * right);
            pairs.zip(sampled).filter(|(_, edge)| *edge).map(|(pair, _)| pair).collect()
        };
        Ok(BipartiteGraph { left, right, edges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_network_inverts_network_and_rejects_others() {
        let graph = BipartiteGraph { left: 2, right: 3, edges: vec![(0, 2), (1, 0), (1, 2)] };
        let network = graph.network();
        assert_eq!(BipartiteGraph::from_network(&network).expect("a bipartite network"), graph);
        for cell in 0..49 {
            let (row, column) = (cell / 7, cell % 7);
            let between = (1..3).contains(&row) && (3..6).contains(&column);
            let mut other = network.clone();
            other[(row, column)] = if between { 0.5 } else { 1.0 - other[(row, column)] };
            assert!(BipartiteGraph::from_network(&other).is_err(), "cell ({row}, {column}) changed");
        }
        assert!([0, 1].into_iter().all(|n| BipartiteGraph::from_network(&Matrix::zeros(n)).is_err()));
    }

    #[test]
    fn invalid_edges_are_named_in_the_error() {
        let reason = |edges| BipartiteGraph { left: 1, right: 2, edges }.validate().expect_err("invalid edges").to_string();
        assert!(reason(vec![(1, 0)]).starts_with("`edges` has (1, 0), but there are 1 left and 2 right nodes"));
        assert_eq!(reason(vec![(0, 1), (0, 0), (0, 1)]), "`edges` has (0, 1) twice");
    }

    #[test]
    fn the_size_is_split_in_halves_unless_length_2_is_set() {
        let mut graphs = RandomBipartiteGraphs::default();
        assert_eq!(graphs.sides(7), (4, 3));
        graphs.try_set("length_2", "2").expect("an option").expect("an integer");
        assert_eq!(graphs.sides(7), (7, 2));
        graphs.benchmark.length_2 = Some(usize::MAX);
        assert!(graphs.validate(7).is_err());
    }

    #[test]
    fn graph_families_contribute_the_edges_between_the_sides() {
        let mut graphs = RandomBipartiteGraphs::default();
        graphs.try_set("graph", "grid").expect("an option").expect("a family");
        graphs.validate(9).expect("a grid of 9");
        let graph = graphs.draw(9, &mut RandomState::new(1)).expect("a graph");
        graph.validate().expect("valid");
        assert!(!graph.edges.is_empty() && graph.edges.len() <= 12);
        graphs.try_set("p", "0.5").expect("an option").expect("a probability");
        assert!(graphs.validate(9).is_err(), "`p` does not apply to grids");
    }
}
