//! Checks of trees in graphs, given by parent pointers or by edges. Nodes that the source does not reach point to themselves.

use crate::algorithm::{CheckFailure, ensure, same_cost};
use crate::problems::{InvalidProblem, Matrix, ensure_valid};

/// Whether each node is reachable from the source.
pub fn reachable(weights: &Matrix, source: usize) -> Vec<bool> {
    let mut reached = vec![false; weights.n()];
    reached[source] = true;
    let mut open = vec![source];
    while let Some(u) = open.pop() {
        for v in weights.neighbors(u) {
            if !std::mem::replace(&mut reached[v], true) {
                open.push(v);
            }
        }
    }
    reached
}

/// Checks that no path length overflows.
pub fn finite_sums(weights: &Matrix) -> Result<(), InvalidProblem> {
    let largest = weights.cells().iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    ensure_valid((largest * weights.n() as f64).is_finite(), || {
        "the values of `weights` are too large: their sum overflows".into()
    })
}

/// All nodes reachable from the source, parents before children.
///
/// # Errors
/// If the pointers are not a tree along edges that contains exactly these nodes.
pub fn top_down(weights: &Matrix, source: usize, pi: &[usize]) -> Result<Vec<usize>, CheckFailure> {
    let reached = reachable(weights, source);
    for (node, &parent) in pi.iter().enumerate() {
        if node == source {
            ensure(parent == node, || format!("the source {source} points to {parent} instead of itself"))?;
        } else if reached[node] {
            ensure(parent != node, || format!("node {node} points to itself, but is reachable from {source}"))?;
            ensure(weights.has_edge(parent, node), || {
                format!("node {node} points to {parent}, but there is no edge from {parent} to {node}")
            })?;
        } else {
            ensure(parent == node, || format!("node {node} points to {parent}, but is not reachable from {source}"))?;
        }
    }
    let mut order = vec![source];
    let mut placed = vec![false; pi.len()];
    placed[source] = true;
    let mut path = Vec::new();
    for node in (0..pi.len()).filter(|&node| reached[node]) {
        let mut ancestor = node;
        while !placed[ancestor] {
            ensure(path.len() < pi.len(), || format!("the pointers from node {node} do not lead to {source}"))?;
            path.push(ancestor);
            ancestor = pi[ancestor];
        }
        for node in path.drain(..).rev() {
            placed[node] = true;
            order.push(node);
        }
    }
    Ok(order)
}

/// Checks that the pointers are a tree of shortest paths: computes the path lengths in the tree and looks for an edge that
/// shortens one.
pub fn check_shortest_paths(weights: &Matrix, source: usize, pi: &[usize]) -> Result<(), CheckFailure> {
    let n = weights.n();
    let order = top_down(weights, source, pi)?;
    let mut length = vec![0.0; n];
    let mut rounding = vec![0.0; n]; // bound on the rounding error, which matters if large weights cancel out
    let rounds = |weight: f64| weight.abs() * f64::EPSILON * n as f64;
    for &v in &order[1..] {
        let (u, weight) = (pi[v], weights[(pi[v], v)]);
        length[v] = length[u] + weight;
        rounding[v] = rounding[u] + rounds(weight);
    }
    // Differences within the tolerance can add up along a path, so they are propagated until none is left.
    let (mut best, mut best_rounding) = (length.clone(), rounding.clone());
    for _ in 0..n {
        let mut settled = true;
        for &u in &order {
            for v in weights.neighbors(u) {
                let (other, other_rounding) = (best[u] + weights[(u, v)], best_rounding[u] + rounds(weights[(u, v)]));
                if other < best[v] {
                    ensure(same_cost(other, length[v]) || length[v] - other <= rounding[v] + other_rounding, || {
                        format!("the path from {source} to {v} has length {}, but one through {u} has length {other}", length[v])
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

/// Checks that the edges, which form no cycle, are a minimum spanning forest of the given nodes: they connect each node to all
/// its neighbors, and none is heavier than an edge that could replace it.
pub fn check_minimum_forest(
    weights: &Matrix,
    edges: &[(usize, usize)],
    nodes: impl IntoIterator<Item = usize>,
) -> Result<(), CheckFailure> {
    let n = weights.n();
    let mut adjacent = vec![Vec::new(); n];
    for &(u, v) in edges {
        adjacent[u].push(v);
        adjacent[v].push(u);
    }
    let mut open = Vec::new();
    for from in nodes {
        // The heaviest edge on the path to each node.
        let mut heaviest: Vec<Option<(usize, usize)>> = vec![None; n];
        heaviest[from] = Some((from, from));
        open.push(from);
        while let Some(u) = open.pop() {
            for &v in &adjacent[u] {
                if heaviest[v].is_none() {
                    let before = heaviest[u].filter(|&edge| u != from && weights[edge] > weights[(u, v)]);
                    heaviest[v] = Some(before.unwrap_or((u, v)));
                    open.push(v);
                }
            }
        }
        for to in weights.neighbors(from).filter(|&to| to != from) {
            let Some(edge) = heaviest[to] else {
                return Err(CheckFailure(format!("nodes {from} and {to} are connected by an edge, but not by the tree")));
            };
            let (outside, inside) = (weights[(from, to)], weights[edge]);
            ensure(outside >= inside || same_cost(outside, inside), || {
                format!(
                    "the edge {} - {} weighs {inside}, but could be replaced by {from} - {to}, which weighs {outside}",
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

    /// Next to the long edge, the weights of the cycle are lost to rounding, so path lengths alone do not reveal it.
    #[test]
    fn a_cycle_of_pointers_is_rejected_even_if_its_weight_is_lost_to_rounding() {
        let far = graph(&[&[0.0, 1e20, 1e20], &[0.0, 0.0, 1e-5], &[0.0, 1e-5, 0.0]]);
        assert_eq!(check_shortest_paths(&far, 0, &[0, 0, 0]), Ok(()));
        assert_eq!(check_shortest_paths(&far, 0, &[0, 0, 1]), Ok(()));
        let failure = check_shortest_paths(&far, 0, &[0, 2, 1]).expect_err("a cycle");
        assert_eq!(failure.to_string(), "the pointers from node 1 do not lead to 0");
    }

    #[test]
    fn the_tolerance_covers_rounding_errors_of_weights_that_cancel_out() {
        // The length of the detour is 0.1 + 0.2 - 0.3, which is 5.6e-17 in doubles; the direct edge is slightly longer.
        let around = |direct: f64| {
            graph(&[&[0.0, 0.1, 0.0, direct], &[0.0, 0.0, 0.2, 0.0], &[0.0, 0.0, 0.0, -0.3], &[0.0, 0.0, 0.0, 0.0]])
        };
        assert!(check_shortest_paths(&around(1e-16), 0, &[0, 0, 1, 0]).is_ok());
        assert!(check_shortest_paths(&around(1e-12), 0, &[0, 0, 1, 0]).is_err());
    }

    #[test]
    fn differences_within_the_tolerance_do_not_add_up() {
        // Each shortcut saves half of the tolerance; all together exceed it.
        let (n, saved) = (10, 1.0 - 0.5e-9);
        let chain = Matrix::from_fn(n, |u, v| match (u, v) {
            (0, v) if v > 0 => v as f64,
            (u, v) if v == u + 1 => saved - 0.5e-9 * u as f64,
            _ => 0.0,
        });
        assert!(check_shortest_paths(&chain, 0, &(0..n).map(|v| v.saturating_sub(1)).collect::<Vec<_>>()).is_ok());
        assert!(check_shortest_paths(&chain, 0, &[0; 10]).is_err());
    }
}
