//! Minimum
//!
//! # Idea
//! Scans the keys and keeps the smallest one so far.
//!
//! # One step
//! One key is compared with the smallest key before it.
//!
//! # Number of steps
//! `n`: the first key, then one per comparison.
//!
//! # Textbook
//! CLRS 3rd ed., section 9.1.
//!
//! # Correctness
//! Any node with the smallest key.
//!
//! # Differences from dm-clrs
//! None.

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::array::initial_predecessors;
use crate::cell::{MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, Keys, UniformKeys, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Minimum; see the [module](self).
pub struct Minimum;

probes! {
    Minimum;
    input {
        /// position in the array, scaled to [0, 1)
        pos: Node<Scalar>,
        /// key to compare
        key: Node<Scalar>,
    }
    output {
        /// node with the smallest key
        min: Node<MaskOne>,
    }
    hint {
        /// predecessor in the array; the first node points to itself
        pred_h: Node<Pointer>,
        /// node with the smallest key so far
        min_h: Node<MaskOne>,
        /// node of the key just compared
        i: Node<MaskOne>,
    }
}

impl Algorithm for Minimum {
    const NAME: &'static str = "minimum";
    const SOURCE: Source = Source(include_str!("minimum.rs"));
    const FAMILY: Family = Family::Searching;
    const FIXED_ORDER: bool = true;
    const EVAL_MULTIPLIER: usize = 64;
    type Problem = Keys;
    type Distribution = UniformKeys;

    fn distribution() -> UniformKeys {
        UniformKeys::default()
    }

    fn input(Keys { key }: &Keys) -> Input {
        Input { pos: positions(key.len()), key: key.clone() }
    }

    fn problem(input: &Input) -> Result<Keys, InvalidProblem> {
        Ok(Keys { key: input.key.clone() })
    }

    fn max_steps(n: usize) -> usize {
        n
    }

    fn run(Keys { key }: &Keys, hints: &mut Hints<'_, Self>) -> Output {
        let pred = initial_predecessors(key.len());
        let mut min = 0;
        for i in 0..key.len() {
            if key[min] > key[i] {
                min = i;
            }
            hints.push(Hint { pred_h: &pred, min_h: min, i });
        }
        Output { min }
    }

    fn check(Keys { key }: &Keys, &Output { min }: &Output) -> Result<(), CheckFailure> {
        let smaller = key.iter().position(|&other| other < key[min]);
        ensure(smaller.is_none(), || {
            format!("node {min} is not the minimum: the key of node {} is smaller", smaller.unwrap_or_default())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Recorder};

    #[test]
    fn finds_the_first_of_equal_minima_and_check_accepts_either() {
        let keys = Keys { key: vec![3.0, 1.0, 2.0, 1.0] };
        let mut recorder = Recorder::new::<Minimum>();
        recorder.record::<Minimum>(&keys).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        assert_eq!(sample.get("min_h"), Some(Cells::Node(&[0, 1, 1, 1])));
        assert_eq!(sample.get("min"), Some(Cells::Node(&[1])));
        assert_eq!(Minimum::check(&keys, &Output { min: 3 }), Ok(()));
        let failure = CheckFailure("node 2 is not the minimum: the key of node 1 is smaller".into());
        assert_eq!(Minimum::check(&keys, &Output { min: 2 }), Err(failure));
    }
}
