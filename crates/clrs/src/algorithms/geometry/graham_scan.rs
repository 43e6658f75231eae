//! Graham scan
//!
//! # Idea
//! Starts at the lowest point, and walks around it by angle. Points where the way does not turn left are taken off again;
//! what is left are the corners of the convex hull.
//!
//! # One step
//! The lowest point is found, all angles are found, a point is taken off the stack, or a point goes on it.
//!
//! # Steps
//! `2n + 2 - h` for a hull of `h` points: the start, the lowest point, the angles; one for each other point that goes on the
//! stack, and one for each that is taken off. A hull of two points or more has two corners, so that `2n` is the most; one
//! point alone takes 3.
//!
//! # Textbook
//! CLRS 3rd ed., section 33.3; Graham 1972.
//!
//! # What counts as right
//! The corners of the convex hull, with or without other points of its border; of equal points any. A corner that stands
//! out by less than 1e-9 of the whole extent may be left out.
//!
//! # Differences
//! The reference never ends where several points are in line with the lowest one, or loses a corner. Here three or more
//! points in one direction from it are visited from the nearest to the farthest, and the lowest point stays on the stack.
//! As in the reference, the lowest point has the angle 0, and the first two after it go on the stack unseen.

use crate::algorithm::{Algorithm, CheckFailure, Family};
use crate::algorithms::plane::{Point, check_hull, cross, distance, lowest};
use crate::cell::{Categorical, Graph, Mask, MaskOne, Node, Pointer, Scalar};
use crate::probes;
use crate::problems::{DiskPoints, InvalidProblem, Points, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Graham scan; see the [module](self).
pub struct GrahamScan;

probes! {
    GrahamScan;
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
        /// lowest point
        best: Node<MaskOne>,
        /// angle of the point as seen from the lowest one
        atans: Node<Scalar>,
        /// whether the point is on the stack
        in_hull_h: Node<Mask>,
        /// point below on the stack, itself at the bottom or off the stack
        stack_prev: Node<Pointer>,
        /// top of the stack
        last_stack: Node<MaskOne>,
        /// point being looked at
        i: Node<MaskOne>,
        /// start, lowest point known, angles known, point taken off, point put on
        phase: Graph<Categorical<5>>,
    }
}

impl Algorithm for GrahamScan {
    const NAME: &'static str = "graham_scan";
    const SOURCE: Source = Source(include_str!("graham_scan.rs"));
    const FAMILY: Family = Family::Geometry;
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
        (2 * n).max(3)
    }

    fn run(Points { points }: &Points, hints: &mut Hints<'_, Self>) -> Output {
        let mut scan = Scan::new(points.len());
        hints.push(scan.hint());

        let best = lowest(points);
        (scan.best, scan.last_stack, scan.i, scan.phase) = (best, best, best, BEST_KNOWN);
        scan.in_hull[best] = true;
        hints.push(scan.hint());

        let [x, y] = points[best];
        scan.atans = points.iter().map(|point| libm::atan2(point[1] - y, point[0] - x)).collect();
        scan.phase = ANGLES_KNOWN;
        hints.push(scan.hint());

        for (index, node) in by_angle(points, &scan.atans, best).into_iter().enumerate() {
            scan.i = node;
            let top_two = |scan: &Scan| [points[scan.stack_prev[scan.last_stack]], points[scan.last_stack]];
            while index >= 2 && scan.last_stack != best && turns_right(top_two(&scan), points[node]) {
                scan.take_off();
                hints.push(scan.hint());
            }
            scan.put_on(node);
            hints.push(scan.hint());
        }
        Output { in_hull: scan.in_hull }
    }

    fn check(Points { points }: &Points, output: &Output) -> Result<(), CheckFailure> {
        check_hull(points, &output.in_hull)
    }
}

/// Whether the way does not turn left: straight on is right, too.
fn turns_right([from, over]: [Point; 2], to: Point) -> bool {
    cross(from, over, to) <= 0.0
}

/// All nodes but the lowest by angle; of three or more in one direction the nearest first. A twin of the lowest point is in
/// every direction.
fn by_angle(points: &[Point], angles: &[f64], best: usize) -> Vec<usize> {
    /// Directions that differ by less are one, and so are places, as far as rounding can tell.
    const TOO_NEAR: f64 = 1e-9;
    let mut order: Vec<usize> = (0..points.len()).filter(|&node| node != best).collect();
    order.sort_by(|&a, &b| angles[a].total_cmp(&angles[b]));
    let far: Vec<f64> = points.iter().map(|&point| distance(points[best], point)).collect();
    let farthest = far.iter().copied().fold(0.0, f64::max);
    let twins = order.iter().filter(|&&node| far[node] <= TOO_NEAR * farthest).count();
    for group in order.chunk_by_mut(|&a, &b| angles[b] - angles[a] < TOO_NEAR).filter(|group| group.len() + twins > 2) {
        group.sort_by(|&a, &b| far[a].total_cmp(&far[b]));
    }
    order
}

const START: usize = 0;
const BEST_KNOWN: usize = 1;
const ANGLES_KNOWN: usize = 2;
const TAKEN_OFF: usize = 3;
const PUT_ON: usize = 4;

/// The stack is the list from `last_stack` along `stack_prev`.
struct Scan {
    best: usize,
    atans: Vec<f64>,
    in_hull: Vec<bool>,
    stack_prev: Vec<usize>,
    last_stack: usize,
    i: usize,
    phase: usize,
}

impl Scan {
    fn new(n: usize) -> Scan {
        Scan {
            best: 0,
            atans: vec![0.0; n],
            in_hull: vec![false; n],
            stack_prev: (0..n).collect(),
            last_stack: 0,
            i: 0,
            phase: START,
        }
    }

    /// The one place where a row is made.
    fn hint(&self) -> Hint<'_> {
        Hint {
            best: self.best,
            atans: &self.atans,
            in_hull_h: &self.in_hull,
            stack_prev: &self.stack_prev,
            last_stack: self.last_stack,
            i: self.i,
            phase: self.phase,
        }
    }

    fn take_off(&mut self) {
        let top = self.last_stack;
        self.last_stack = std::mem::replace(&mut self.stack_prev[top], top);
        self.in_hull[top] = false;
        self.phase = TAKEN_OFF;
    }

    fn put_on(&mut self, node: usize) {
        self.in_hull[node] = true;
        self.stack_prev[node] = self.last_stack;
        self.last_stack = node;
        self.phase = PUT_ON;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Stage};

    /// What the run answers; the check has accepted it.
    fn hull(points: &[Point]) -> Vec<i8> {
        let mut recorder = GrahamScan.recorder();
        recorder.record::<GrahamScan>(&Points { points: points.into() }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let result = GrahamScan.check(sample.nodes(), &sample.stage(Stage::Input), &sample.stage(Stage::Output));
        assert!(
            result.is_ok() && sample.steps() <= AnyAlgorithm::max_steps(&GrahamScan, sample.nodes()),
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
        assert_eq!(hull(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0], [0.0, 1.0]])[2], 1);
        hull(&[[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [2.0, 0.0]]);
        hull(&[[1.0, 1.0]; 5]);
        assert_eq!(hull(&[[0.0, 0.0], [4.0, 12.0], [1.0, 3.0], [0.0, 0.0]])[1], 1, "beside a twin of the lowest");
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

    #[test]
    fn options_that_leave_no_points_are_rejected() {
        let rejected = |options: &[&str]| {
            let parsed = crate::SamplerOptions::parse(options.iter().copied()).expect("option=value");
            GrahamScan.problem_buffer(5, &parsed).err().map(|error| error.to_string())
        };
        assert_eq!(rejected(&["radius=-1", "collineararity_eps=0"]), None);
        assert!(rejected(&["collineararity_eps=11"]).expect("rejected").contains("are collinear"));
        assert!(rejected(&["radius=0"]).expect("rejected").contains("are collinear"));
        assert!(rejected(&["radius=1e200"]).expect("rejected").contains("`radius` must be"));
        assert!(rejected(&["collinearity_resampling_attempts=0"]).expect("rejected").contains("must be at least 1"));
    }
}
