//! Fixed sets and streams of samples.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clrs::sampling::{self, Sampler};
use clrs::{Batch, RandomState};
use clrs_store::memory::SampleMemory;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::algorithms::find;
use crate::convert::{feedback_to_py, sampler_options};
use crate::error::Error;
use crate::parallel::{detached, interruptible};

/// Key and position of `numpy.random.RandomState.get_state()`.
type State<'py> = (PyReadonlyArray1<'py, u32>, usize);

fn random_state((key, position): &State<'_>) -> Result<RandomState, Error> {
    let key = key.as_slice().map_err(|error| Error::Internal(error.to_string()))?;
    RandomState::from_state(key, *position).ok_or_else(|| Error::Internal("not a state of MT19937".into()))
}

/// As [`State`], to Python.
type NewState<'py> = (Bound<'py, PyArray1<u32>>, usize);

/// The class, its arguments, and a state to set afterwards.
type Pickled<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>, Option<NewState<'py>>);

fn state_to_py<'py>(py: Python<'py>, random: &RandomState) -> NewState<'py> {
    let (key, position) = random.state();
    (PyArray1::from_slice(py, key), position)
}

/// Locks without the interpreter's lock only: a thread that has one never waits for the other.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic interrupts is discarded by the next call: a random stream is valid in any state.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fixed number of samples, drawn once. Pickles as what it was drawn from, and is drawn again.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct FixedSet {
    set: Mutex<sampling::FixedSet>,
    origin: Origin,
    num_samples: usize,
}

/// Rejects a number of samples that would not fit into memory.
pub(crate) fn ensure_set_fits(
    py: Python<'_>,
    algorithm: &str,
    size: usize,
    num_samples: usize,
    options: &Bound<'_, PyDict>,
) -> Result<(), Error> {
    let options = &sampler_options(options)?;
    let memory = SampleMemory { algorithm: find(algorithm)?, size, options };
    detached(py, || Ok(memory.ensure_recordings_fit(num_samples as u128)?))
}

/// What the samples of a set or a stream are drawn from.
struct Origin {
    algorithm: String,
    length: usize,
    random: RandomState,
    options: Py<PyDict>,
}

impl Origin {
    fn new(algorithm: &str, length: usize, state: &State<'_>, options: &Bound<'_, PyDict>) -> Result<Origin, Error> {
        let options = options.copy()?.unbind();
        Ok(Origin { algorithm: algorithm.into(), length, random: random_state(state)?, options })
    }

    /// Rejects a batch that would not fit into memory as dense arrays, padded to at least `min_steps` steps.
    fn ensure_batch_fits(&self, py: Python<'_>, batch_size: usize, min_steps: usize) -> Result<(), Error> {
        // The estimate takes longer than a usual batch.
        let rounds = min_steps / self.length.saturating_pow(2);
        if self.is_quick(batch_size) && self.is_quick(batch_size.saturating_mul(rounds)) {
            return Ok(());
        }
        let options = &sampler_options(self.options.bind(py))?;
        let memory = SampleMemory { algorithm: find(&self.algorithm)?, size: self.length, options };
        detached(py, || Ok(memory.ensure_arrays_fit(batch_size as u128, min_steps)?))
    }

    /// Whether samples are drawn before a user could lose patience, and fit into any memory: they need neither a thread that listens
    /// for Ctrl-C nor an estimate of their memory. The longest runs take a number of steps that is quadratic in the size, and the
    /// largest steps have a value per pair of nodes.
    fn is_quick(&self, samples: usize) -> bool {
        const MAX_CELLS: usize = 1 << 26;
        samples.saturating_mul(self.length.saturating_pow(4)) <= MAX_CELLS
    }

    /// A sampler that continues from the state of the random stream.
    fn sampler(&self, py: Python<'_>) -> Result<Sampler, Error> {
        let options = sampler_options(self.options.bind(py))?;
        let mut sampler = Sampler::new(find(&self.algorithm)?, self.length, 0, &options)?;
        *sampler.random() = self.random.clone();
        Ok(sampler)
    }
}

#[pymethods]
impl FixedSet {
    #[new]
    fn new(
        py: Python<'_>,
        algorithm: &str,
        length: usize,
        num_samples: usize,
        state: State<'_>,
        options: &Bound<'_, PyDict>,
    ) -> Result<FixedSet, Error> {
        let origin = Origin::new(algorithm, length, &state, options)?;
        let sampler = origin.sampler(py)?;
        ensure_set_fits(py, algorithm, length, num_samples, options)?;
        let set = interruptible(py, || Ok(sampling::FixedSet::new(sampler, num_samples)?))?;
        Ok(FixedSet { set: Mutex::new(set), origin, num_samples })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<Pickled<'py>, Error> {
        let Origin { algorithm, length, random, options } = &self.origin;
        let arguments = (algorithm, length, self.num_samples, state_to_py(py, random), options);
        Ok((py.get_type::<FixedSet>(), arguments.into_pyobject(py)?, Some(self.state(py))))
    }

    fn __setstate__(&self, py: Python<'_>, state: State<'_>) -> Result<(), Error> {
        self.set_state(py, state)
    }

    /// All samples.
    fn all<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Error> {
        self.origin.ensure_batch_fits(py, self.num_samples, 0)?;
        let batch = detached(py, || Ok(lock(&self.set).all()?))?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// `batch_size` samples, drawn with replacement.
    fn next<'py>(&self, py: Python<'py>, batch_size: usize) -> Result<Bound<'py, PyAny>, Error> {
        self.origin.ensure_batch_fits(py, batch_size, 0)?;
        let batch = detached(py, || Ok(lock(&self.set).next(batch_size)?))?;
        Ok(feedback_to_py(py, batch)?)
    }

    /// Key and position of the random stream.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> NewState<'py> {
        let random = py.detach(|| lock(&self.set).random().clone());
        state_to_py(py, &random)
    }

    #[setter]
    fn set_state(&self, py: Python<'_>, state: State<'_>) -> Result<(), Error> {
        let random = random_state(&state)?;
        py.detach(|| *lock(&self.set).random() = random);
        Ok(())
    }
}

/// An endless stream of samples. Pickles with its position.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct Stream {
    stream: Mutex<sampling::Stream>,
    origin: Origin,
}

#[pymethods]
impl Stream {
    /// Pads batches to the longest sample so far, and to at least `max_steps` steps; with `None`, to their own longest.
    #[new]
    #[pyo3(signature = (algorithm, length, state, options, max_steps))]
    fn new(
        py: Python<'_>,
        algorithm: &str,
        length: usize,
        state: State<'_>,
        options: &Bound<'_, PyDict>,
        max_steps: Option<usize>,
    ) -> Result<Stream, Error> {
        let origin = Origin::new(algorithm, length, &state, options)?;
        let stream = sampling::Stream::with_max_steps(origin.sampler(py)?, max_steps);
        Ok(Stream { stream: Mutex::new(stream), origin })
    }

    /// Draws 1000 samples, discards them, and pads batches to the longest from then on.
    #[staticmethod]
    fn track_max_steps(
        py: Python<'_>,
        algorithm: &str,
        length: usize,
        state: State<'_>,
        options: &Bound<'_, PyDict>,
    ) -> Result<Stream, Error> {
        let origin = Origin::new(algorithm, length, &state, options)?;
        let sampler = origin.sampler(py)?;
        let stream = interruptible(py, || Ok(sampling::Stream::track_max_steps(sampler)?))?;
        Ok(Stream { stream: Mutex::new(stream), origin })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<Pickled<'py>, Error> {
        let Origin { algorithm, length, options, .. } = &self.origin;
        let arguments = (algorithm, length, self.state(py), options, self.max_steps(py));
        Ok((py.get_type::<Stream>(), arguments.into_pyobject(py)?, None))
    }

    /// The next `batch_size` samples.
    fn next<'py>(&self, py: Python<'py>, batch_size: usize) -> Result<Bound<'py, PyAny>, Error> {
        self.origin.ensure_batch_fits(py, batch_size, self.max_steps(py).unwrap_or(0))?;
        let batch = if self.origin.is_quick(batch_size) {
            detached(py, || Ok(lock(&self.stream).next(batch_size)?))?
        } else {
            interruptible(py, || UnfinishedBatch::new(lock(&self.stream)).draw(batch_size))?
        };
        Ok(feedback_to_py(py, batch)?)
    }

    /// Number of steps that batches are padded to at least.
    #[getter]
    fn max_steps(&self, py: Python<'_>) -> Option<usize> {
        py.detach(|| lock(&self.stream).max_steps())
    }

    #[setter]
    fn set_max_steps(&self, py: Python<'_>, steps: Option<usize>) {
        py.detach(|| lock(&self.stream).set_max_steps(steps));
    }

    /// Key and position of the random stream.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> NewState<'py> {
        let random = py.detach(|| lock(&self.stream).random().clone());
        state_to_py(py, &random)
    }

    #[setter]
    fn set_state(&self, py: Python<'_>, state: State<'_>) -> Result<(), Error> {
        let random = random_state(&state)?;
        py.detach(|| *lock(&self.stream).random() = random);
        Ok(())
    }
}

/// A batch that is being drawn. If that is interrupted, the stream goes back to where it was, before another thread draws from it.
struct UnfinishedBatch<'s> {
    stream: MutexGuard<'s, sampling::Stream>,
    /// Random state and number of steps; `None` when the batch is complete.
    before: Option<(RandomState, Option<usize>)>,
}

impl<'s> UnfinishedBatch<'s> {
    fn new(mut stream: MutexGuard<'s, sampling::Stream>) -> UnfinishedBatch<'s> {
        let before = Some((stream.random().clone(), stream.max_steps()));
        UnfinishedBatch { stream, before }
    }

    fn draw(mut self, batch_size: usize) -> Result<Batch, Error> {
        let batch = self.stream.next(batch_size)?;
        // The user does not get a batch if the interrupt came while its arrays were filled.
        clrs::cancel::check();
        self.before = None;
        Ok(batch)
    }
}

impl Drop for UnfinishedBatch<'_> {
    fn drop(&mut self) {
        if let Some((random, max_steps)) = self.before.take() {
            *self.stream.random() = random;
            self.stream.set_max_steps(max_steps);
        }
    }
}
