//! Tables: scores beside the paper's, counts of wins, other metrics; and their formats.

mod comparison;
mod families;
mod formats;
mod metrics;
mod scores;
mod table;
mod wins;

use crate::results::Results;

pub use formats::Format;
pub(crate) use formats::csv_records;
pub(crate) use table::record;
pub use table::{Row, RowKind, Table, TextCell};

/// All tables of a report.
///
/// ```
/// use clrs_report::results::Results;
/// use clrs_report::tables::{self, Format};
///
/// let tables = tables::all(&Results::new(&[]));
/// assert!(tables[0].to_text(Format::Markdown).starts_with("### Test scores by family"));
/// ```
pub fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables = vec![families::table(results), scores::algorithms(results), wins::table(results)];
    // Runs on other data are not validated on the benchmark.
    if results.runs.iter().any(|run| run.recipe.data.version().is_some()) {
        tables.push(scores::validation(results));
    }
    tables.push(metrics::table(results));
    tables
}
