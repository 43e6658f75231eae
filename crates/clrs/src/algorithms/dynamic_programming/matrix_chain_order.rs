//! Matrix-chain multiplication
//!
//! # Idea
//! The cheapest multiplication of the matrices `i` to `j` has some split `k`: it multiplies `i` to `k`, then `k + 1` to `j`,
//! then the two products. The best split of a chain follows from the costs of the shorter chains within it.
//!
//! # One step
//! All chains that can be split into two chains of known cost are updated at once, with the costs before the step, so costs
//! propagate from short chains to long ones.
//!
//! # Number of steps
//! At most `n - 1` and at least 1: the initial costs, then one per update that changes a cost. A chain of `l` matrices is final
//! after `l - 1` updates, and the full chain has `n - 1` matrices.
//!
//! # Textbook
//! CLRS 3rd ed., section 15.2.
//!
//! # Correctness
//! For every chain of matrices `i` to `j` with `1 <= i < j`, any split of minimum cost. If the cost is 0 because a dimension is
//! 0, node 0 (no split) is accepted as well. All other cells are ignored.
//!
//! # Differences from dm-clrs
//! Negative dimensions are rejected. As in dm-clrs, row and column 0 are unused, and the run ends as soon as no cost changes;
//! if dimensions are 0, chains of cost 0 may not have been split by then.

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
        /// position in the list of dimensions, scaled to [0, 1)
        pos: Node<Scalar>,
        /// dimension: columns of this matrix, rows of the next
        p: Node<Scalar>,
    }
    output {
        /// last matrix of the left factor, for the chain from row to column
        s: Edge<Pointer>,
    }
    hint {
        /// predecessor in the list of dimensions; the first node points to itself
        pred_h: Node<Pointer>,
        /// minimum cost of the chain so far; 0 if unknown
        m: Edge<Scalar>,
        /// split with that cost
        s_h: Edge<Pointer>,
        /// whether a cost of the chain is known
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
        let pred = array::initial_predecessors(n);
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
                    format!("matrices {i} to {j} are split after {k}, which is not a split of minimum cost")
                })?;
                least[i * n + j] = best;
            }
        }
        Ok(())
    }
}

/// Costs and splits of all chains. A split can only improve a chain if the cost of one of its factors changed in the previous
/// sweep; the other splits are skipped.
struct Table<'p> {
    n: usize,
    p: &'p [f64],
    /// Costs as recorded: 0 if unknown.
    m: Vec<f64>,
    s: Vec<usize>,
    known: Vec<bool>,
    /// Costs in this sweep; infinite if unknown.
    least: Vec<f64>,
    /// Costs after the previous sweep.
    old_least: Vec<f64>,
    /// Whether the previous sweep changed the chain.
    fresh: Vec<bool>,
    /// Whether the previous sweep changed a chain that starts with the matrix.
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

    /// Updates all chains from the costs after the previous sweep. Returns `false` if no recorded cost changed.
    fn sweep(&mut self) -> bool {
        for i in 1..self.n {
            for k in i..self.n - 1 {
                if self.fresh[i * self.n + k] || self.fresh_row[k + 1] {
                    self.split_after(i, k);
                }
            }
        }
        self.commit()
    }

    /// Splits the chains that start with `i` after `k` where that is cheaper. Branch-free, so that it is vectorized.
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

    /// Publishes the costs of this sweep to the next sweep and to the hints. Returns whether a recorded cost changed.
    fn commit(&mut self) -> bool {
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
        let Some(Cells::Node(s)) = sample.get("s") else { panic!("`s` is a pointer") };
        Output { s: s.iter().map(|&k| k as usize).collect() }
    }

    /// The worked example of the paper: (A B) C takes 4500 multiplications, A (B C) 27000.
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
    fn chains_of_cost_zero_may_be_unsplit_but_not_split_at_a_cost() {
        let chain = MatrixChain { dimensions: vec![2.0, 3.0, 0.0, 3.0, 2.0] };
        let mut output = splits(&chain.dimensions);
        assert_eq!(output.s[5 + 4], 0, "the run ended before it was split");
        assert_eq!(<MatrixChainOrder as Algorithm>::check(&chain, &output), Ok(()));
        for (k, is_correct) in [(1, false), (2, true), (3, false)] {
            output.s[5 + 4] = k;
            assert_eq!(<MatrixChainOrder as Algorithm>::check(&chain, &output).is_ok(), is_correct, "split after {k}");
        }
    }

    #[test]
    fn negative_and_extreme_dimensions_are_rejected() {
        let reason = |json| {
            let rejected = MatrixChainOrder.record_json(json, &mut MatrixChainOrder.recorder());
            rejected.expect_err("an invalid problem").to_string()
        };
        assert_eq!(reason(r#"{"dimensions": [1, -2]}"#), "`dimensions` has a negative value");
        assert!(reason(r#"{"dimensions": [1e200, 1e200, 0]}"#).contains("between 1e-100 and 1e100"));
    }
}
