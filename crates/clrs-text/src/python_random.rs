//! Python's `random`, as far as the generator of dm-clrs uses it.

use clrs::mt19937::Mt19937;

/// `random.Random(seed)`. It is the generator of `NumPy`'s `RandomState`, seeded in another way.
#[derive(Clone, Debug)]
pub(crate) struct PythonRandom(Mt19937);

impl PythonRandom {
    pub(crate) fn new(seed: u32) -> PythonRandom {
        PythonRandom(Mt19937::of_key(&[seed]))
    }

    /// The index of `random.choice` in a list of `count` items: as many bits as `count` has, drawn again while too large.
    ///
    /// # Panics
    /// If `count` is 0 or does not fit into 32 bits.
    pub(crate) fn choice(&mut self, count: usize) -> usize {
        let count = u32::try_from(count).expect("fewer than 2^32 items");
        assert!(count > 0, "nothing to choose from");
        loop {
            let drawn = self.0.word() >> count.leading_zeros();
            if drawn < count {
                return drawn as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python draws.
    #[test]
    fn choices_are_those_of_python() {
        let mut random = PythonRandom::new(0);
        assert_eq!([(); 4].map(|()| random.0.word()), [3_626_764_237, 1_654_615_998, 3_255_389_356, 3_823_568_514]);
        let mut random = PythonRandom::new(0);
        assert_eq!([(); 12].map(|()| random.choice(5)), [3, 3, 0, 2, 4, 3, 3, 2, 3, 2, 4, 1]);
        let mut random = PythonRandom::new(u32::MAX);
        assert_eq!([(); 8].map(|()| random.choice(1)), [0; 8]);
    }
}
