use clrs::problems::Keys;
use clrs::{Cells, Problem};

pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("find_maximum_subarray" | "find_maximum_subarray_kadane", &[Cells::Node(&[start]), Cells::Node(&[end])]) => {
            Some(is_maximum(&Keys::from_json(problem).expect("a sampled problem").key, start as usize, end as usize))
        }
        _ => None,
    }
}

/// Compares with every subarray.
fn is_maximum(key: &[f64], start: usize, end: usize) -> bool {
    let sum = |start: usize, end: usize| key[start..=end].iter().sum::<f64>();
    let others = (0..key.len()).flat_map(|start| (start..key.len()).map(move |end| sum(start, end)));
    start <= end && others.into_iter().all(|other| other <= sum(start, end) + 1e-9)
}
