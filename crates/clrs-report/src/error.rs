//! Errors of reports.

use std::path::PathBuf;

use clrs_store::StoreError;

/// Why a report cannot be written, or runs cannot be read from a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum ReportError {
    #[error("{}: exists and is not empty", .0.display())]
    Exists(PathBuf),
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: not a file of runs, which a report writes as runs.jsonl", .0.display())]
    NoRuns(PathBuf),
    #[error("{}: has format {format}; this program reads format {supported}", .path.display())]
    Format { path: PathBuf, format: u32, supported: u32 },
    #[error("{}: line {line} is not a run", .path.display())]
    Damaged { path: PathBuf, line: usize },
    #[error("{}: has {runs} runs instead of {expected}", .path.display())]
    Incomplete { path: PathBuf, runs: usize, expected: usize },
    #[error("cannot convert the figure {figure} to PDF: {message}")]
    Pdf { figure: &'static str, message: String },
}
