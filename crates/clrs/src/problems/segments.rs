use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, measurable, truncate};
use crate::random::RandomState;

/// Two line segments, each given by its end points `[x, y]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segments {
    /// First segment: nodes 0 and 1.
    pub first: [[f64; 2]; 2],
    /// Second segment: nodes 2 and 3.
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
    /// Random segments in a square, half of which intersect. The size is ignored: there are always four nodes.
    pub struct RandomSegments {
        /// lower bound of coordinates
        low: f64 = 0.0,
        /// exclusive upper bound of coordinates
        high: f64 = 1.0,
    }
}

impl Distribution for RandomSegments {
    type Problem = Segments;

    /// Rejects ranges where segments cannot intersect, or where products of coordinates overflow: sampling would not end.
    fn validate(&self, _size: usize) -> Result<(), InvalidProblem> {
        let &RandomSegments { low, high } = self;
        ensure_valid(low < high, || format!("`low` ({low}) must be less than `high` ({high})"))?;
        ensure_valid([low, high].iter().all(|bound| bound.abs() <= 1e50) && high - low >= 1e-50, || {
            format!("the range from {low:e} to {high:e} is too wide or too narrow for products of coordinates")
        })
    }

    fn draw(&self, _size: usize, random: &mut RandomState) -> Result<Segments, InvalidProblem> {
        let wanted = random.bernoulli(0.5);
        loop {
            let [xs, ys] = [(); 2].map(|()| random.uniforms(self.low, self.high, 4));
            let point = |node: usize| [xs[node], ys[node]];
            let drawn = Segments { first: [point(0), point(1)], second: [point(2), point(3)] };
            if intersects(&drawn) == wanted {
                return Ok(drawn);
            }
        }
    }
}

/// Whether each segment separates the end points of the other. Ignores collinear points, which have probability zero.
fn intersects(Segments { first: [a, b], second: [c, d] }: &Segments) -> bool {
    let turns_left = |a: &[f64; 2], b: &[f64; 2], c: &[f64; 2]| (c[1] - a[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (c[0] - a[0]);
    turns_left(a, c, d) != turns_left(b, c, d) && turns_left(a, b, c) != turns_left(a, b, d)
}
