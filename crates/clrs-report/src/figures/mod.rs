//! Figures: small multiples with a panel per algorithm, drawn as SVG with the same bytes everywhere.

mod axis;
mod curves;
mod figure;
mod hints;
mod lines;
mod panel;
mod sizes;
mod style;
pub(crate) mod svg;

use crate::results::Results;

pub use axis::Axis;
pub use figure::Figure;
pub use panel::Panel;

/// Names of all figures.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    [curves::NAME].into_iter().chain(sizes::FIGURES.iter().map(|figure| figure.name)).chain([hints::NAME])
}

/// All figures that there are results for.
pub fn all(results: &Results<'_>) -> Vec<Figure> {
    let by_size = sizes::FIGURES.iter().map(|figure| figure.figure(results));
    let figures = [curves::figure(results)].into_iter().chain(by_size).chain([hints::figure(results)]);
    figures.filter(|figure| !figure.panels.is_empty()).collect()
}
