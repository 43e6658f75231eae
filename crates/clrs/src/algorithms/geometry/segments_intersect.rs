//! Segment intersection
//!
//! # Idea
//! Two segments cross if each one separates the endpoints of the other. They touch if an endpoint of one lies on the other:
//! collinear with it, and within its bounding box.
//!
//! # One step
//! One endpoint is tested against the other segment: on which side it lies, and whether it lies within the bounding box.
//!
//! # Number of steps
//! 5: the start, then one per endpoint.
//!
//! # Textbook
//! CLRS 3rd ed., section 33.1.
//!
//! # Correctness
//! Whether the segments have a common point, touching included, in exact arithmetic. If an endpoint is so close to the line of
//! the other segment that rounding decides, the result of floating-point arithmetic is accepted as well.
//!
//! # Differences from dm-clrs
//! None. The sampler first draws whether the segments intersect, then rejects segments that do not agree. With
//! `truncate_decimals`, truncation may change whether they intersect.

use std::cmp::Ordering;

use crate::algorithm::{Algorithm, CheckFailure, Family, ensure};
use crate::algorithms::plane::{Point, cross, exact_turn};
use crate::cell::{Graph, Mask, MaskOne, Node, Scalar};
use crate::probes;
use crate::problems::{InvalidProblem, RandomSegments, Segments, ensure_valid, positions};
use crate::recorder::Hints;
use crate::source::Source;

/// Segment intersection; see the [module](self).
pub struct SegmentsIntersect;

probes! {
    SegmentsIntersect;
    input {
        /// position in the list of endpoints, scaled to [0, 1)
        pos: Node<Scalar>,
        /// x coordinate of the endpoint
        x: Node<Scalar>,
        /// y coordinate of the endpoint
        y: Node<Scalar>,
    }
    output {
        /// whether the segments cross or touch
        intersect: Graph<Mask> as i64,
    }
    hint {
        /// first endpoint of the other segment
        i: Node<MaskOne>,
        /// second endpoint of the other segment
        j: Node<MaskOne>,
        /// endpoint being tested
        k: Node<MaskOne>,
        /// cross product, whose sign is the side of the other segment that the endpoint lies on; 0 until tested
        dir: Node<Scalar>,
        /// whether the endpoint lies within the bounding box of the other segment
        on_seg: Node<Mask>,
    }
}

impl Algorithm for SegmentsIntersect {
    const NAME: &'static str = "segments_intersect";
    const SOURCE: Source = Source(include_str!("segments_intersect.rs"));
    const FAMILY: Family = Family::Geometry;
    const EVAL_MULTIPLIER: usize = 64;
    type Problem = Segments;
    type Distribution = RandomSegments;

    fn distribution() -> RandomSegments {
        RandomSegments::default()
    }

    fn input(segments: &Segments) -> Input {
        let points = segments.points();
        Input { pos: positions(4), x: points.map(|[x, _]| x).into(), y: points.map(|[_, y]| y).into() }
    }

    fn problem(input: &Input) -> Result<Segments, InvalidProblem> {
        ensure_valid(input.x.len() == 4, || format!("two segments have 4 endpoints, found {}", input.x.len()))?;
        let point = |node: usize| [input.x[node], input.y[node]];
        Ok(Segments { first: [point(0), point(1)], second: [point(2), point(3)] })
    }

    fn max_steps(_n: usize) -> usize {
        5
    }

    fn run(segments: &Segments, hints: &mut Hints<'_, Self>) -> Output {
        let points = segments.points();
        let mut dir = [0.0; 4];
        let mut on_seg = [false; 4];
        hints.push(Hint { i: 0, j: 0, k: 0, dir: &dir, on_seg: &on_seg });
        for k in 0..4 {
            let [i, j] = other(k);
            (dir[k], on_seg[k]) = locate(&points, k);
            hints.push(Hint { i, j, k, dir: &dir, on_seg: &on_seg });
        }
        Output { intersect: cross_or_touch(dir, on_seg) }
    }

    fn check(segments: &Segments, output: &Output) -> Result<(), CheckFailure> {
        let exact = have_common_point(segments);
        let points = segments.points();
        let located = [0, 1, 2, 3].map(|k| locate(&points, k));
        let rounded = cross_or_touch(located.map(|(dir, _)| dir), located.map(|(_, on_seg)| on_seg));
        ensure(output.intersect == exact || output.intersect == rounded, || {
            format!("the segments {} a point in common", if exact { "have" } else { "do not have" })
        })
    }
}

/// The endpoints of the segment that endpoint `k` does not belong to.
fn other(k: usize) -> [usize; 2] {
    if k < 2 { [2, 3] } else { [0, 1] }
}

/// The side of the other segment that endpoint `k` lies on, and whether it lies within the bounding box of that segment.
fn locate(points: &[Point; 4], k: usize) -> (f64, bool) {
    let [a, b] = other(k).map(|end| points[end]);
    let end = points[k];
    let within = |axis: usize| a[axis].min(b[axis]) <= end[axis] && end[axis] <= a[axis].max(b[axis]);
    (cross(a, end, b), within(0) && within(1))
}

fn cross_or_touch(dir: [f64; 4], on_seg: [bool; 4]) -> bool {
    let opposite = |a: f64, b: f64| (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0);
    let crosses = opposite(dir[0], dir[1]) && opposite(dir[2], dir[3]);
    crosses || (0..4).any(|k| dir[k] == 0.0 && on_seg[k])
}

/// Exact test: segments have a common point if their bounding boxes do and neither lies strictly on one side of the other.
fn have_common_point(Segments { first: [a, b], second: [c, d] }: &Segments) -> bool {
    let boxes_meet = |axis: usize| {
        let [a, b, c, d] = [a, b, c, d].map(|end| end[axis]);
        a.min(b).max(c.min(d)) <= a.max(b).min(c.max(d))
    };
    let on_one_side = |a: &Point, b: &Point, c: &Point, d: &Point| {
        let [c, d] = [c, d].map(|end| exact_turn(*a, *b, *end));
        c == d && c != Ordering::Equal
    };
    boxes_meet(0) && boxes_meet(1) && !on_one_side(a, b, c, d) && !on_one_side(c, d, a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyAlgorithm, Cells, Stage};

    /// The output of the run, and whether `check` rejects the opposite.
    fn answer(first: [Point; 2], second: [Point; 2]) -> (bool, bool) {
        let mut recorder = SegmentsIntersect.recorder();
        recorder.record::<SegmentsIntersect>(&Segments { first, second }).expect("a valid problem");
        let sample = recorder.last().expect("a recorded sample");
        let Some(Cells::Class(&[answer])) = sample.get("intersect") else { panic!("`intersect` is a mask") };
        let accepts = |answer| SegmentsIntersect.check(4, &sample.stage(Stage::Input), &[Cells::Class(&[answer])]).is_ok();
        assert!(accepts(answer));
        (answer == 1, !accepts(1 - answer))
    }

    /// The cases of CLRS figure 33.3: crossing, apart, touching, collinear.
    #[test]
    fn intersections_and_touches_are_detected() {
        let flat = [[0.0, 0.0], [4.0, 0.0]];
        assert_eq!(answer(flat, [[1.0, -1.0], [2.0, 3.0]]), (true, true), "crosses");
        assert_eq!(answer(flat, [[1.0, 1.0], [2.0, 3.0]]), (false, true), "on one side");
        assert_eq!(answer(flat, [[5.0, -1.0], [5.0, 1.0]]), (false, true), "separated by the line, but not by the segment");
        assert_eq!(answer(flat, [[1.0, 0.0], [2.0, 3.0]]), (true, true), "touches");
        assert_eq!(answer(flat, [[4.0, 0.0], [5.0, 0.0]]), (true, true), "collinear, with a common endpoint");
        assert_eq!(answer(flat, [[5.0, 0.0], [6.0, 0.0]]), (false, true), "collinear and apart");
        assert_eq!(answer(flat, [[1.0, 0.0], [1.0, 0.0]]), (true, true), "a single point on the segment");
        assert_eq!(answer(flat, [[1.0, 1.0], [1.0, 1.0]]), (false, true), "a single point off the segment");
    }

    /// In exact tenths, the third point lies between the first two. As doubles it is off the line by less than the
    /// rounding error.
    #[test]
    fn check_accepts_both_outputs_where_rounding_decides() {
        let [from, to, near] = [1.0, 5.0, 2.0].map(|times| [0.1 * times, 0.1 * 3.0 * times]);
        assert_eq!(exact_turn(from, to, near), Ordering::Less);
        assert_eq!(answer([from, to], [near, [3.0, 0.0]]), (true, false));
    }

    #[test]
    fn ranges_without_intersections_are_rejected() {
        let rejected = |options: [&str; 2]| {
            SegmentsIntersect
                .problem_buffer(4, &crate::SamplerOptions::parse(options).expect("option=value"))
                .err()
                .map(|error| error.to_string())
        };
        assert!(rejected(["low=1", "high=1"]).expect("rejected").starts_with("`low` (1) must be less than `high` (1)"));
        assert!(rejected(["low=0", "high=1e-200"]).expect("rejected").contains("too narrow"));
        assert_eq!(rejected(["low=-3", "high=5"]), None);
    }
}
