use serde::{Deserialize, Serialize};

use super::graph_family::FamilyOptions;
use super::{Distribution, InvalidProblem, Matrix, Problem, Structure, ensure_valid, probabilities};
use crate::column::MAX_NODES;
use crate::random::RandomState;
use crate::sampling::{InvalidValue, OptionInfo, Options};

/// A bipartite graph, whose sides are to be matched.
///
/// As a flow network it has two nodes more: node 0 is the source, with an edge to each node of the left; then come the left and
/// the right; each node of the right has an edge to the sink, the last node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BipartiteGraph {
    /// Number of nodes on the left.
    pub left: usize,
    /// Number of nodes on the right.
    pub right: usize,
    /// The left and the right end of each edge, both counted from 0 on their own side.
    pub edges: Vec<(usize, usize)>,
}

impl BipartiteGraph {
    /// The flow network: every edge has capacity 1.
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

    /// The inverse of `network`: the sides are known by their edges to the source and the sink.
    pub fn from_network(capacity: &Matrix) -> Result<BipartiteGraph, InvalidProblem> {
        let rest =
            "`A` is no flow network of two sides: 1 from the source to the left, from there to the right, then to the sink";
        let n = capacity.n();
        let left = if n == 0 { 0 } else { capacity.neighbours(0).count() };
        ensure_valid(left + 2 <= n, || rest.into())?;
        let mut graph = BipartiteGraph { left, right: n - 2 - left, edges: Vec::new() };
        for l in 0..graph.left {
            let of_l = (0..graph.right).filter(|&r| capacity.has_edge(graph.left_node(l), graph.right_node(r)));
            let of_l: Vec<usize> = of_l.collect();
            graph.edges.extend(of_l.into_iter().map(|r| (l, r)));
        }
        ensure_valid(graph.network() == *capacity, || rest.into())?;
        Ok(graph)
    }

    /// The node of the network for one of the left.
    pub fn left_node(&self, left: usize) -> usize {
        1 + left
    }

    /// The node of the network for one of the right.
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
            let sides = format!("there are {} and {} nodes, counted from 0", self.left, self.right);
            return Err(InvalidProblem::Rule(format!(
                "`edges` has one from {left} on the left to {right} on the right, but {sides}"
            )));
        }
        match edges.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(InvalidProblem::Rule(format!("`edges` has {:?} twice", pair[0]))),
            None => Ok(()),
        }
    }

    /// Nothing to cut: edges are there or not.
    fn truncate(&mut self, _decimals: u32) {}
}

crate::options! {
    /// What the benchmark's own bipartite graphs can be told.
    pub struct BipartiteOptions {
        /// nodes on the right, beside as many on the left as the size says (auto: the size is split in halves)
        length_2: Option<usize> = None,
        /// chance of an edge, one value or several of which each graph draws one
        p: Vec<f64> = vec![0.3],
    }
}

/// Random bipartite graphs: a coin for each pair, or the edges that a graph of another family has between the sides.
#[derive(Clone, Debug, Default)]
pub struct RandomBipartiteGraphs {
    own: BipartiteOptions,
    p_is_set: bool,
    family: FamilyOptions,
}

impl RandomBipartiteGraphs {
    /// How many nodes there are on the left and on the right.
    fn sides(&self, size: usize) -> (usize, usize) {
        self.own.length_2.map_or((size - size / 2, size / 2), |right| (size, right))
    }
}

impl Options for RandomBipartiteGraphs {
    fn options(&self) -> Vec<OptionInfo> {
        self.own.options().into_iter().chain(self.family.options()).collect()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>> {
        self.p_is_set |= name == "p";
        self.own.try_set(name, value).or_else(|| self.family.try_set(name, value))
    }
}

impl Distribution for RandomBipartiteGraphs {
    type Problem = BipartiteGraph;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let (left, right) = self.sides(size);
        let both = left.saturating_add(right);
        ensure_valid(both <= MAX_NODES - 2, || format!("{left} and {right} nodes are too many"))?;
        probabilities("p", &self.own.p)?;
        self.family.validate(both, self.p_is_set)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<BipartiteGraph, InvalidProblem> {
        let (left, right) = self.sides(size);
        let pairs = (0..left).flat_map(|l| (0..right).map(move |r| (l, r)));
        let edges = if let Some(family) = self.family.graph {
            let graph = self.family.draw(family, left + right, Structure::Undirected, None, random);
            pairs.filter(|&(l, r)| graph.has_edge(l, left + r)).collect()
        } else {
            let p = self.own.p[random.choice(self.own.p.len())];
            let coins = random.bernoullis(p, left * right);
            pairs.zip(coins).filter(|(_, edge)| *edge).map(|(pair, _)| pair).collect()
        };
        Ok(BipartiteGraph { left, right, edges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_comes_back_from_its_network_and_other_networks_are_refused() {
        let graph = BipartiteGraph { left: 2, right: 3, edges: vec![(0, 2), (1, 0), (1, 2)] };
        let network = graph.network();
        assert_eq!(BipartiteGraph::from_network(&network).expect("its own"), graph);
        for cell in 0..49 {
            let (row, column) = (cell / 7, cell % 7);
            let between = (1..3).contains(&row) && (3..6).contains(&column);
            let mut other = network.clone();
            other[(row, column)] = if between { 0.5 } else { 1.0 - other[(row, column)] };
            assert!(BipartiteGraph::from_network(&other).is_err(), "{row} to {column}");
        }
        assert!([0, 1].into_iter().all(|n| BipartiteGraph::from_network(&Matrix::zeros(n)).is_err()));
    }

    #[test]
    fn bad_edges_are_named() {
        let reason = |edges| BipartiteGraph { left: 1, right: 2, edges }.validate().expect_err("bad").to_string();
        assert!(reason(vec![(1, 0)]).starts_with("`edges` has one from 1 on the left to 0 on the right, but there are 1 and 2"));
        assert_eq!(reason(vec![(0, 1), (0, 0), (0, 1)]), "`edges` has (0, 1) twice");
    }

    #[test]
    fn the_sides_are_halves_unless_the_right_is_given() {
        let mut graphs = RandomBipartiteGraphs::default();
        assert_eq!(graphs.sides(7), (4, 3));
        graphs.try_set("length_2", "2").expect("an option").expect("a number");
        assert_eq!(graphs.sides(7), (7, 2));
        graphs.own.length_2 = Some(usize::MAX);
        assert!(graphs.validate(7).is_err());
    }

    #[test]
    fn families_keep_the_edges_between_the_sides() {
        let mut graphs = RandomBipartiteGraphs::default();
        graphs.try_set("graph", "grid").expect("an option").expect("a family");
        graphs.validate(9).expect("a grid of 9");
        let graph = graphs.draw(9, &mut RandomState::new(1)).expect("drawn");
        graph.validate().expect("valid");
        assert!(!graph.edges.is_empty() && graph.edges.len() <= 12);
        graphs.try_set("p", "0.5").expect("an option").expect("a chance");
        assert!(graphs.validate(9).is_err(), "a grid has no chance of edges");
    }
}
