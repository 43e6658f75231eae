//! An array of keys as the benchmark represents it: each node points to its predecessor in the array.

use std::ops::Index;

use super::order;
use crate::algorithm::CheckFailure;

/// An array whose elements move. `array[index]` is the node at an index.
pub struct Array<'k> {
    key: &'k [f64],
    nodes: Vec<usize>,
    pred: Vec<usize>,
}

impl<'k> Array<'k> {
    /// Creates an array in its initial order.
    pub fn new(key: &'k [f64]) -> Array<'k> {
        Array { key, nodes: (0..key.len()).collect(), pred: initial_predecessors(key.len()) }
    }

    /// The key at an index.
    pub fn key(&self, index: usize) -> f64 {
        self.key[self.nodes[index]]
    }

    /// The predecessor of every node; the first node points to itself.
    pub fn pred(&self) -> &[usize] {
        &self.pred
    }

    /// Returns the predecessors.
    pub fn into_pred(self) -> Vec<usize> {
        self.pred
    }

    /// Exchanges two elements.
    pub fn swap(&mut self, one: usize, other: usize) {
        self.nodes.swap(one, other);
        for index in [one, one + 1, other, other + 1] {
            if index < self.nodes.len() {
                self.pred[self.nodes[index]] = self.nodes[index.saturating_sub(1)];
            }
        }
    }

    /// The textbook's PARTITION of the indices from `p` to `r` (section 7.1): moves keys that are not greater than the last one
    /// before it, and returns the new index of the last key. After each comparison, `step` is called with the index for the
    /// next small key and the index of the key just compared.
    pub fn partition(&mut self, p: usize, r: usize, mut step: impl FnMut(&Array<'_>, usize, usize)) -> usize {
        let pivot = self.key(r);
        let mut i = p;
        for j in p..r {
            if self.key(j) <= pivot {
                self.swap(i, j);
                i += 1;
            }
            step(self, i, j);
        }
        self.swap(i, r);
        i
    }
}

impl Index<usize> for Array<'_> {
    type Output = usize;

    fn index(&self, index: usize) -> &usize {
        &self.nodes[index]
    }
}

/// The predecessors in the initial order.
pub fn initial_predecessors(n: usize) -> Vec<usize> {
    (0..n).map(|node| node.saturating_sub(1)).collect()
}

/// The check of every sort: accepts any order with ascending keys.
pub fn check_sorted(key: &[f64], pred: &[usize]) -> Result<(), CheckFailure> {
    let Some(sorted) = order::from_predecessors(pred) else {
        return Err(CheckFailure("`pred` is not a single chain through all nodes".into()));
    };
    match sorted.windows(2).find(|pair| key[pair[0]] > key[pair[1]]) {
        Some(pair) => Err(CheckFailure(format!("node {} comes before node {}, but its key is larger", pair[0], pair[1]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_updates_the_predecessors() {
        let key = [0.0; 5];
        for (one, other) in (0..5).flat_map(|one| (0..5).map(move |other| (one, other))) {
            let mut array = Array::new(&key);
            array.swap(2, 3);
            array.swap(one, other);
            let mut pred = Vec::new();
            order::predecessors_into(&array.nodes, &mut pred);
            assert_eq!(array.pred(), pred, "swapped {one} and {other}");
        }
    }

    /// Figure 7.1 of the textbook.
    #[test]
    fn partition_moves_small_keys_before_the_last_one() {
        let key = [2.0, 8.0, 7.0, 1.0, 3.0, 5.0, 6.0, 4.0];
        let mut array = Array::new(&key);
        assert_eq!(array.partition(0, 7, |_, _, _| ()), 3);
        let keys: Vec<f64> = (0..8).map(|index| array.key(index)).collect();
        assert_eq!(keys, [2.0, 1.0, 3.0, 4.0, 7.0, 5.0, 6.0, 8.0]);
    }
}
