//! Jarvis' march
//!
//! # Idea
//! Starts at the lowest point and wraps the hull counterclockwise like a string: the next corner is the point for which all
//! others lie to the left of the line to it. The march ends at the starting point.
//!
//! # One step
//! One point is compared with the best candidate for the next corner.
//!
//! # Number of steps
//! `h(n + 1) + 1` for a hull of `h` points: the start and, for each corner, its arrival and one per point. `h` is at most `n`.
//!
//! # Textbook
//! CLRS 3rd ed., section 33.3; Jarvis 1973.
//!
//! # Correctness
//! The corners of the convex hull, with or without further points on its border. Of coincident points, any one suffices.
//! Distances have a tolerance of 1e-9 of the extent of the points, so a corner that protrudes less may be omitted.
//!
//! # Differences from dm-clrs
//! Of collinear points, dm-clrs takes the last one, so it may turn back and lose corners. Here the farthest one is taken. As in
//! dm-clrs, each search for the next corner starts with node 0.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::array;
use crate::algorithms::plane::{Point, check_hull, cross, distance, lowest};
use crate::cell::{Categorical, Graph, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{DiskPoints, InvalidProblem, Points, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Jarvis' march; see the [module](self).
pub struct JarvisMarch;

probes! {
    JarvisMarch;
    input {
        /// position in the list of points, scaled to [0, 1)
        pos: Node<Scalar>,
        /// x coordinate
        x: Node<Scalar>,
        /// y coordinate
        y: Node<Scalar>,
    }
    output {
        /// whether the point is in the convex hull
        in_hull: Node<Mask>,
    }
    hint {
        /// predecessor in the list of points; the first node points to itself
        pred_h: Node<Pointer>,
        /// whether the point is known to be in the hull
        in_hull_h: Node<Mask>,
        /// lowest point
        best: Node<MaskOne>,
        /// last corner found
        last_point: Node<MaskOne>,
        /// best candidate for the next corner so far
        endpoint: Node<MaskOne>,
        /// point being compared
        i: Node<MaskOne>,
        /// 0 start, 1 march
        phase: Graph<Categorical<2>>,
    }
}

const START: usize = 0;
const MARCH: usize = 1;

impl Algorithm for JarvisMarch {
    const NAME: &'static str = "jarvis_march";
    const SOURCE: Source = Source(include_str!("jarvis_march.rs"));
    const FAMILY: Family = Family::Geometry;
    const FIXED_ORDER: bool = true;
    type Problem = Points;
    type Distribution = DiskPoints;

    fn distribution() -> DiskPoints {
        DiskPoints::default()
    }

    fn input(Points { points }: &Points) -> Input {
        let axis = |axis: usize| points.iter().map(|point| point[axis]).collect();
        Input { pos: positions(points.len()), x: axis(0), y: axis(1) }
    }

    fn problem(input: &Input) -> Result<Points, InvalidProblem> {
        Ok(Points { points: input.x.iter().zip(&input.y).map(|(&x, &y)| [x, y]).collect() })
    }

    fn max_steps(n: usize) -> usize {
        n * (n + 1) + 1
    }

    fn run(Points { points }: &Points, hints: &mut Hints<'_, Self>) -> Output {
        let mut march = March::new(points.len());
        hints.push(march.hint());
        let mut corner = lowest(points);
        march.best = corner;
        march.phase = MARCH;
        while !march.in_hull[corner] {
            march.in_hull[corner] = true;
            (march.last_point, march.endpoint, march.i) = (corner, 0, 0);
            hints.push(march.hint());
            for i in 0..points.len() {
                march.i = i;
                if march.endpoint == corner || is_next(points, [corner, march.endpoint], i) {
                    march.endpoint = i;
                }
                hints.push(march.hint());
            }
            corner = march.endpoint;
        }
        Output { in_hull: march.in_hull }
    }

    fn check(Points { points }: &Points, output: &Output) -> Result<(), CheckFailure> {
        check_hull(points, &output.in_hull)
    }
}

/// Whether node `i` is a better candidate than `endpoint`: it lies to the right of the line from the corner to `endpoint` or,
/// up to rounding, on that line and farther away.
fn is_next(points: &[Point], [corner, endpoint]: [usize; 2], i: usize) -> bool {
    /// Points are collinear if the sine of their angle is below this.
    const COLLINEAR: f64 = 1e-12;
    if i == corner || i == endpoint {
        return false;
    }
    let turn = cross(points[corner], points[endpoint], points[i]);
    let (to_endpoint, to_i) = (distance(points[corner], points[endpoint]), distance(points[corner], points[i]));
    if turn.abs() <= COLLINEAR * to_endpoint * to_i { to_i > to_endpoint } else { turn < 0.0 }
}

/// State of a march.
struct March {
    pred: Vec<usize>,
    in_hull: Vec<bool>,
    best: usize,
    last_point: usize,
    endpoint: usize,
    i: usize,
    phase: usize,
}

impl March {
    fn new(n: usize) -> March {
        March {
            pred: array::initial_predecessors(n),
            in_hull: vec![false; n],
            best: 0,
            last_point: 0,
            endpoint: 0,
            i: 0,
            phase: START,
        }
    }

    /// The hint row of the current state.
    fn hint(&self) -> Hint<'_> {
        Hint {
            pred_h: &self.pred,
            in_hull_h: &self.in_hull,
            best: self.best,
            last_point: self.last_point,
            endpoint: self.endpoint,
            i: self.i,
            phase: self.phase,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Stage};

    /// The output of the run, after `check` has accepted it.
    fn hull(points: &[Point]) -> Vec<i8> {
        let mut recorder = JarvisMarch.recorder();
        recorder.record::<JarvisMarch>(&Points { points: points.into() }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let result = JarvisMarch.check(sample.nodes(), &sample.stage(Stage::Input), &sample.stage(Stage::Output));
        assert!(
            result.is_ok() && sample.steps() <= AnyAlgorithm::max_steps(&JarvisMarch, sample.nodes()),
            "{result:?} on {points:?}"
        );
        let Some(Cells::Class(in_hull)) = sample.get("in_hull") else { panic!("`in_hull` is a mask") };
        in_hull.to_vec()
    }

    #[test]
    fn the_corners_of_a_square_are_its_hull() {
        assert_eq!(hull(&[[1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [2.0, 2.0], [0.0, 2.0]]), [0, 1, 1, 1, 1]);
    }

    #[test]
    fn collinear_and_coincident_points_do_not_hide_corners() {
        assert_eq!(hull(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), [1, 0, 1, 0, 1]);
        assert_eq!(hull(&[[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), [1, 1, 0, 0]);
        hull(&[[1.0, 1.0]; 5]);
        for permutation in 0..5040 {
            let mut remaining: Vec<Point> = (0..7).map(|k: u8| [f64::from(k % 4) * 0.1, f64::from(k / 4) * 0.1]).collect();
            let mut code = permutation;
            let points: Vec<Point> = (1..=7).rev().map(|count| (remaining.remove(code % count), code /= count).0).collect();
            hull(&points);
        }
    }

    #[test]
    fn one_or_two_points_are_their_own_hull() {
        assert_eq!(hull(&[[1.0, 2.0]]), [1]);
        assert_eq!(hull(&[[1.0, 2.0], [0.0, 0.0]]), [1, 1]);
    }
}
