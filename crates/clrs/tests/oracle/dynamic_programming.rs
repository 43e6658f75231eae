use clrs::problems::{MatrixChain, SearchProbabilities, StringPair};
use clrs::{Cells, Problem};

pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("matrix_chain_order", &[Cells::Node(s)]) => {
            Some(has_minimum_splits(&MatrixChain::from_json(problem).expect("a sampled problem").dimensions, s))
        }
        ("lcs_length", &[Cells::Class(b)]) => {
            Some(preserves_lengths(&StringPair::from_json(problem).expect("a sampled problem"), b))
        }
        ("optimal_bst", &[Cells::Node(root)]) => {
            Some(has_optimal_roots(&SearchProbabilities::from_json(problem).expect("a sampled problem"), root))
        }
        _ => None,
    }
}

fn about_equal(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// Tries every parenthesization. Chains of cost 0, which truncated dimensions may have, need not be split.
fn has_minimum_splits(p: &[f64], s: &[u32]) -> bool {
    fn cost_of_split(p: &[f64], i: usize, k: usize, j: usize) -> f64 {
        minimum_cost(p, i, k) + minimum_cost(p, k + 1, j) + p[i - 1] * p[k] * p[j]
    }
    fn minimum_cost(p: &[f64], i: usize, j: usize) -> f64 {
        (i..j).map(|k| cost_of_split(p, i, k, j)).reduce(f64::min).unwrap_or(0.0)
    }
    let chains = (1..p.len()).flat_map(|i| (i + 1..p.len()).map(move |j| (i, j)));
    chains.into_iter().all(|(i, j)| {
        let k = s[i * p.len() + j] as usize;
        let least = minimum_cost(p, i, j);
        if i <= k && k < j { about_equal(cost_of_split(p, i, k, j), least) } else { k == 0 && least == 0.0 }
    })
}

/// Compares the arrow of each pair of letters with the longest common subsequences of all prefixes.
fn preserves_lengths(StringPair { first, second }: &StringPair, b: &[i8]) -> bool {
    let nodes = first.len() + second.len();
    (0..first.len()).all(|i| {
        (0..second.len()).all(|j| {
            let longest = |i: usize, j: usize| longest_common(&first[..i], &second[..j]);
            let length = longest(i + 1, j + 1);
            match b[i * nodes + first.len() + j] {
                0 => first[i] == second[j] && longest(i, j) + 1 == length,
                1 => longest(i, j + 1) == length,
                2 => longest(i + 1, j) == length,
                _ => false,
            }
        })
    })
}

/// Tries every subsequence of the first string.
fn longest_common(x: &[usize], y: &[usize]) -> usize {
    let choice = |choice: u32| (0..x.len()).filter(move |i| choice >> i & 1 == 1);
    let occurs = |&letters: &u32| {
        let mut rest = y.iter();
        choice(letters).all(|i| rest.any(|letter| *letter == x[i]))
    };
    (0..1 << x.len()).filter(occurs).map(|letters| choice(letters).count()).max().expect("the empty subsequence")
}

/// Tries every tree: the expected cost is the sum of each key's and gap's probability times its depth.
fn has_optimal_roots(
    SearchProbabilities { key_probabilities: p, gap_probabilities: q }: &SearchProbabilities,
    root: &[u32],
) -> bool {
    /// Cost of the best tree over the keys from `i` to `j` with root `r` at a depth.
    fn cost_with_root(p: &[f64], q: &[f64], i: usize, r: usize, j: usize, depth: f64) -> f64 {
        p[r] * depth + minimum_cost(p, q, i, r, depth + 1.0) + minimum_cost(p, q, r + 1, j, depth + 1.0)
    }
    fn minimum_cost(p: &[f64], q: &[f64], i: usize, j: usize, depth: f64) -> f64 {
        (i..j).map(|r| cost_with_root(p, q, i, r, j, depth)).reduce(f64::min).unwrap_or(q[i] * depth)
    }
    let trees = (0..q.len()).flat_map(|i| (i + 1..q.len()).map(move |j| (i, j)));
    trees.into_iter().all(|(i, j)| {
        let r = root[i * q.len() + j] as usize;
        i <= r && r < j && about_equal(cost_with_root(p, q, i, r, j, 1.0), minimum_cost(p, q, i, j, 1.0))
    })
}
