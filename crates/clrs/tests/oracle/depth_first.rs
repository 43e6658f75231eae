use std::collections::HashSet;

use clrs::problems::{Graph, Matrix, SourcedGraph};
use clrs::{Cells, CheckError, Problem, RandomState, Registry, SamplerOptions, Stage};

pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    let graph = || Graph::from_json(problem).expect("a sampled problem").weights;
    match (algorithm, outputs) {
        ("articulation_points", &[Cells::Class(is_cut)]) => Some(articulation_points(&graph()) == is_cut),
        ("bridges", &[Cells::Class(is_bridge)]) => Some(are_bridges(&graph(), is_bridge)),
        ("dag_shortest_paths", &[Cells::Node(pi)]) => {
            Some(is_shortest_tree(&SourcedGraph::from_json(problem).expect("a sampled problem"), pi))
        }
        ("dfs", &[Cells::Node(pi)]) => Some(some_search_produces(&graph(), pi)),
        ("strongly_connected_components", &[Cells::Node(scc_id)]) => Some(are_components(&graph(), scc_id)),
        ("topological_sort", &[Cells::Node(topo), Cells::Node(&[head])]) => Some(some_order_matches(&graph(), topo, head)),
        _ => None,
    }
}

/// A node is an articulation point if its removal increases the number of components.
fn articulation_points(weights: &Matrix) -> Vec<i8> {
    let n = weights.n();
    let without = |node| Matrix::from_fn(n, |u, v| if u == node || v == node { 0.0 } else { weights[(u, v)] });
    (0..n).map(|node| i8::from(components(&without(node)) - 1 > components(weights))).collect()
}

/// An edge is a bridge if its removal increases the number of components. The diagonal and non-edges are masked out.
fn are_bridges(weights: &Matrix, is_bridge: &[i8]) -> bool {
    let n = weights.n();
    let edges = (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).filter(|&(u, v)| u != v && weights.has_edge(u, v));
    edges.into_iter().all(|(u, v)| {
        let mut without = weights.clone();
        without[(u, v)] = 0.0;
        without[(v, u)] = 0.0;
        is_bridge[u * n + v] == i8::from(components(&without) > components(weights))
    })
}

/// Propagates the smallest label until it is stable.
pub(super) fn components(weights: &Matrix) -> usize {
    let mut label: Vec<usize> = (0..weights.n()).collect();
    while let Some((u, v)) = (0..label.len()).find_map(|u| Some((u, weights.neighbors(u).find(|&v| label[v] < label[u])?))) {
        label[u] = label[v];
    }
    label.iter().enumerate().filter(|(node, label)| node == *label).count()
}

/// Whether some depth-first search produces the pointers: tries every search that is consistent with them.
fn some_search_produces(weights: &Matrix, pi: &[u32]) -> bool {
    struct Searches<'a> {
        weights: &'a Matrix,
        pi: Vec<usize>,
        failed: HashSet<(u32, Vec<usize>)>,
    }
    impl Searches<'_> {
        fn extend(&mut self, seen: u32, stack: &[usize]) -> bool {
            let n = self.weights.n();
            if seen.count_ones() as usize == n {
                return true;
            }
            if !self.failed.insert((seen, stack.to_vec())) {
                return false;
            }
            let white: Vec<usize> = (0..n).filter(|v| seen >> v & 1 == 0).collect();
            let Some((&u, below)) = stack.split_last() else {
                return white.iter().any(|&root| self.pi[root] == root && self.extend(seen | 1 << root, &[root]));
            };
            let next: Vec<usize> = white.into_iter().filter(|&v| self.weights.has_edge(u, v)).collect();
            if next.is_empty() {
                return self.extend(seen, below);
            }
            next.iter().any(|&v| self.pi[v] == u && self.extend(seen | 1 << v, &[stack, &[v]].concat()))
        }
    }
    let pi = pi.iter().map(|&node| node as usize).collect();
    Searches { weights, pi, failed: HashSet::new() }.extend(0, &[])
}

/// Whether some topological order matches the pointers: tries every order that is consistent with them.
fn some_order_matches(weights: &Matrix, topo: &[u32], head: u32) -> bool {
    fn extend(weights: &Matrix, topo: &[u32], order: &mut Vec<usize>) -> bool {
        let n = weights.n();
        let last = order[order.len() - 1];
        if order.len() == n {
            return topo[last] as usize == last;
        }
        (0..n).any(|v| {
            let comes_next = !order.contains(&v) && topo[last] as usize == v;
            order.push(v);
            let ready = (0..n).all(|u| !weights.has_edge(u, v) || order.contains(&u));
            let found = comes_next && ready && extend(weights, topo, order);
            order.pop();
            found
        })
    }
    let head = head as usize;
    (0..weights.n()).all(|u| !weights.has_edge(u, head)) && extend(weights, topo, &mut vec![head])
}

/// Two nodes are in one component if each reaches the other (Warshall's algorithm).
fn are_components(weights: &Matrix, scc_id: &[u32]) -> bool {
    let n = weights.n();
    let mut reaches: Vec<Vec<bool>> = (0..n).map(|u| (0..n).map(|v| u == v || weights.has_edge(u, v)).collect()).collect();
    for k in 0..n {
        for u in 0..n {
            for v in 0..n {
                reaches[u][v] |= reaches[u][k] && reaches[k][v];
            }
        }
    }
    let together = |u: usize, v: usize| reaches[u][v] && reaches[v][u];
    (0..n).all(|u| together(u, scc_id[u] as usize) && (0..n).all(|v| together(u, v) == (scc_id[u] == scc_id[v])))
}

/// Compares the path along the pointers with every path from the source.
fn is_shortest_tree(SourcedGraph { weights, source }: &SourcedGraph, pi: &[u32]) -> bool {
    fn walk(weights: &Matrix, u: usize, length: f64, shortest: &mut [f64]) {
        shortest[u] = shortest[u].min(length);
        weights.neighbors(u).for_each(|v| walk(weights, v, length + weights[(u, v)], shortest));
    }
    let n = weights.n();
    let mut shortest = vec![f64::INFINITY; n];
    walk(weights, *source, 0.0, &mut shortest);
    (0..n).all(|node| {
        let (mut current, mut length) = (node, 0.0);
        while current != *source && length < f64::INFINITY {
            let parent = pi[current] as usize;
            length += if weights.has_edge(parent, current) { weights[(parent, current)] } else { f64::INFINITY };
            current = parent;
        }
        let points_to_itself = node == *source || shortest[node] == f64::INFINITY;
        if points_to_itself { pi[node] as usize == node } else { (length - shortest[node]).abs() < 1e-9 }
    })
}

/// The contract test changes single cells, which does not reach every correct forest. This test tries every output.
#[test]
fn checks_and_oracles_agree_on_every_output_of_four_nodes() {
    let n = 4;
    let mut random = RandomState::new(1);
    for name in ["articulation_points", "dag_shortest_paths", "dfs", "strongly_connected_components", "topological_sort"] {
        let algorithm = Registry::builtin().find(name).expect("a built-in algorithm");
        let mut problems = algorithm.problem_buffer(n, &SamplerOptions::default()).expect("no options");
        let (mut accepted_count, mut rejected_count) = (0, 0);
        for index in 0..40 {
            problems.draw(&mut random).expect("a sampled problem");
            let (problem, mut recorder) = (problems.json(index), algorithm.recorder());
            problems.record(index, &mut recorder).expect("a valid problem");
            let inputs = recorder.last().expect("a recorded sample").stage(Stage::Input);
            for code in 0..4usize.pow(5) {
                let digits: Vec<u32> = (0..5).map(|digit| u32::try_from(code >> (2 * digit) & 3).expect("below 4")).collect();
                let bits: Vec<i8> = digits[..n].iter().map(|&digit| i8::from(digit > 1)).collect();
                let output = match name {
                    "articulation_points" => vec![Cells::Class(&bits)],
                    "topological_sort" => vec![Cells::Node(&digits[..n]), Cells::Node(&digits[n..])],
                    _ => vec![Cells::Node(&digits[..n])],
                };
                let accepted = match algorithm.check(n, &inputs, &output) {
                    Ok(()) => true,
                    Err(CheckError::Failed(_)) => false,
                    Err(malformed) => panic!("{name}: {malformed}"),
                };
                assert_eq!(Some(accepted), is_correct(name, &problem, &output), "{name}: {output:?} for {problem}");
                *(if accepted { &mut accepted_count } else { &mut rejected_count }) += 1;
            }
        }
        assert!(
            accepted_count >= 40 && rejected_count > accepted_count,
            "{name}: {accepted_count} accepted, {rejected_count} rejected"
        );
    }
}
