//! Trees in graphs: as parent pointers from a source, where nodes that it cannot reach point to themselves, or as edges.

use crate::algorithm::{CheckFailure, ensure, same_cost};
use crate::problems::{InvalidProblem, Matrix, ensure_valid};

/// Which nodes the source reaches.
pub fn reachable(weights: &Matrix, source: usize) -> Vec<bool> {
    let mut reached = vec![false; weights.n()];
    reached[source] = true;
    let mut open = vec![source];
    while let Some(u) = open.pop() {
        for v in weights.neighbours(u) {
            if !std::mem::replace(&mut reached[v], true) {
                open.push(v);
            }
        }
    }
    reached
}

/// The rule that no way is infinitely long.
pub fn finite_sums(weights: &Matrix) -> Result<(), InvalidProblem> {
    let largest = weights.cells().iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    ensure_valid((largest * weights.n() as f64).is_finite(), || "`weights` are so large that a sum of them overflows".into())
}

/// All nodes that the source reaches, parents before children; wrong unless the pointers lead all of them, and no others,
/// along edges to the source.
pub fn top_down(weights: &Matrix, source: usize, pi: &[usize]) -> Result<Vec<usize>, CheckFailure> {
    let reached = reachable(weights, source);
    for (node, &parent) in pi.iter().enumerate() {
        if node == source {
            ensure(parent == node, || format!("the source {source} points to {parent}, not to itself"))?;
        } else if reached[node] {
            ensure(parent != node, || format!("node {node} points to itself, but can be reached from {source}"))?;
            ensure(weights.has_edge(parent, node), || format!("node {node} points to {parent}, but has no edge from there"))?;
        } else {
            ensure(parent == node, || format!("node {node} points to {parent}, but cannot be reached from {source}"))?;
        }
    }
    let mut order = vec![source];
    let mut placed = vec![false; pi.len()];
    placed[source] = true;
    let mut way = Vec::new();
    for node in (0..pi.len()).filter(|&node| reached[node]) {
        let mut ancestor = node;
        while !placed[ancestor] {
            ensure(way.len() < pi.len(), || format!("the pointers from node {node} do not lead to {source}"))?;
            way.push(ancestor);
            ancestor = pi[ancestor];
        }
        for node in way.drain(..).rev() {
            placed[node] = true;
            order.push(node);
        }
    }
    Ok(order)
}

/// CheckFailure unless the pointers are a tree of shortest paths. Adds up the tree's own lengths, and looks for an edge that cuts one
/// short.
pub fn shortest_paths(weights: &Matrix, source: usize, pi: &[usize]) -> Result<(), CheckFailure> {
    let n = weights.n();
    let order = top_down(weights, source, pi)?;
    let mut length = vec![0.0; n];
    let mut rounding = vec![0.0; n]; // how far off a sum may be, which counts where large weights cancel out
    let rounds = |weight: f64| weight.abs() * f64::EPSILON * n as f64;
    for &v in &order[1..] {
        let (u, weight) = (pi[v], weights[(pi[v], v)]);
        length[v] = length[u] + weight;
        rounding[v] = rounding[u] + rounds(weight);
    }
    // Differences too small to be wrong can add up along a path: they are followed until none is left.
    let (mut best, mut best_rounding) = (length.clone(), rounding.clone());
    for _ in 0..n {
        let mut settled = true;
        for &u in &order {
            for v in weights.neighbours(u) {
                let (other, other_rounding) = (best[u] + weights[(u, v)], best_rounding[u] + rounds(weights[(u, v)]));
                if other < best[v] {
                    ensure(same_cost(other, length[v]) || length[v] - other <= rounding[v] + other_rounding, || {
                        format!("from {source}, the pointers lead to {v} in {}, but a path by way of {u} in {other}", length[v])
                    })?;
                    (best[v], best_rounding[v]) = (other, other_rounding);
                    settled = false;
                }
            }
        }
        if settled {
            break;
        }
    }
    Ok(())
}

/// CheckFailure unless the edges, which form no cycle, join every one of the nodes to all its neighbours, and none of them is heavier
/// than an edge that could take its place.
pub fn lightest(weights: &Matrix, edges: &[(usize, usize)], nodes: impl IntoIterator<Item = usize>) -> Result<(), CheckFailure> {
    let n = weights.n();
    let mut joined = vec![Vec::new(); n];
    for &(u, v) in edges {
        joined[u].push(v);
        joined[v].push(u);
    }
    let mut open = Vec::new();
    for from in nodes {
        // The heaviest edge on the way to each node.
        let mut heaviest: Vec<Option<(usize, usize)>> = vec![None; n];
        heaviest[from] = Some((from, from));
        open.push(from);
        while let Some(u) = open.pop() {
            for &v in &joined[u] {
                if heaviest[v].is_none() {
                    let before = heaviest[u].filter(|&edge| u != from && weights[edge] > weights[(u, v)]);
                    heaviest[v] = Some(before.unwrap_or((u, v)));
                    open.push(v);
                }
            }
        }
        for to in weights.neighbours(from).filter(|&to| to != from) {
            let Some(edge) = heaviest[to] else {
                return Err(CheckFailure(format!("nodes {from} and {to} have an edge, but the tree does not join them")));
            };
            let (here, there) = (weights[(from, to)], weights[edge]);
            ensure(here >= there || same_cost(here, there), || {
                format!(
                    "the edge {} - {} weighs {there}, but {from} - {to} could take its place and weighs {here}",
                    edge.0, edge.1
                )
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(rows: &[&[f64]]) -> Matrix {
        Matrix::from_cells(rows.len(), rows.concat()).expect("square")
    }

    /// The weights of the short cycle vanish beside the long edge, so that lengths alone do not show that nothing joins it.
    #[test]
    fn a_cycle_of_pointers_is_wrong_however_light_it_is() {
        let far = graph(&[&[0.0, 1e20, 1e20], &[0.0, 0.0, 1e-5], &[0.0, 1e-5, 0.0]]);
        assert_eq!(shortest_paths(&far, 0, &[0, 0, 0]), Ok(()));
        assert_eq!(shortest_paths(&far, 0, &[0, 0, 1]), Ok(()));
        let wrong = shortest_paths(&far, 0, &[0, 2, 1]).expect_err("a cycle");
        assert_eq!(wrong.to_string(), "the pointers from node 1 do not lead to 0");
    }

    #[test]
    fn weights_that_cancel_out_leave_room_for_rounding_and_for_no_more() {
        // The length of the way around is 0.1 + 0.2 - 0.3, which is 5.6e-17; the direct edge is a hair longer.
        let around = |direct: f64| {
            graph(&[&[0.0, 0.1, 0.0, direct], &[0.0, 0.0, 0.2, 0.0], &[0.0, 0.0, 0.0, -0.3], &[0.0, 0.0, 0.0, 0.0]])
        };
        assert!(shortest_paths(&around(1e-16), 0, &[0, 0, 1, 0]).is_ok());
        assert!(shortest_paths(&around(1e-12), 0, &[0, 0, 1, 0]).is_err());
    }

    #[test]
    fn small_differences_do_not_add_up_to_a_wrong_tree_that_is_accepted() {
        // Each shortcut saves half of what is allowed; all of them together save too much.
        let (n, saved) = (10, 1.0 - 0.5e-9);
        let chain = Matrix::from_fn(n, |u, v| match (u, v) {
            (0, v) if v > 0 => v as f64,
            (u, v) if v == u + 1 => saved - 0.5e-9 * u as f64,
            _ => 0.0,
        });
        assert!(shortest_paths(&chain, 0, &(0..n).map(|v| v.saturating_sub(1)).collect::<Vec<_>>()).is_ok());
        assert!(shortest_paths(&chain, 0, &[0; 10]).is_err());
    }
}
