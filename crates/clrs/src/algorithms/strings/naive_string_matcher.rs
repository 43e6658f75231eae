//! Naive string matching
//!
//! # Idea
//! Tries the pattern at each position of the text in turn, and compares letter by letter until one differs or all are equal.
//!
//! # One step
//! Two letters are compared.
//!
//! # Number of steps
//! One per comparison. A pattern of `m` letters has `n - 2m + 1` possible positions in a text of `n - m` letters, with at most
//! `m` comparisons each: at most `m(n - 2m + 1)` in total, which is at most `(n + 1)² / 8`.
//!
//! # Textbook
//! CLRS 3rd ed., section 32.1.
//!
//! # Correctness
//! The first letter of the leftmost match; later matches are not accepted. If the pattern does not occur, the pattern's first
//! letter.
//!
//! # Differences from dm-clrs
//! dm-clrs fails if there is no match, which its sampler never generates. Here the result is then the pattern's first letter,
//! as in dm-clrs's `kmp_matcher`. Patterns longer than the text are rejected.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::two_strings;
use crate::cell::{Categorical, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{EmbeddedPatterns, InvalidProblem, StringSearch};
use crate::recorder::Hints;
use crate::source::Source;

/// Naive string matching; see the [module](self).
pub struct NaiveStringMatcher;

probes! {
    NaiveStringMatcher;
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
        /// text position where the pattern is tried
        s: Node<MaskOne>,
        /// letter of the text being compared
        i: Node<MaskOne>,
        /// letter of the pattern being compared
        j: Node<MaskOne>,
    }
}

impl Algorithm for NaiveStringMatcher {
    const NAME: &'static str = "naive_string_matcher";
    const SOURCE: Source = Source(include_str!("naive_string_matcher.rs"));
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
        (n + 1) * (n + 1) / 8
    }

    fn run(StringSearch { text, pattern }: &StringSearch, hints: &mut Hints<'_, Self>) -> Output {
        let pred = two_strings::predecessors(text, pattern);
        for s in 0..=text.len() - pattern.len() {
            let mut matched = 0;
            while matched < pattern.len() {
                hints.push(Hint { pred_h: &pred, s, i: s + matched, j: text.len() + matched });
                if text[s + matched] != pattern[matched] {
                    break;
                }
                matched += 1;
            }
            if matched == pattern.len() {
                return Output { found: s };
            }
        }
        Output { found: text.len() }
    }

    fn check(problem: &StringSearch, output: &Output) -> Result<(), CheckFailure> {
        two_strings::check_match(problem, output.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Recorder, Stage};

    fn run(json: &str) -> Recorder {
        let mut recorder = NaiveStringMatcher.recorder();
        NaiveStringMatcher.record_json(json, &mut recorder).expect("a valid problem");
        recorder
    }

    /// The worked example of the paper.
    #[test]
    fn finds_ab_in_aab() {
        let recorder = run(r#"{"text": "aab", "pattern": "ab"}"#);
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("s"), Some(Cells::Node(&[0, 0, 1, 1])));
        assert_eq!(sample.get("i"), Some(Cells::Node(&[0, 1, 1, 2])));
        assert_eq!(sample.get("j"), Some(Cells::Node(&[3, 4, 3, 4])));
        assert_eq!(sample.get("match"), Some(Cells::Node(&[1])));
    }

    #[test]
    fn without_a_match_the_result_is_the_patterns_first_letter() {
        let recorder = run(r#"{"text": "aaa", "pattern": "ab"}"#);
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("match"), Some(Cells::Node(&[3])));
        assert_eq!(sample.steps(), 4);
    }

    #[test]
    fn check_accepts_only_the_leftmost_match() {
        let recorder = run(r#"{"text": "aaa", "pattern": "a"}"#);
        let sample = recorder.last().expect("a recorded sample");
        for node in 0..4 {
            let result = NaiveStringMatcher.check(4, &sample.stage(Stage::Input), &[Cells::Node(&[node])]);
            assert_eq!(result.is_ok(), node == 0, "{node}: {result:?}");
        }
    }

    #[test]
    fn invalid_strings_are_rejected() {
        let reason = |json| {
            NaiveStringMatcher.record_json(json, &mut NaiveStringMatcher.recorder()).expect_err("an invalid problem").to_string()
        };
        assert_eq!(reason(r#"{"text": "ab", "pattern": "abc"}"#), "the pattern (3 letters) is longer than the text (2 letters)");
        assert_eq!(reason(r#"{"text": "ab", "pattern": ""}"#), "`pattern` is empty");
        assert!(reason(r#"{"text": "aB", "pattern": "a"}"#).contains("`B` is not one of the letters a, b, c, d"));
    }

    /// Checks the full range of random lengths; dm-clrs fails only when a length that does not fit is drawn.
    #[test]
    fn patterns_that_do_not_fit_are_rejected_before_sampling() {
        let rejected = |size, options: &[&str]| {
            let parsed = crate::SamplerOptions::parse(options.iter().copied()).expect("option=value");
            NaiveStringMatcher.problem_buffer(size, &parsed).err().map(|error| error.to_string())
        };
        assert_eq!(rejected(16, &["length_needle=-7"]), None);
        let reason = "a pattern of 8 letters needs a text of at least 9; size 16 is too small";
        assert_eq!(rejected(16, &["length_needle=-8"]).as_deref(), Some(reason));
        assert_eq!(rejected(16, &["length_needle=8"]).as_deref(), Some(reason));
        assert_eq!(
            rejected(16, &["length_needle=0"]).as_deref(),
            Some("`length_needle` is 0; the pattern needs at least one letter")
        );
        assert_eq!(rejected(16, &["chars=5"]).as_deref(), Some("`chars` is 5; it must be from 1 to 4"));
        assert!(rejected(2, &[]).is_some() && rejected(3, &[]).is_none());
        assert!(rejected(16, &["length_needle=-9223372036854775808"]).is_some());
    }
}
