//! `NumPy`'s pairwise summation. Samplers and scores must agree with dm-clrs to the last bit.

/// Below this length, `NumPy` adds sequentially.
const SEQUENTIAL: usize = 8;
/// Up to this length, `NumPy` keeps eight partial sums.
const UNROLLED: usize = 128;

/// The sum with `NumPy`'s rounding.
pub(crate) fn pairwise_sum(values: &[f64]) -> f64 {
    let n = values.len();
    if n < SEQUENTIAL {
        return values.iter().fold(0.0, |sum, x| sum + x);
    }
    if n <= UNROLLED {
        let mut sums: [f64; 8] = values[..8].try_into().expect("at least eight values");
        let (blocks, rest) = values[8..].split_at((n - 8) / 8 * 8);
        for block in blocks.chunks_exact(8) {
            sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        return rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x);
    }
    let half = n / 2 / 8 * 8;
    pairwise_sum(&values[..half]) + pairwise_sum(&values[half..])
}
