//! The Mersenne Twister MT19937, with the state of `NumPy`'s `RandomState.get_state()`.
//!
//! Matsumoto and Nishimura: *Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number generator*, 1998.

/// Number of words of the state.
pub const WORDS: usize = 624;
/// Distance of the words that are combined.
const SHIFT: usize = 397;

/// The generator: a block of words, the numbers that they are tempered to, and the index of the next. Tempering a block at once
/// vectorizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mt19937 {
    block: [u32; WORDS],
    tempered: [u32; WORDS],
    next: usize,
}

impl Mt19937 {
    /// The generator of a seed: `init_genrand`.
    pub fn new(seed: u32) -> Mt19937 {
        let mut block = [seed; WORDS];
        for index in 1..WORDS {
            let previous = block[index - 1];
            block[index] = (previous ^ previous >> 30).wrapping_mul(1_812_433_253).wrapping_add(to_word(index));
        }
        Mt19937::from_block(&block, WORDS)
    }

    /// The generator of a key of several words: `init_by_array`.
    ///
    /// # Panics
    /// If the key is empty.
    pub fn of_key(key: &[u32]) -> Mt19937 {
        let Mt19937 { mut block, .. } = Mt19937::new(19_650_218);
        // Both passes mix each word with its predecessor and wrap around, over words 1 to 623.
        let mut index = 1;
        let mut mix = |factor: u32, plus: &dyn Fn(usize) -> u32| {
            let previous = block[index - 1];
            block[index] = (block[index] ^ (previous ^ previous >> 30).wrapping_mul(factor)).wrapping_add(plus(index));
            index += 1;
            if index == WORDS {
                block[0] = block[WORDS - 1];
                index = 1;
            }
        };
        for round in 0..key.len().max(WORDS) {
            let position = round % key.len();
            mix(1_664_525, &|_| key[position].wrapping_add(to_word(position)));
        }
        for _ in 1..WORDS {
            mix(1_566_083_941, &|index| to_word(index).wrapping_neg());
        }
        block[0] = 1 << 31;
        Mt19937::from_block(&block, WORDS)
    }

    /// The generator with a block and the index of its next word; `None` if the index is past the end.
    pub fn from_state(block: [u32; WORDS], next: usize) -> Option<Mt19937> {
        (next <= WORDS).then(|| Mt19937::from_block(&block, next))
    }

    fn from_block(block: &[u32; WORDS], next: usize) -> Mt19937 {
        Mt19937 { block: *block, tempered: block.map(temper), next }
    }

    /// The block and the index of its next word.
    pub fn state(&self) -> (&[u32; WORDS], usize) {
        (&self.block, self.next)
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let word = self.tempered[self.next];
        self.next += 1;
        word
    }

    /// Replaces the block by the next one.
    #[cold]
    fn twist(&mut self) {
        let block = &mut self.block;
        let twisted = |high: u32, low: u32, far: u32| {
            let word = high & 1 << 31 | low & !(1 << 31);
            far ^ word >> 1 ^ ((low & 1) * 0x9908_b0df)
        };
        for index in 0..WORDS - SHIFT {
            block[index] = twisted(block[index], block[index + 1], block[index + SHIFT]);
        }
        for index in WORDS - SHIFT..WORDS - 1 {
            block[index] = twisted(block[index], block[index + 1], block[index + SHIFT - WORDS]);
        }
        block[WORDS - 1] = twisted(block[WORDS - 1], block[0], block[SHIFT - 1]);
        for (tempered, word) in self.tempered.iter_mut().zip(&*block) {
            *tempered = temper(*word);
        }
        self.next = 0;
    }
}

fn temper(mut word: u32) -> u32 {
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c_5680;
    word ^= word << 15 & 0xefc6_0000;
    word ^ word >> 18
}

fn to_word(index: usize) -> u32 {
    u32::try_from(index).expect("an index of a key or of the state")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C++'s standard (`rand.predef`) requires these outputs of `mt19937`: a seed of 5489, the ten thousandth word.
    #[test]
    fn the_ten_thousandth_word_is_that_of_the_standard() {
        let mut random = Mt19937::new(5489);
        assert_eq!((0..10_000).map(|_| random.word()).last(), Some(4_123_659_995));
    }

    /// The first words of `mt19937ar.out`, which accompanies the authors' program.
    #[test]
    fn the_words_of_a_key_are_those_of_the_authors() {
        let mut random = Mt19937::of_key(&[0x123, 0x234, 0x345, 0x456]);
        assert_eq!([(); 5].map(|()| random.word()), [1_067_595_299, 955_945_823, 477_289_528, 4_107_218_783, 4_228_976_476]);
    }

    #[test]
    fn a_state_continues_the_stream() {
        let mut random = Mt19937::new(1);
        for _ in 0..1000 {
            random.word();
        }
        let (block, next) = random.state();
        let mut copy = Mt19937::from_state(*block, next).expect("a state");
        assert_eq!([(); 700].map(|()| copy.word()), [(); 700].map(|()| random.word()));
        assert_eq!(Mt19937::from_state([0; WORDS], WORDS + 1), None);
    }
}
