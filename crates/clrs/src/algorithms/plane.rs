//! Planar geometry: orientation of three points, and convex hulls.

use std::cmp::Ordering;

use crate::algorithm::{CheckFailure, ensure};

/// `[x, y]`.
pub type Point = [f64; 2];

/// Cross product of `b - a` and `c - a`: up to rounding, positive for a left turn and negative for a right turn.
pub fn cross([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point) -> f64 {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/// The sign of the cross product in exact arithmetic.
pub fn exact_turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point) -> Ordering {
    let products = [(ax, by), (-ay, bx), (bx, cy), (-by, cx), (cx, ay), (-cy, ax)];
    // A sum of non-overlapping doubles, in order of increasing magnitude (Shewchuk 1997).
    let mut sum: Vec<f64> = Vec::with_capacity(2 * products.len());
    for (a, b) in products {
        // The fused multiply-add gives the rounding error of the product.
        let product = a * b;
        for mut term in [a.mul_add(b, -product), product] {
            for component in &mut sum {
                (*component, term) = two_sum(*component, term);
            }
            sum.push(term);
        }
    }
    sum.iter().rev().find(|&&component| component != 0.0).map_or(Ordering::Equal, |component| component.total_cmp(&0.0))
}

/// The rounding error of a sum, and the rounded sum.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    ((a - (sum - of_b)) + (b - of_b), sum)
}

/// Distance of two points.
pub fn distance([ax, ay]: Point, [bx, by]: Point) -> f64 {
    ((bx - ax) * (bx - ax) + (by - ay) * (by - ay)).sqrt()
}

/// Lexicographic order. Not `total_cmp`, which distinguishes 0 and -0.
fn lexicographic(a: [f64; 2], b: [f64; 2]) -> Ordering {
    a.partial_cmp(&b).expect("coordinates are finite")
}

/// The lowest point; among several, the leftmost, then the first. It is a corner of the hull.
///
/// # Panics
/// If there are no points.
pub fn lowest(points: &[Point]) -> usize {
    let key = |node: usize| {
        let [x, y] = points[node];
        [y, x]
    };
    (0..points.len()).min_by(|&a, &b| lexicographic(key(a), key(b))).expect("at least one point")
}

/// Accepts the corners of the convex hull, with or without further points on its border. The tolerance of distances is 1e-9 of
/// the extent.
pub fn check_hull(points: &[Point], in_hull: &[bool]) -> Result<(), CheckFailure> {
    let ends = |axis: usize| points.iter().map(move |point| point[axis]);
    let extent = |axis| ends(axis).fold(f64::MIN, f64::max) - ends(axis).fold(f64::MAX, f64::min);
    let slack = 1e-9 * extent(0).max(extent(1));

    let hull = corners(points.to_vec());
    let chosen: Vec<Point> = points.iter().zip(in_hull).filter(|(_, is_in)| **is_in).map(|(point, _)| *point).collect();
    let spanned = corners(chosen);
    for (node, &point) in points.iter().enumerate() {
        ensure(!in_hull[node] || to_border(point, &hull) <= slack, || {
            format!("node {node} is selected, but lies inside the hull")
        })?;
        ensure(encloses(&spanned, point) || to_border(point, &spanned) <= slack, || {
            format!("node {node} lies outside the hull of the selected nodes")
        })?;
    }
    Ok(())
}

/// The corners of the convex hull, counterclockwise (Andrew 1979).
fn corners(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|&a, &b| lexicographic(a, b));
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
        hull.pop(); // the other half starts with this point
    }
    hull
}

/// The sides of a polygon. A polygon with one or two corners has degenerate sides.
fn sides(corners: &[Point]) -> impl Iterator<Item = (Point, Point)> {
    corners.iter().copied().zip(corners.iter().copied().cycle().skip(1))
}

/// Whether a point lies in a non-degenerate convex polygon.
fn encloses(corners: &[Point], point: Point) -> bool {
    corners.len() > 2 && sides(corners).all(|(from, to)| cross(from, to, point) >= 0.0)
}

/// Distance of a point from the border of a polygon.
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
    fn exact_turn_detects_turns_below_the_rounding_error() {
        let (a, b) = ([0.0, 0.0], [1.0, 1.0]);
        let next = 1.0 + f64::EPSILON;
        assert_eq!(exact_turn(a, b, [3.0, 3.0]), Ordering::Equal);
        assert_eq!(exact_turn(a, b, [1.0, next]), Ordering::Greater);
        assert_eq!(exact_turn(a, [next, next], [next * 0.5, 0.5]), Ordering::Less);
        let tenths = ([0.1, 0.3], [0.2, 0.6], [0.3, 0.9]);
        assert_ne!(exact_turn(tenths.0, tenths.1, tenths.2), Ordering::Equal, "tenths are not exact doubles");
    }

    #[test]
    fn check_hull_accepts_corners_with_or_without_further_border_points() {
        let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [2.0, 2.0]];
        let accepts = |nodes: &[usize]| {
            let in_hull: Vec<bool> = (0..square.len()).map(|node| nodes.contains(&node)).collect();
            check_hull(&square, &in_hull).is_ok()
        };
        assert!(accepts(&[0, 1, 2, 3]));
        assert!(accepts(&[0, 1, 2, 3, 4]), "a point on the border");
        assert!(accepts(&[0, 1, 6, 3]), "the other of two equal points");
        assert!(!accepts(&[0, 1, 2, 3, 5]), "a point inside");
        assert!(!accepts(&[0, 2, 3, 4]), "a corner is missing");
        assert!(!accepts(&[]));
    }

    #[test]
    fn check_hull_accepts_degenerate_hulls() {
        let line = [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]];
        assert!(check_hull(&line, &[true, false, true]).is_ok());
        assert!(check_hull(&line, &[true, true, true]).is_ok());
        assert!(check_hull(&line, &[true, true, false]).is_err());
        assert!(check_hull(&[[1.0, 1.0]; 2], &[false, true]).is_ok());
        assert!(check_hull(&[[1.0, 1.0]; 2], &[false, false]).is_err());
    }
}
