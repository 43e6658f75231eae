//! Knuth-Morris-Pratt string matching
//!
//! # Idea
//! Finds for each prefix of the pattern its longest proper border: a shorter prefix that is also a suffix of it. On a mismatch,
//! the search continues from the border of the matched prefix, so that no letter of the text is read twice.
//!
//! # One step
//! In phase 0, the pattern is preprocessed: a border falls back to a shorter one, or the border of a prefix is found. In phase
//! 1, the text is scanned: the next letter is read, or the matched prefix falls back to its border.
//!
//! # Number of steps
//! At most `2n - 1`: the initial state, one per letter except the pattern's first, and one per fallback. A fallback shortens a
//! border or match that grew by at most one per letter, so there are at most `n - 1` fallbacks.
//!
//! # Textbook
//! CLRS 3rd ed., section 32.4; Knuth, Morris and Pratt 1977.
//!
//! # Correctness
//! The first letter of the leftmost match; later matches are not accepted. If the pattern does not occur, the pattern's first
//! letter.
//!
//! # Differences from dm-clrs
//! Patterns longer than the text are rejected. As in dm-clrs, borders and matched prefixes are represented by their last
//! letter, with a mask (`is_reset`, `k_reset`, `q_reset`) for empty ones; `k` does not change in phase 1; and `q` starts at the
//! pattern's second letter, or at the first if it is the only one.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::two_strings;
use crate::cell::{Categorical, Graph, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{EmbeddedPatterns, InvalidProblem, StringSearch};
use crate::recorder::Hints;
use crate::source::Source;

/// Knuth-Morris-Pratt string matching; see the [module](self).
pub struct KmpMatcher;

probes! {
    KmpMatcher;
    input {
        /// whether the letter belongs to the pattern
        string: Node<Mask>,
        /// position in its string, scaled to [0, 1)
        pos: Node<Scalar>,
        /// letter: 0 to 3 for a to d
        key: Node<Categorical<4>>,
    }
    output {
        /// first letter of the leftmost match, or of the pattern if there is no match
        found as "match": Node<MaskOne>,
    }
    hint {
        /// predecessor in its string; the first letter points to itself
        pred_h: Node<Pointer>,
        /// last letter of the longest border of the prefix that ends here; the node itself until known
        pi: Node<Pointer>,
        /// whether that border is empty
        is_reset: Node<Mask>,
        /// last letter of the current border
        k: Node<MaskOne>,
        /// whether the current border is empty
        k_reset: Graph<Mask>,
        /// last letter of the current prefix (phase 0) or of the matched prefix (phase 1)
        q: Node<MaskOne>,
        /// whether the matched prefix is empty; true in phase 0
        q_reset: Graph<Mask>,
        /// text position where a match that ends at `i` would start
        s: Node<MaskOne>,
        /// letter of the text being read
        i: Node<MaskOne>,
        /// 0 preprocess the pattern, 1 scan the text
        phase: Graph<Mask>,
    }
}

impl Algorithm for KmpMatcher {
    const NAME: &'static str = "kmp_matcher";
    const SOURCE: Source = Source(include_str!("kmp_matcher.rs"));
    const FAMILY: Family = Family::Strings;
    const MIN_NODES: usize = 2;
    const FIXED_ORDER: bool = true;
    const EVAL_MULTIPLIER: usize = 64;
    const TEXT_TRACE: &'static [&'static str] = &["s"];
    type Problem = StringSearch;
    type Distribution = EmbeddedPatterns;

    fn distribution() -> EmbeddedPatterns {
        EmbeddedPatterns::default()
    }

    fn input(StringSearch { text, pattern }: &StringSearch) -> Input {
        Input {
            string: two_strings::in_second(text, pattern),
            pos: two_strings::string_positions(text, pattern),
            key: two_strings::letters(text, pattern),
        }
    }

    fn problem(input: &Input) -> Result<StringSearch, InvalidProblem> {
        let (text, pattern) = two_strings::split(&input.string, &input.key)?;
        Ok(StringSearch { text, pattern })
    }

    fn max_steps(n: usize) -> usize {
        2 * n - 1
    }

    fn run(problem: &StringSearch, hints: &mut Hints<'_, Self>) -> Output {
        let mut matcher = Matcher::new(problem);
        hints.push(matcher.hint());
        matcher.find_borders(hints);
        Output { found: matcher.find_match(hints).unwrap_or(problem.text.len()) }
    }

    fn check(problem: &StringSearch, output: &Output) -> Result<(), CheckFailure> {
        two_strings::check_match(problem, output.found)
    }
}

/// Prefixes of the pattern, including borders, are represented by the index of their last letter; `None` is the empty prefix.
struct Matcher<'s> {
    text: &'s [usize],
    pattern: &'s [usize],
    pred: Vec<usize>,
    /// Last node of the border of each prefix.
    pi: Vec<usize>,
    is_reset: Vec<bool>,
    /// The current border.
    border: Option<usize>,
    /// The prefix whose border is being computed; 0 while the text is scanned.
    prefix: usize,
    /// The prefix matched in the text.
    matched: Option<usize>,
    s: usize,
    i: usize,
    scanning: bool,
}

impl<'s> Matcher<'s> {
    fn new(StringSearch { text, pattern }: &'s StringSearch) -> Self {
        let nodes = text.len() + pattern.len();
        Matcher {
            text,
            pattern,
            pred: two_strings::predecessors(text, pattern),
            pi: (0..nodes).collect(),
            is_reset: (0..nodes).map(|node| node == text.len()).collect(),
            border: None,
            prefix: 1.min(pattern.len() - 1),
            matched: None,
            s: 0,
            i: 0,
            scanning: false,
        }
    }

    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        let head = self.text.len();
        Hint {
            pred_h: &self.pred,
            pi: &self.pi,
            is_reset: &self.is_reset,
            k: head + self.border.unwrap_or(0),
            k_reset: self.border.is_none(),
            q: head + self.matched.unwrap_or(self.prefix),
            q_reset: self.matched.is_none(),
            s: self.s,
            i: self.i,
            phase: self.scanning,
        }
    }

    /// Computes the borders of all prefixes.
    fn find_borders(&mut self, hints: &mut Hints<'_, KmpMatcher>) {
        let pattern = self.pattern;
        for q in 1..pattern.len() {
            self.prefix = q;
            while let Some(k) = self.border
                && pattern[k + 1] != pattern[q]
            {
                self.border = self.longest_border(k);
                hints.push(self.hint());
            }
            let next = after(self.border);
            self.border = if pattern[next] == pattern[q] { Some(next) } else { None };
            self.pi[self.text.len() + q] = self.text.len() + self.border.unwrap_or(0);
            self.is_reset[self.text.len() + q] = self.border.is_none();
            hints.push(self.hint());
        }
    }

    /// Scans the text and returns the start of the leftmost match.
    fn find_match(&mut self, hints: &mut Hints<'_, KmpMatcher>) -> Option<usize> {
        let (text, pattern) = (self.text, self.pattern);
        self.scanning = true;
        self.prefix = 0;
        for (i, &letter) in text.iter().enumerate() {
            self.i = i;
            self.s = (i + 1).saturating_sub(pattern.len());
            hints.push(self.hint());
            while let Some(q) = self.matched
                && pattern[q + 1] != letter
            {
                self.matched = self.longest_border(q);
                hints.push(self.hint());
            }
            let next = after(self.matched);
            self.matched = if pattern[next] == letter { Some(next) } else { None };
            if self.matched == Some(pattern.len() - 1) {
                return Some(self.s);
            }
        }
        None
    }

    /// The longest border of a prefix, which is already known.
    fn longest_border(&self, prefix: usize) -> Option<usize> {
        let node = self.text.len() + prefix;
        if self.is_reset[node] { None } else { Some(self.pi[node] - self.text.len()) }
    }
}

/// Index of the letter after a prefix.
fn after(prefix: Option<usize>) -> usize {
    prefix.map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Recorder, Stage};

    fn run(json: &str) -> Recorder {
        let mut recorder = KmpMatcher.recorder();
        KmpMatcher.record_json(json, &mut recorder).expect("a valid problem");
        recorder
    }

    #[test]
    fn finds_ab_in_aab() {
        let recorder = run(r#"{"text": "aab", "pattern": "ab"}"#);
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("match"), Some(Cells::Node(&[1])));
        assert_eq!(sample.get("phase"), Some(Cells::Class(&[0, 0, 1, 1, 1, 1])));
        assert_eq!(sample.get("i"), Some(Cells::Node(&[0, 0, 0, 1, 1, 2])));
        assert_eq!(sample.get("q_reset"), Some(Cells::Class(&[1, 1, 1, 0, 1, 0])));
    }

    /// CLRS figure 32.11. The borders of the pattern ababaca have lengths 0, 0, 1, 2, 3, 0, 1.
    #[test]
    fn finds_the_borders_of_the_textbook() {
        let recorder = run(r#"{"text": "abababacaba", "pattern": "ababaca"}"#);
        let sample = recorder.last().expect("a recorded sample");
        let (Some(Cells::Node(pi)), Some(Cells::Class(is_reset))) = (sample.get("pi"), sample.get("is_reset")) else {
            panic!("pointers and a mask")
        };
        assert_eq!(pi[pi.len() - 7..], [0, 0, 0, 1, 2, 0, 0].map(|border| 11 + border));
        assert_eq!(is_reset[is_reset.len() - 7..], [1, 1, 0, 0, 0, 1, 0]);
        assert_eq!(sample.get("match"), Some(Cells::Node(&[2])));
    }

    #[test]
    fn one_letter_patterns_and_missing_patterns_are_handled() {
        assert_eq!(
            run(r#"{"text": "a", "pattern": "a"}"#).last().expect("a recorded sample").get("match"),
            Some(Cells::Node(&[0]))
        );
        assert_eq!(
            run(r#"{"text": "a", "pattern": "b"}"#).last().expect("a recorded sample").get("match"),
            Some(Cells::Node(&[1]))
        );
        assert_eq!(
            run(r#"{"text": "aaaa", "pattern": "aab"}"#).last().expect("a recorded sample").get("match"),
            Some(Cells::Node(&[4]))
        );
    }

    #[test]
    fn check_accepts_only_the_leftmost_match() {
        let recorder = run(r#"{"text": "aaa", "pattern": "a"}"#);
        let sample = recorder.last().expect("a recorded sample");
        for node in 0..4 {
            let result = KmpMatcher.check(4, &sample.stage(Stage::Input), &[Cells::Node(&[node])]);
            assert_eq!(result.is_ok(), node == 0, "{node}: {result:?}");
        }
    }
}
