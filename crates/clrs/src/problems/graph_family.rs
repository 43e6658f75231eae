//! Families of graphs that the reference does not have. Nodes are numbered at random, so that a number says nothing about a
//! place; edges of directed graphs get one of the two directions by a coin, those of acyclic ones follow a random order.

use super::random_graph::WeightOptions;
use super::{Invalid, Matrix, Structure, chances, rule};
use crate::random::RandomState;
use crate::sampling::{BadValue, OptionValue};

/// A family of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFamily {
    /// A ring of nodes joined to their nearest, some edges rewired to anywhere (Watts and Strogatz 1998).
    WattsStrogatz,
    /// Nodes come one by one and prefer neighbours that have many already (Barabási and Albert 1999).
    BarabasiAlbert,
    /// Rows of nodes, joined to the next in the row and below.
    Grid,
    /// Any tree on the nodes, each as likely as the next (Prüfer 1918).
    Tree,
    /// Points in a square, joined where they are near.
    Geometric,
}

const NAMES: [(GraphFamily, &str); 5] = [
    (GraphFamily::WattsStrogatz, "watts_strogatz"),
    (GraphFamily::BarabasiAlbert, "barabasi_albert"),
    (GraphFamily::Grid, "grid"),
    (GraphFamily::Tree, "tree"),
    (GraphFamily::Geometric, "geometric"),
];

impl OptionValue for GraphFamily {
    fn from_text(text: &str) -> Result<GraphFamily, BadValue> {
        let found = NAMES.iter().find(|(_, name)| *name == text).map(|(family, _)| *family);
        found.ok_or(BadValue("auto, watts_strogatz, barabasi_albert, grid, tree or geometric"))
    }
    fn to_text(&self) -> String {
        NAMES.iter().find(|(family, _)| family == self).map(|(_, name)| (*name).to_owned()).unwrap_or_default()
    }
}

crate::options! {
    /// Another family of graphs, and what it can be told.
    pub struct FamilyOptions {
        /// family of graphs: auto (the benchmark's own), watts_strogatz, barabasi_albert, grid, tree or geometric
        graph: Option<GraphFamily> = None,
        /// watts_strogatz: neighbours of a node in the ring, an even number (auto: 4)
        degree: Option<usize> = None,
        /// watts_strogatz: chance that an edge is rewired (auto: 0.1)
        rewire: Option<f64> = None,
        /// barabasi_albert: edges that a new node brings (auto: 2)
        attach: Option<usize> = None,
        /// geometric: largest distance of neighbours in the unit square (auto: near where graphs become connected)
        radius: Option<f64> = None,
    }
}

impl FamilyOptions {
    /// The rules; `own_is_set` says whether an option of the benchmark's own graphs is set beside.
    pub(super) fn validate(&self, size: usize, own_is_set: bool) -> Result<(), Invalid> {
        let graph = self.graph.map_or_else(|| "auto".into(), |family| family.to_text());
        for (name, is_set, of) in [
            ("degree", self.degree.is_some(), GraphFamily::WattsStrogatz),
            ("rewire", self.rewire.is_some(), GraphFamily::WattsStrogatz),
            ("attach", self.attach.is_some(), GraphFamily::BarabasiAlbert),
            ("radius", self.radius.is_some(), GraphFamily::Geometric),
        ] {
            rule(!is_set || self.graph == Some(of), || {
                format!("`{name}` is an option of graph={}, and graph is {graph}", of.to_text())
            })?;
        }
        rule(!(own_is_set && self.graph.is_some()), || {
            format!("graph={graph} has none of the options of the benchmark's own graphs (p, k, eps)")
        })?;
        if let Some(degree) = self.degree {
            rule(degree.is_multiple_of(2) && degree < size, || {
                format!("`degree` is {degree}: it must be even and below the number of nodes, {size}")
            })?;
        }
        if let Some(attach) = self.attach {
            rule(attach > 0 && attach < size, || {
                format!("`attach` is {attach}: it must be at least 1 and below the number of nodes, {size}")
            })?;
        }
        chances("rewire", self.rewire.as_slice())?;
        rule(self.radius.is_none_or(|radius| radius >= 0.0), || "`radius` is below 0".into())
    }

    /// Draws a graph. Options are valid.
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
        let order = random.permutation(n);
        let mut matrix = Matrix::zeros(n);
        for (u, v) in edges {
            let weight = weights.map_or(1.0, |&WeightOptions { low, high }| random.uniform(low, high));
            let (u, v) = (u.min(v), u.max(v));
            let (u, v) = if structure == Structure::Directed && random.coin(0.5) { (v, u) } else { (u, v) };
            matrix[(order[u], order[v])] = weight;
            if structure == Structure::Undirected {
                matrix[(order[v], order[u])] = weight;
            }
        }
        matrix
    }
}

type Edges = Vec<(usize, usize)>;

fn watts_strogatz(n: usize, degree: usize, rewire: f64, random: &mut RandomState) -> Edges {
    let mut joined = vec![false; n * n];
    let mut edges = Edges::new();
    for step in 1..=degree / 2 {
        for u in 0..n {
            let near = (u + step) % n;
            let anywhere = if random.coin(rewire) { random.choice(n) } else { near };
            let free = |v: usize| v != u && !joined[u * n + v];
            // A rewired edge that would double another stays where it was.
            if let Some(v) = [anywhere, near].into_iter().find(|&v| free(v)) {
                joined[u * n + v] = true;
                joined[v * n + u] = true;
                edges.push((u, v));
            }
        }
    }
    edges
}

fn barabasi_albert(n: usize, attach: usize, random: &mut RandomState) -> Edges {
    // A node stands here once for each of its edges. The first nodes form a star around the next one.
    let mut ends: Vec<usize> = Vec::new();
    let mut edges = Edges::new();
    for new in attach..n {
        let mut chosen: Vec<usize> = if new == attach { (0..attach).collect() } else { Vec::new() };
        while chosen.len() < attach {
            let old = ends[random.choice(ends.len())];
            if !chosen.contains(&old) {
                chosen.push(old);
            }
        }
        for old in chosen {
            ends.extend([old, new]);
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
