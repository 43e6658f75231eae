use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, measurable, truncate};
use crate::random::RandomState;
use crate::trigonometry::sin_cos;

/// Points in the plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Coordinates `[x, y]` of each node.
    pub points: Vec<[f64; 2]>,
}

impl Problem for Points {
    fn nodes(&self) -> usize {
        self.points.len()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        finite("points", self.points.as_flattened())?;
        measurable("points", self.points.as_flattened())
    }

    fn truncate(&mut self, decimals: u32) {
        truncate(self.points.as_flattened_mut(), decimals);
    }
}

crate::options! {
    /// Uniformly distributed points in a disk, resampled until no three are collinear, so that the convex hull is unique.
    pub struct DiskPoints {
        /// x coordinate of the disk's center
        origin_x: f64 = 0.0,
        /// y coordinate of the disk's center
        origin_y: f64 = 0.0,
        /// radius of the disk
        radius: f64 = 2.0,
        /// maximum number of attempts to sample points of which no three are collinear
        collinearity_resampling_attempts: usize = 1000,
        /// three points are collinear if their cross product is below this value (spelled as in dm-clrs)
        collineararity_eps: f64 = 1e-12,
    }
}

impl DiskPoints {
    /// Samples until no three points are collinear; `truncate` is applied before the test.
    fn draw_with(&self, size: usize, truncate: impl Fn(&mut Points), random: &mut RandomState) -> Result<Points, InvalidProblem> {
        for _ in 0..self.collinearity_resampling_attempts {
            let angles = random.uniforms(0.0, TAU, size);
            let point = |angle: f64| {
                let distance = self.radius * random.double().sqrt();
                let (sin, cos) = sin_cos(angle);
                [distance * cos + self.origin_x, distance * sin + self.origin_y]
            };
            let mut drawn = Points { points: angles.into_iter().map(point).collect() };
            truncate(&mut drawn);
            if !any_collinear(&drawn.points, self.collineararity_eps) {
                return Ok(drawn);
            }
        }
        let attempts = self.collinearity_resampling_attempts;
        Err(InvalidProblem::NotSampled(format!(
            "no sample of {size} points without three collinear ones in {attempts} attempts; use fewer points"
        )))
    }
}

impl Distribution for DiskPoints {
    type Problem = Points;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let &DiskPoints { origin_x, origin_y, radius, collinearity_resampling_attempts: attempts, collineararity_eps: eps } =
            self;
        let in_range = |value: f64| value == 0.0 || (1e-50..=1e50).contains(&value.abs());
        ensure_valid([origin_x, origin_y, radius].into_iter().all(in_range), || {
            "`origin_x`, `origin_y` and `radius` must be 0 or between 1e-50 and 1e50 in magnitude".into()
        })?;
        ensure_valid(attempts > 0, || "`collinearity_resampling_attempts` is 0; it must be at least 1".into())?;
        // Twice the area of the largest triangle in the disk.
        let largest = 1.5 * 3f64.sqrt() * radius * radius;
        ensure_valid(size < 3 || eps <= largest, || {
            format!("`collineararity_eps` is {eps}; any three points in a disk of radius {radius} then count as collinear")
        })
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Points, InvalidProblem> {
        self.draw_with(size, |_| (), random)
    }

    /// As in dm-clrs, coordinates are truncated before the test and once more after it, which may change them again.
    fn draw_truncated(&self, size: usize, decimals: u32, random: &mut RandomState) -> Result<Points, InvalidProblem> {
        let mut drawn = self.draw_with(size, |points| points.truncate(decimals), random)?;
        drawn.truncate(decimals);
        Ok(drawn)
    }
}

/// Whether the cross product of any three points is below `eps`. Testing every triple dominates the cost of sampling, so the
/// inner loop has no branches and vectorizes.
fn any_collinear(points: &[[f64; 2]], eps: f64) -> bool {
    let (mut xs, mut ys) = (Vec::with_capacity(points.len()), Vec::with_capacity(points.len()));
    for (index, [x, y]) in points.iter().enumerate() {
        xs.clear();
        ys.clear();
        xs.extend(points[index + 1..].iter().map(|point| point[0] - x));
        ys.extend(points[index + 1..].iter().map(|point| point[1] - y));
        for (next, (x, y)) in xs.iter().zip(&ys).enumerate() {
            let others = xs[next + 1..].iter().zip(&ys[next + 1..]);
            if others.fold(false, |found, (other_x, other_y)| found | ((x * other_y - y * other_x).abs() < eps)) {
                return true;
            }
        }
    }
    false
}
