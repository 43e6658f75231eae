//! Jarvis' march
//!
//! # Idea
//! Starts at the lowest point, and walks along the hull as a string would be wound around it: the next corner is the point
//! that has all others on its left. The walk ends where it began.
//!
//! # One step
//! One point is compared with the best next corner so far.
//!
//! # Steps
//! `h(n + 1) + 1` for a hull of `h` points: the start, and for each corner its arrival and all points. `h` is at most `n`.
//!
//! # Textbook
//! CLRS 3rd ed., section 33.3; Jarvis 1973.
//!
//! # What counts as right
//! The corners of the convex hull, with or without other points of its border; of equal points any. A corner that stands
//! out by less than 1e-9 of the whole extent may be left out.
//!
//! # Differences
//! Where points are in line the reference takes the last of them, may turn back and lose corners. Here the farthest is
//! taken. As in the reference, each search for the next corner starts from node 0.

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
        /// place in the list of points, from 0 to 1
        pos: Node<Scalar>,
        /// x of the point
        x: Node<Scalar>,
        /// y of the point
        y: Node<Scalar>,
    }
    output {
        /// whether the point is in the hull
        in_hull: Node<Mask>,
    }
    hint {
        /// point before in the list
        pred_h: Node<Pointer>,
        /// whether the point is known to be in the hull
        in_hull_h: Node<Mask>,
        /// lowest point
        best: Node<MaskOne>,
        /// last corner found
        last_point: Node<MaskOne>,
        /// best next corner so far
        endpoint: Node<MaskOne>,
        /// point being compared
        i: Node<MaskOne>,
        /// start, or walk
        phase: Graph<Categorical<2>>,
    }
}

const START: usize = 0;
const WALK: usize = 1;

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
        let mut walk = Walk::new(points.len());
        hints.push(walk.hint());
        let mut corner = lowest(points);
        walk.best = corner;
        walk.phase = WALK;
        while !walk.in_hull[corner] {
            walk.in_hull[corner] = true;
            (walk.last_point, walk.endpoint, walk.i) = (corner, 0, 0);
            hints.push(walk.hint());
            for i in 0..points.len() {
                walk.i = i;
                if walk.endpoint == corner || is_next(points, [corner, walk.endpoint], i) {
                    walk.endpoint = i;
                }
                hints.push(walk.hint());
            }
            corner = walk.endpoint;
        }
        Output { in_hull: walk.in_hull }
    }

    fn check(Points { points }: &Points, output: &Output) -> Result<(), CheckFailure> {
        check_hull(points, &output.in_hull)
    }
}

/// Whether node `i` lies to the right of the way from a corner to the endpoint so far; or, as far as rounding can tell, on
/// it and farther away.
fn is_next(points: &[Point], [corner, endpoint]: [usize; 2], i: usize) -> bool {
    /// The sine of an angle below which points are in line.
    const IN_LINE: f64 = 1e-12;
    if i == corner || i == endpoint {
        return false;
    }
    let turn = cross(points[corner], points[endpoint], points[i]);
    let (far, farther) = (distance(points[corner], points[endpoint]), distance(points[corner], points[i]));
    if turn.abs() <= IN_LINE * far * farther { farther > far } else { turn < 0.0 }
}

struct Walk {
    pred: Vec<usize>,
    in_hull: Vec<bool>,
    best: usize,
    last_point: usize,
    endpoint: usize,
    i: usize,
    phase: usize,
}

impl Walk {
    fn new(n: usize) -> Walk {
        Walk { pred: array::as_given(n), in_hull: vec![false; n], best: 0, last_point: 0, endpoint: 0, i: 0, phase: START }
    }

    /// The one place where a row is made.
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

    /// What the run answers; the check has accepted it.
    fn hull(points: &[Point]) -> Vec<i8> {
        let mut recorder = JarvisMarch.recorder();
        recorder.record::<JarvisMarch>(&Points { points: points.into() }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let result = JarvisMarch.check(sample.nodes(), &sample.stage(Stage::Input), &sample.stage(Stage::Output));
        assert!(
            result.is_ok() && sample.steps() <= AnyAlgorithm::max_steps(&JarvisMarch, sample.nodes()),
            "{result:?} on {points:?}"
        );
        let Some(Cells::Class(in_hull)) = sample.get("in_hull") else { panic!("a mask") };
        in_hull.to_vec()
    }

    #[test]
    fn a_square_has_four_corners_and_its_middle_is_none() {
        assert_eq!(hull(&[[1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [2.0, 2.0], [0.0, 2.0]]), [0, 1, 1, 1, 1]);
    }

    #[test]
    fn points_in_line_and_equal_points_lose_no_corner() {
        assert_eq!(hull(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), [1, 0, 1, 0, 1]);
        assert_eq!(hull(&[[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), [1, 1, 0, 0]);
        hull(&[[1.0, 1.0]; 5]);
        for permutation in 0..5040 {
            let mut left: Vec<Point> = (0..7).map(|k: u8| [f64::from(k % 4) * 0.1, f64::from(k / 4) * 0.1]).collect();
            let mut at = permutation;
            let points: Vec<Point> = (1..=7).rev().map(|rest| (left.remove(at % rest), at /= rest).0).collect();
            hull(&points);
        }
    }

    #[test]
    fn one_point_and_two_are_their_own_hull() {
        assert_eq!(hull(&[[1.0, 2.0]]), [1]);
        assert_eq!(hull(&[[1.0, 2.0], [0.0, 0.0]]), [1, 1]);
    }
}
