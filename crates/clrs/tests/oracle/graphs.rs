use clrs::problems::SourcedGraph;
use clrs::{Cells, Problem};

pub(crate) fn is_right(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("bfs", &[Cells::Node(pi)]) => Some(is_shortest_tree(&SourcedGraph::from_json(problem).expect("drawn"), pi)),
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
