use clrs::problems::{BipartiteGraph, Graph, Matrix, SourcedGraph};
use clrs::{Cells, CheckError, Column, Problem, RandomState, Registry, Stage};

use super::depth_first::components;

pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("bfs", &[Cells::Node(pi)]) => Some(is_shortest_tree(&SourcedGraph::from_json(problem).expect("a sampled problem"), pi)),
        ("bellman_ford" | "dijkstra", &[Cells::Node(pi)]) => Some(is_lightest_path_tree(problem, pi)),
        ("floyd_warshall", &[Cells::Node(pi)]) => Some(are_lightest_paths(problem, pi)),
        ("mst_kruskal", &[Cells::Class(in_mst)]) => Some(is_lightest_forest(problem, in_mst)),
        ("mst_prim", &[Cells::Node(pi)]) => Some(is_lightest_tree(problem, pi)),
        ("bipartite_matching", &[Cells::Class(in_matching)]) => Some(is_largest_matching(problem, in_matching)),
        _ => None,
    }
}

/// Compares with distances by Floyd-Warshall.
fn is_shortest_tree(SourcedGraph { weights, source }: &SourcedGraph, pi: &[u32]) -> bool {
    let n = weights.n();
    let far = 2 * n;
    let mut hops = vec![vec![far; n]; n];
    for (u, hops) in hops.iter_mut().enumerate() {
        weights.neighbors(u).for_each(|v| hops[v] = 1);
        hops[u] = 0;
    }
    for k in 0..n {
        for u in 0..n {
            for v in 0..n {
                hops[u][v] = hops[u][v].min(hops[u][k] + hops[k][v]);
            }
        }
    }
    let hops = &hops[*source];
    pi.iter().map(|&parent| parent as usize).enumerate().all(|(node, parent)| {
        let points_to_itself = node == *source || hops[node] >= far;
        if points_to_itself { parent == node } else { weights.has_edge(parent, node) && hops[parent] + 1 == hops[node] }
    })
}

fn is_lightest_path_tree(problem: &str, pi: &[u32]) -> bool {
    let SourcedGraph { weights, source } = SourcedGraph::from_json(problem).expect("a sampled problem");
    let lightest = lightest_paths(&weights, source);
    pi.iter().enumerate().all(|(node, &parent)| match lightest[node] {
        None => parent as usize == node,
        Some(_) if node == source => parent as usize == node,
        Some(lightest) => is_as_light(path_weight(&weights, source, pi, node), lightest),
    })
}

/// The diagonal is ignored.
fn are_lightest_paths(problem: &str, pi: &[u32]) -> bool {
    let weights = Graph::from_json(problem).expect("a sampled problem").weights;
    let n = weights.n();
    (0..n).all(|source| {
        let (row, lightest) = (&pi[source * n..][..n], lightest_paths(&weights, source));
        (0..n).filter(|&node| node != source).all(|node| match lightest[node] {
            None => row[node] as usize == source,
            Some(lightest) => is_as_light(path_weight(&weights, source, row, node), lightest),
        })
    })
}

fn is_as_light(weight: Option<f64>, lightest: f64) -> bool {
    weight.is_some_and(|weight| (weight - lightest).abs() <= 1e-9 * lightest.abs())
}

/// Weight of the path along the pointers, if there is one.
fn path_weight(weights: &Matrix, source: usize, pi: &[u32], node: usize) -> Option<f64> {
    let (mut node, mut weight) = (node, 0.0);
    for _ in 0..weights.n() {
        if node == source {
            return Some(weight);
        }
        let parent = pi[node] as usize;
        if !weights.has_edge(parent, node) {
            return None;
        }
        weight += weights[(parent, node)];
        node = parent;
    }
    None
}

/// Minimum weight of all simple paths from the source; `None` if there is no path.
fn lightest_paths(weights: &Matrix, source: usize) -> Vec<Option<f64>> {
    fn walk(weights: &Matrix, path: &mut Vec<usize>, weight: f64, lightest: &mut [Option<f64>]) {
        let node = *path.last().expect("starts at the source");
        lightest[node] = Some(lightest[node].map_or(weight, |lightest| lightest.min(weight)));
        for next in weights.neighbors(node) {
            if !path.contains(&next) {
                path.push(next);
                walk(weights, path, weight + weights[(node, next)], lightest);
                path.pop();
            }
        }
    }
    let mut lightest = vec![None; weights.n()];
    walk(weights, &mut vec![source], 0.0, &mut lightest);
    lightest
}

/// The diagonal is ignored.
fn is_lightest_forest(problem: &str, in_mst: &[i8]) -> bool {
    let weights = Graph::from_json(problem).expect("a sampled problem").weights;
    let n = weights.n();
    let symmetric = (0..n * n).all(|cell| in_mst[cell] == in_mst[cell % n * n + cell / n]);
    let are_edges = (0..n * n).all(|cell| in_mst[cell] == 0 || cell / n == cell % n || weights.has_edge(cell / n, cell % n));
    let marked = Matrix::from_fn(n, |u, v| if u != v && in_mst[u * n + v] == 1 { weights[(u, v)] } else { 0.0 });
    symmetric && are_edges && spans(&marked, &weights)
}

/// Nodes outside the component of the source point to themselves.
fn is_lightest_tree(problem: &str, pi: &[u32]) -> bool {
    let SourcedGraph { weights, source } = SourcedGraph::from_json(problem).expect("a sampled problem");
    let n = weights.n();
    let reached = lightest_paths(&weights, source);
    let inside = Matrix::from_fn(n, |u, v| if reached[u].is_some() { weights[(u, v)] } else { 0.0 });
    let points = |child: usize, parent: usize| child != parent && pi[child] as usize == parent;
    let are_edges = (0..n).all(|node| pi[node] as usize == node || inside.has_edge(node, pi[node] as usize));
    let rooted = (0..n).filter(|&node| reached[node].is_some()).all(|node| path_weight(&weights, source, pi, node).is_some());
    let tree = Matrix::from_fn(n, |u, v| if points(u, v) || points(v, u) { inside[(u, v)] } else { 0.0 });
    pi[source] as usize == source && are_edges && rooted && spans(&tree, &inside)
}

/// Whether the edges of `tree` are a minimum spanning forest. Compares with the reverse-delete algorithm, which removes edges by
/// decreasing weight unless that disconnects the graph.
fn spans(tree: &Matrix, weights: &Matrix) -> bool {
    let n = weights.n();
    let mut remaining = Matrix::from_fn(n, |u, v| if u == v { 0.0 } else { weights[(u, v)] });
    let mut edges: Vec<(usize, usize)> = (0..n).flat_map(|u| (0..u).map(move |v| (u, v))).collect();
    edges.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    for (u, v) in edges {
        let mut fewer = remaining.clone();
        fewer[(u, v)] = 0.0;
        fewer[(v, u)] = 0.0;
        if components(&fewer) == components(&remaining) {
            remaining = fewer;
        }
    }
    let edges = |graph: &Matrix| graph.cells().iter().filter(|weight| **weight != 0.0).count();
    let total = |graph: &Matrix| graph.cells().iter().sum::<f64>();
    components(tree) == components(weights)
        && edges(tree) == edges(&remaining)
        && is_as_light(Some(total(tree)), total(&remaining))
}

/// Only the edges from left to right are evaluated.
fn is_largest_matching(problem: &str, in_matching: &[i8]) -> bool {
    /// Size of the largest matching of the first `left` left nodes that avoids the `taken` right nodes.
    fn largest(edges: &[(usize, usize)], left: usize, taken: &mut Vec<usize>) -> usize {
        let Some(l) = left.checked_sub(1) else { return 0 };
        let mut best = largest(edges, l, taken);
        for &(_, r) in edges.iter().filter(|edge| edge.0 == l) {
            if !taken.contains(&r) {
                taken.push(r);
                best = best.max(1 + largest(edges, l, taken));
                taken.pop();
            }
        }
        best
    }
    let BipartiteGraph { left, right, edges } = BipartiteGraph::from_json(problem).expect("a sampled problem");
    let value = |&(l, r): &(usize, usize)| in_matching[(1 + l) * (left + right + 2) + 1 + left + r];
    let matched: Vec<_> = edges.iter().filter(|edge| value(edge) == 1).collect();
    let is_disjoint = |edge: &(usize, usize)| matched.iter().filter(|other| other.0 == edge.0 || other.1 == edge.1).count() == 1;
    edges.iter().all(|edge| value(edge) != -1)
        && matched.iter().all(|edge| is_disjoint(edge))
        && matched.len() == largest(&edges, left, &mut Vec::new())
}

/// The contract test changes single cells, which does not reach every correct tree. This test tries every output. With weights 1
/// and 2 only, many are correct.
#[test]
fn checks_and_oracles_agree_on_every_output_for_small_graphs() {
    const PROBLEMS: usize = 30;
    let mut random = RandomState::new(1);
    for name in ["bellman_ford", "dijkstra", "mst_prim", "floyd_warshall", "mst_kruskal", "bipartite_matching"] {
        let algorithm = Registry::builtin().find(name).expect("a built-in algorithm");
        let (mut accepted_count, mut rejected_count) = (0, 0);
        for _ in 0..PROBLEMS {
            let n = if name == "floyd_warshall" { 3 } else { 4 };
            let drawn = random.choices(3, n * n);
            let weights = Matrix::from_fn(n, |u, v| drawn[u.min(v) * n + u.max(v)] as f64);
            let problem = match name {
                "floyd_warshall" | "mst_kruskal" => Graph { weights }.to_json(),
                "bipartite_matching" => {
                    let edges = (0..6).filter(|&cell| drawn[cell] > 0).map(|cell| (cell / 2, cell % 2)).collect();
                    BipartiteGraph { left: 3, right: 2, edges }.to_json()
                }
                _ => SourcedGraph { weights, source: random.choice(n) }.to_json(),
            };
            let mut recorder = algorithm.recorder();
            algorithm.record_json(&problem, &mut recorder).expect("a valid problem");
            let sample = recorder.last().expect("a recorded sample");
            for output in every_output(name) {
                let output = [output.cells()];
                let accepted = match algorithm.check(sample.nodes(), &sample.stage(Stage::Input), &output) {
                    Ok(()) => true,
                    Err(CheckError::Failed(_)) => false,
                    Err(malformed) => panic!("{name}: {malformed}"),
                };
                assert_eq!(Some(accepted), is_correct(name, &problem, &output), "{name}: {output:?} for {problem}");
                *(if accepted { &mut accepted_count } else { &mut rejected_count }) += 1;
            }
        }
        assert!(
            accepted_count > PROBLEMS && rejected_count > accepted_count,
            "{name}: {accepted_count} accepted, {rejected_count} rejected"
        );
    }
}

/// All pointers, all symmetric masks of four nodes, or all masks of the edges between three left and two right nodes.
fn every_output(algorithm: &str) -> Vec<Column> {
    let digits = |base: u32, length: u32| {
        let digit = move |code: u32, index: u32| code / base.pow(index) % base;
        (0..base.pow(length)).map(move |code| (0..length).map(|index| digit(code, index)).collect::<Vec<u32>>())
    };
    let class = |digit: u32| i8::try_from(digit).expect("a digit");
    match algorithm {
        "floyd_warshall" => digits(3, 9).map(Column::Node).collect(),
        "mst_kruskal" => {
            let pair = |cell: usize| (cell / 4).min(cell % 4) * 4 + (cell / 4).max(cell % 4);
            let index = |cell: usize| [1, 2, 3, 6, 7, 11].iter().position(|&upper| upper == pair(cell));
            let cell = |bits: &[u32], cell: usize| index(cell).map_or(1, |index| class(bits[index]));
            digits(2, 6).map(|bits| Column::Class((0..16).map(|at| cell(&bits, at)).collect())).collect()
        }
        "bipartite_matching" => {
            let index = |u: usize, v: usize| ((1..4).contains(&u) && (4..6).contains(&v)).then(|| (u - 1) * 2 + v - 4);
            let cell = |digits: &[u32], at: usize| index(at / 7, at % 7).map_or(-1, |index| class(digits[index]) - 1);
            digits(3, 6).map(|digits| Column::Class((0..49).map(|at| cell(&digits, at)).collect())).collect()
        }
        _ => digits(4, 4).map(Column::Node).collect(),
    }
}
