//! What recipes of the field know of each algorithm: which options samples for training are drawn with, and at which sizes.
//!
//! From `clrs.examples.run`, whose settings most follow-ups keep.

use crate::algorithm::{AnyAlgorithm, Family};
use crate::clrs30::multiplier;
use crate::sampling::Settings;
use crate::spec::Stage;

/// Options for samples that are made while training: chances of an edge, of which every graph draws one, and patterns of
/// any length up to eight.
pub fn options(algorithm: &dyn AnyAlgorithm, edge_chances: &[f64]) -> Settings {
    let mut settings = Settings::default();
    let mut set = |name: &str, value: String| {
        if algorithm.options().iter().any(|option| option.name == name) {
            settings.push(name, value).expect("set once");
        }
    };
    // With many edges, runs of these get very long.
    let share = match algorithm.name() {
        "articulation_points" | "bridges" | "mst_kruskal" | "bipartite_matching" => 0.5,
        _ => 1.0,
    };
    let chances: Vec<String> = edge_chances.iter().map(|chance| (chance * share).to_string()).collect();
    if !chances.is_empty() {
        set("p", chances.join(","));
    }
    set("length_needle", "-8".into());
    settings
}

/// The sizes of problems for training at some lengths. Strings vary in their pattern, and keep one size that has room for it.
pub fn sizes(algorithm: &dyn AnyAlgorithm, lengths: &[usize]) -> Vec<usize> {
    match (algorithm.family(), lengths.iter().max()) {
        (Family::Strings, Some(longest)) => vec![longest * 5 / 4],
        _ => lengths.to_vec(),
    }
}

/// How many times as many samples an algorithm is judged on, because one of its samples says little.
pub fn sample_multiplier(algorithm: &dyn AnyAlgorithm) -> usize {
    multiplier(algorithm.name())
}

/// Whether the hint `pred_h` never changes, so that it can as well be an input.
pub fn has_fixed_order(algorithm: &dyn AnyAlgorithm) -> bool {
    let has = |name: &str, stage: Stage| algorithm.spec().iter().any(|probe| probe.name == name && probe.stage == stage);
    has("pred_h", Stage::Hint) && !has("pred", Stage::Output) && algorithm.name() != "quickselect"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    #[test]
    fn orders_are_fixed_where_the_reference_lists_them() {
        let registry = Registry::builtin();
        let fixed: Vec<&str> = registry.iter().filter(|of| has_fixed_order(*of)).map(AnyAlgorithm::name).collect();
        let listed = [
            "activity_selector",
            "binary_search",
            "find_maximum_subarray_kadane",
            "jarvis_march",
            "kmp_matcher",
            "lcs_length",
            "matrix_chain_order",
            "minimum",
            "naive_string_matcher",
            "optimal_bst",
            "task_scheduling",
            "find_maximum_subarray",
        ];
        assert_eq!(fixed, listed);
    }

    #[test]
    fn every_algorithm_takes_the_options_it_is_given() {
        for algorithm in Registry::builtin().iter() {
            let settings = options(algorithm, &[0.1, 0.5]);
            for size in sizes(algorithm, &[4, 16]) {
                if algorithm.family() == Family::Strings || size == 16 {
                    algorithm.draws(size, &settings).unwrap_or_else(|error| panic!("{}: {error}", algorithm.name()));
                }
            }
        }
    }
}
