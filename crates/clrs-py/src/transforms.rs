//! Transforms of arrays and batches.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use clrs::transform::{self, Chunk};
use clrs::{ArrayData, Batch};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::{DataPoints, Lengths, array_from_py, array_to_py, batch, data_points_to_py};
use crate::error::Error;
use crate::parallel::detached;

/// The one-hot cycle and the mask of the first node of predecessors in a linear order.
#[pyfunction]
pub(crate) fn cyclic_permutation<'py>(pointers: &Bound<'py, PyAny>) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>), Error> {
    let py = pointers.py();
    let invalid = || Error::DataPoint { name: "pointers".into(), reason: "a pointer is not a node".into() };
    let mut array = array_from_py("pointers", pointers)?;
    if !matches!(array.data, ArrayData::I64(_)) {
        #[expect(clippy::cast_possible_truncation, reason = "compared afterwards")]
        let node = |&value: &f64| (value as i64 as f64 == value).then_some(value as i64);
        array.data = ArrayData::I64(array.to_f64().iter().map(node).collect::<Option<_>>().ok_or_else(invalid)?);
    }
    let (cycle, first) = detached(py, || transform::cyclic_permutation(&array).ok_or_else(invalid))?;
    Ok((array_to_py(py, cycle), array_to_py(py, first)))
}

/// Cuts batches, which are pushed one by one, into chunks.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct Chunks {
    chunks: Mutex<transform::Chunks<Queue>>,
    queue: Queue,
}

/// Batches that no chunk has needed yet.
#[derive(Clone, Default)]
struct Queue(Arc<Mutex<VecDeque<Batch>>>);

impl Queue {
    fn push(&self, batch: Batch) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(batch);
    }
}

impl Iterator for Queue {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Inputs, hints, `is_first`, `is_last` and outputs of a chunk.
type Parts<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyList>);

#[pymethods]
impl Chunks {
    #[new]
    fn new(chunk_length: usize) -> Result<Chunks, Error> {
        let queue = Queue::default();
        Ok(Chunks { chunks: Mutex::new(transform::Chunks::new(queue.clone(), chunk_length)?), queue })
    }

    /// Adds a batch.
    fn push(&self, inputs: DataPoints, hints: DataPoints, outputs: DataPoints, lengths: Lengths) -> Result<(), Error> {
        self.queue.push(batch(inputs, hints, outputs, lengths.0)?);
        Ok(())
    }

    /// The next chunk, or `None` if it needs more batches.
    fn next<'py>(&self, py: Python<'py>) -> Result<Option<Parts<'py>>, Error> {
        let next = || Ok(self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next()?);
        detached(py, next)?.map(|chunk| Ok(chunk_to_py(py, chunk)?)).transpose()
    }
}

fn chunk_to_py(py: Python<'_>, chunk: Chunk) -> PyResult<Parts<'_>> {
    let [inputs, hints, outputs] = data_points_to_py(py, &chunk.spec, chunk.arrays)?;
    Ok((inputs, hints, array_to_py(py, chunk.is_first), array_to_py(py, chunk.is_last), outputs))
}
