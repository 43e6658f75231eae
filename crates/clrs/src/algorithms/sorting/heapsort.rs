//! Heapsort (Williams 1964)
//!
//! # Idea
//! Arranges the array as a heap, in which no key is above its parent's. Then takes the largest key away from the root, time
//! and again, and lets the key that replaces it sink to where it belongs.
//!
//! # One step
//! One key is compared with its children, and exchanged with the larger one if that is above it; or the root is exchanged
//! with the last key of the heap, which then ends one place earlier.
//!
//! # Steps
//! `3 n - 1`, and one per exchange with a child: at most `n` less the ones of `n` in binary while the heap is built (the
//! heights of all its nodes), and `floor(lg m)` each time that a key sinks in a heap of `m`. Some keys need all of them, for
//! every `n` up to 8 at least.
//!
//! # Textbook
//! CLRS 3rd ed., sections 6.2 to 6.4.
//!
//! # What counts as right
//! Any order in which no key comes before a smaller one: equal keys may stand either way.
//!
//! # Differences
//! The book builds the heap from the last parent on, the reference from the last leaf on, where nothing can happen. As in the
//! reference, `largest` is node 0 whenever the root is taken away, places are named by the nodes that stand there now, and all
//! marks are on the last node at first.

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
        /// place in the array, from 0 to 1
        pos: Node<Scalar>,
        /// number to sort by
        key: Node<Scalar>,
    }
    output {
        /// predecessor in sorted order
        pred: Node<Permutation> as i64,
    }
    hint {
        /// predecessor in the array as it stands
        pred_h: Node<Pointer>,
        /// parent in the heap; the node itself at the root and outside
        parent: Node<Pointer>,
        /// node in the place that the heap grows by; later the new root and the node that left, by turns
        i: Node<MaskOne>,
        /// node in the place that was compared with its children; or the node that leaves
        j: Node<MaskOne>,
        /// node that went down, or stayed; node 0 when one leaves
        largest: Node<MaskOne>,
        /// node in the last place of the heap
        heap_size: Node<MaskOne>,
        /// 0 building the heap, 1 taking the root away, 2 mending the heap
        phase: Graph<Categorical<3>>,
    }
}

const BUILD: usize = 0;
const TAKE: usize = 1;
const MEND: usize = 2;

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
        let mending: usize = (1..n).map(|m| m.ilog2() as usize).sum();
        (3 * n).saturating_sub(1) + building + mending
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
            hints.push(heap.hint(0, i, 0, TAKE));
            heap.max_heapify(0, i, MEND, hints);
        }
        Output { pred: heap.array.into_pred() }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        check_sorted(key, &output.pred)
    }
}

/// The first `size` places of the array; the children of place `i` are `2 i + 1` and `2 i + 2`.
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

    /// The one place where a row is made: `i` and `j` are places, `largest` is a node.
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

    /// Lets the key at a place sink until no child is above it. `round` is the place that all its rows tell as `i`.
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

    /// The place of the largest key among a place and its children. The first of equals wins.
    fn largest(&self, i: usize) -> usize {
        let mut largest = i;
        for child in [2 * i + 1, 2 * i + 2] {
            if child < self.size && self.array.key(child) > self.array.key(largest) {
                largest = child;
            }
        }
        largest
    }

    /// Exchanges two elements and mends the pointers around them. What has left the heap was its root: it points to itself.
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

/// The parent's place; the root is its own.
fn parent(index: usize) -> usize {
    index.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 6.3 of the textbook: the last row of the first phase holds the heap 16 14 10 8 7 9 3 2 4 1.
    #[test]
    fn builds_the_heap_of_the_textbook() {
        let mut recorder = Recorder::new::<Heapsort>();
        let key = vec![4.0, 1.0, 3.0, 2.0, 16.0, 9.0, 10.0, 14.0, 8.0, 7.0];
        recorder.record::<Heapsort>(&Keys { key }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(phase)) = sample.get("phase") else { panic!("a class per row") };
        let built = phase.iter().rposition(|&phase| phase == 0).expect("built first");
        let Some(Cells::Node(pred)) = sample.get("pred_h") else { panic!("pointers") };
        let Some(Cells::Node(parent)) = sample.get("parent") else { panic!("pointers") };
        assert_eq!(pred[built * 10..][..10], [3, 0, 5, 2, 4, 9, 7, 4, 6, 8]);
        assert_eq!(parent[built * 10..][..10], [8, 9, 6, 8, 4, 6, 4, 4, 7, 7]);
    }

    #[test]
    fn most_steps_are_reached() {
        for (n, key) in [(2, vec![0., 1.]), (5, vec![0., 1., 2., 4., 3.]), (8, vec![0., 1., 2., 4., 3., 6., 5., 7.])] {
            let mut recorder = Recorder::new::<Heapsort>();
            recorder.record::<Heapsort>(&Keys { key }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), Heapsort::max_steps(n));
        }
    }
}
