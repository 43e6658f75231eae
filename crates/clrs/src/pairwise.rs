//! Sums as `NumPy` rounds them: samplers and scores need the same last bit.

/// Below this many numbers, `NumPy` adds one by one; up to the other, in eight sums side by side.
const ONE_BY_ONE: usize = 8;
const SIDE_BY_SIDE: usize = 128;

/// The sum as `NumPy` makes it, rounding included.
pub(crate) fn pairwise_sum(numbers: &[f64]) -> f64 {
    let n = numbers.len();
    if n < ONE_BY_ONE {
        return numbers.iter().fold(0.0, |sum, x| sum + x);
    }
    if n <= SIDE_BY_SIDE {
        let mut sums: [f64; 8] = numbers[..8].try_into().expect("at least eight");
        let (blocks, rest) = numbers[8..].split_at((n - 8) / 8 * 8);
        for block in blocks.chunks_exact(8) {
            sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        return rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x);
    }
    let half = n / 2 / 8 * 8;
    pairwise_sum(&numbers[..half]) + pairwise_sum(&numbers[half..])
}
