//! Maximum subarray by divide and conquer
//!
//! # Idea
//! The best subarray lies in the left half, or in the right half, or across the middle. The halves are solved the same way;
//! across the middle, the best run of keys to its left and the best to its right are found one after the other and put together.
//!
//! # One step
//! A part is entered, one of its halves is solved, or its answer is known; or one key is added on the way from the middle to
//! the left, then to the right.
//!
//! # Steps
//! A row per single key; for each larger part six, and one per key of it; the whole array has no closing row. That is always
//! `7 n - 7 + n k + n - 2^k`, with `k = ceil(lg n)`.
//!
//! # Textbook
//! CLRS 3rd ed., section 4.1.
//!
//! # What counts as right
//! Any subarray of at least one key that has the largest sum.
//!
//! # Differences
//! The book's sums from the middle begin at minus infinity. The reference's begin at the key beside the middle less 0.1, which
//! the key itself exceeds; above 2^50 it does not, and the reference fails: ours stays right. As in the reference, `left_sum`
//! and `right_sum` are those of the halves, but while the way leads to the right they repeat `left_x_sum` and `right_x_sum`.
//! One key alone has nothing to tell, and is refused; so are keys whose sum is too large for a number.

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
        /// place in the array, from 0 to 1
        pos: Node<Scalar>,
        /// number to add up
        key: Node<Scalar>,
    }
    output {
        /// first node of the best subarray
        start: Node<MaskOne>,
        /// last node of the best subarray
        end: Node<MaskOne>,
    }
    hint {
        /// predecessor in the array
        pred_h: Node<Pointer>,
        /// first node of the part
        low: Node<MaskOne>,
        /// last node of the part
        high: Node<MaskOne>,
        /// last node of its left half
        mid: Node<MaskOne>,
        /// first node of the best in the left half; before it is known, of the half
        left_low: Node<MaskOne>,
        /// last node of the best in the left half; before it is known, of the half
        left_high: Node<MaskOne>,
        /// sum of the best in the left half, 0 before it is known
        left_sum: Graph<Scalar>,
        /// first node of the best in the right half; before it is known, of the half
        right_low: Node<MaskOne>,
        /// last node of the best in the right half; before it is known, of the half
        right_high: Node<MaskOne>,
        /// sum of the best in the right half, 0 before it is known
        right_sum: Graph<Scalar>,
        /// first node of the best across the middle so far
        cross_low: Node<MaskOne>,
        /// last node of the best across the middle so far
        cross_high: Node<MaskOne>,
        /// sum of the best across the middle so far
        cross_sum: Graph<Scalar>,
        /// first node of the part's answer; before it is known, of the part
        ret_low: Node<MaskOne>,
        /// last node of the part's answer; before it is known, of the part
        ret_high: Node<MaskOne>,
        /// sum of the part's answer, 0 before it is known
        ret_sum: Graph<Scalar>,
        /// node just added on the way to the left
        i: Node<MaskOne>,
        /// node just added on the way to the right
        j: Node<MaskOne>,
        /// sum on the way so far
        sum: Graph<Scalar>,
        /// largest sum on the way to the left
        left_x_sum: Graph<Scalar>,
        /// largest sum on the way to the right
        right_x_sum: Graph<Scalar>,
        /// 0 dividing and putting together, 1 on the way to the left, 2 on the way to the right
        phase: Graph<Categorical<3>>,
    }
}

const DIVIDE: usize = 0;
const TO_THE_LEFT: usize = 1;
const TO_THE_RIGHT: usize = 2;

/// How far below its first key a sum across the middle begins, so that the first key always exceeds it.
const BELOW: f64 = 0.1;

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
        let sizes = n * power.ilog2() as usize + n - power; // of all parts but single keys, summed
        (7 * n + sizes).saturating_sub(7)
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let pred = array::as_given(key.len());
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
    let mut part = Part::new(key, pred, low, high);
    hints.push(part.hint());
    if low == high {
        return part.ret;
    }
    part.left = find_maximum_subarray(key, pred, low, part.mid, hints);
    hints.push(part.hint());
    part.right = find_maximum_subarray(key, pred, part.mid + 1, high, hints);
    hints.push(part.hint());
    part.find_max_crossing_subarray(hints);
    part.choose();
    if high - low + 1 < key.len() {
        hints.push(part.hint());
    }
    part.ret
}

#[derive(Clone, Copy)]
struct Subarray {
    low: usize,
    high: usize,
    sum: f64,
}

/// The keys from `low` to `high`, and what is known of them.
struct Part<'k> {
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

impl<'k> Part<'k> {
    /// Nothing is known yet, except of a single key.
    fn new(key: &'k [f64], pred: &'k [usize], low: usize, high: usize) -> Self {
        let mid = usize::midpoint(low, high);
        let next = high.min(mid + 1);
        let one = low == high;
        Part {
            key,
            pred,
            low,
            high,
            mid,
            left: Subarray { low, high: mid, sum: 0.0 },
            right: Subarray { low: next, high, sum: 0.0 },
            cross: Subarray { low: mid, high: next, sum: if one { 0.0 } else { key[mid] + key[next] - 2.0 * BELOW } },
            ret: Subarray { low, high, sum: if one { key[low] } else { 0.0 } },
            i: mid,
            j: next,
            sum: 0.0,
            left_x_sum: key[mid] - BELOW,
            right_x_sum: key[next] - BELOW,
            phase: DIVIDE,
        }
    }

    /// The one place where a row is made.
    fn hint(&self) -> Hint<'_> {
        let halves = (self.left.sum, self.right.sum);
        let (left_sum, right_sum) = if self.phase == TO_THE_RIGHT { (self.left_x_sum, self.right_x_sum) } else { halves };
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
        self.phase = TO_THE_LEFT;
        hints.push(self.hint());
        for i in (self.low..=self.mid).rev() {
            self.i = i;
            self.sum += self.key[i];
            if self.sum > self.left_x_sum {
                self.left_x_sum = self.sum;
                self.cross.low = i;
            }
            self.cross.sum = self.left_x_sum + self.key[self.mid + 1] - BELOW;
            hints.push(self.hint());
        }
        self.phase = TO_THE_RIGHT;
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

    /// The best of the three is the answer; of equals the left one, then the right one.
    fn choose(&mut self) {
        let Part { left, right, cross, .. } = *self;
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
        let Some(Cells::Scalar(cross)) = sample.get("cross_sum") else { panic!("a number per row") };
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

    /// The reference has no first place for the sum when less 0.1 is the same number.
    #[test]
    fn keys_so_large_that_a_tenth_is_lost_are_no_trouble() {
        let mut recorder = Recorder::new::<FindMaximumSubarray>();
        let keys = Keys { key: vec![-1e17, 1e17, 2e17, -1e17] };
        recorder.record::<FindMaximumSubarray>(&keys).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!((sample.get("start"), sample.get("end")), (Some(Cells::Node(&[1])), Some(Cells::Node(&[2]))));
    }

    #[test]
    fn one_key_is_rejected() {
        let alone = Keys { key: vec![1.0] };
        let rejected = Recorder::new::<FindMaximumSubarray>().record::<FindMaximumSubarray>(&alone);
        let reason = rejected.expect_err("nothing to tell").to_string();
        assert_eq!(reason, "find_maximum_subarray needs at least 2 nodes, found 1");
    }
}
