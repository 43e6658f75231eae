//! Maximum subarray by divide and conquer
//!
//! # Idea
//! The maximum subarray lies in the left half, in the right half, or crosses the middle. The halves are solved recursively. The
//! crossing subarray joins the best subarray that ends at the middle and the best one that starts right after it.
//!
//! # One step
//! A subarray is entered, one of its halves is solved, or its result is known; or one key is added while the crossing subarray
//! is extended from the middle to the left, then to the right.
//!
//! # Number of steps
//! One row per single key; for each larger subarray six rows and one per key, except that the full array has no closing row. In
//! total exactly `7n - 7 + nk + n - 2^k`, with `k = ceil(lg n)`.
//!
//! # Textbook
//! CLRS 3rd ed., section 4.1.
//!
//! # Correctness
//! Any non-empty subarray with the largest sum.
//!
//! # Differences from dm-clrs
//! CLRS initializes the crossing sums with minus infinity. dm-clrs initializes them with the key next to the middle minus 0.1,
//! so that the key itself is larger. For keys above 2^50 it is not, and dm-clrs fails; this implementation stays correct. As in
//! dm-clrs, `left_sum` and `right_sum` are the sums of the halves, except in phase 2, where they repeat `left_x_sum` and
//! `right_x_sum`. A single key, and keys whose sum overflows, are rejected.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::{array, subarray};
use crate::cell::{Categorical, Graph, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Maximum subarray by divide and conquer; see the [module](self).
pub struct FindMaximumSubarray;

probes! {
    FindMaximumSubarray;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key to add up
        key: Node<Scalar>,
    }
    output {
        /// first node of the maximum subarray
        start: Node<MaskOne>,
        /// last node of the maximum subarray
        end: Node<MaskOne>,
    }
    hint {
        /// predecessor in the array; the first node points to itself
        pred_h: Node<Pointer>,
        /// first node of the current subarray
        low: Node<MaskOne>,
        /// last node of the current subarray
        high: Node<MaskOne>,
        /// last node of the left half
        mid: Node<MaskOne>,
        /// first node of the maximum subarray of the left half; of the half itself until known
        left_low: Node<MaskOne>,
        /// last node of the maximum subarray of the left half; of the half itself until known
        left_high: Node<MaskOne>,
        /// sum of the maximum subarray of the left half, 0 until known; `left_x_sum` in phase 2
        left_sum: Graph<Scalar>,
        /// first node of the maximum subarray of the right half; of the half itself until known
        right_low: Node<MaskOne>,
        /// last node of the maximum subarray of the right half; of the half itself until known
        right_high: Node<MaskOne>,
        /// sum of the maximum subarray of the right half, 0 until known; `right_x_sum` in phase 2
        right_sum: Graph<Scalar>,
        /// first node of the best crossing subarray so far
        cross_low: Node<MaskOne>,
        /// last node of the best crossing subarray so far
        cross_high: Node<MaskOne>,
        /// sum of the best crossing subarray so far
        cross_sum: Graph<Scalar>,
        /// first node of the result; of the current subarray until known
        ret_low: Node<MaskOne>,
        /// last node of the result; of the current subarray until known
        ret_high: Node<MaskOne>,
        /// sum of the result; 0 until known
        ret_sum: Graph<Scalar>,
        /// node added last to the left of the middle
        i: Node<MaskOne>,
        /// node added last to the right of the middle
        j: Node<MaskOne>,
        /// sum of the keys added so far in this direction
        sum: Graph<Scalar>,
        /// largest sum to the left of the middle so far
        left_x_sum: Graph<Scalar>,
        /// largest sum to the right of the middle so far
        right_x_sum: Graph<Scalar>,
        /// 0 divide and combine, 1 extend to the left, 2 extend to the right
        phase: Graph<Categorical<3>>,
    }
}

const DIVIDE: usize = 0;
const EXTEND_LEFT: usize = 1;
const EXTEND_RIGHT: usize = 2;

/// Crossing sums start this much below their first key, so that the key itself exceeds the start.
const MARGIN: f64 = 0.1;

impl Algorithm for FindMaximumSubarray {
    const NAME: &'static str = "find_maximum_subarray";
    const SOURCE: Source = Source(include_str!("find_maximum_subarray.rs"));
    const FAMILY: Family = Family::DivideAndConquer;
    const MIN_NODES: usize = 2;
    const FIXED_ORDER: bool = true;
    type Problem = Keys;
    type Distribution = UniformKeys;

    fn distribution() -> UniformKeys {
        UniformKeys { low: -1.0, high: 1.0 }
    }

    fn preconditions(Keys { key }: &Keys) -> Result<(), InvalidProblem> {
        subarray::sums_are_finite(key)
    }

    fn input(Keys { key }: &Keys) -> Input {
        Input { pos: positions(key.len()), key: key.clone() }
    }

    fn problem(input: &Input) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: input.key.clone() })
    }

    fn max_steps(n: usize) -> usize {
        let power = n.next_power_of_two();
        let sizes = n * power.ilog2() as usize + n - power; // of all subarrays with at least two keys, summed
        (7 * n + sizes).saturating_sub(7)
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let pred = array::initial_predecessors(key.len());
        let best = find_maximum_subarray(key, &pred, 0, key.len() - 1, hints);
        Output { start: best.low, end: best.high }
    }

    fn check(Keys { key }: &Keys, output: &Output) -> Result<(), CheckFailure> {
        subarray::check_maximum(key, output.start, output.end)
    }
}

fn find_maximum_subarray(
    key: &[f64],
    pred: &[usize],
    low: usize,
    high: usize,
    hints: &mut Hints<'_, FindMaximumSubarray>,
) -> Subarray {
    let mut range = Range::new(key, pred, low, high);
    hints.push(range.hint());
    if low == high {
        return range.ret;
    }
    range.left = find_maximum_subarray(key, pred, low, range.mid, hints);
    hints.push(range.hint());
    range.right = find_maximum_subarray(key, pred, range.mid + 1, high, hints);
    hints.push(range.hint());
    range.find_max_crossing_subarray(hints);
    range.choose();
    if high - low + 1 < key.len() {
        hints.push(range.hint());
    }
    range.ret
}

#[derive(Clone, Copy)]
struct Subarray {
    low: usize,
    high: usize,
    sum: f64,
}

/// The keys from `low` to `high`, and the results found for them so far.
struct Range<'k> {
    key: &'k [f64],
    pred: &'k [usize],
    low: usize,
    high: usize,
    mid: usize,
    left: Subarray,
    right: Subarray,
    cross: Subarray,
    ret: Subarray,
    i: usize,
    j: usize,
    sum: f64,
    left_x_sum: f64,
    right_x_sum: f64,
    phase: usize,
}

impl<'k> Range<'k> {
    /// Creates the state on entry. The result of a single key is the key.
    fn new(key: &'k [f64], pred: &'k [usize], low: usize, high: usize) -> Self {
        let mid = usize::midpoint(low, high);
        let next = high.min(mid + 1);
        let single = low == high;
        Range {
            key,
            pred,
            low,
            high,
            mid,
            left: Subarray { low, high: mid, sum: 0.0 },
            right: Subarray { low: next, high, sum: 0.0 },
            cross: Subarray { low: mid, high: next, sum: if single { 0.0 } else { key[mid] + key[next] - 2.0 * MARGIN } },
            ret: Subarray { low, high, sum: if single { key[low] } else { 0.0 } },
            i: mid,
            j: next,
            sum: 0.0,
            left_x_sum: key[mid] - MARGIN,
            right_x_sum: key[next] - MARGIN,
            phase: DIVIDE,
        }
    }

    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let halves = (self.left.sum, self.right.sum);
        let (left_sum, right_sum) = if self.phase == EXTEND_RIGHT { (self.left_x_sum, self.right_x_sum) } else { halves };
        Hint {
            pred_h: self.pred,
            low: self.low,
            high: self.high,
            mid: self.mid,
            left_low: self.left.low,
            left_high: self.left.high,
            left_sum,
            right_low: self.right.low,
            right_high: self.right.high,
            right_sum,
            cross_low: self.cross.low,
            cross_high: self.cross.high,
            cross_sum: self.cross.sum,
            ret_low: self.ret.low,
            ret_high: self.ret.high,
            ret_sum: self.ret.sum,
            i: self.i,
            j: self.j,
            sum: self.sum,
            left_x_sum: self.left_x_sum,
            right_x_sum: self.right_x_sum,
            phase: self.phase,
        }
    }

    fn find_max_crossing_subarray(&mut self, hints: &mut Hints<'_, FindMaximumSubarray>) {
        self.phase = EXTEND_LEFT;
        hints.push(self.hint());
        for i in (self.low..=self.mid).rev() {
            self.i = i;
            self.sum += self.key[i];
            if self.sum > self.left_x_sum {
                self.left_x_sum = self.sum;
                self.cross.low = i;
            }
            self.cross.sum = self.left_x_sum + self.key[self.mid + 1] - MARGIN;
            hints.push(self.hint());
        }
        self.phase = EXTEND_RIGHT;
        self.sum = 0.0;
        self.cross.sum = self.left_x_sum + self.right_x_sum;
        hints.push(self.hint());
        for j in self.mid + 1..=self.high {
            self.j = j;
            self.sum += self.key[j];
            if self.sum > self.right_x_sum {
                self.right_x_sum = self.sum;
                self.cross.high = j;
            }
            self.cross.sum = self.left_x_sum + self.right_x_sum;
            hints.push(self.hint());
        }
    }

    /// Chooses the subarray with the largest sum. On ties the left half wins, then the right half.
    fn choose(&mut self) {
        let Range { left, right, cross, .. } = *self;
        self.ret = if left.sum >= right.sum && left.sum >= cross.sum {
            left
        } else if right.sum >= cross.sum {
            right
        } else {
            cross
        };
        (self.i, self.j, self.phase) = (self.low, self.high, DIVIDE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    /// Figure 4.3 of the textbook: the sum is 43.
    #[test]
    fn finds_the_maximum_subarray_of_the_textbook() {
        let key = vec![13., -3., -25., 20., -3., -16., -23., 18., 20., -7., 12., -5., -22., 15., -4., 7.];
        let mut recorder = Recorder::new::<FindMaximumSubarray>();
        recorder.record::<FindMaximumSubarray>(&Keys { key }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!((sample.get("start"), sample.get("end")), (Some(Cells::Node(&[7])), Some(Cells::Node(&[10]))));
        let Some(Cells::Scalar(cross)) = sample.get("cross_sum") else { panic!("one value per row") };
        assert_eq!(cross.last(), Some(&43.0));
    }

    #[test]
    fn the_number_of_steps_depends_on_the_size_alone() {
        for n in 2..40 {
            let mut recorder = Recorder::new::<FindMaximumSubarray>();
            recorder.record::<FindMaximumSubarray>(&Keys { key: positions(n) }).expect("a valid problem");
            assert_eq!(recorder.last().expect("a recorded sample").steps(), FindMaximumSubarray::max_steps(n));
        }
    }

    /// dm-clrs fails here: subtracting 0.1 does not change such keys.
    #[test]
    fn keys_too_large_for_the_margin_are_solved() {
        let mut recorder = Recorder::new::<FindMaximumSubarray>();
        let keys = Keys { key: vec![-1e17, 1e17, 2e17, -1e17] };
        recorder.record::<FindMaximumSubarray>(&keys).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!((sample.get("start"), sample.get("end")), (Some(Cells::Node(&[1])), Some(Cells::Node(&[2]))));
    }

    #[test]
    fn one_key_is_rejected() {
        let single = Keys { key: vec![1.0] };
        let rejected = Recorder::new::<FindMaximumSubarray>().record::<FindMaximumSubarray>(&single);
        let reason = rejected.expect_err("a single key").to_string();
        assert_eq!(reason, "the algorithm needs at least 2 nodes, found 1");
    }
}
