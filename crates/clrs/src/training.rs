//! Sampler options and problem sizes for training, as in dm-clrs's `clrs.examples.run`.

use crate::algorithm::AnyAlgorithm;
use crate::sampling::SamplerOptions;

/// Sampler options for problems that are generated while training: each graph uses one of the edge probabilities, and the
/// patterns of string matchers have lengths from 1 to 8. Options that the algorithm does not have are left out.
pub fn sampler_options(algorithm: &dyn AnyAlgorithm, edge_probabilities: &[f64]) -> SamplerOptions {
    let mut options = SamplerOptions::default();
    let mut set = |name: &str, value: String| {
        if has_option(algorithm, name) {
            options.push(name, value).expect("each option is set once");
        }
    };
    let scale = algorithm.edge_probability_scale();
    let probabilities: Vec<String> = edge_probabilities.iter().map(|p| (p * scale).to_string()).collect();
    if !probabilities.is_empty() {
        set("p", probabilities.join(","));
    }
    set(PATTERN_LENGTH, "-8".into());
    options
}

/// Option of string matchers: the length of the pattern, or the maximum of a random one if it is negative.
const PATTERN_LENGTH: &str = "length_needle";

fn has_option(algorithm: &dyn AnyAlgorithm, name: &str) -> bool {
    algorithm.options().iter().any(|option| option.name == name)
}

/// Problem sizes for training at the given lengths. Algorithms that search a pattern vary its length instead and have a single
/// size, which leaves room for it.
pub fn sizes(algorithm: &dyn AnyAlgorithm, lengths: &[usize]) -> Vec<usize> {
    match lengths.iter().max() {
        Some(longest) if has_option(algorithm, PATTERN_LENGTH) => vec![longest * 5 / 4],
        _ => lengths.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Registry, clrs30};

    #[test]
    fn fixed_orders_of_the_benchmark_are_those_of_dm_clrs() {
        let fixed: Vec<&str> = clrs30::algorithms().filter(|of| of.fixed_order()).map(AnyAlgorithm::name).collect();
        let expected = [
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
        ];
        assert_eq!(fixed, expected);
    }

    #[test]
    fn every_algorithm_accepts_its_training_options() {
        for algorithm in Registry::builtin().iter() {
            let options = sampler_options(algorithm, &[0.1, 0.5]);
            for size in sizes(algorithm, &[4, 16]) {
                if size >= 16 {
                    algorithm.problem_buffer(size, &options).unwrap_or_else(|error| panic!("{}: {error}", algorithm.name()));
                }
            }
        }
    }
}
