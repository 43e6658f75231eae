use clrs::problems::{Keys, Lookup};
use clrs::{Cells, Problem};

/// Compares with the key in a sorted copy.
pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    let &[Cells::Node(&[node])] = outputs else { return None };
    let node = node as usize;
    match algorithm {
        "minimum" => {
            let Keys { key } = Keys::from_json(problem).expect("a sampled problem");
            Some(key[node] == sorted(&key)[0])
        }
        "quickselect" => {
            let Keys { key } = Keys::from_json(problem).expect("a sampled problem");
            Some(key[node] == sorted(&key)[key.len() / 2])
        }
        "binary_search" => {
            let Lookup { key, target, .. } = Lookup::from_json(problem).expect("a sampled problem");
            // The target belongs after all smaller keys.
            let smaller = sorted(&key).iter().filter(|x| **x < target).count();
            Some(key[node] == sorted(&key)[smaller.min(key.len() - 1)])
        }
        _ => None,
    }
}

fn sorted(key: &[f64]) -> Vec<f64> {
    let mut key = key.to_vec();
    key.sort_by(f64::total_cmp);
    key
}
