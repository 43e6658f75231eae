//! Points of the plane: which way three of them turn, and what their convex hull is.

use std::cmp::Ordering;

use crate::algorithm::{CheckFailure, ensure};

/// `[x, y]`.
pub type Point = [f64; 2];

/// Above 0 where the way from `a` over `b` to `c` turns left, below where it turns right, but for rounding.
pub fn cross([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point) -> f64 {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/// The sign of the cross product in exact arithmetic.
pub fn exact_turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point) -> Ordering {
    let products = [(ax, by), (-ay, bx), (bx, cy), (-by, cx), (cx, ay), (-cy, ax)];
    // A sum of doubles of which none overlaps the next, from the smallest to the largest (Shewchuk 1997).
    let mut sum: Vec<f64> = Vec::with_capacity(2 * products.len());
    for (a, b) in products {
        // One rounding instead of two gives what the other rounding took off.
        let product = a * b;
        for mut term in [a.mul_add(b, -product), product] {
            for part in &mut sum {
                (*part, term) = two_sum(*part, term);
            }
            sum.push(term);
        }
    }
    sum.iter().rev().find(|&&part| part != 0.0).map_or(Ordering::Equal, |part| part.total_cmp(&0.0))
}

/// What rounding takes off a sum, and the rounded sum.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    ((a - (sum - of_b)) + (b - of_b), sum)
}

/// How far apart two points are.
pub fn distance([ax, ay]: Point, [bx, by]: Point) -> f64 {
    ((bx - ax) * (bx - ax) + (by - ay) * (by - ay)).sqrt()
}

/// By the one number, then by the other. Not `total_cmp`, for which 0 and -0 differ.
fn by_numbers(a: [f64; 2], b: [f64; 2]) -> Ordering {
    a.partial_cmp(&b).expect("coordinates are finite")
}

/// The lowest point, of several the leftmost, of several the first: a corner of the hull.
///
/// # Panics
/// If there are no points.
pub fn lowest(points: &[Point]) -> usize {
    let key = |node: usize| {
        let [x, y] = points[node];
        [y, x]
    };
    (0..points.len()).min_by(|&a, &b| by_numbers(key(a), key(b))).expect("there is a point")
}

/// Accepts the corners of the convex hull, with or without other points of its border. As costs do, distances count from
/// 1e-9 of the whole extent on.
pub fn check_hull(points: &[Point], in_hull: &[bool]) -> Result<(), CheckFailure> {
    let ends = |axis: usize| points.iter().map(move |point| point[axis]);
    let extent = |axis| ends(axis).fold(f64::MIN, f64::max) - ends(axis).fold(f64::MAX, f64::min);
    let slack = 1e-9 * extent(0).max(extent(1));

    let hull = corners(points.to_vec());
    let chosen: Vec<Point> = points.iter().zip(in_hull).filter(|(_, is_in)| **is_in).map(|(point, _)| *point).collect();
    let spanned = corners(chosen);
    for (node, &point) in points.iter().enumerate() {
        ensure(!in_hull[node] || to_border(point, &hull) <= slack, || format!("node {node} is in, but it lies inside the hull"))?;
        ensure(encloses(&spanned, point) || to_border(point, &spanned) <= slack, || {
            format!("node {node} lies outside the hull of the nodes that are in")
        })?;
    }
    Ok(())
}

/// The corners of the convex hull, anticlockwise (Andrew 1979).
fn corners(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|&a, &b| by_numbers(a, b));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut hull: Vec<Point> = Vec::with_capacity(points.len() + 1);
    let backwards: Vec<Point> = points.iter().rev().copied().collect();
    for half in [points, backwards] {
        let start = hull.len();
        for point in half {
            while hull.len() >= start + 2 && cross(hull[hull.len() - 2], hull[hull.len() - 1], point) <= 0.0 {
                hull.pop();
            }
            hull.push(point);
        }
        hull.pop(); // the other half starts with it
    }
    hull
}

/// The sides of a polygon; one corner or two have a side that is a point or a line there and back.
fn sides(corners: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// Whether a point lies in a convex polygon that has an inside.
fn encloses(corners: &[Point], point: Point) -> bool {
    corners.len() > 2 && sides(corners).all(|(from, to)| cross(from, to, point) >= 0.0)
}

/// How far a point is from the border of a polygon.
fn to_border(point: Point, corners: &[Point]) -> f64 {
    let to_side = |(from, to): (Point, Point)| {
        let [x, y] = [to[0] - from[0], to[1] - from[1]];
        let square = x * x + y * y;
        let along = ((point[0] - from[0]) * x + (point[1] - from[1]) * y) / square;
        let along = if square == 0.0 { 0.0 } else { along.clamp(0.0, 1.0) };
        distance(point, [from[0] + along * x, from[1] + along * y])
    };
    sides(corners).map(to_side).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_exact_where_rounding_would_see_a_straight_line() {
        let (a, b) = ([0.0, 0.0], [1.0, 1.0]);
        let next = 1.0 + f64::EPSILON;
        assert_eq!(exact_turn(a, b, [3.0, 3.0]), Ordering::Equal);
        assert_eq!(exact_turn(a, b, [1.0, next]), Ordering::Greater);
        assert_eq!(exact_turn(a, [next, next], [next * 0.5, 0.5]), Ordering::Less);
        let tenths = ([0.1, 0.3], [0.2, 0.6], [0.3, 0.9]);
        assert_ne!(exact_turn(tenths.0, tenths.1, tenths.2), Ordering::Equal, "no tenth is a double");
    }

    #[test]
    fn hulls_are_corners_with_or_without_other_points_of_the_border() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [2.0, 2.0]];
        let accepts = |nodes: &[usize]| {
            let in_hull: Vec<bool> = (0..square.len()).map(|node| nodes.contains(&node)).collect();
            check_hull(&square, &in_hull).is_ok()
        };
        assert!(accepts(&[0, 1, 2, 3]));
        assert!(accepts(&[0, 1, 2, 3, 4]), "a point of the border");
        assert!(accepts(&[0, 1, 6, 3]), "the other of two equal points");
        assert!(!accepts(&[0, 1, 2, 3, 5]), "a point inside");
        assert!(!accepts(&[0, 2, 3, 4]), "a corner is missing");
        assert!(!accepts(&[]));
    }

    #[test]
    fn hulls_of_a_line_and_of_a_point_have_two_corners_and_one() {
        let line = [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]];
        assert!(check_hull(&line, &[true, false, true]).is_ok());
        assert!(check_hull(&line, &[true, true, true]).is_ok());
        assert!(check_hull(&line, &[true, true, false]).is_err());
        assert!(check_hull(&[[1.0, 1.0]; 2], &[false, true]).is_ok());
        assert!(check_hull(&[[1.0, 1.0]; 2], &[false, false]).is_err());
    }
}
