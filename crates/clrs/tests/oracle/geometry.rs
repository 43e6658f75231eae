use clrs::problems::{Points, Segments};
use clrs::{Cells, Problem};

pub(crate) fn is_correct(algorithm: &str, problem: &str, outputs: &[Cells<'_>]) -> Option<bool> {
    match (algorithm, outputs) {
        ("segments_intersect", &[Cells::Class(&[output])]) => {
            Some(intersect(&Segments::from_json(problem).expect("a sampled problem")) == (output == 1))
        }
        ("graham_scan" | "jarvis_march", &[Cells::Class(in_hull)]) => {
            Some(corners(&Points::from_json(problem).expect("a sampled problem").points) == in_hull)
        }
        _ => None,
    }
}

/// Solves for the intersection of the two lines. Sampled segments are never parallel.
fn intersect(Segments { first: [a, b], second: [c, d] }: &Segments) -> bool {
    let minus = |p: &[f64; 2], q: &[f64; 2]| [p[0] - q[0], p[1] - q[1]];
    let determinant = |u: [f64; 2], v: [f64; 2]| u[0] * v[1] - u[1] * v[0];
    let (along_first, along_second, between) = (minus(b, a), minus(d, c), minus(c, a));
    let denominator = determinant(along_first, along_second);
    let fraction = |other| determinant(between, other) / denominator;
    (0.0..=1.0).contains(&fraction(along_second)) && (0.0..=1.0).contains(&fraction(along_first))
}

/// A point is not a corner if a triangle of others contains it (Carathéodory). No three sampled points are collinear.
fn corners(points: &[[f64; 2]]) -> Vec<i8> {
    let n = points.len();
    let left = |a: usize, b: usize, c: usize| {
        let ([ax, ay], [bx, by], [cx, cy]) = (points[a], points[b], points[c]);
        ax * by + bx * cy + cx * ay > ay * bx + by * cx + cy * ax
    };
    let contains = |p: usize, [a, b, c]: [usize; 3]| left(a, b, p) == left(b, c, p) && left(b, c, p) == left(c, a, p);
    let triangles = || (0..n).flat_map(move |a| (0..a).flat_map(move |b| (0..b).map(move |c| [a, b, c])));
    (0..n).map(|p| i8::from(!triangles().any(|corners| !corners.contains(&p) && contains(p, corners)))).collect()
}
