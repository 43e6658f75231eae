//! Longest common subsequence
//!
//! # Idea
//! The longest common subsequence (LCS) of two prefixes follows from those of shorter prefixes: equal last letters are both
//! taken; otherwise one of them is dropped. A table stores the lengths, and an arrow per cell stores the choice.
//!
//! # One step
//! All inner cells are updated at once from the previous values of their upper, left and upper left neighbors, so lengths
//! propagate from the borders of the table.
//!
//! # Number of steps
//! At most `n - 2` and at least 1: the initial table, then one per update that changes a length. The inner cell in row `i` and
//! column `j`, counted from 0, is final after `i + j - 1` updates.
//!
//! # Textbook
//! CLRS 3rd ed., section 15.4.
//!
//! # Correctness
//! For each letter `x` of the first string and `y` of the second, any arrow that preserves the LCS length of the prefixes that
//! end there: 0 (take both) if `x` and `y` are equal; 1 (drop `x`) or 2 (drop `y`) if the length is the same without that
//! letter. The LCS with an empty prefix has length 0, so a length of 0 on the borders is preserved by both 1 and 2. Cells that
//! are not a pair of letters from both strings are ignored.
//!
//! # Differences from dm-clrs
//! None. As in dm-clrs, the first row and column of the table are filled before the first step, with arrow 1 where the length
//! is 0; inner cells start with arrow 0 and length 0. `b` is masked out except for pairs of a letter of the first string and
//! one of the second.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::two_strings;
use crate::cell::{Categorical, Edge, Mask, Masked, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, RandomStringPairs, StringPair};
use crate::recorder::Hints;
use crate::source::Source;

/// Longest common subsequence; see the [module](self).
pub struct LcsLength;

probes! {
    LcsLength;
    input {
        /// whether the letter belongs to the second string
        string: Node<Mask>,
        /// position in its string, scaled to [0, 1)
        pos: Node<Scalar>,
        /// letter: 0 to 3 for a to d
        key: Node<Categorical<4>>,
    }
    output {
        /// 0 ↖ take both letters, 1 ↑ drop that of the first string (row), 2 ← drop that of the second string (column)
        b: Edge<Masked<Categorical<4>>>,
    }
    hint {
        /// predecessor in its string; the first letter points to itself
        pred_h: Node<Pointer>,
        /// current choice
        b_h: Edge<Masked<Categorical<4>>>,
        /// current length of the longest common subsequence of the prefixes that end here
        c: Edge<Scalar>,
    }
}

const TAKE_BOTH: usize = 0;
const DROP_FIRST: usize = 1;
const DROP_SECOND: usize = 2;

impl Algorithm for LcsLength {
    const NAME: &'static str = "lcs_length";
    const SOURCE: Source = Source(include_str!("lcs_length.rs"));
    const FAMILY: Family = Family::DynamicProgramming;
    const MIN_NODES: usize = 2;
    const FIXED_ORDER: bool = true;
    type Problem = StringPair;
    type Distribution = RandomStringPairs;

    fn distribution() -> RandomStringPairs {
        RandomStringPairs::default()
    }

    fn input(StringPair { first, second }: &StringPair) -> Input {
        Input {
            string: two_strings::in_second(first, second),
            pos: two_strings::string_positions(first, second),
            key: two_strings::letters(first, second),
        }
    }

    fn problem(input: &Input) -> Result<StringPair, InvalidProblem> {
        let (first, second) = two_strings::split(&input.string, &input.key)?;
        Ok(StringPair { first, second })
    }

    fn max_steps(n: usize) -> usize {
        n.saturating_sub(2).max(1)
    }

    fn run(StringPair { first, second }: &StringPair, hints: &mut Hints<'_, Self>) -> Output {
        let pred = two_strings::predecessors(first, second);
        let mut table = Table::new(first, second);
        table.fill_borders();
        loop {
            hints.push(Hint { pred_h: &pred, b_h: &table.b, c: &table.c });
            if !table.sweep() {
                return Output { b: table.b };
            }
        }
    }

    fn check(StringPair { first, second }: &StringPair, output: &Output) -> Result<(), CheckFailure> {
        let nodes = first.len() + second.len();
        let mut above = vec![0usize; second.len() + 1]; // lengths for the empty prefix of `first`
        for (i, x) in first.iter().enumerate() {
            let mut row = vec![0];
            for (j, y) in second.iter().enumerate() {
                let best = if x == y { above[j] + 1 } else { above[j + 1].max(row[j]) };
                let arrow = output.b[i * nodes + first.len() + j];
                let preserves = match arrow {
                    Some(TAKE_BOTH) => x == y,
                    Some(DROP_FIRST) => above[j + 1] == best,
                    Some(DROP_SECOND) => row[j] == best,
                    _ => false,
                };
                if !preserves {
                    let arrow = arrow.map_or_else(|| "masked out".into(), |arrow| arrow.to_string());
                    return Err(CheckFailure(format!(
                        "`b` of letters {i} and {j} is {arrow}, which does not preserve the length {best}"
                    )));
                }
                row.push(best);
            }
            above = row;
        }
        Ok(())
    }
}

/// Lengths and arrows of all pairs of nodes, row by row.
struct Table<'s> {
    x: &'s [usize],
    y: &'s [usize],
    b: Vec<Option<usize>>,
    c: Vec<f64>,
}

impl<'s> Table<'s> {
    fn new(x: &'s [usize], y: &'s [usize]) -> Self {
        let nodes = x.len() + y.len();
        let mut b = vec![None; nodes * nodes];
        for row in b.chunks_exact_mut(nodes).take(x.len()) {
            row[x.len()..].fill(Some(TAKE_BOTH));
        }
        Table { x, y, b, c: vec![0.0; nodes * nodes] }
    }

    fn cell(&self, i: usize, j: usize) -> usize {
        i * (self.x.len() + self.y.len()) + self.x.len() + j
    }

    fn set(&mut self, cell: usize, arrow: usize, length: f64) {
        self.b[cell] = Some(arrow);
        self.c[cell] = length;
    }

    /// Fills the first row and column: a single letter against each prefix of the other string. The length is 1 from the first
    /// match on.
    fn fill_borders(&mut self) {
        for i in 0..self.x.len() {
            let (arrow, length) = match i.checked_sub(1) {
                _ if self.x[i] == self.y[0] => (TAKE_BOTH, 1.0),
                Some(before) => (DROP_FIRST, self.c[self.cell(before, 0)]),
                None => (DROP_FIRST, 0.0),
            };
            self.set(self.cell(i, 0), arrow, length);
        }
        for j in 1..self.y.len() {
            let before = self.c[self.cell(0, j - 1)];
            let (arrow, length) = if self.x[0] == self.y[j] {
                (TAKE_BOTH, 1.0)
            } else if before == 1.0 {
                (DROP_SECOND, 1.0)
            } else {
                (DROP_FIRST, 0.0)
            };
            self.set(self.cell(0, j), arrow, length);
        }
    }

    /// Updates all inner cells from their neighbors. Returns `false` if no length changed. Iterates backwards, so that every
    /// cell reads the previous values of its neighbors.
    fn sweep(&mut self) -> bool {
        let mut changed = false;
        for i in (1..self.x.len()).rev() {
            for j in (1..self.y.len()).rev() {
                let (cell, above) = (self.cell(i, j), self.cell(i - 1, j));
                let (arrow, length) = if self.x[i] == self.y[j] {
                    (TAKE_BOTH, self.c[above - 1] + 1.0)
                } else if self.c[above] >= self.c[cell - 1] {
                    (DROP_FIRST, self.c[above])
                } else {
                    (DROP_SECOND, self.c[cell - 1])
                };
                changed |= self.c[cell] != length;
                self.set(cell, arrow, length);
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Problem, Stage};

    /// CLRS figure 15.8.
    #[test]
    fn computes_the_lengths_of_the_textbook() {
        let mut recorder = LcsLength.recorder();
        LcsLength.record_json(r#"{"first": "abcbdab", "second": "bdcaba"}"#, &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Scalar(c)) = sample.get("c") else { panic!("`c` is a scalar") };
        let last = &c[c.len() - 13 * 13..];
        let row = |i: usize| &last[i * 13 + 7..][..6];
        assert_eq!(row(0), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert_eq!(row(3), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
        assert_eq!(row(6), [1.0, 2.0, 2.0, 3.0, 4.0, 4.0]);
    }

    #[test]
    fn check_accepts_any_arrow_that_preserves_the_length() {
        let pair = StringPair::from_json(r#"{"first": "ab", "second": "ba"}"#).expect("a valid problem");
        let mut recorder = LcsLength.recorder();
        LcsLength.record_json(&pair.to_json(), &mut recorder).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(b)) = sample.get("b") else { panic!("`b` is a class") };
        let accepts = |row: usize, column: usize, arrow: i8| {
            let mut b = b.to_vec();
            b[row * 4 + column] = arrow;
            LcsLength.check(4, &sample.stage(Stage::Input), &[Cells::Class(&b)]).is_ok()
        };
        let accepted = |row, column| [-1, 0, 1, 2, 3].map(|arrow| accepts(row, column, arrow));
        assert_eq!(accepted(0, 2), [false, false, true, true, false], "a against b: length 0 in both directions");
        assert_eq!(accepted(0, 3), [false, true, false, false, false], "a against ba");
        assert_eq!(accepted(1, 3), [false, false, true, true, false], "ab against ba: drop either letter");
        assert_eq!(accepted(2, 0), [true; 5], "not a pair of letters from both strings");
    }

    #[test]
    fn unknown_letters_and_empty_strings_are_rejected() {
        let reason = |json| LcsLength.record_json(json, &mut LcsLength.recorder()).expect_err("an invalid problem").to_string();
        assert!(reason(r#"{"first": "abe", "second": "a"}"#).contains("`e` is not one of the letters a, b, c, d"));
        assert_eq!(reason(r#"{"first": "ab", "second": ""}"#), "`second` is empty");
    }
}
