use clrs::problems::{MatrixChain, SearchProbabilities, StringPair};
use clrs::{Cells, Problem};

pub(crate) fn is_right(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("matrix_chain_order", &[Cells::Node(s)]) => {
            Some(multiplies_cheaply(&MatrixChain::from_json(problem).expect("drawn").dimensions, s))
        }
        ("lcs_length", &[Cells::Class(b)]) => Some(keeps_lengths(&StringPair::from_json(problem).expect("drawn"), b)),
        ("optimal_bst", &[Cells::Node(root)]) => {
            Some(searches_cheaply(&SearchProbabilities::from_json(problem).expect("drawn"), root))
        }
        _ => None,
    }
}

fn about_equal(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// Tries every way to set the brackets. Drawn dimensions are never 0.
fn multiplies_cheaply(p: &[f64], s: &[u32]) -> bool {
    fn cost_of_split(p: &[f64], i: usize, k: usize, j: usize) -> f64 {
        least_cost(p, i, k) + least_cost(p, k + 1, j) + p[i - 1] * p[k] * p[j]
    }
    fn least_cost(p: &[f64], i: usize, j: usize) -> f64 {
        (i..j).map(|k| cost_of_split(p, i, k, j)).reduce(f64::min).unwrap_or(0.0)
    }
    let chains = (1..p.len()).flat_map(|i| (i + 1..p.len()).map(move |j| (i, j)));
    chains.into_iter().all(|(i, j)| {
        let k = s[i * p.len() + j] as usize;
        i <= k && k < j && about_equal(cost_of_split(p, i, k, j), least_cost(p, i, j))
    })
}

/// Follows the arrow of each pair of letters to the prefixes it leads to, and looks for all their common subsequences.
fn keeps_lengths(StringPair { first, second }: &StringPair, b: &[i8]) -> bool {
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

/// Tries every choice of letters of the one text against the other.
fn longest_common(x: &[usize], y: &[usize]) -> usize {
    let choice = |choice: u32| (0..x.len()).filter(move |i| choice >> i & 1 == 1);
    let occurs = |&letters: &u32| {
        let mut rest = y.iter();
        choice(letters).all(|i| rest.any(|letter| *letter == x[i]))
    };
    (0..1 << x.len()).filter(occurs).map(|letters| choice(letters).count()).max().expect("the empty choice")
}

/// Tries every tree: the cost of a search is the chance of each key and gap times its depth.
fn searches_cheaply(
    SearchProbabilities { key_probabilities: p, gap_probabilities: q }: &SearchProbabilities,
    root: &[u32],
) -> bool {
    /// The tree over the keys from `i` to `j` whose root is at a depth.
    fn below(p: &[f64], q: &[f64], i: usize, r: usize, j: usize, depth: f64) -> f64 {
        p[r] * depth + least(p, q, i, r, depth + 1.0) + least(p, q, r + 1, j, depth + 1.0)
    }
    fn least(p: &[f64], q: &[f64], i: usize, j: usize, depth: f64) -> f64 {
        (i..j).map(|r| below(p, q, i, r, j, depth)).reduce(f64::min).unwrap_or(q[i] * depth)
    }
    let trees = (0..q.len()).flat_map(|i| (i + 1..q.len()).map(move |j| (i, j)));
    trees.into_iter().all(|(i, j)| {
        let r = root[i * q.len() + j] as usize;
        i <= r && r < j && about_equal(below(p, q, i, r, j, 1.0), least(p, q, i, j, 1.0))
    })
}
