use serde::{Deserialize, Serialize};

use super::letters::Letters;
use super::{Distribution, InvalidProblem, Problem, ensure_valid};
use crate::random::RandomState;

/// A text, and a pattern to find in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StringSearch {
    /// Where to look. Its letters are the first nodes.
    pub text: Letters,
    /// What to look for. Its letters are the other nodes.
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
            format!("the pattern has {} letters, more than the text, which has {}", pattern.len(), text.len())
        })
    }

    fn truncate(&mut self, _decimals: u32) {}
}

crate::options! {
    /// A random text into which a random pattern was written. The size is that of both together.
    pub struct EmbeddedPatterns {
        /// length of the pattern; -m for a length drawn from 1 to m each time (auto: a fifth of the size, at least 1)
        length_needle: Option<i64> = None,
        /// letters of the alphabet that are used, from 1 to 4
        chars: usize = 4,
    }
}

impl EmbeddedPatterns {
    /// The longest pattern that may be drawn.
    fn longest(&self, size: usize) -> u64 {
        self.length_needle.map_or((size as u64 / 5).max(1), i64::unsigned_abs)
    }
}

impl Distribution for EmbeddedPatterns {
    type Problem = StringSearch;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let longest = self.longest(size);
        ensure_valid(longest > 0, || "`length_needle` is 0: there must be a pattern".into())?;
        // The reference never writes the pattern at the very end, so a place must be left after it.
        ensure_valid(longest < (size as u64).div_ceil(2), || {
            format!(
                "a pattern of {longest} needs a text of at least {} letters, and size {size} leaves fewer",
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
        let place = random.choice(text.len() - length);
        text[place..place + length].copy_from_slice(&pattern);
        Ok(StringSearch { text: Letters::from_numbers(&text)?, pattern: Letters::from_numbers(&pattern)? })
    }
}

/// The rule of the option `chars`.
pub(super) fn alphabet(chars: usize) -> Result<(), InvalidProblem> {
    ensure_valid((1..=Letters::COUNT).contains(&chars), || {
        format!("`chars` is {chars}; there are 1 to {} letters", Letters::COUNT)
    })
}

/// Letters of the first `chars`, each as likely as the next.
pub(super) fn random_letters(length: usize, chars: usize, random: &mut RandomState) -> Vec<usize> {
    random.choices(chars, length)
}
