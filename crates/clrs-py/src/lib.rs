//! The extension module `clrs_rs._core`: the Rust libraries for Python.
//!
//! Functions and classes here translate between Python objects and the libraries; the package `clrs_rs` in `python/` adds the
//! names, the containers and the documentation that users see. Three rules hold everywhere:
//!
//! - Work that takes longer than a conversion runs in [`detached`](parallel::detached): without the lock of the interpreter,
//!   safe in forked processes, and with panics turned into exceptions.
//! - Arrays are handed to `NumPy` without copying ([`convert`]).
//! - Errors are those of the libraries, as exceptions of `clrs_rs.errors` ([`error`]).

#![expect(clippy::needless_pass_by_value, reason = "PyO3 converts arguments to owned values")]

mod algorithms;
mod convert;
mod error;
#[cfg(feature = "networks")]
mod model;
#[cfg(feature = "networks")]
mod model_error;
mod parallel;
mod program;
mod samples;
mod sampling;
mod scoring;
mod text;
#[cfg(feature = "networks")]
mod training;
mod transforms;

use pyo3::prelude::*;

/// As in the program `clrs`: small networks allocate as long as they compute.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The Rust engine of `clrs_rs`.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::algorithms::{algorithms, did_you_mean};
    #[cfg(feature = "networks")]
    #[pymodule_export]
    use crate::model::{Model, hint_losses};
    #[pymodule_export]
    use crate::parallel::_panic;
    #[pymodule_export]
    use crate::program::main;
    #[pymodule_export]
    use crate::samples::{Samples, record, run, trace_page};
    #[pymodule_export]
    use crate::sampling::{FixedSet, Stream};
    #[pymodule_export]
    use crate::scoring::{evaluate, evaluate_hints};
    #[pymodule_export]
    use crate::text::{TextGenerator, TextTask, format_text};
    #[cfg(feature = "networks")]
    #[pymodule_export]
    use crate::training::{TrainedModel, Trainer, recipe, recipe_fields, recipes, train};
    #[pymodule_export]
    use crate::transforms::{Chunks, cyclic_permutation};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::parallel::init();
        // The first array loads NumPy's C interface. A Ctrl-C during a later call could interrupt that, which is a panic.
        numpy::get_array_module(module.py())?;
        numpy::PyArray1::<f64>::zeros(module.py(), 0, false);
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
