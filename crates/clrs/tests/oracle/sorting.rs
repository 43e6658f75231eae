use clrs::problems::Keys;
use clrs::{Cells, Problem};

pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("bubble_sort" | "heapsort" | "insertion_sort" | "quicksort", &[Cells::Node(pred)]) => {
            Some(sorts(&Keys::from_json(problem).expect("a sampled problem").key, pred))
        }
        _ => None,
    }
}

/// Whether the pointers describe a sorted order: follows the chain from every possible last node.
fn sorts(key: &[f64], pred: &[u32]) -> bool {
    let pred: Vec<usize> = pred.iter().map(|&node| node as usize).collect();
    (0..key.len()).any(|last| {
        let mut chain = vec![last];
        while let Some(&node) = chain.last() {
            let before = pred[node];
            if before == node || chain.len() > key.len() {
                break;
            }
            chain.push(before);
        }
        let mut seen = chain.clone();
        seen.sort_unstable();
        seen.into_iter().eq(0..key.len()) && chain.windows(2).all(|pair| key[pair[1]] <= key[pair[0]])
    })
}
