//! Matrix-chain multiplication
//!
//! # Idea
//! Multiplying matrices `i..j` costs least with some split `k`: first `i..k`, then `k+1..j`, then the two results. The best
//! split of a chain follows from the costs of the shorter chains inside it.
//!
//! # One step
//! All chains that have a split into two known chains take their best one, by the costs of the step before. So costs spread
//! from short chains to long ones, and get better until none changes.
//!
//! # Steps
//! At most `n - 1`, and at least one. A chain of `l` matrices has its final cost after `l - 1` steps, the whole one has
//! `n - 1` matrices, and the last step changes nothing.
//!
//! # Textbook
//! CLRS 3rd ed., section 15.2.
//!
//! # What counts as right
//! For every chain of matrices `i` to `j` with `1 <= i < j`, any split of least cost. Where the chain costs nothing, because
//! a dimension is 0, node 0 is right too: it says "not split". The other cells are not judged.
//!
//! # Differences
//! Negative dimensions are refused. As in the reference, row and column 0 are not used, and the run ends as soon as no cost
//! changes: where dimensions are 0, chains that cost nothing may not have been split by then.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure, same_cost};
use crate::algorithms::array;
use crate::cell::{Edge, Mask, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, MatrixChain, UniformDimensions, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Matrix-chain multiplication; see the [module](self).
pub struct MatrixChainOrder;

probes! {
    MatrixChainOrder;
    input {
        /// place in the list of dimensions, from 0 to 1
        pos: Node<Scalar>,
        /// dimension: columns of this matrix, rows of the next
        p: Node<Scalar>,
    }
    output {
        /// last matrix of the left part, for the chain from the row's matrix to the column's
        s: Edge<Pointer>,
    }
    hint {
        /// dimension before
        pred_h: Node<Pointer>,
        /// least cost known for the chain
        m: Edge<Scalar>,
        /// split of that cost
        s_h: Edge<Pointer>,
        /// whether a cost is known for the chain
        msk: Edge<Mask>,
    }
}

impl Algorithm for MatrixChainOrder {
    const NAME: &'static str = "matrix_chain_order";
    const SOURCE: Source = Source(include_str!("matrix_chain_order.rs"));
    const FAMILY: Family = Family::DynamicProgramming;
    const FIXED_ORDER: bool = true;
    type Problem = MatrixChain;
    type Distribution = UniformDimensions;

    fn distribution() -> UniformDimensions {
        UniformDimensions::default()
    }

    fn input(MatrixChain { dimensions }: &MatrixChain) -> Input {
        Input { pos: positions(dimensions.len()), p: dimensions.clone() }
    }

    fn problem(input: &Input) -> Result<MatrixChain, InvalidProblem> {
        Ok(MatrixChain { dimensions: input.p.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n.saturating_sub(1).max(1)
    }

    fn run(MatrixChain { dimensions }: &MatrixChain, hints: &mut Hints<'_, Self>) -> Output {
        let n = dimensions.len();
        let pred = array::as_given(n);
        let mut table = Table::new(dimensions);
        loop {
            hints.push(Hint { pred_h: &pred, m: &table.m, s_h: &table.s, msk: &table.known });
            if !table.sweep() {
                return Output { s: table.s };
            }
        }
    }

    fn check(MatrixChain { dimensions: p }: &MatrixChain, output: &Output) -> Result<(), CheckFailure> {
        let n = p.len();
        let mut least = vec![0.0; n * n];
        for j in 1..n {
            for i in (1..j).rev() {
                let cost = |k: usize| least[i * n + k] + least[(k + 1) * n + j] + p[i - 1] * p[k] * p[j];
                let best = (i..j).map(cost).fold(f64::INFINITY, f64::min);
                let k = output.s[i * n + j];
                ensure(if (i..j).contains(&k) { same_cost(cost(k), best) } else { k == 0 && best == 0.0 }, || {
                    format!("matrices {i} to {j} are split after {k}, which is not a split of least cost")
                })?;
                least[i * n + j] = best;
            }
        }
        Ok(())
    }
}

/// Costs and splits of all chains. A split can only get better where the cost of one of its parts changed in the sweep
/// before; the others are left alone.
struct Table<'p> {
    n: usize,
    p: &'p [f64],
    /// What the hint tells: 0 where nothing is known.
    m: Vec<f64>,
    s: Vec<usize>,
    known: Vec<bool>,
    /// Costs, infinite where nothing is known, as this sweep finds them and as the sweep before left them.
    least: Vec<f64>,
    old_least: Vec<f64>,
    /// Chains that the sweep before changed, and whether it changed one that starts with the matrix.
    fresh: Vec<bool>,
    fresh_row: Vec<bool>,
}

impl<'p> Table<'p> {
    fn new(p: &'p [f64]) -> Self {
        let n = p.len();
        let single = |cell: usize| cell / n == cell % n && cell > 0;
        let known: Vec<bool> = (0..n * n).map(single).collect();
        let least: Vec<f64> = known.iter().map(|&known| if known { 0.0 } else { f64::INFINITY }).collect();
        Table {
            n,
            p,
            m: vec![0.0; n * n],
            s: vec![0; n * n],
            fresh: known.clone(),
            known,
            old_least: least.clone(),
            least,
            fresh_row: vec![true; n],
        }
    }

    /// Improves all chains by the costs of the sweep before; `false` if no cost that the hint tells changed.
    fn sweep(&mut self) -> bool {
        for i in 1..self.n {
            for k in i..self.n - 1 {
                if self.fresh[i * self.n + k] || self.fresh_row[k + 1] {
                    self.split_after(i, k);
                }
            }
        }
        self.take_over()
    }

    /// Splits the chains that start with `i` after `k`, where that is better. No branches: compilers make vector code of it.
    fn split_after(&mut self, i: usize, k: usize) {
        let (p, n) = (self.p, self.n);
        let (left, outer) = (self.old_least[i * n + k], p[i - 1] * p[k]);
        let right = &self.old_least[(k + 1) * n..][k + 1..n];
        let least = &mut self.least[i * n..][k + 1..n];
        let s = &mut self.s[i * n..][k + 1..n];
        for (((least, s), right), p) in least.iter_mut().zip(s).zip(right).zip(&p[k + 1..]) {
            let q = left + right + outer * p;
            *s = if q < *least { k } else { *s };
            *least = least.min(q);
        }
    }

    /// Makes what this sweep found known to the next one and to the hint.
    fn take_over(&mut self) -> bool {
        let n = self.n;
        let mut changed = false;
        for i in 1..n {
            self.fresh_row[i] = false;
            for cell in i * n + i..(i + 1) * n {
                let least = self.least[cell];
                self.fresh[cell] = least != self.old_least[cell];
                if self.fresh[cell] {
                    self.fresh_row[i] = true;
                    changed |= least != self.m[cell];
                    (self.old_least[cell], self.m[cell], self.known[cell]) = (least, least, true);
                }
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Recorder};

    fn splits(dimensions: &[f64]) -> Output {
        let mut recorder = Recorder::new::<MatrixChainOrder>();
        recorder.record::<MatrixChainOrder>(&MatrixChain { dimensions: dimensions.into() }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Node(s)) = sample.get("s") else { panic!("pointers") };
        Output { s: s.iter().map(|&k| k as usize).collect() }
    }

    /// The worked example of the paper: (A B) C takes 4500 products, A (B C) 27000.
    #[test]
    fn multiplies_10x30_30x5_5x60_from_the_left() {
        assert_eq!(splits(&[10.0, 30.0, 5.0, 60.0]).s[4 + 3], 2);
    }

    /// CLRS figure 15.5.
    #[test]
    fn splits_the_six_matrices_of_the_textbook() {
        let s = splits(&[30.0, 35.0, 15.0, 5.0, 10.0, 20.0, 25.0]).s;
        assert_eq!([s[7 + 6], s[7 + 3], s[4 * 7 + 6]], [3, 1, 5]);
    }

    #[test]
    fn check_accepts_any_split_of_minimum_cost_and_ignores_other_cells() {
        let chain = MatrixChain { dimensions: vec![1.0; 4] };
        let accepts = |cell: (usize, usize), k| {
            let mut output = splits(&chain.dimensions);
            output.s[cell.0 * 4 + cell.1] = k;
            <MatrixChainOrder as Algorithm>::check(&chain, &output).is_ok()
        };
        assert!(accepts((1, 3), 1) && accepts((1, 3), 2));
        assert!(!accepts((1, 3), 0) && !accepts((1, 3), 3));
        assert!(accepts((0, 3), 3) && accepts((3, 1), 3) && accepts((2, 2), 3));
    }

    #[test]
    fn chains_that_cost_nothing_need_no_split_but_take_no_dear_one() {
        let chain = MatrixChain { dimensions: vec![2.0, 3.0, 0.0, 3.0, 2.0] };
        let mut output = splits(&chain.dimensions);
        assert_eq!(output.s[5 + 4], 0, "the run ended before");
        assert_eq!(<MatrixChainOrder as Algorithm>::check(&chain, &output), Ok(()));
        for (k, is_right) in [(1, false), (2, true), (3, false)] {
            output.s[5 + 4] = k;
            assert_eq!(<MatrixChainOrder as Algorithm>::check(&chain, &output).is_ok(), is_right, "{k}");
        }
    }

    #[test]
    fn dimensions_that_could_not_be_compared_are_rejected() {
        let reason = |json| {
            let rejected = MatrixChainOrder.record_json(json, &mut MatrixChainOrder.recorder());
            rejected.expect_err("an invalid problem").to_string()
        };
        assert_eq!(reason(r#"{"dimensions": [1, -2]}"#), "`dimensions` has a negative number");
        assert!(reason(r#"{"dimensions": [1e200, 1e200, 0]}"#).contains("between 1e-100 and 1e100"));
    }
}
