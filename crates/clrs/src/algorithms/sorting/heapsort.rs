//! Heapsort (Williams 1964)
//!
//! # Idea
//! Builds a max-heap, in which no key is larger than that of its parent. Then repeatedly moves the largest key from the root to
//! the end of the array, and restores the heap property by sifting the new root down.
//!
//! # One step
//! One node is compared with its children and exchanged with the larger child if the child has the larger key; or the root is
//! exchanged with the last node of the heap, which then shrinks by one.
//!
//! # Number of steps
//! `3n - 1`, plus one per exchange with a child. Building the heap takes at most `n - popcount(n)` exchanges, the sum of the
//! heights of all nodes; restoring a heap of `m` nodes takes at most `floor(lg m)`. The bound is tight at least for `n` up to
//! 8.
//!
//! # Textbook
//! CLRS 3rd ed., sections 6.2 to 6.4.
//!
//! # Correctness
//! Any order with non-decreasing keys. Equal keys may appear in any order.
//!
//! # Differences from dm-clrs
//! CLRS starts building the heap at the last parent; dm-clrs starts at the last leaf, where nothing changes, and so does this
//! implementation. As in dm-clrs, positions are represented by the nodes that are there after the step, all positions are at
//! the last node in the first row, and `largest` is node 0 when the root is extracted.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::array::{Array, check_sorted};
use crate::cell::{Categorical, Graph, MaskOne, Node, Permutation, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Heapsort; see the [module](self).
pub struct Heapsort;

probes! {
    Heapsort;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key to sort by
        key: Node<Scalar>,
    }
    output {
        /// predecessor in sorted order; the first node points to itself
        pred: Node<Permutation> as i64,
    }
    hint {
        /// predecessor in the current array; the first node points to itself
        pred_h: Node<Pointer>,
        /// parent in the heap; the node itself at the root and outside the heap
        parent: Node<Pointer>,
        /// node at the position that is sifted down in phase 0; the new root in phase 1; the extracted node in phase 2
        i: Node<MaskOne>,
        /// node at the position just compared with its children; the extracted node in phase 1
        j: Node<MaskOne>,
        /// node that moved down, or stayed; node 0 in phase 1
        largest: Node<MaskOne>,
        /// node at the last position of the heap
        heap_size: Node<MaskOne>,
        /// 0 build the heap, 1 extract the root, 2 restore the heap property
        phase: Graph<Categorical<3>>,
    }
}

const BUILD: usize = 0;
const EXTRACT: usize = 1;
const RESTORE: usize = 2;

impl Algorithm for Heapsort {
    const NAME: &'static str = "heapsort";
    const SOURCE: Source = Source(include_str!("heapsort.rs"));
    const FAMILY: Family = Family::Sorting;
    type Problem = Keys;
    type Distribution = UniformKeys;

    fn distribution() -> UniformKeys {
        UniformKeys::default()
    }

    fn input(Keys { key }: &Keys) -> Input {
        Input { pos: positions(key.len()), key: key.clone() }
    }

    fn problem(input: &Input) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: input.key.clone() })
    }

    fn max_steps(n: usize) -> usize {
        let building = n - n.count_ones() as usize;
        let restoring: usize = (1..n).map(|m| m.ilog2() as usize).sum();
        (3 * n).saturating_sub(1) + building + restoring
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let n = key.len();
        let mut heap = Heap::new(key);
        hints.push(heap.hint(n - 1, n - 1, n - 1, BUILD));
        for i in (0..n).rev() {
            heap.max_heapify(i, i, BUILD, hints);
        }
        for i in (1..n).rev() {
            heap.size -= 1;
            heap.swap(0, i);
            hints.push(heap.hint(0, i, 0, EXTRACT));
            heap.max_heapify(0, i, RESTORE, hints);
        }
        Output { pred: heap.array.into_pred() }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        check_sorted(key, &output.pred)
    }
}

/// The first `size` positions of the array. The children of position `i` are `2 i + 1` and `2 i + 2`.
struct Heap<'k> {
    array: Array<'k>,
    parent: Vec<usize>,
    size: usize,
}

impl<'k> Heap<'k> {
    fn new(key: &'k [f64]) -> Self {
        let n = key.len();
        Heap { array: Array::new(key), parent: (0..n).map(parent).collect(), size: n }
    }

    /// The hint row of the current state; `i` and `j` are positions, `largest` is a node.
    fn hint(&self, i: usize, j: usize, largest: usize, phase: usize) -> Hint<'_> {
        Hint {
            pred_h: self.array.pred(),
            parent: &self.parent,
            i: self.array[i],
            j: self.array[j],
            largest,
            heap_size: self.array[self.size - 1],
            phase,
        }
    }

    /// Sifts the key at `index` down until no child is larger. All rows record the position `round` as `i`.
    fn max_heapify(&mut self, index: usize, round: usize, phase: usize, hints: &mut Hints<'_, Heapsort>) {
        let mut i = index;
        loop {
            let largest = self.largest(i);
            self.swap(i, largest);
            hints.push(self.hint(round, i, self.array[largest], phase));
            if largest == i {
                return;
            }
            i = largest;
        }
    }

    /// Position of the largest key among `i` and its children; the first of equal keys.
    fn largest(&self, i: usize) -> usize {
        let mut largest = i;
        for child in [2 * i + 1, 2 * i + 2] {
            if child < self.size && self.array.key(child) > self.array.key(largest) {
                largest = child;
            }
        }
        largest
    }

    /// Exchanges two elements and updates the parent pointers around them. An extracted node was the root, so it
    /// already points to itself.
    fn swap(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        self.array.swap(one, other);
        for i in [one, other] {
            for index in [i, 2 * i + 1, 2 * i + 2] {
                if index < self.size {
                    self.parent[self.array[index]] = self.array[parent(index)];
                }
            }
        }
    }
}

/// Position of the parent; the root is its own parent.
fn parent(index: usize) -> usize {
    index.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 6.3 of the textbook: the last row of phase 0 is the heap 16 14 10 8 7 9 3 2 4 1.
    #[test]
    fn builds_the_heap_of_the_textbook() {
        let mut recorder = Recorder::new::<Heapsort>();
        let key = vec![4.0, 1.0, 3.0, 2.0, 16.0, 9.0, 10.0, 14.0, 8.0, 7.0];
        recorder.record::<Heapsort>(&Keys { key }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(phase)) = sample.get("phase") else { panic!("`phase` is a class") };
        let built = phase.iter().rposition(|&phase| phase == 0).expect("the heap is built first");
        let Some(Cells::Node(pred)) = sample.get("pred_h") else { panic!("`pred_h` and `parent` are pointers") };
        let Some(Cells::Node(parent)) = sample.get("parent") else { panic!("`pred_h` and `parent` are pointers") };
        assert_eq!(pred[built * 10..][..10], [3, 0, 5, 2, 4, 9, 7, 4, 6, 8]);
        assert_eq!(parent[built * 10..][..10], [8, 9, 6, 8, 4, 6, 4, 4, 7, 7]);
    }

    #[test]
    fn max_steps_is_attained() {
        for (n, key) in [(2, vec![0., 1.]), (5, vec![0., 1., 2., 4., 3.]), (8, vec![0., 1., 2., 4., 3., 6., 5., 7.])] {
            let mut recorder = Recorder::new::<Heapsort>();
            recorder.record::<Heapsort>(&Keys { key }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Heapsort::max_steps(n));
        }
    }
}
