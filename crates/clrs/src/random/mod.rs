//! `NumPy`'s legacy `RandomState`, bit for bit, over a library's MT19937.
//!
//! Every draw of the benchmark goes through here, in the reference's order. What each method consumes of the stream is part
//! of the contract: two programs agree on the thousandth sample only if they agree on every draw before it.

use rand_mt::Mt;

/// `numpy.random.RandomState(seed)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomState(Mt);

impl RandomState {
    /// The generator of a seed.
    pub fn new(seed: u32) -> RandomState {
        RandomState(Mt::new(seed))
    }

    /// The generator of one sample of a set that is seeded in parallel: `RandomState([seed, sample % 2**32, sample // 2**32])`.
    pub fn of_sample(seed: u32, sample: u64) -> RandomState {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
        let (low, high) = (sample as u32, (sample >> 32) as u32);
        RandomState(Mt::new_with_key([seed, low, high]))
    }

    /// The next 32 bits: `randint(2**32)`.
    #[inline]
    pub fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A number in [0, 1) with 53 random bits, of two words.
    pub fn double(&mut self) -> f64 {
        part(self.bits())
    }

    /// 53 random bits, of two words.
    #[inline]
    fn bits(&mut self) -> u64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        u64::from(high) << 26 | u64::from(low)
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.double()
    }

    /// `uniform(low, high, size=count)`.
    pub fn uniforms(&mut self, low: f64, high: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.uniform(low, high)).collect()
    }

    /// `randint(low, high)`, `high` excluded.
    ///
    /// # Panics
    /// If there is nothing to draw from, or more than 2^32 numbers.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "no whole number is at least {low} and below {high}");
        let most = u32::try_from(high.abs_diff(low) - 1).expect("a range of at most 2^32");
        low + i64::from(self.at_most(most))
    }

    /// `randint(low, high, size=count)`, `high` excluded.
    pub fn integers(&mut self, low: i64, high: i64, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.integer(low, high)).collect()
    }

    /// `choice(count)`: a place in a list. A list of one costs no draw.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn choice(&mut self, count: usize) -> usize {
        let last = count.checked_sub(1).expect("a list to choose from");
        self.at_most(u32::try_from(last).expect("a list of at most 2^32")) as usize
    }

    /// `choice(count, (draws,))`: places in a list, with replacement.
    pub fn choices(&mut self, count: usize, draws: usize) -> Vec<usize> {
        (0..draws).map(|_| self.choice(count)).collect()
    }

    /// `binomial(1, p)`.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        Coin::new(p).toss(self)
    }

    /// `binomial(1, p, size=count)`.
    pub fn bernoullis(&mut self, p: f64, count: usize) -> Vec<bool> {
        let coin = Coin::new(p);
        (0..count).map(|_| coin.toss(self)).collect()
    }

    /// `permutation(count)`.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.choice(last + 1));
        }
        order
    }

    /// A whole number from 0 to `most`: words are masked, and drawn again while they are too large.
    fn at_most(&mut self, most: u32) -> u32 {
        if most == 0 {
            return 0;
        }
        let mask = u32::MAX >> most.leading_zeros();
        loop {
            let drawn = self.word() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }
}

/// What 53 random bits are as a number in [0, 1).
fn part(bits: u64) -> f64 {
    bits as f64 / BITS as f64
}

/// How many numbers 53 bits can be.
const BITS: u64 = 1 << 53;

/// One trial of `NumPy`'s binomial by inversion, which tosses the rarer side. The reference compares doubles; each of them is
/// 53 bits, so whole numbers say the same, and without a branch that no processor could predict.
#[derive(Clone, Copy)]
struct Coin {
    /// Bits below this are the common side.
    common: u64,
    /// Bits from there and below this are the rarer side. By rounding there may be some left over: these are drawn again.
    known: u64,
    /// What the rarer side means.
    rare: bool,
}

impl Coin {
    fn new(p: f64) -> Coin {
        let (p, rare) = if p > 0.5 { (1.0 - p, false) } else { (p, true) };
        let q = libm::exp(libm::log(1.0 - p));
        let common = first(|bits| part(bits) > q);
        let known = first(|bits| bits >= common && part(bits) - q > p * q / (1.0 - p));
        Coin { common, known, rare }
    }

    #[inline]
    fn toss(self, random: &mut RandomState) -> bool {
        loop {
            let bits = random.bits();
            if bits < self.known {
                return (bits < self.common) != self.rare;
            }
        }
    }
}

/// The first bits that something holds of; it must hold of all that follow too.
fn first(holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, BITS);
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests;
