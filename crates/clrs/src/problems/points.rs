use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{Distribution, InvalidProblem, Problem, ensure_valid, finite, measurable, truncate};
use crate::random::RandomState;

/// Points of the plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// `[x, y]` of each node.
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
    /// Points drawn evenly from a disk, and drawn again while three are in line: convex hulls then have one answer.
    pub struct DiskPoints {
        /// x of the disk's centre
        origin_x: f64 = 0.0,
        /// y of the disk's centre
        origin_y: f64 = 0.0,
        /// radius of the disk
        radius: f64 = 2.0,
        /// how often points may be drawn until no three are in line
        collinearity_resampling_attempts: usize = 1000,
        /// three points are in line if the cross product of their distances is below (the reference spells it so)
        collineararity_eps: f64 = 1e-12,
    }
}

impl DiskPoints {
    /// Draws until no three points are in line; `cut` comes before that is looked at.
    fn draw_cut(&self, size: usize, cut: impl Fn(&mut Points), random: &mut RandomState) -> Result<Points, InvalidProblem> {
        for _ in 0..self.collinearity_resampling_attempts {
            let angles = random.uniforms(0.0, TAU, size);
            let point = |angle: f64| {
                let distance = self.radius * random.double().sqrt();
                [distance * libm::cos(angle) + self.origin_x, distance * libm::sin(angle) + self.origin_y]
            };
            let mut drawn = Points { points: angles.into_iter().map(point).collect() };
            cut(&mut drawn);
            if !three_in_line(&drawn.points, self.collineararity_eps) {
                return Ok(drawn);
            }
        }
        let attempts = self.collinearity_resampling_attempts;
        Err(InvalidProblem::Rule(format!(
            "three of {size} points were in line in each of {attempts} attempts; fewer points would help"
        )))
    }
}

impl Distribution for DiskPoints {
    type Problem = Points;

    fn validate(&self, size: usize) -> Result<(), InvalidProblem> {
        let &DiskPoints { origin_x, origin_y, radius, collinearity_resampling_attempts: attempts, collineararity_eps: eps } =
            self;
        let sane = |number: f64| number == 0.0 || (1e-50..=1e50).contains(&number.abs());
        ensure_valid([origin_x, origin_y, radius].into_iter().all(sane), || {
            "`origin_x`, `origin_y` and `radius` must be 0 or of a size from 1e-50 to 1e50".into()
        })?;
        ensure_valid(attempts > 0, || "`collinearity_resampling_attempts` is 0: points must be drawn once".into())?;
        // Twice the largest triangle in the disk.
        let largest = 1.5 * 3f64.sqrt() * radius * radius;
        ensure_valid(size < 3 || eps <= largest, || {
            format!("`collineararity_eps` is {eps}: any three points in a disk of radius {radius} would be in line")
        })
    }

    fn draw(&self, size: usize, random: &mut RandomState) -> Result<Points, InvalidProblem> {
        self.draw_cut(size, |_| (), random)
    }

    /// As in the reference, numbers are cut before points are looked at, and then once more, which may change them again.
    fn draw_truncated(&self, size: usize, decimals: u32, random: &mut RandomState) -> Result<Points, InvalidProblem> {
        let mut drawn = self.draw_cut(size, |points| points.truncate(decimals), random)?;
        drawn.truncate(decimals);
        Ok(drawn)
    }
}

/// Whether some cross product of two points' distances from a third is below `eps`. Every triple is looked at, so this is
/// most of the work of drawing: rows without branches inside, which compilers turn into vector code.
fn three_in_line(points: &[[f64; 2]], eps: f64) -> bool {
    let (mut xs, mut ys) = (Vec::with_capacity(points.len()), Vec::with_capacity(points.len()));
    for (place, [x, y]) in points.iter().enumerate() {
        xs.clear();
        ys.clear();
        xs.extend(points[place + 1..].iter().map(|point| point[0] - x));
        ys.extend(points[place + 1..].iter().map(|point| point[1] - y));
        for (next, (x, y)) in xs.iter().zip(&ys).enumerate() {
            let others = xs[next + 1..].iter().zip(&ys[next + 1..]);
            if others.fold(false, |found, (other_x, other_y)| found | ((x * other_y - y * other_x).abs() < eps)) {
                return true;
            }
        }
    }
    false
}
