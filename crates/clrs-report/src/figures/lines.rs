//! What all figures share: a panel per algorithm, a line per column.

use super::axis::Axis;
use super::panel::{Panel, Point, Series};
use super::style::Style;
use crate::results::{Metric, Results};
use crate::runs::ReportRun;
use crate::stats::MeanStddev;

/// A line of a panel.
pub(super) struct Line {
    /// Place, and the value over seeds.
    pub(super) points: Vec<(usize, MeanStddev)>,
    /// Number of finished runs in it.
    pub(super) runs: usize,
}

/// What a line is made from.
pub(super) struct Source<'s> {
    pub(super) algorithm: &'s str,
    pub(super) model: &'s str,
    /// All runs, finished or not.
    pub(super) runs: Vec<&'s ReportRun>,
}

/// Panels, and the legend of their lines.
pub(super) type Panels = (Vec<Panel>, Vec<(String, Style)>);

/// A panel for every algorithm that has a line; every column has one line at most. Horizontal axes follow from all places in a panel,
/// in order.
pub(super) fn panels(
    results: &Results<'_>,
    axis: fn(&[usize]) -> Axis,
    line: &mut dyn FnMut(&Source<'_>) -> Option<Line>,
) -> Panels {
    let styles = Style::of_columns(results);
    let mut is_used = vec![false; results.columns.len()];
    let mut panels = Vec::new();
    for (index, algorithm) in results.algorithms.iter().enumerate() {
        let (mut series, mut places, mut shown, mut known) = (Vec::new(), Vec::new(), 0, 0);
        for (number, column) in results.columns.iter().enumerate() {
            // Of several models, the one that tables show.
            let chosen = results.entry(Metric::Validation, index, column).processor;
            let is_chosen = |model: &&usize| Some(&results.models[**model].processor) == chosen.as_ref();
            let Some(&model) = column.models.iter().find(is_chosen) else { continue };
            let runs = results.cell(index, model).runs.iter().map(|&run| results.runs[run]).collect();
            let source = Source { algorithm: &algorithm.name, model: &column.label, runs };
            known += source.runs.len();
            let Some(Line { points, runs }) = line(&source).filter(|line| !line.points.is_empty()) else { continue };
            shown += runs;
            is_used[number] = true;
            places.extend(points.iter().map(|(place, _)| *place));
            let point = |(place, of): (usize, MeanStddev)| Point { x: place as f64, mean: of.mean, stddev: of.stddev };
            series.push(Series { style: styles[number], points: points.into_iter().map(point).collect() });
        }
        if !series.is_empty() {
            places.sort_unstable();
            places.dedup();
            let note = if shown == known { String::new() } else { format!("{shown} of {known} runs") };
            panels.push(Panel { title: algorithm.name.clone(), note, x: axis(&places), y: Axis::percent(), series });
        }
    }
    let used = results.columns.iter().zip(styles).zip(is_used).filter(|(_, is_used)| *is_used);
    (panels, used.map(|((column, style), _)| (column.label.clone(), style)).collect())
}

/// An axis from zero to the last place.
pub(super) fn from_zero(places: &[usize]) -> Axis {
    Axis::linear(places.last().copied().unwrap_or(1) as f64, 4)
}
