//! `NumPy`'s legacy `RandomState`, bit for bit, based on MT19937.
//!
//! All random numbers of the benchmark are drawn here, in the order of dm-clrs. How many words of the stream a method
//! consumes is part of its contract: two programs agree on the thousandth sample only if they agree on every earlier draw.

use crate::mt19937::{Mt19937, WORDS};

/// `numpy.random.RandomState(seed)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomState(Mt19937);

impl RandomState {
    /// Creates the generator of a seed.
    pub fn new(seed: u32) -> RandomState {
        RandomState(Mt19937::new(seed))
    }

    /// Creates the generator of one sample with [`Seeding::Parallel`](crate::sampling::Seeding::Parallel):
    /// `RandomState([seed, sample % 2**32, sample // 2**32])`.
    pub fn of_sample(seed: u32, sample: u64) -> RandomState {
        #[expect(clippy::cast_possible_truncation, reason = "the two halves of 64 bits")]
        let (low, high) = (sample as u32, (sample >> 32) as u32);
        RandomState(Mt19937::of_key(&[seed, low, high]))
    }

    /// The generator with a state of `get_state()`: its key and its position. `None` if the key does not have 624 words, or
    /// the position is greater.
    pub fn from_state(key: &[u32], position: usize) -> Option<RandomState> {
        let key: &[u32; WORDS] = key.try_into().ok()?;
        Mt19937::from_state(*key, position).map(RandomState)
    }

    /// The key, which has 624 words, and the position of `get_state()`.
    pub fn state(&self) -> (&[u32], usize) {
        let (key, position) = self.0.state();
        (key, position)
    }

    /// The next 32 bits: `randint(2**32)`.
    #[inline]
    pub fn word(&mut self) -> u32 {
        self.0.word()
    }

    /// A number in [0, 1) with 53 random bits, from two words.
    pub fn double(&mut self) -> f64 {
        unit_interval(self.bits())
    }

    /// 53 random bits, from two words.
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
    /// If the range is empty or larger than 2^32.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "the range from {low} to {high} is empty");
        let max = u32::try_from(high.abs_diff(low) - 1).expect("a range of at most 2^32");
        low + i64::from(self.at_most(max))
    }

    /// `randint(low, high, size=count)`, `high` excluded.
    pub fn integers(&mut self, low: i64, high: i64, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.integer(low, high)).collect()
    }

    /// `choice(count)`: an index below `count`. Consumes nothing if `count` is 1.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn choice(&mut self, count: usize) -> usize {
        let last = count.checked_sub(1).expect("`count` is at least 1");
        self.at_most(u32::try_from(last).expect("`count` is at most 2^32")) as usize
    }

    /// `choice(count, (draws,))`: indices below `count`, with replacement.
    pub fn choices(&mut self, count: usize, draws: usize) -> Vec<usize> {
        (0..draws).map(|_| self.choice(count)).collect()
    }

    /// `binomial(1, p)`.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        Bernoulli::new(p).sample(self)
    }

    /// `binomial(1, p, size=count)`.
    pub fn bernoullis(&mut self, p: f64, count: usize) -> Vec<bool> {
        let bernoulli = Bernoulli::new(p);
        (0..count).map(|_| bernoulli.sample(self)).collect()
    }

    /// `permutation(count)`.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.choice(last + 1));
        }
        order
    }

    /// An integer from 0 to `max`, by rejection: words are masked, and drawn again while they are too large.
    fn at_most(&mut self, max: u32) -> u32 {
        if max == 0 {
            return 0;
        }
        let mask = u32::MAX >> max.leading_zeros();
        loop {
            let drawn = self.word() & mask;
            if drawn <= max {
                return drawn;
            }
        }
    }
}

/// Maps 53 bits to [0, 1).
fn unit_interval(bits: u64) -> f64 {
    bits as f64 / RANGE as f64
}

/// Number of values of 53 bits.
const RANGE: u64 = 1 << 53;

/// One trial of `NumPy`'s binomial by inversion, which samples the less likely outcome. `NumPy` compares doubles of 53 bits;
/// comparing the bits is equivalent and needs no unpredictable branch.
#[derive(Clone, Copy)]
struct Bernoulli {
    /// Bits below this bound are the more likely outcome.
    common: u64,
    /// Bits from `common` up to this bound are the less likely outcome. Rounding may leave a rest, which is drawn again.
    known: u64,
    /// The less likely outcome.
    rare: bool,
}

impl Bernoulli {
    fn new(p: f64) -> Bernoulli {
        let (p, rare) = if p > 0.5 { (1.0 - p, false) } else { (p, true) };
        let q = libm::exp(libm::log(1.0 - p));
        let common = first(|bits| unit_interval(bits) > q);
        let known = first(|bits| bits >= common && unit_interval(bits) - q > p * q / (1.0 - p));
        Bernoulli { common, known, rare }
    }

    #[inline]
    fn sample(self, random: &mut RandomState) -> bool {
        loop {
            let bits = random.bits();
            if bits < self.known {
                return (bits < self.common) != self.rare;
            }
        }
    }
}

/// The smallest value for which a monotone predicate holds.
fn first(holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, RANGE);
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
