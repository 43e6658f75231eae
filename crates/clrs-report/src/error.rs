//! Errors of reports.

use std::path::PathBuf;

use clrs_store::StoreError;

/// Why a report cannot be written.
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
    #[error("cannot convert the figure {figure} to PDF: {message}")]
    Pdf { figure: &'static str, message: String },
}
