//! Graham scan
//!
//! # Idea
//! Starts at the lowest point and visits the others by their angle around it. The stack contains the corners of the hull of the
//! points visited so far: before a point is pushed, points at which the path does not turn left are popped.
//!
//! # One step
//! The lowest point is found, all angles are computed, a point is popped, or a point is pushed.
//!
//! # Number of steps
//! `2n + 2 - h` for a hull of `h` points: the start, the lowest point and the angles, one per push of the other points, and one
//! per pop. A hull of two or more points has at least two corners, so the maximum is `2n`; a single point takes 3.
//!
//! # Textbook
//! CLRS 3rd ed., section 33.3; Graham 1972.
//!
//! # Correctness
//! The corners of the convex hull, with or without further points on its border. Of coincident points, any one suffices.
//! Distances have a tolerance of 1e-9 of the extent of the points, so a corner that protrudes less may be omitted.
//!
//! # Differences from dm-clrs
//! dm-clrs may not terminate or may lose a corner if several points are collinear with the lowest one. Here, three or more
//! points in the same direction from it are visited from the nearest to the farthest, and the lowest point is never popped. As
//! in dm-clrs, the angle of the lowest point is 0, and the first two points after it are pushed without a test.

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
        /// lowest point
        best: Node<MaskOne>,
        /// angle of the point around the lowest point
        atans: Node<Scalar>,
        /// whether the point is on the stack
        in_hull_h: Node<Mask>,
        /// next point below on the stack; the point itself at the bottom or off the stack
        stack_prev: Node<Pointer>,
        /// point on top of the stack
        last_stack: Node<MaskOne>,
        /// point being processed
        i: Node<MaskOne>,
        /// 0 start, 1 lowest point found, 2 angles computed, 3 point popped, 4 point pushed
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
        (scan.best, scan.last_stack, scan.i, scan.phase) = (best, best, best, LOWEST_FOUND);
        scan.in_hull[best] = true;
        hints.push(scan.hint());

        let [x, y] = points[best];
        scan.atans = points.iter().map(|point| libm::atan2(point[1] - y, point[0] - x)).collect();
        scan.phase = ANGLES_COMPUTED;
        hints.push(scan.hint());

        for (index, node) in by_angle(points, &scan.atans, best).into_iter().enumerate() {
            scan.i = node;
            let top_two = |scan: &Scan| [points[scan.stack_prev[scan.last_stack]], points[scan.last_stack]];
            while index >= 2 && scan.last_stack != best && is_not_left_turn(top_two(&scan), points[node]) {
                scan.pop();
                hints.push(scan.hint());
            }
            scan.push(node);
            hints.push(scan.hint());
        }
        Output { in_hull: scan.in_hull }
    }

    fn check(Points { points }: &Points, output: &Output) -> Result<(), CheckFailure> {
        check_hull(points, &output.in_hull)
    }
}

/// Whether the path does not turn left, that is, turns right or continues straight.
fn is_not_left_turn([from, through]: [Point; 2], to: Point) -> bool {
    cross(from, through, to) <= 0.0
}

/// All nodes except the lowest, ordered by angle. Groups of three or more in the same direction are ordered by distance.
/// Points that coincide with the lowest one count towards every group.
fn by_angle(points: &[Point], angles: &[f64], best: usize) -> Vec<usize> {
    /// Tolerance for equal directions, in radians, and for coincident points, relative to the largest distance.
    const TOLERANCE: f64 = 1e-9;
    let mut order: Vec<usize> = (0..points.len()).filter(|&node| node != best).collect();
    order.sort_by(|&a, &b| angles[a].total_cmp(&angles[b]));
    let distances: Vec<f64> = points.iter().map(|&point| distance(points[best], point)).collect();
    let farthest = distances.iter().copied().fold(0.0, f64::max);
    let coincident = order.iter().filter(|&&node| distances[node] <= TOLERANCE * farthest).count();
    for group in order.chunk_by_mut(|&a, &b| angles[b] - angles[a] < TOLERANCE).filter(|group| group.len() + coincident > 2) {
        group.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    }
    order
}

const START: usize = 0;
const LOWEST_FOUND: usize = 1;
const ANGLES_COMPUTED: usize = 2;
const POPPED: usize = 3;
const PUSHED: usize = 4;

/// State of a scan. The stack is the linked list from `last_stack` along `stack_prev`.
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

    /// The hint row of the current state.
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

    fn pop(&mut self) {
        let top = self.last_stack;
        self.last_stack = std::mem::replace(&mut self.stack_prev[top], top);
        self.in_hull[top] = false;
        self.phase = POPPED;
    }

    fn push(&mut self, node: usize) {
        self.in_hull[node] = true;
        self.stack_prev[node] = self.last_stack;
        self.last_stack = node;
        self.phase = PUSHED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Stage};

    /// The output of the run, after `check` has accepted it.
    fn hull(points: &[Point]) -> Vec<i8> {
        let mut recorder = GrahamScan.recorder();
        recorder.record::<GrahamScan>(&Points { points: points.into() }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let result = GrahamScan.check(sample.nodes(), &sample.stage(Stage::Input), &sample.stage(Stage::Output));
        assert!(
            result.is_ok() && sample.steps() <= AnyAlgorithm::max_steps(&GrahamScan, sample.nodes()),
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
        assert_eq!(hull(&[[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0], [0.0, 1.0]])[2], 1);
        hull(&[[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [2.0, 0.0]]);
        hull(&[[1.0, 1.0]; 5]);
        assert_eq!(hull(&[[0.0, 0.0], [4.0, 12.0], [1.0, 3.0], [0.0, 0.0]])[1], 1, "a point coincides with the lowest one");
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

    #[test]
    fn options_without_valid_points_are_rejected() {
        let rejected = |options: &[&str]| {
            let parsed = crate::SamplerOptions::parse(options.iter().copied()).expect("option=value");
            GrahamScan.problem_buffer(5, &parsed).err().map(|error| error.to_string())
        };
        assert_eq!(rejected(&["radius=-1", "collineararity_eps=0"]), None);
        assert!(rejected(&["collineararity_eps=11"]).expect("rejected").contains("count as collinear"));
        assert!(rejected(&["radius=0"]).expect("rejected").contains("count as collinear"));
        assert!(rejected(&["radius=1e200"]).expect("rejected").contains("`radius` must be"));
        assert!(rejected(&["collinearity_resampling_attempts=0"]).expect("rejected").contains("must be at least 1"));
    }
}
