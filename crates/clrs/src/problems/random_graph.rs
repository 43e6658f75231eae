//! The random graphs of dm-clrs, with the further families of `graph_family.rs` as an option.

use super::graph_family::FamilyOptions;
use super::{Distribution, Graph, InvalidProblem, Matrix, SourcedGraph, ensure_valid, probabilities, range};
use crate::random::RandomState;
use crate::sampling::{InvalidValue, OptionInfo, Options};

/// Structure of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Every edge has the same weight in both directions.
    Undirected,
    /// Any edges.
    Directed,
    /// Directed, without cycles.
    Acyclic,
}

crate::options! {
    /// Erdős–Rényi graphs: each edge exists independently with probability `p`.
    pub struct ErdosRenyiOptions {
        /// edge probability, one value or several of which each graph draws one; an undirected edge needs both directions
        p: Vec<f64> = vec![0.5],
    }
}

crate::options! {
    /// Communities with edges to later communities only, so that most are strongly connected components.
    pub struct CommunityOptions {
        /// number of communities
        k: usize = 4,
        /// edge probability within a community, one value or several of which each graph draws one
        p: Vec<f64> = vec![0.5],
        /// probability that an edge is toggled
        eps: f64 = 0.01,
    }
}

crate::options! {
    /// Weights of edges.
    pub struct WeightOptions {
        /// lower bound of weights
        low: f64 = 0.0,
        /// exclusive upper bound of weights
        high: f64 = 1.0,
    }
}

/// The benchmark's distribution, which applies unless another family is set.
#[derive(Clone, Debug)]
enum Benchmark {
    ErdosRenyi(ErdosRenyiOptions),
    Communities(CommunityOptions),
}

/// Random graphs of a structure, with or without weights.
#[derive(Clone, Debug)]
pub struct RandomGraphs {
    structure: Structure,
    benchmark: Benchmark,
    benchmark_is_set: bool,
    family: FamilyOptions,
    weights: Option<WeightOptions>,
}

impl RandomGraphs {
    /// Erdős–Rényi graphs without weights.
    pub fn erdos_renyi(structure: Structure, p: f64) -> RandomGraphs {
        let benchmark = Benchmark::ErdosRenyi(ErdosRenyiOptions { p: vec![p] });
        RandomGraphs { structure, benchmark, benchmark_is_set: false, family: FamilyOptions::default(), weights: None }
    }

    /// Perturbed communities: directed, without weights.
    pub fn communities() -> RandomGraphs {
        let benchmark = Benchmark::Communities(CommunityOptions::default());
        RandomGraphs { benchmark, ..RandomGraphs::erdos_renyi(Structure::Directed, 0.5) }
    }

    /// Adds weights.
    #[must_use]
    pub fn weighted(self) -> RandomGraphs {
        RandomGraphs { weights: Some(WeightOptions::default()), ..self }
    }
}

impl Options for RandomGraphs {
    fn options(&self) -> Vec<OptionInfo> {
        let benchmark = match &self.benchmark {
            Benchmark::ErdosRenyi(options) => options.options(),
            Benchmark::Communities(options) => options.options(),
        };
        let weights = self.weights.iter().flat_map(Options::options);
        benchmark.into_iter().chain(weights).chain(self.family.options()).collect()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>> {
        let benchmark = match &mut self.benchmark {
            Benchmark::ErdosRenyi(options) => options.try_set(name, value),
            Benchmark::Communities(options) => options.try_set(name, value),
        };
        self.benchmark_is_set |= benchmark.is_some();
        benchmark.or_else(|| self.weights.as_mut()?.try_set(name, value)).or_else(|| self.family.try_set(name, value))
    }
}

impl Distribution for RandomGraphs {
    type Problem = Graph;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        self.family.validate(size, self.benchmark_is_set)?;
        match &self.benchmark {
            Benchmark::ErdosRenyi(ErdosRenyiOptions { p }) => probabilities("p", p)?,
            Benchmark::Communities(CommunityOptions { k, p, eps }) => {
                probabilities("p", p)?;
                probabilities("eps", &[*eps])?;
                ensure_valid(*k > 0, || "`k` is 0; it must be at least 1".into())?;
                ensure_valid(*k <= size || self.family.graph.is_some(), || {
                    format!("`k` is {k}; it must not exceed the number of nodes, {size}")
                })?;
            }
        }
        if let Some(WeightOptions { low, high }) = self.weights {
            range(low, high)?;
            ensure_valid(self.structure != Structure::Undirected || low >= 0.0, || {
                "`low` is negative; weights of undirected graphs are square roots of products".into()
            })?;
            ensure_valid(self.structure != Structure::Undirected || (high * high).is_finite(), || {
                format!("`high` is {high:e}; weights of undirected graphs are square roots of products, which overflow")
            })?;
        }
        Ok(())
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Graph, InvalidProblem> {
        let weights = self.weights.as_ref();
        let weights = match (&self.benchmark, self.family.graph) {
            (_, Some(family)) => self.family.draw(family, size, self.structure, weights, random),
            (Benchmark::ErdosRenyi(options), None) => erdos_renyi(options, size, self.structure, weights, random),
            (Benchmark::Communities(options), None) => communities(options, size, random),
        };
        Ok(Graph { weights })
    }
}

/// Random graphs with a uniformly distributed source.
#[derive(Clone, Debug)]
pub struct RandomSourcedGraphs(pub RandomGraphs);

impl Options for RandomSourcedGraphs {
    fn options(&self) -> Vec<OptionInfo> {
        self.0.options()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>> {
        self.0.try_set(name, value)
    }
}

impl Distribution for RandomSourcedGraphs {
    type Problem = SourcedGraph;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        self.0.validate(size)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<SourcedGraph, InvalidProblem> {
        let Graph { weights } = self.0.draw(size, random)?;
        Ok(SourcedGraph { weights, source: random.choice(size) })
    }
}

/// Samples every cell, including the diagonal. An undirected edge needs both of its cells.
fn erdos_renyi(
    ErdosRenyiOptions { p }: &ErdosRenyiOptions,
    n: usize,
    structure: Structure,
    weights: Option<&WeightOptions>,
    random: &mut RandomState,
) -> Matrix {
    let p = p[random.choice(p.len())];
    let sampled = random.bernoullis(p, n * n);
    let edge = |u: usize, v: usize| sampled[u * n + v];
    let mut matrix = match structure {
        Structure::Undirected => Matrix::from_fn(n, |u, v| f64::from(edge(u, v) && edge(v, u))),
        Structure::Directed => Matrix::from_fn(n, |u, v| f64::from(edge(u, v))),
        Structure::Acyclic => {
            let order = random.permutation(n);
            Matrix::from_fn(n, |u, v| f64::from(order[u] < order[v] && edge(order[u], order[v])))
        }
    };
    if let Some(&WeightOptions { low, high }) = weights {
        let drawn = random.uniforms(low, high, n * n);
        for u in 0..n {
            for v in 0..n {
                matrix[(u, v)] *= match structure {
                    // dm-clrs's offset keeps small weights from becoming 0, which means no edge.
                    Structure::Undirected => (drawn[u * n + v] * drawn[v * n + u] + 1e-3).sqrt(),
                    Structure::Directed | Structure::Acyclic => drawn[u * n + v],
                };
            }
        }
    }
    matrix
}

/// `k` disjoint directed Erdős–Rényi graphs, in which edges are then toggled, except those to an earlier community.
fn communities(CommunityOptions { k, p, eps }: &CommunityOptions, n: usize, random: &mut RandomState) -> Matrix {
    let p = p[random.choice(p.len())];
    let community = |node: usize| (node / (n / k)).min(k - 1); // the last community has the remaining nodes
    let mut matrix = Matrix::zeros(n);
    for block in 0..*k {
        let nodes = (0..n).position(|u| community(u) == block).unwrap_or(n)..n;
        let nodes: Vec<usize> = nodes.take_while(|&u| community(u) == block).collect();
        for &u in &nodes {
            for (&v, edge) in nodes.iter().zip(random.bernoullis(p, nodes.len())) {
                matrix[(u, v)] = f64::from(edge);
            }
        }
    }
    let toggled = random.bernoullis(*eps, n * n);
    for u in 0..n {
        for v in (0..n).filter(|&v| toggled[u * n + v] && community(v) >= community(u)) {
            matrix[(u, v)] = 1.0 - matrix[(u, v)];
        }
    }
    let order = random.permutation(n);
    Matrix::from_fn(n, |u, v| matrix[(order[u], order[v])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SamplerOptions;
    use crate::algorithms::acyclic::acyclic;

    fn set(mut graphs: RandomGraphs, options: &str) -> RandomGraphs {
        let options = SamplerOptions::parse(options.split_whitespace()).expect("option=value");
        options.apply("graphs", &mut graphs).expect("options of these graphs");
        graphs
    }

    /// Twenty graphs of each size.
    fn draw(graphs: &RandomGraphs, sizes: impl IntoIterator<Item = usize>) -> Vec<Matrix> {
        let mut random = RandomState::new(3);
        let sizes = sizes.into_iter().flat_map(|n| std::iter::repeat_n(n, 20));
        sizes.map(|n| graphs.draw(n, &mut random).expect("a graph").weights).collect()
    }

    fn edges(weights: &Matrix) -> usize {
        weights.cells().iter().filter(|&&weight| weight != 0.0).count()
    }

    #[test]
    fn graphs_of_all_small_sizes_have_the_requested_structure() {
        for graphs in [
            RandomGraphs::erdos_renyi(Structure::Undirected, 0.5),
            RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted(),
        ] {
            assert!(draw(&graphs, 1..=8).iter().all(|weights| weights.symmetric().is_ok()));
        }
        for graphs in
            [RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5), RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5).weighted()]
        {
            assert!(draw(&graphs, 1..=8).iter().all(|weights| acyclic(weights).is_ok()));
        }
        assert_eq!(draw(&RandomGraphs::erdos_renyi(Structure::Directed, 0.5), 1..=8).len(), 160);
        assert_eq!(draw(&RandomGraphs::communities(), 4..=9).len(), 120);
    }

    #[test]
    fn probabilities_0_and_1_give_no_edges_and_all_edges() {
        for (structure, all) in [(Structure::Undirected, 49), (Structure::Directed, 49), (Structure::Acyclic, 21)] {
            assert!(
                draw(&RandomGraphs::erdos_renyi(structure, 1.0), [7]).iter().all(|weights| edges(weights) == all),
                "{structure:?}"
            );
            assert!(
                draw(&RandomGraphs::erdos_renyi(structure, 0.0), [7]).iter().all(|weights| edges(weights) == 0),
                "{structure:?}"
            );
        }
        let mixed = set(RandomGraphs::erdos_renyi(Structure::Directed, 0.5), "p=0,1");
        let mut counts: Vec<usize> = draw(&mixed, [7]).iter().map(edges).collect();
        counts.sort_unstable();
        counts.dedup();
        assert_eq!(counts, [0, 49], "each graph draws one of the probabilities");
    }

    #[test]
    fn an_undirected_edge_needs_both_directions() {
        let mean =
            |structure| draw(&RandomGraphs::erdos_renyi(structure, 0.5), [30]).iter().map(edges).sum::<usize>() as f64 / 18000.0;
        assert!((mean(Structure::Directed) - 0.5).abs() < 0.02);
        assert!((mean(Structure::Undirected) - 0.25).abs() < 0.02);
    }

    #[test]
    fn communities_are_complete_and_disjoint_with_probability_1() {
        for (k, n) in [(1, 6), (4, 4), (4, 11), (3, 9)] {
            let graphs = set(RandomGraphs::communities(), &format!("k={k} p=1 eps=0"));
            let (size, rest) = (n / k, n - n / k * (k - 1));
            for weights in draw(&graphs, [n]) {
                assert_eq!(edges(&weights), (k - 1) * size * size + rest * rest, "the last community has the remaining nodes");
            }
        }
        // Toggling every edge leaves those from each community to the later ones.
        for weights in draw(&set(RandomGraphs::communities(), "k=4 p=1 eps=1"), [4]) {
            assert!(edges(&weights) == 6 && acyclic(&weights).is_ok());
        }
    }

    #[test]
    fn weights_are_in_range() {
        let present = |graphs: &RandomGraphs| {
            let drawn = draw(graphs, [12]);
            drawn.iter().flat_map(|weights| weights.cells().to_vec()).filter(|&weight| weight != 0.0).collect::<Vec<f64>>()
        };
        let acyclic = set(RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5).weighted(), "low=-2 high=-1");
        assert!(present(&acyclic).iter().all(|weight| (-2.0..-1.0).contains(weight)));
        let undirected = present(&RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted());
        assert!(undirected.iter().all(|weight| (0.03..1.001).contains(weight)), "square roots of products plus an offset");
    }

    #[test]
    fn sources_are_uniformly_distributed() {
        let graphs = RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Undirected, 0.5));
        let mut random = RandomState::new(1);
        let mut counts = [0; 5];
        (0..100).for_each(|_| counts[graphs.draw(5, &mut random).expect("a graph").source] += 1);
        assert!(counts.iter().all(|&count| count > 8), "{counts:?}");
    }

    #[test]
    fn invalid_options_are_rejected_with_a_reason() {
        let reason = |graphs, options| set(graphs, options).validate(4).expect_err("invalid options").to_string();
        let undirected = || RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted();
        assert_eq!(reason(undirected(), "p=0.5,1.5"), "`p` has a probability that is not between 0 and 1");
        assert_eq!(reason(undirected(), "low=2"), "`low` (2) is greater than `high` (1)");
        assert_eq!(
            reason(undirected(), "low=-1"),
            "`low` is negative; weights of undirected graphs are square roots of products"
        );
        assert!(reason(undirected(), "high=1e200").ends_with("square roots of products, which overflow"));
        assert_eq!(reason(RandomGraphs::communities(), "k=0"), "`k` is 0; it must be at least 1");
        assert_eq!(reason(RandomGraphs::communities(), "k=5"), "`k` is 5; it must not exceed the number of nodes, 4");
        assert_eq!(reason(RandomGraphs::communities(), "eps=-1"), "`eps` has a probability that is not between 0 and 1");
        assert!(set(RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5).weighted(), "low=-1").validate(4).is_ok());
        assert!(set(RandomGraphs::communities(), "graph=tree").validate(2).is_ok(), "`k` does not apply to trees");
    }
}
