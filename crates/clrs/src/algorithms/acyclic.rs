//! Orders in which all edges lead forward, found by taking away nodes that nothing leads to (Kahn 1962): another way than that
//! of the searches in depth, for their checks.

use crate::problems::{InvalidProblem, Matrix};

/// An order in which all edges lead forward; where there is none, a node on a cycle.
pub fn topological_order(n: usize, edge: impl Fn(usize, usize) -> bool) -> Result<Vec<usize>, usize> {
    let mut incoming = vec![0; n];
    for u in 0..n {
        for (v, incoming) in incoming.iter_mut().enumerate() {
            *incoming += usize::from(edge(u, v));
        }
    }
    let mut order: Vec<usize> = (0..n).filter(|&u| incoming[u] == 0).collect();
    let mut taken = 0;
    while let Some(&u) = order.get(taken) {
        taken += 1;
        for v in (0..n).filter(|&v| edge(u, v)) {
            incoming[v] -= 1;
            if incoming[v] == 0 {
                order.push(v);
            }
        }
    }
    let Some(mut left) = (0..n).find(|&u| incoming[u] > 0) else { return Ok(order) };
    // Something that is left leads to each that is left: going back along it, sooner or later one goes in a circle.
    for _ in 0..n {
        left = (0..n).find(|&u| incoming[u] > 0 && edge(u, left)).unwrap_or(left);
    }
    Err(left)
}

/// For algorithms on graphs without cycles. An edge from a node to itself is one.
pub fn acyclic(weights: &Matrix) -> Result<(), InvalidProblem> {
    match topological_order(weights.n(), |u, v| weights.has_edge(u, v)) {
        Ok(_) => Ok(()),
        Err(node) => Err(InvalidProblem::Rule(format!("the graph has a cycle through node {node}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_leads_forward_and_a_cycle_is_named_by_a_node_on_it() {
        let order = |edges: &[(usize, usize)]| topological_order(4, |u, v| edges.contains(&(u, v)));
        assert_eq!(order(&[(3, 1), (1, 0), (3, 0)]), Ok(vec![2, 3, 1, 0]));
        assert_eq!(order(&[(3, 3), (3, 0), (0, 1)]), Err(3));
        assert!(matches!(order(&[(1, 2), (2, 1), (2, 0), (0, 3)]), Err(1 | 2)));
    }
}
