//! Problems with a title: the examples that the paper and the textbook work through.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A problem with a title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Title.
    pub title: String,
    /// Algorithm.
    pub algorithm: String,
    /// Problem.
    pub problem: Value,
}

const FILES: [&str; 4] = [
    include_str!("../presets/insertion_sort.json"),
    include_str!("../presets/bellman_ford.json"),
    include_str!("../presets/naive_string_matcher.json"),
    include_str!("../presets/matrix_chain_order.json"),
];

/// The worked examples.
pub fn presets() -> Vec<Preset> {
    FILES.iter().map(|text| serde_json::from_str(text).expect("tested")).collect()
}

#[cfg(test)]
mod tests {
    use clrs::{Registry, Trace};

    use super::*;

    #[test]
    fn presets_are_valid_problems() {
        for Preset { algorithm, problem, .. } in presets() {
            let found = Registry::builtin().find(&algorithm).expect("a built-in algorithm");
            assert!(Trace::record(found, &problem.to_string()).is_ok(), "{algorithm}");
        }
    }
}
