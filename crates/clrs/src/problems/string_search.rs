use serde::{Deserialize, Serialize};

use super::letters::Letters;
use super::{Distribution, InvalidProblem, Problem, ensure_valid};
use crate::random::RandomState;

/// A text and a pattern to find in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StringSearch {
    /// The text; its letters are the first nodes.
    pub text: Letters,
    /// The pattern; its letters are the remaining nodes.
    pub pattern: Letters,
}

impl Problem for StringSearch {
    fn nodes(&self) -> usize {
        self.text.len() + self.pattern.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let StringSearch { text, pattern } = self;
        text.not_empty("text")?;
        pattern.not_empty("pattern")?;
        ensure_valid(pattern.len() <= text.len(), || {
            format!("the pattern ({} letters) is longer than the text ({} letters)", pattern.len(), text.len())
        })
    }

    fn truncate(&mut self, _decimals: u32) {}
}

crate::options! {
    /// A random text that contains a random pattern. The size is the total length of both.
    pub struct EmbeddedPatterns {
        /// length of the pattern; -m for a random length from 1 to m (auto: a fifth of the size, at least 1)
        length_needle: Option<i64> = None,
        /// number of letters in the alphabet, from 1 to 4
        chars: usize = 4,
    }
}

impl EmbeddedPatterns {
    /// Maximum length of the pattern.
    fn longest(&self, size: usize) -> u64 {
        self.length_needle.map_or((size as u64 / 5).max(1), i64::unsigned_abs)
    }
}

impl Distribution for EmbeddedPatterns {
    type Problem = StringSearch;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let longest = self.longest(size);
        ensure_valid(longest > 0, || "`length_needle` is 0; the pattern needs at least one letter".into())?;
        // dm-clrs never places the pattern at the very end of the text, so one letter must follow it.
        ensure_valid(longest < (size as u64).div_ceil(2), || {
            format!(
                "a pattern of {longest} letters needs a text of at least {}; size {size} is too small",
                longest.saturating_add(1)
            )
        })?;
        alphabet(self.chars)
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<StringSearch, InvalidProblem> {
        let longest = usize::try_from(self.longest(size)).expect("less than the size");
        let length = match self.length_needle {
            Some(negative) if negative < 0 => 1 + random.choice(longest),
            _ => longest,
        };
        let pattern = random_letters(length, self.chars, random);
        let mut text = random_letters(size - length, self.chars, random);
        let start = random.choice(text.len() - length);
        text[start..start + length].copy_from_slice(&pattern);
        Ok(StringSearch { text: Letters::from_indices(&text)?, pattern: Letters::from_indices(&pattern)? })
    }
}

/// Checks the option `chars`.
pub(super) fn alphabet(chars: usize) -> Result<(), InvalidProblem> {
    ensure_valid((1..=Letters::COUNT).contains(&chars), || format!("`chars` is {chars}; it must be from 1 to {}", Letters::COUNT))
}

/// Uniformly distributed letters among the first `chars`.
pub(super) fn random_letters(length: usize, chars: usize, random: &mut RandomState) -> Vec<usize> {
    random.choices(chars, length)
}
