//! A panel: axes, and a line with its spread for each model.

use std::fmt::Write;

use super::axis::Axis;
use super::style::Style;
use super::svg::{Anchor, number, path, text, text_width};

/// One of the small charts of a figure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Panel {
    /// Title, usually an algorithm.
    pub title: String,
    /// What is missing: `11 of 15 runs`.
    pub note: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

/// A line with its spread.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) style: Style,
    pub(super) points: Vec<Point>,
}

/// Mean and standard deviation over seeds at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) mean: f64,
    pub(super) stddev: Option<f64>,
}

pub(super) const WIDTH: f64 = 216.0;
pub(super) const HEIGHT: f64 = 150.0;
/// Space for the title above the axes, for labels to the left and below, and for half a label to the right.
const TOP: f64 = 24.0;
const LEFT: f64 = 30.0;
const BOTTOM: f64 = 22.0;
const RIGHT: f64 = 14.0;

/// Most points of a line: a panel has few pixels.
const MAX_POINTS: usize = 96;
/// Markers of a line that has more points than these.
const MARKERS: usize = 6;
const MAX_MARKED: usize = 12;

impl Panel {
    /// The panel's elements, in a box of [`WIDTH`] by [`HEIGHT`].
    pub(super) fn draw(&self) -> String {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        let x = |value: f64| LEFT + width * self.x.share(value);
        let y = |value: f64| TOP + height * (1.0 - self.y.share(value));
        let mut out = text(LEFT, 12.0, Anchor::Start, "ink", &self.title);
        if !self.note.is_empty() {
            // Below the title if both do not fit into its line; lines rarely reach the top there.
            let fits = text_width(&self.title) + text_width(&self.note) < width - 6.0;
            out += &text(WIDTH - RIGHT, if fits { 12.0 } else { TOP + 10.0 }, Anchor::End, "muted", &self.note);
        }
        let line = |class: &str, color: &str, from: (f64, f64), to: (f64, f64)| {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
            format!(
                "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{color}\" stroke-width=\"0.75\"/>"
            )
        };
        for (value, label) in &self.y.ticks {
            out += &line("grid", "#e3e6ea", (LEFT, y(*value)), (WIDTH - RIGHT, y(*value)));
            out += &text(LEFT - 5.0, y(*value) + 3.8, Anchor::End, "muted", label);
        }
        let bottom = HEIGHT - BOTTOM;
        for (value, label) in &self.x.ticks {
            out += &line("axis", "#8a929c", (x(*value), bottom), (x(*value), bottom + 3.0));
            out += &text(x(*value), bottom + 14.5, Anchor::Middle, "muted", label);
        }
        out += &line("axis", "#8a929c", (LEFT, bottom), (WIDTH - RIGHT, bottom));
        let thinned: Vec<(Style, Vec<Point>)> = self.series.iter().map(|of| (of.style, thin(&of.points))).collect();
        // Bands first: no line is below a band.
        for (style, points) in &thinned {
            out += &band(*style, points, &x, &y);
        }
        for (style, points) in &thinned {
            let places: Vec<(f64, f64)> = points.iter().map(|point| (x(point.x), y(point.mean))).collect();
            let _ = write!(out, "<path {} d=\"{}\"/>", style.stroke(), path(&places));
        }
        for (index, (style, points)) in thinned.iter().enumerate() {
            for point in marked(points, index, thinned.len()) {
                out += &style.marker(x(point.x), y(point.mean));
            }
        }
        out
    }
}

/// The spread of a line: one standard deviation up and down, within the axis.
fn band(style: Style, points: &[Point], x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let spread: Vec<(f64, f64, f64)> = points.iter().filter_map(|point| Some((x(point.x), point.mean, point.stddev?))).collect();
    if spread.is_empty() {
        return String::new();
    }
    if let [(x, mean, stddev)] = spread[..] {
        let bar = path(&[(x, y(mean - stddev)), (x, y(mean + stddev))]);
        return format!(
            "<path class=\"{}\" stroke=\"{}\" stroke-width=\"1\" fill=\"none\" d=\"{bar}\"/>",
            style.class, style.color
        );
    }
    let upper = spread.iter().map(|&(x, mean, stddev)| (x, y(mean + stddev)));
    let lower = spread.iter().rev().map(|&(x, mean, stddev)| (x, y(mean - stddev)));
    let outline = path(&upper.chain(lower).collect::<Vec<_>>());
    // The outline keeps overlapping bands apart.
    let Style { class, color, .. } = style;
    format!(
        "<path class=\"{class} band\" fill=\"{color}\" fill-opacity=\"0.15\" stroke=\"{color}\" stroke-opacity=\"0.35\" \
         stroke-width=\"0.5\" d=\"{outline}z\"/>"
    )
}

/// At most [`MAX_POINTS`] points: means of neighbors.
fn thin(points: &[Point]) -> Vec<Point> {
    let size = points.len().div_ceil(MAX_POINTS).max(1);
    let mean = |of: &[Point], value: fn(&Point) -> f64| of.iter().map(value).sum::<f64>() / of.len() as f64;
    let point = |of: &[Point]| Point {
        x: mean(of, |point| point.x),
        mean: mean(of, |point| point.mean),
        stddev: of.iter().map(|point| point.stddev).sum::<Option<f64>>().map(|sum| sum / of.len() as f64),
    };
    points.chunks(size).map(point).collect()
}

/// The points with a marker: all of few, or some of many, at other places than those of other lines.
fn marked(points: &[Point], index: usize, lines: usize) -> Vec<Point> {
    if points.len() <= MAX_MARKED {
        return points.to_vec();
    }
    let distance = points.len() / MARKERS;
    let first = distance * (2 * index + 1) / (2 * lines);
    points.iter().copied().skip(first).step_by(distance.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_many_points_keeps_its_means() {
        let points: Vec<Point> = (0..1000).map(|step| Point { x: f64::from(step), mean: 0.5, stddev: Some(0.1) }).collect();
        let thinned = thin(&points);
        assert!(thinned.len() <= MAX_POINTS && thinned.len() > MAX_POINTS / 2);
        assert!(thinned.iter().all(|point| (point.mean - 0.5).abs() < 1e-12 && (point.stddev.expect("one") - 0.1).abs() < 1e-12));
        assert_eq!(thin(&points[..5]), points[..5]);
    }
}
