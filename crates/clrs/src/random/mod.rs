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
    pub fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A number in [0, 1) with 53 random bits, of two words.
    pub fn double(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * f64::from(1u32 << 26) + f64::from(low)) / (1u64 << 53) as f64
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
    pub fn coin(&mut self, p: f64) -> bool {
        Coin::new(p).toss(self)
    }

    /// `binomial(1, p, size=count)`.
    pub fn coins(&mut self, p: f64, count: usize) -> Vec<bool> {
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

/// One trial of `NumPy`'s binomial by inversion. It tosses the rarer side: 1 if a double is *above* the chance of 0.
#[derive(Clone, Copy)]
struct Coin {
    /// The chance of the rarer side.
    p: f64,
    /// The chance of the other, as the reference rounds it.
    q: f64,
    /// What the rarer side means.
    rare: bool,
}

impl Coin {
    fn new(p: f64) -> Coin {
        let (p, rare) = if p > 0.5 { (1.0 - p, false) } else { (p, true) };
        Coin { p, q: libm::exp(libm::log(1.0 - p)), rare }
    }

    fn toss(self, random: &mut RandomState) -> bool {
        loop {
            let double = random.double();
            if double <= self.q {
                return !self.rare;
            }
            // By rounding, the two chances may not sum to 1; what is left over is drawn again.
            if double - self.q <= self.p * self.q / (1.0 - self.p) {
                return self.rare;
            }
        }
    }
}

#[cfg(test)]
mod tests;
