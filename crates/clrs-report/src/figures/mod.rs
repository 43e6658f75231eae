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
pub(crate) const NAMES: [&str; 3] = [curves::NAME, sizes::NAME, hints::NAME];

/// All figures that there are results for.
pub fn all(results: &Results<'_>) -> Vec<Figure> {
    let figures = [curves::figure(results), sizes::figure(results), hints::figure(results)];
    figures.into_iter().filter(|figure| !figure.panels.is_empty()).collect()
}
