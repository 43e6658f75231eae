//! Random graphs as the reference draws them, and a few families beside (`graph_family.rs`).

use super::graph_family::FamilyOptions;
use super::{Distribution, Graph, InvalidProblem, Matrix, SourcedGraph, ensure_valid, probabilities, range};
use crate::random::RandomState;
use crate::sampling::{InvalidValue, OptionInfo, Options};

/// Which edges a graph may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Every edge goes both ways.
    Undirected,
    /// Any.
    Directed,
    /// No way leads back.
    Acyclic,
}

crate::options! {
    /// Erdős–Rényi: each pair of nodes has an edge by a coin of its own.
    pub struct ErdosRenyiOptions {
        /// chance of an edge, one value or several of which each graph draws one; an undirected edge needs two such coins
        p: Vec<f64> = vec![0.5],
    }
}

crate::options! {
    /// Communities that only later ones can be reached from, so that most stay strongly connected components.
    pub struct CommunityOptions {
        /// number of communities
        k: usize = 4,
        /// chance of an edge inside a community, one value or several of which each graph draws one
        p: Vec<f64> = vec![0.5],
        /// chance that an edge is toggled
        eps: f64 = 0.01,
    }
}

crate::options! {
    /// The weights of edges.
    pub struct WeightOptions {
        /// smallest weight
        low: f64 = 0.0,
        /// bound that weights stay below
        high: f64 = 1.0,
    }
}

/// What the benchmark's own graphs are like, where no other family is asked for.
#[derive(Clone, Debug)]
enum Own {
    ErdosRenyi(ErdosRenyiOptions),
    Communities(CommunityOptions),
}

/// Random graphs of a structure, with or without weights.
#[derive(Clone, Debug)]
pub struct RandomGraphs {
    structure: Structure,
    own: Own,
    own_is_set: bool,
    family: FamilyOptions,
    weights: Option<WeightOptions>,
}

impl RandomGraphs {
    /// Erdős–Rényi graphs without weights.
    pub fn erdos_renyi(structure: Structure, p: f64) -> RandomGraphs {
        let own = Own::ErdosRenyi(ErdosRenyiOptions { p: vec![p] });
        RandomGraphs { structure, own, own_is_set: false, family: FamilyOptions::default(), weights: None }
    }

    /// Perturbed communities: directed, without weights.
    pub fn communities() -> RandomGraphs {
        let own = Own::Communities(CommunityOptions::default());
        RandomGraphs { own, ..RandomGraphs::erdos_renyi(Structure::Directed, 0.5) }
    }

    /// The same with weights.
    #[must_use]
    pub fn weighted(self) -> RandomGraphs {
        RandomGraphs { weights: Some(WeightOptions::default()), ..self }
    }
}

impl Options for RandomGraphs {
    fn options(&self) -> Vec<OptionInfo> {
        let own = match &self.own {
            Own::ErdosRenyi(options) => options.options(),
            Own::Communities(options) => options.options(),
        };
        let weights = self.weights.iter().flat_map(Options::options);
        own.into_iter().chain(weights).chain(self.family.options()).collect()
    }

    fn try_set(&mut self, name: &str, value: &str) -> Option<Result<(), InvalidValue>> {
        let own = match &mut self.own {
            Own::ErdosRenyi(options) => options.try_set(name, value),
            Own::Communities(options) => options.try_set(name, value),
        };
        self.own_is_set |= own.is_some();
        own.or_else(|| self.weights.as_mut()?.try_set(name, value)).or_else(|| self.family.try_set(name, value))
    }
}

impl Distribution for RandomGraphs {
    type Problem = Graph;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        self.family.validate(size, self.own_is_set)?;
        match &self.own {
            Own::ErdosRenyi(ErdosRenyiOptions { p }) => probabilities("p", p)?,
            Own::Communities(CommunityOptions { k, p, eps }) => {
                probabilities("p", p)?;
                probabilities("eps", &[*eps])?;
                ensure_valid(*k > 0, || "`k` is 0: there must be a community".into())?;
                ensure_valid(*k <= size || self.family.graph.is_some(), || {
                    format!("{k} communities (`k`) need at least {k} nodes")
                })?;
            }
        }
        if let Some(WeightOptions { low, high }) = self.weights {
            range(low, high)?;
            ensure_valid(self.structure != Structure::Undirected || low >= 0.0, || {
                "`low` is below 0: weights of undirected graphs are square roots".into()
            })?;
        }
        Ok(())
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Graph, InvalidProblem> {
        let weights = self.weights.as_ref();
        let weights = match (&self.own, self.family.graph) {
            (_, Some(family)) => self.family.draw(family, size, self.structure, weights, random),
            (Own::ErdosRenyi(options), None) => erdos_renyi(options, size, self.structure, weights, random),
            (Own::Communities(options), None) => communities(options, size, random),
        };
        Ok(Graph { weights })
    }
}

/// Random graphs, and any of the nodes to start from.
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

/// A coin for every cell, the diagonal included; undirected edges need both of theirs.
fn erdos_renyi(
    ErdosRenyiOptions { p }: &ErdosRenyiOptions,
    n: usize,
    structure: Structure,
    weights: Option<&WeightOptions>,
    random: &mut RandomState,
) -> Matrix {
    let p = p[random.choice(p.len())];
    let coins = random.bernoullis(p, n * n);
    let edge = |u: usize, v: usize| coins[u * n + v];
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
                    // Protects small weights from becoming 0, which is no edge.
                    Structure::Undirected => (drawn[u * n + v] * drawn[v * n + u] + 1e-3).sqrt(),
                    Structure::Directed | Structure::Acyclic => drawn[u * n + v],
                };
            }
        }
    }
    matrix
}

/// `k` directed Erdős–Rényi graphs beside each other; then edges are toggled, but none that leads to an earlier community.
fn communities(CommunityOptions { k, p, eps }: &CommunityOptions, n: usize, random: &mut RandomState) -> Matrix {
    let p = p[random.choice(p.len())];
    let community = |node: usize| (node / (n / k)).min(k - 1); // the last one takes the rest
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

    fn set(mut graphs: RandomGraphs, settings: &str) -> RandomGraphs {
        let settings = SamplerOptions::parse(settings.split_whitespace()).expect("option=value");
        settings.apply("graphs", &mut graphs).expect("options of these graphs");
        graphs
    }

    /// Twenty graphs of each of several sizes.
    fn draw(graphs: &RandomGraphs, sizes: impl IntoIterator<Item = usize>) -> Vec<Matrix> {
        let mut random = RandomState::new(3);
        let sizes = sizes.into_iter().flat_map(|n| std::iter::repeat_n(n, 20));
        sizes.map(|n| graphs.draw(n, &mut random).expect("drawn").weights).collect()
    }

    fn edges(weights: &Matrix) -> usize {
        weights.cells().iter().filter(|&&weight| weight != 0.0).count()
    }

    #[test]
    fn graphs_of_all_small_sizes_have_the_structure_that_is_asked_for() {
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
    fn sure_coins_give_all_edges_or_none() {
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
        let either = set(RandomGraphs::erdos_renyi(Structure::Directed, 0.5), "p=0,1");
        let mut counts: Vec<usize> = draw(&either, [7]).iter().map(edges).collect();
        counts.sort_unstable();
        counts.dedup();
        assert_eq!(counts, [0, 49], "each graph draws one of the chances");
    }

    #[test]
    fn an_undirected_edge_needs_both_of_its_coins() {
        let mean =
            |structure| draw(&RandomGraphs::erdos_renyi(structure, 0.5), [30]).iter().map(edges).sum::<usize>() as f64 / 18000.0;
        assert!((mean(Structure::Directed) - 0.5).abs() < 0.02);
        assert!((mean(Structure::Undirected) - 0.25).abs() < 0.02);
    }

    #[test]
    fn communities_are_whole_and_apart_when_coins_are_sure() {
        for (k, n) in [(1, 6), (4, 4), (4, 11), (3, 9)] {
            let graphs = set(RandomGraphs::communities(), &format!("k={k} p=1 eps=0"));
            let (size, rest) = (n / k, n - n / k * (k - 1));
            for weights in draw(&graphs, [n]) {
                assert_eq!(edges(&weights), (k - 1) * size * size + rest * rest, "the last community takes the rest");
            }
        }
        // Toggling everything leaves the edges from each community to the later ones.
        for weights in draw(&set(RandomGraphs::communities(), "k=4 p=1 eps=1"), [4]) {
            assert!(edges(&weights) == 6 && acyclic(&weights).is_ok());
        }
    }

    #[test]
    fn weights_are_in_their_range() {
        let present = |graphs: &RandomGraphs| {
            let drawn = draw(graphs, [12]);
            drawn.iter().flat_map(|weights| weights.cells().to_vec()).filter(|&weight| weight != 0.0).collect::<Vec<f64>>()
        };
        let acyclic = set(RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5).weighted(), "low=-2 high=-1");
        assert!(present(&acyclic).iter().all(|weight| (-2.0..-1.0).contains(weight)));
        let undirected = present(&RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted());
        assert!(undirected.iter().all(|weight| (0.03..1.001).contains(weight)), "square roots of products, kept off 0");
    }

    #[test]
    fn a_source_is_any_of_the_nodes() {
        let graphs = RandomSourcedGraphs(RandomGraphs::erdos_renyi(Structure::Undirected, 0.5));
        let mut random = RandomState::new(1);
        let mut counts = [0; 5];
        (0..100).for_each(|_| counts[graphs.draw(5, &mut random).expect("drawn").source] += 1);
        assert!(counts.iter().all(|&count| count > 8), "{counts:?}");
    }

    #[test]
    fn options_that_do_not_fit_are_refused_with_the_reason() {
        let reason = |graphs, settings| set(graphs, settings).validate(4).expect_err("does not fit").to_string();
        let undirected = || RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted();
        assert_eq!(reason(undirected(), "p=0.5,1.5"), "`p` has a probability that is not between 0 and 1");
        assert_eq!(reason(undirected(), "low=2"), "`low` is 2, above `high`, which is 1");
        assert_eq!(reason(undirected(), "low=-1"), "`low` is below 0: weights of undirected graphs are square roots");
        assert_eq!(reason(RandomGraphs::communities(), "k=0"), "`k` is 0: there must be a community");
        assert_eq!(reason(RandomGraphs::communities(), "k=5"), "5 communities (`k`) need at least 5 nodes");
        assert_eq!(reason(RandomGraphs::communities(), "eps=-1"), "`eps` has a probability that is not between 0 and 1");
        assert!(set(RandomGraphs::erdos_renyi(Structure::Acyclic, 0.5).weighted(), "low=-1").validate(4).is_ok());
        assert!(set(RandomGraphs::communities(), "graph=tree").validate(2).is_ok(), "communities are not drawn");
    }
}
