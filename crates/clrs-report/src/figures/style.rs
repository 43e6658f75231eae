//! Colors, dashes and markers of models: the paper's colors, and readable without color.

use super::svg::number;
use crate::paper::PaperModel;
use crate::results::{Column, Results};

/// How the line of a model is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// Class, by which a page can choose another color.
    pub(super) class: &'static str,
    /// Color of line, marker and band.
    pub(super) color: &'static str,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub(super) dashes: &'static str,
    marker: Marker,
    /// Variants of a model have its color and hollow markers.
    is_hollow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Down,
}

const fn style(class: &'static str, color: &'static str, dashes: &'static str, marker: Marker) -> Style {
    Style { class, color, dashes, marker, is_hollow: false }
}

/// Models other than the paper's, in the order of columns; then again.
const OTHERS: [Style; 5] = [
    style("s-brown", "#8c564b", "", Marker::Diamond),
    style("s-cyan", "#0f9fb0", "5 2", Marker::Circle),
    style("s-pink", "#d45fb0", "1.5 2", Marker::Square),
    style("s-olive", "#8f9018", "8 2 2 2", Marker::Triangle),
    style("s-grey", "#6b7280", "3 2", Marker::Down),
];

impl Style {
    /// Styles of all columns.
    pub(super) fn of_columns(results: &Results<'_>) -> Vec<Style> {
        let mut others = OTHERS.iter().cycle();
        let mut seen: Vec<PaperModel> = Vec::new();
        let style = |column: &Column| {
            let Some(model) = column.paper else { return *others.next().expect("a cycle does not end") };
            let is_hollow = seen.contains(&model);
            seen.push(model);
            Style { is_hollow, ..Style::of_paper(model) }
        };
        results.columns.iter().map(style).collect()
    }

    fn of_paper(model: PaperModel) -> Style {
        match model {
            PaperModel::Mpnn => style("s-red", "#d62728", "", Marker::Circle),
            PaperModel::Pgn => style("s-purple", "#8a56c2", "7 2", Marker::Square),
            PaperModel::DeepSets => style("s-blue", "#1f77b4", "2 2", Marker::Triangle),
            PaperModel::Gat => style("s-orange", "#f07f10", "7 2 2 2", Marker::Diamond),
            PaperModel::Memnet => style("s-green", "#2ca02c", "4 2", Marker::Down),
        }
    }

    /// The attributes of the line.
    pub(super) fn stroke(&self) -> String {
        let Style { class, color, dashes, .. } = self;
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        format!("class=\"{class}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.4\" stroke-linejoin=\"round\"{dashes}")
    }

    /// A marker at a point.
    pub(super) fn marker(&self, x: f64, y: f64) -> String {
        let Style { class, color, marker, is_hollow, .. } = self;
        let (fill, class) = if *is_hollow { ("#ffffff", format!("{class} hollow")) } else { (*color, format!("{class} solid")) };
        let paint = format!("class=\"{class}\" fill=\"{fill}\" stroke=\"{color}\" stroke-width=\"1\"");
        let polygon = |points: &[(f64, f64)]| {
            let points: Vec<String> = points.iter().map(|(dx, dy)| format!("{},{}", number(x + dx), number(y + dy))).collect();
            format!("<polygon {paint} points=\"{}\"/>", points.join(" "))
        };
        match marker {
            Marker::Circle => format!("<circle {paint} cx=\"{}\" cy=\"{}\" r=\"2.2\"/>", number(x), number(y)),
            Marker::Square => polygon(&[(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)]),
            Marker::Triangle => polygon(&[(0.0, -2.6), (2.5, 1.9), (-2.5, 1.9)]),
            Marker::Diamond => polygon(&[(0.0, -2.9), (2.6, 0.0), (0.0, 2.9), (-2.6, 0.0)]),
            Marker::Down => polygon(&[(0.0, 2.6), (2.5, -1.9), (-2.5, -1.9)]),
        }
    }
}
