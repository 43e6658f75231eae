//! The program `clrs`.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs the program `clrs` and returns its exit code. The first argument is the path that starts the program.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| clrs_cli::run(arguments.first().map(PathBuf::from), arguments))
}
