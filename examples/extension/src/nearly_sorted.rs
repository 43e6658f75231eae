//! A distribution of keys that are nearly sorted.

use clrs::RandomState;
use clrs::problems::{Distribution, InvalidProblem, Keys, probabilities};

clrs::options! {
    /// Sorted keys of which neighbors are swapped at random.
    pub struct NearlySortedKeys {
        /// probability that a key is swapped with its successor
        swap: f64 = 0.2,
    }
}

impl Distribution for NearlySortedKeys {
    type Problem = Keys;

    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        probabilities("swap", &[self.swap])
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Keys, InvalidProblem> {
        let mut key = random.uniforms(0.0, 1.0, size);
        key.sort_by(f64::total_cmp);
        for i in 1..size {
            if random.double() < self.swap {
                key.swap(i - 1, i);
            }
        }
        Ok(Keys { key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_decides_how_many_neighbors_are_out_of_order() {
        let inversions = |swap: f64| {
            let keys = NearlySortedKeys { swap }.draw(1000, &mut RandomState::new(1)).expect("keys").key;
            keys.windows(2).filter(|pair| pair[0] > pair[1]).count()
        };
        assert_eq!(inversions(0.0), 0);
        assert!((100..300).contains(&inversions(0.2)), "{}", inversions(0.2));
        assert!(NearlySortedKeys { swap: 1.5 }.validate(4).is_err());
    }
}
