//! Graph families that dm-clrs does not have.
//!
//! Nodes are numbered at random, independently of their position in the family. Edges of directed graphs have a random
//! direction; those of acyclic graphs follow another random order. There are no self-loops.

use super::random_graph::WeightOptions;
use super::{InvalidProblem, Matrix, Structure, ensure_valid, probabilities};
use crate::random::RandomState;
use crate::sampling::{InvalidValue, OptionValue};

/// A family of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphFamily {
    /// A ring in which nodes are connected to their nearest neighbors, with some edges rewired (Watts and Strogatz 1998).
    WattsStrogatz,
    /// Nodes are added one by one and prefer neighbors of high degree (Barabási and Albert 1999).
    BarabasiAlbert,
    /// Rows of nodes, each connected to the next node in the row and to the node below.
    Grid,
    /// A uniformly distributed labeled tree (Prüfer 1918).
    Tree,
    /// Random points in a square, connected if they are near each other.
    Geometric,
}

macro_rules! names {
    ($($family:ident $name:literal),*) => {
        const NAMES: &[(GraphFamily, &str)] = &[$((GraphFamily::$family, $name)),*];
        /// What an invalid value is compared with.
        const EXPECTED: &str = concat!("one of auto", $(", ", $name),*);
    };
}

names! {
    WattsStrogatz "watts_strogatz",
    BarabasiAlbert "barabasi_albert",
    Grid "grid",
    Tree "tree",
    Geometric "geometric"
}

impl OptionValue for GraphFamily {
    fn from_text(text: &str) -> Result<GraphFamily, InvalidValue> {
        let found = NAMES.iter().find(|(_, name)| *name == text).map(|(family, _)| *family);
        found.ok_or(InvalidValue(EXPECTED))
    }
    fn to_text(&self) -> String {
        NAMES.iter().find(|(family, _)| family == self).map(|(_, name)| (*name).to_owned()).unwrap_or_default()
    }
}

crate::options! {
    /// A graph family and its options.
    pub struct FamilyOptions {
        /// graph family: auto (the benchmark's distribution), watts_strogatz, barabasi_albert, grid, tree or geometric
        graph: Option<GraphFamily> = None,
        /// watts_strogatz: even number of neighbors of each node in the ring (auto: 4)
        degree: Option<usize> = None,
        /// watts_strogatz: probability that an edge is rewired (auto: 0.1)
        rewire: Option<f64> = None,
        /// barabasi_albert: number of edges of each new node (auto: 2)
        attach: Option<usize> = None,
        /// geometric: maximum distance of neighbors in the unit square (auto: near the connectivity threshold)
        radius: Option<f64> = None,
    }
}

impl FamilyOptions {
    /// Checks the options. `benchmark_is_set` is whether an option of the benchmark's distribution is set too.
    pub(super) fn validate(&self, size: usize, benchmark_is_set: bool) -> Result<(), InvalidProblem> {
        let graph = self.graph.map_or_else(|| "auto".into(), |family| family.to_text());
        for (name, is_set, of) in [
            ("degree", self.degree.is_some(), GraphFamily::WattsStrogatz),
            ("rewire", self.rewire.is_some(), GraphFamily::WattsStrogatz),
            ("attach", self.attach.is_some(), GraphFamily::BarabasiAlbert),
            ("radius", self.radius.is_some(), GraphFamily::Geometric),
        ] {
            ensure_valid(!is_set || self.graph == Some(of), || {
                format!("`{name}` applies to graph={} only; graph is {graph}", of.to_text())
            })?;
        }
        ensure_valid(!(benchmark_is_set && self.graph.is_some()), || {
            format!("the options p, k and eps do not apply to graph={graph}")
        })?;
        if let Some(degree) = self.degree {
            ensure_valid(degree.is_multiple_of(2) && degree < size, || {
                format!("`degree` is {degree}; it must be even and less than the number of nodes, {size}")
            })?;
        }
        if let Some(attach) = self.attach {
            ensure_valid(attach > 0 && attach < size, || {
                format!("`attach` is {attach}; it must be at least 1 and less than the number of nodes, {size}")
            })?;
        }
        probabilities("rewire", self.rewire.as_slice())?;
        ensure_valid(self.radius.is_none_or(|radius| radius >= 0.0), || "`radius` is negative".into())
    }

    /// Samples a graph. The options are valid.
    pub(super) fn draw(
        &self,
        family: GraphFamily,
        n: usize,
        structure: Structure,
        weights: Option<&WeightOptions>,
        random: &mut RandomState,
    ) -> Matrix {
        let edges = match family {
            GraphFamily::WattsStrogatz => {
                let degree = self.degree.unwrap_or(4).min((n - 1) / 2 * 2);
                watts_strogatz(n, degree, self.rewire.unwrap_or(0.1), random)
            }
            GraphFamily::BarabasiAlbert => barabasi_albert(n, self.attach.unwrap_or(2).min(n - 1), random),
            GraphFamily::Grid => grid(n),
            GraphFamily::Tree => tree(n, random),
            GraphFamily::Geometric => geometric(n, self.radius, random),
        };
        let label = random.permutation(n);
        let rank = if structure == Structure::Acyclic { random.permutation(n) } else { Vec::new() };
        let mut matrix = Matrix::zeros(n);
        for (u, v) in edges {
            let reversed = match structure {
                Structure::Undirected => false,
                Structure::Directed => random.bernoulli(0.5),
                Structure::Acyclic => rank[u] > rank[v],
            };
            let (u, v) = if reversed { (label[v], label[u]) } else { (label[u], label[v]) };
            let weight = weights.map_or(1.0, |&WeightOptions { low, high }| random.uniform(low, high));
            matrix[(u, v)] = weight;
            if structure == Structure::Undirected {
                matrix[(v, u)] = weight;
            }
        }
        matrix
    }
}

type Edges = Vec<(usize, usize)>;

fn watts_strogatz(n: usize, degree: usize, rewire: f64, random: &mut RandomState) -> Edges {
    let ring = (1..=degree / 2).flat_map(|step| (0..n).map(move |u| (u, (u + step) % n)));
    let mut edges: Edges = ring.collect();
    let mut connected = vec![false; n * n];
    let connect =
        |connected: &mut [bool], u: usize, v: usize, is_edge| (connected[u * n + v], connected[v * n + u]) = (is_edge, is_edge);
    for &(u, v) in &edges {
        connect(&mut connected, u, v, true);
    }
    for (u, v) in &mut edges {
        if random.bernoulli(rewire) {
            let free: Vec<usize> = (0..n).filter(|other| other != u && !connected[*u * n + other]).collect();
            if !free.is_empty() {
                connect(&mut connected, *u, *v, false);
                *v = free[random.choice(free.len())];
                connect(&mut connected, *u, *v, true);
            }
        }
    }
    edges
}

fn barabasi_albert(n: usize, attach: usize, random: &mut RandomState) -> Edges {
    // Each node occurs once per edge. The first nodes form a star around the next one.
    let mut endpoints: Vec<usize> = Vec::new();
    let mut edges = Edges::new();
    for new in attach..n {
        let mut chosen: Vec<usize> = if new == attach { (0..attach).collect() } else { Vec::new() };
        while chosen.len() < attach {
            let old = endpoints[random.choice(endpoints.len())];
            if !chosen.contains(&old) {
                chosen.push(old);
            }
        }
        for old in chosen {
            endpoints.extend([old, new]);
            edges.push((old, new));
        }
    }
    edges
}

fn grid(n: usize) -> Edges {
    let width = n.isqrt();
    let right = (0..n).filter(|u| (u + 1) % width != 0 && u + 1 < n).map(|u| (u, u + 1));
    let below = (0..n).filter(|u| u + width < n).map(|u| (u, u + width));
    right.chain(below).collect()
}

fn tree(n: usize, random: &mut RandomState) -> Edges {
    if n < 2 {
        return Edges::new();
    }
    let code = random.choices(n, n - 2);
    let mut degree = vec![1; n];
    for &u in &code {
        degree[u] += 1;
    }
    let mut leaves: std::collections::BTreeSet<usize> = (0..n).filter(|&u| degree[u] == 1).collect();
    let mut edges = Edges::new();
    for u in code {
        let leaf = leaves.pop_first().expect("every tree has a leaf");
        edges.push((leaf, u));
        degree[u] -= 1;
        if degree[u] == 1 {
            leaves.insert(u);
        }
    }
    let last: Vec<usize> = leaves.into_iter().collect();
    edges.push((last[0], last[1]));
    edges
}

fn geometric(n: usize, radius: Option<f64>, random: &mut RandomState) -> Edges {
    let near = (2.0 * libm::log(n as f64) / (std::f64::consts::PI * n as f64)).sqrt();
    let radius = radius.unwrap_or(near);
    let points: Vec<(f64, f64)> = (0..n).map(|_| (random.double(), random.double())).collect();
    let mut edges = Edges::new();
    for (u, (x, y)) in points.iter().enumerate() {
        for (v, (other_x, other_y)) in points.iter().enumerate().take(u) {
            if (x - other_x).powi(2) + (y - other_y).powi(2) <= radius * radius {
                edges.push((v, u));
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::acyclic::acyclic;
    use crate::problems::{Distribution, RandomGraphs};
    use crate::sampling::Options;
    use crate::{Family, Registry, SamplerOptions};

    const STRUCTURES: [Structure; 3] = [Structure::Undirected, Structure::Directed, Structure::Acyclic];

    /// Twenty graphs of a size with the given options.
    fn draw(structure: Structure, n: usize, options: &str) -> impl Iterator<Item = Matrix> {
        let mut graphs = RandomGraphs::erdos_renyi(structure, 0.5);
        let options = SamplerOptions::parse(options.split(' ')).expect("option=value");
        options.apply("graphs", &mut graphs).expect("options of graphs");
        graphs.validate(n).expect("valid options");
        let mut random = RandomState::new(5);
        (0..20).map(move |_| graphs.draw(n, &mut random).expect("a graph").weights)
    }

    fn names() -> impl Iterator<Item = String> {
        NAMES.iter().map(|(_, name)| format!("graph={name}"))
    }

    fn degrees(weights: &Matrix) -> Vec<usize> {
        (0..weights.n()).map(|u| weights.neighbors(u).count()).collect()
    }

    fn edges(weights: &Matrix) -> usize {
        degrees(weights).iter().sum()
    }

    /// Whether the graph is connected, ignoring directions.
    fn is_connected(weights: &Matrix) -> bool {
        let mut seen = vec![false; weights.n()];
        seen[0] = true;
        let mut open = vec![0];
        while let Some(u) = open.pop() {
            for v in (0..weights.n()).filter(|&v| weights.has_edge(u, v) || weights.has_edge(v, u)) {
                if !std::mem::replace(&mut seen[v], true) {
                    open.push(v);
                }
            }
        }
        seen.into_iter().all(|seen| seen)
    }

    #[test]
    fn every_family_has_the_requested_structure_and_no_self_loops() {
        for (structure, name) in STRUCTURES.into_iter().flat_map(|structure| names().map(move |name| (structure, name))) {
            for weights in (1..=8).chain([33]).flat_map(|n| draw(structure, n, &name)) {
                let n = weights.n();
                assert!((0..n).all(|u| !weights.has_edge(u, u)), "{name}: a self-loop");
                let holds = match structure {
                    Structure::Undirected => weights.symmetric().is_ok(),
                    Structure::Directed => (0..n).all(|u| weights.neighbors(u).all(|v| !weights.has_edge(v, u))),
                    Structure::Acyclic => acyclic(&weights).is_ok(),
                };
                assert!(holds, "{name} {structure:?} {n}");
            }
        }
    }

    #[test]
    fn directions_are_independent_of_the_position_in_the_family() {
        let forward = |structure| {
            let grids: Vec<Matrix> = draw(structure, 2, "graph=grid").collect();
            grids.iter().filter(|grid| grid.has_edge(0, 1)).count()
        };
        assert!((4..=16).contains(&forward(Structure::Directed)));
        assert!((4..=16).contains(&forward(Structure::Acyclic)));
        // If all edges of a grid led right and down, only one corner would have no incoming edge.
        let sources = |grid: &Matrix| (0..16).filter(|&v| (0..16).all(|u| !grid.has_edge(u, v))).count();
        assert!(draw(Structure::Acyclic, 16, "graph=grid").any(|grid| sources(&grid) > 1));
    }

    #[test]
    fn rewiring_keeps_the_number_of_edges() {
        for weights in draw(Structure::Undirected, 12, "graph=watts_strogatz rewire=0 degree=6") {
            assert_eq!(degrees(&weights), [6; 12]);
        }
        for rewire in ["rewire=0.3", "rewire=1"] {
            let mut lowest = usize::MAX;
            for weights in draw(Structure::Undirected, 12, &format!("graph=watts_strogatz {rewire}")) {
                assert_eq!(edges(&weights), 12 * 4);
                assert!(degrees(&weights).iter().all(|&degree| degree >= 2), "one endpoint of each edge is kept");
                lowest = lowest.min(*degrees(&weights).iter().min().expect("twelve nodes"));
            }
            assert!(lowest < 4, "{rewire}: no edge was rewired");
        }
        for weights in draw(Structure::Undirected, 5, "graph=watts_strogatz rewire=1") {
            assert_eq!(edges(&weights), 5 * 4, "a complete graph cannot be rewired");
        }
    }

    #[test]
    fn every_new_node_has_the_requested_number_of_edges() {
        for (n, attach) in [(2, 1), (9, 1), (9, 2), (9, 5), (9, 8), (40, 3)] {
            for weights in draw(Structure::Undirected, n, &format!("graph=barabasi_albert attach={attach}")) {
                assert_eq!(edges(&weights), 2 * attach * (n - attach), "{n} {attach}");
                assert!(is_connected(&weights));
            }
        }
        let max = |name| draw(Structure::Undirected, 64, name).map(|weights| degrees(&weights).into_iter().max()).max();
        assert!(max("graph=barabasi_albert") > max("graph=watts_strogatz"), "preferential attachment");
    }

    #[test]
    fn grids_and_trees_are_connected_and_have_the_expected_number_of_edges() {
        for n in (1..=8usize).chain([16, 17, 30]) {
            let width = n.isqrt();
            for weights in draw(Structure::Undirected, n, "graph=grid") {
                assert_eq!(edges(&weights), 2 * (2 * n - width - n.div_ceil(width)), "{n}");
                assert!(is_connected(&weights) && degrees(&weights).iter().all(|&degree| degree <= 4));
            }
            for structure in STRUCTURES {
                for weights in draw(structure, n, "graph=tree") {
                    let directions = if structure == Structure::Undirected { 2 } else { 1 };
                    assert!(edges(&weights) == directions * (n - 1) && is_connected(&weights), "{n} {structure:?}");
                }
            }
        }
    }

    #[test]
    fn trees_are_uniformly_distributed() {
        let trees = draw(Structure::Undirected, 3, "graph=tree").chain(draw(Structure::Undirected, 3, "graph=tree"));
        let mut middles = [0; 3];
        trees.for_each(|tree| middles[degrees(&tree).iter().position(|&degree| degree == 2).expect("a middle")] += 1);
        assert!(middles.iter().all(|&count| count > 4), "{middles:?}");
    }

    #[test]
    fn nearby_points_are_connected() {
        assert!(draw(Structure::Undirected, 9, "graph=geometric radius=0").all(|weights| edges(&weights) == 0));
        assert!(draw(Structure::Undirected, 9, "graph=geometric radius=1.5").all(|weights| edges(&weights) == 9 * 8));
        let connected = draw(Structure::Undirected, 64, "graph=geometric").filter(is_connected).count();
        assert!((5..20).contains(&connected), "{connected} of 20 are connected, near the threshold");
    }

    #[test]
    fn every_graph_algorithm_accepts_every_family() {
        let mut accepted = 0;
        for algorithm in Registry::builtin().iter().filter(|algorithm| algorithm.family() == Family::Graphs) {
            if !algorithm.options().iter().any(|option| option.name == "graph") {
                continue; // its distribution has no families
            }
            accepted += 1;
            for (name, n) in names().flat_map(|name| (1..=8).map(move |n| (name.clone(), n))) {
                let options = SamplerOptions::parse([&*name]).expect("option=value");
                let mut problems = algorithm.problem_buffer(n, &options).expect("valid options");
                let mut recorder = algorithm.recorder();
                let mut random = RandomState::new(1);
                for index in 0..5 {
                    problems.draw(&mut random).expect("a problem");
                    let result = problems.record(index, &mut recorder);
                    assert!(result.is_ok(), "{} {name} {n}: {result:?}", algorithm.name());
                }
            }
        }
        assert!(accepted > 1);
    }

    #[test]
    fn invalid_options_are_rejected_with_a_reason() {
        let reason = |options: &str| {
            let mut graphs = RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted();
            let options = SamplerOptions::parse(options.split(' ')).expect("option=value");
            match options.apply("graphs", &mut graphs) {
                Ok(()) => graphs.validate(4).expect_err("invalid options").to_string(),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(reason("attach=2"), "`attach` applies to graph=barabasi_albert only; graph is auto");
        assert_eq!(reason("graph=tree degree=2"), "`degree` applies to graph=watts_strogatz only; graph is tree");
        assert_eq!(reason("graph=grid rewire=0.5"), "`rewire` applies to graph=watts_strogatz only; graph is grid");
        assert_eq!(reason("graph=grid radius=0.5"), "`radius` applies to graph=geometric only; graph is grid");
        assert_eq!(reason("graph=grid p=0.5"), "the options p, k and eps do not apply to graph=grid");
        for degree in [3, 4] {
            let expected = format!("`degree` is {degree}; it must be even and less than the number of nodes, 4");
            assert_eq!(reason(&format!("graph=watts_strogatz degree={degree}")), expected);
        }
        for attach in [0, 4] {
            let expected = format!("`attach` is {attach}; it must be at least 1 and less than the number of nodes, 4");
            assert_eq!(reason(&format!("graph=barabasi_albert attach={attach}")), expected);
        }
        assert_eq!(reason("graph=watts_strogatz rewire=1.5"), "`rewire` has a probability that is not between 0 and 1");
        assert_eq!(reason("graph=geometric radius=-1"), "`radius` is negative");
        let families = "one of auto, watts_strogatz, barabasi_albert, grid, tree, geometric";
        assert_eq!(reason("graph=moebius"), format!("`graph=moebius`: expected {families}"));
    }

    #[test]
    fn the_description_of_the_option_names_every_family() {
        let options = FamilyOptions::default().options();
        let graph = options.iter().find(|option| option.name == "graph").expect("an option");
        for (_, name) in NAMES {
            assert!(graph.description.contains(name), "{name}");
        }
    }

    #[test]
    fn weights_are_in_range_and_symmetric() {
        let mut graphs = RandomGraphs::erdos_renyi(Structure::Undirected, 0.5).weighted();
        let options = SamplerOptions::parse(["graph=tree", "low=2", "high=3"]).expect("option=value");
        options.apply("graphs", &mut graphs).expect("options of graphs");
        let weights = graphs.draw(30, &mut RandomState::new(1)).expect("a graph").weights;
        assert!(weights.symmetric().is_ok());
        let present: Vec<f64> = weights.cells().iter().copied().filter(|&weight| weight != 0.0).collect();
        assert!(present.len() == 58 && present.iter().all(|weight| (2.0..3.0).contains(weight)));
    }
}
