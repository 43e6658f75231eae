//! An array of keys, as the benchmark tells it: nodes stand in places, and each points to the one before it.

use std::ops::Index;

use super::order;
use crate::algorithm::CheckFailure;

/// An array whose elements move. `array[place]` is the node that stands there.
pub struct Array<'k> {
    key: &'k [f64],
    nodes: Vec<usize>,
    pred: Vec<usize>,
}

impl<'k> Array<'k> {
    /// The array as given: every node in its own place.
    pub fn new(key: &'k [f64]) -> Array<'k> {
        Array { key, nodes: (0..key.len()).collect(), pred: as_given(key.len()) }
    }

    /// The key at a place.
    pub fn key(&self, place: usize) -> f64 {
        self.key[self.nodes[place]]
    }

    /// For every node the one that stands before it; the first points to itself.
    pub fn pred(&self) -> &[usize] {
        &self.pred
    }

    /// The pointers at the end.
    pub fn into_pred(self) -> Vec<usize> {
        self.pred
    }

    /// Exchanges two elements.
    pub fn swap(&mut self, one: usize, other: usize) {
        self.nodes.swap(one, other);
        for place in [one, one + 1, other, other + 1] {
            if place < self.nodes.len() {
                self.pred[self.nodes[place]] = self.nodes[place.saturating_sub(1)];
            }
        }
    }

    /// The textbook's PARTITION of the places from `p` to `r` (section 7.1): brings what is not above the last key before it,
    /// and returns the last key's new place. After each comparison, `step` is told the place where the next small key will
    /// go, and the place of the key just compared.
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

    fn index(&self, place: usize) -> &usize {
        &self.nodes[place]
    }
}

/// The pointers of an array in which nothing has moved.
pub fn as_given(n: usize) -> Vec<usize> {
    (0..n).map(|node| node.saturating_sub(1)).collect()
}

/// The check of every sort: any order in which no key comes before a smaller one.
pub fn check_sorted(key: &[f64], pred: &[usize]) -> Result<(), CheckFailure> {
    let Some(sorted) = order::from_predecessors(pred) else {
        return Err(CheckFailure("`pred` is not one chain through all nodes".into()));
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
    fn pointers_follow_every_swap() {
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
    fn partition_brings_small_keys_before_the_last_one() {
        let key = [2.0, 8.0, 7.0, 1.0, 3.0, 5.0, 6.0, 4.0];
        let mut array = Array::new(&key);
        assert_eq!(array.partition(0, 7, |_, _, _| ()), 3);
        let keys: Vec<f64> = (0..8).map(|place| array.key(place)).collect();
        assert_eq!(keys, [2.0, 1.0, 3.0, 4.0, 7.0, 5.0, 6.0, 8.0]);
    }
}
