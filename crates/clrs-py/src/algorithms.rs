//! The algorithms by name: specs and facts.

use clrs::{AnyAlgorithm, Registry, suggest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::spec_to_py;

/// Facts about every algorithm, by name and in the order of dm-clrs: its spec, the names of its sampler options, and the factor
/// on the number of its evaluation samples.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for algorithm in Registry::builtin().iter() {
        let facts = PyDict::new(py);
        facts.set_item("spec", spec_to_py(py, &algorithm.spec().into())?)?;
        facts.set_item("options", algorithm.options().iter().map(|option| option.name).collect::<Vec<_>>())?;
        facts.set_item("eval_multiplier", algorithm.eval_multiplier())?;
        facts.set_item("family", algorithm.family().name())?;
        all.set_item(algorithm.name(), facts)?;
    }
    Ok(all)
}

/// A suggestion, such as "; did you mean `bfs`?", or an empty text.
#[pyfunction]
pub(crate) fn did_you_mean(name: &str, known: Vec<String>) -> String {
    suggest::did_you_mean(suggest::nearest(name, known.iter().map(String::as_str)))
}

/// The algorithm with the given name.
pub(crate) fn find(name: &str) -> Result<&'static dyn AnyAlgorithm, clrs::registry::UnknownAlgorithm> {
    Registry::builtin().find(name)
}
