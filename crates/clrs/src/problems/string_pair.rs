use serde::{Deserialize, Serialize};

use super::letters::Letters;
use super::string_search::{alphabet, random_letters};
use super::{Distribution, InvalidProblem, Problem, ensure_valid};
use crate::column::MAX_NODES;
use crate::random::RandomState;

/// Two texts to compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StringPair {
    /// Its letters are the first nodes.
    pub first: Letters,
    /// Its letters are the other nodes.
    pub second: Letters,
}

impl Problem for StringPair {
    fn nodes(&self) -> usize {
        self.first.len() + self.second.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        self.first.not_empty("first")?;
        self.second.not_empty("second")
    }

    fn truncate(&mut self, _decimals: u32) {}
}

crate::options! {
    /// Two texts of random letters. The size is that of both together, or of the first where the second has its own.
    pub struct RandomStringPairs {
        /// length of the second text (auto: half the size; the first takes the rest)
        length_2: Option<usize> = None,
        /// letters of the alphabet that are used, from 1 to 4
        chars: usize = 4,
    }
}

impl RandomStringPairs {
    fn lengths(&self, size: usize) -> (usize, usize) {
        self.length_2.map_or((size - size / 2, size / 2), |length_2| (size, length_2))
    }
}

impl Distribution for RandomStringPairs {
    type Problem = StringPair;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let (_, second) = self.lengths(size);
        ensure_valid(second > 0, || match self.length_2 {
            None => format!("size {size} leaves no letter for the second text"),
            Some(_) => "`length_2` is 0: there must be a second text".into(),
        })?;
        ensure_valid(second <= MAX_NODES, || format!("`length_2` is {second}, more than {MAX_NODES}"))?;
        alphabet(self.chars)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<StringPair, InvalidProblem> {
        let (first, second) = self.lengths(size);
        let first = Letters::from_numbers(&random_letters(first, self.chars, random))?;
        let second = Letters::from_numbers(&random_letters(second, self.chars, random))?;
        Ok(StringPair { first, second })
    }
}
