//! Fixed sets and streams of samples.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clrs::sampling::{self, Sampler};
use clrs::{RandomState, SamplerOptions};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::find;
use crate::convert::{feedback_to_py, sampler_options};
use crate::error::Error;
use crate::parallel::detached;

/// Key and position of `numpy.random.RandomState.get_state()`.
type State<'py> = (PyReadonlyArray1<'py, u32>, usize);

fn random_state((key, position): &State<'_>) -> Result<RandomState, Error> {
    let key = key.as_slice().map_err(|error| Error::Internal(error.to_string()))?;
    RandomState::from_state(key, *position).ok_or_else(|| Error::Internal("not a state of MT19937".into()))
}

fn state_to_py<'py>(py: Python<'py>, random: &RandomState) -> (Bound<'py, PyArray1<u32>>, usize) {
    let (key, position) = random.state();
    (PyArray1::from_slice(py, key), position)
}

/// A sampler that continues from a state of its random stream.
fn sampler(algorithm: &str, size: usize, random: RandomState, options: &SamplerOptions) -> Result<Sampler, Error> {
    let mut sampler = Sampler::new(find(algorithm)?, size, 0, options)?;
    *sampler.random() = random;
    Ok(sampler)
}

/// Locks without the interpreter's lock only: a thread that has one never waits for the other.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic interrupts is discarded by the next call: a random stream is valid in any state.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fixed number of samples, drawn once.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct FixedSet(Mutex<sampling::FixedSet>);

#[pymethods]
impl FixedSet {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes a borrowed array by value")]
    fn new(
        py: Python<'_>,
        algorithm: &str,
        length: usize,
        num_samples: usize,
        state: State<'_>,
        options: &Bound<'_, PyDict>,
    ) -> Result<FixedSet, Error> {
        let sampler = sampler(algorithm, length, random_state(&state)?, &sampler_options(options)?)?;
        let set = detached(py, || Ok(sampling::FixedSet::new(sampler, num_samples)?))?;
        Ok(FixedSet(Mutex::new(set)))
    }

    /// All samples.
    fn all<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Error> {
        let batch = detached(py, || Ok(lock(&self.0).all()?))?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// `batch_size` samples, drawn with replacement.
    fn next<'py>(&self, py: Python<'py>, batch_size: usize) -> Result<Bound<'py, PyAny>, Error> {
        let batch = detached(py, || Ok(lock(&self.0).next(batch_size)?))?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// Largest number of steps of any sample.
    #[getter]
    fn max_steps(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.0).trajectories().max_steps())
    }

    /// Key and position of the random stream.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<u32>>, usize) {
        let random = py.detach(|| lock(&self.0).random().clone());
        state_to_py(py, &random)
    }

    #[setter]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes a borrowed array by value")]
    fn set_state(&self, py: Python<'_>, state: State<'_>) -> Result<(), Error> {
        let random = random_state(&state)?;
        py.detach(|| *lock(&self.0).random() = random);
        Ok(())
    }
}

/// An endless stream of samples.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct Stream(Mutex<sampling::Stream>);

#[pymethods]
impl Stream {
    /// Pads batches to the longest sample so far, and to at least `max_steps` steps; with `None`, to their own longest.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes a borrowed array by value")]
    fn new(
        algorithm: &str,
        length: usize,
        state: State<'_>,
        options: &Bound<'_, PyDict>,
        max_steps: Option<usize>,
    ) -> Result<Stream, Error> {
        let sampler = sampler(algorithm, length, random_state(&state)?, &sampler_options(options)?)?;
        Ok(Stream(Mutex::new(sampling::Stream::with_max_steps(sampler, max_steps))))
    }

    /// Draws 1000 samples, discards them, and pads batches to the longest from then on.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes a borrowed array by value")]
    fn track_max_steps(
        py: Python<'_>,
        algorithm: &str,
        length: usize,
        state: State<'_>,
        options: &Bound<'_, PyDict>,
    ) -> Result<Stream, Error> {
        let sampler = sampler(algorithm, length, random_state(&state)?, &sampler_options(options)?)?;
        let stream = detached(py, || Ok(sampling::Stream::track_max_steps(sampler)?))?;
        Ok(Stream(Mutex::new(stream)))
    }

    /// The next `batch_size` samples.
    fn next<'py>(&self, py: Python<'py>, batch_size: usize) -> Result<Bound<'py, PyAny>, Error> {
        let batch = detached(py, || Ok(lock(&self.0).next(batch_size)?))?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// Number of steps that batches are padded to at least.
    #[getter]
    fn max_steps(&self, py: Python<'_>) -> Option<usize> {
        py.detach(|| lock(&self.0).max_steps())
    }

    /// Key and position of the random stream.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<u32>>, usize) {
        let random = py.detach(|| lock(&self.0).random().clone());
        state_to_py(py, &random)
    }

    #[setter]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 passes a borrowed array by value")]
    fn set_state(&self, py: Python<'_>, state: State<'_>) -> Result<(), Error> {
        let random = random_state(&state)?;
        py.detach(|| *lock(&self.0).random() = random);
        Ok(())
    }
}
