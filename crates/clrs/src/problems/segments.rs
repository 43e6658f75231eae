use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, measurable, truncate};
use crate::random::RandomState;

/// Two line segments, each from one point `[x, y]` to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segments {
    /// Its ends are nodes 0 and 1.
    pub first: [[f64; 2]; 2],
    /// Its ends are nodes 2 and 3.
    pub second: [[f64; 2]; 2],
}

impl Segments {
    /// The points of the four nodes.
    pub fn points(&self) -> [[f64; 2]; 4] {
        let ([a, b], [c, d]) = (self.first, self.second);
        [a, b, c, d]
    }
}

impl Problem for Segments {
    fn nodes(&self) -> usize {
        4
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        for (name, segment) in [("first", &self.first), ("second", &self.second)] {
            finite(name, segment.as_flattened())?;
            measurable(name, segment.as_flattened())?;
        }
        Ok(())
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(self.first.as_flattened_mut(), decimals);
        truncate(self.second.as_flattened_mut(), decimals);
    }
}

crate::options! {
    /// Segments between points of a square, of which half cross. There are always four nodes, whatever the size.
    pub struct RandomSegments {
        /// smallest coordinate
        low: f64 = 0.0,
        /// bound that coordinates stay below
        high: f64 = 1.0,
    }
}

impl Distribution for RandomSegments {
    type Problem = Segments;

    /// Where segments cannot cross, or where products of their coordinates are not numbers, the draw would never end.
    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        let &RandomSegments { low, high } = self;
        ensure_valid(low < high, || {
            format!("`low` is {low} and `high` is {high}: segments cross only where there is room between")
        })?;
        ensure_valid([low, high].iter().all(|bound| bound.abs() <= 1e50) && high - low >= 1e-50, || {
            format!("from {low} to {high} is too wide or too narrow a range for products of coordinates")
        })
    }

    fn draw(&self, _size: usize, random: &mut RandomState) -> Result<Segments, InvalidProblem> {
        let wanted = random.bernoulli(0.5);
        loop {
            let [xs, ys] = [(); 2].map(|()| random.uniforms(self.low, self.high, 4));
            let point = |node: usize| [xs[node], ys[node]];
            let drawn = Segments { first: [point(0), point(1)], second: [point(2), point(3)] };
            if seem_to_cross(&drawn) == wanted {
                return Ok(drawn);
            }
        }
    }
}

/// Whether each segment parts the other's ends. What is in line is not looked at, and hardly ever drawn.
fn seem_to_cross(Segments { first: [a, b], second: [c, d] }: &Segments) -> bool {
    let turns_left = |a: &[f64; 2], b: &[f64; 2], c: &[f64; 2]| (c[1] - a[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (c[0] - a[0]);
    turns_left(a, c, d) != turns_left(b, c, d) && turns_left(a, b, c) != turns_left(a, b, d)
}
