//! Tables and figures from evaluated runs of the CLRS benchmark, beside the paper's.
//!
//! Runs are read from their directories ([`ReportRun`]), grouped by model and algorithm over seeds ([`results::Results`]), and become
//! tables, figures and one HTML page ([`Report`]). Everything works on partial sweeps: what is missing is marked and counted. The same
//! runs give the same bytes.
//!
//! | module | responsibility |
//! |---|---|
//! | [`paper`] | the paper's results |
//! | [`stats`], [`win_tie_loss`] | means, deviations and differences; wins, ties and losses |
//! | [`models`] | which runs are of one model |
//! | [`summary`] | the short summary of `clrs eval` |
//! | [`provenance`], [`runs`] | what is in a run directory |
//! | [`archive`] | runs as one file, without their directories |
//! | [`results`] | runs by model and algorithm |
//! | [`tables`] | tables and their formats |
//! | [`figures`], [`pdf`] | figures as SVG and PDF |
//! | [`report`] | all of it, as a page and files |

pub mod archive;
pub mod error;
pub mod figures;
mod files;
mod html;
pub mod models;
pub mod paper;
#[cfg(feature = "pdf")]
pub mod pdf;
pub mod provenance;
pub mod report;
pub mod results;
pub mod runs;
pub mod stats;
pub mod summary;
pub mod tables;
pub mod win_tie_loss;

pub use error::ReportError;
pub use report::Report;
pub use runs::ReportRun;
