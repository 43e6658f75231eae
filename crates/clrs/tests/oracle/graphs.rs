use clrs::problems::{Graph, Matrix, SourcedGraph};
use clrs::{Cells, Problem};

pub(crate) fn is_right(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("bfs", &[Cells::Node(pi)]) => Some(is_shortest_tree(&SourcedGraph::from_json(problem).expect("drawn"), pi)),
        ("bridges", &[Cells::Class(is_bridge)]) => Some(bridges(&Graph::from_json(problem).expect("drawn").weights) == is_bridge),
        _ => None,
    }
}

/// Distances between all pairs as Floyd and Warshall find them.
fn is_shortest_tree(SourcedGraph { weights, source }: &SourcedGraph, pi: &[u32]) -> bool {
    let n = weights.n();
    let far = 2 * n;
    let mut hops = vec![vec![far; n]; n];
    for (u, hops) in hops.iter_mut().enumerate() {
        weights.neighbours(u).for_each(|v| hops[v] = 1);
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
        let alone = node == *source || hops[node] >= far;
        if alone { parent == node } else { weights.has_edge(parent, node) && hops[parent] + 1 == hops[node] }
    })
}

/// An edge is a bridge if the graph has more components without it; the diagonal and non-edges are not judged.
fn bridges(weights: &Matrix) -> Vec<i8> {
    let n = weights.n();
    let judge = |(u, v)| match weights.has_edge(u, v) {
        _ if u == v => 0,
        false => -1,
        true => {
            let mut without = weights.clone();
            without[(u, v)] = 0.0;
            without[(v, u)] = 0.0;
            i8::from(components(&without) > components(weights))
        }
    };
    (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).map(judge).collect()
}

/// Each node takes the smallest label around it until nothing changes.
fn components(weights: &Matrix) -> usize {
    let mut label: Vec<usize> = (0..weights.n()).collect();
    while let Some((u, v)) = (0..label.len()).find_map(|u| Some((u, weights.neighbours(u).find(|&v| label[v] < label[u])?))) {
        label[u] = label[v];
    }
    label.iter().enumerate().filter(|(node, label)| node == *label).count()
}
