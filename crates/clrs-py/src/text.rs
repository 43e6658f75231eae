//! Questions and answers for language models.

use std::sync::{Mutex, PoisonError};

use clrs::Registry;
use clrs_text::{Block, Format, Formatter, Generator, Row, Task, TextOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::algorithms::find;
use crate::convert::sampler_options;
use crate::error::Error;
use crate::parallel::detached;
use crate::samples::Samples;

/// Algorithm, size, seed and index of a trajectory; question and answer.
type PyRow<'py> = (&'static str, usize, u32, u64, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Generates rows, endlessly or of one sampler.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct TextGenerator(Mutex<Generator>);

#[pymethods]
impl TextGenerator {
    /// Rows of pairs of algorithm and size that are chosen as `clrs_generator` of dm-clrs does.
    #[new]
    #[pyo3(signature = (tasks, seed, format, hints, decimals, options))]
    fn new(
        tasks: Vec<(String, usize)>,
        seed: u32,
        format: &str,
        hints: bool,
        decimals: Option<u32>,
        options: &Bound<'_, PyDict>,
    ) -> Result<TextGenerator, Error> {
        let tasks = tasks.iter().map(|(algorithm, size)| Ok((find(algorithm)?, *size))).collect::<Result<Vec<_>, Error>>()?;
        let options = text_options(format, hints, decimals, options)?;
        Ok(TextGenerator(Mutex::new(Generator::choices(&tasks, seed, &options)?)))
    }

    /// Rows of one algorithm, size and seed, in the order of the sampler.
    #[staticmethod]
    #[pyo3(signature = (block, format, hints, decimals, options))]
    fn block(
        block: (String, usize, u32, u64),
        format: &str,
        hints: bool,
        decimals: Option<u32>,
        options: &Bound<'_, PyDict>,
    ) -> Result<TextGenerator, Error> {
        let (algorithm, size, seed, count) = block;
        let block = Block { algorithm: find(&algorithm)?, size, seed, count };
        let options = text_options(format, hints, decimals, options)?;
        Ok(TextGenerator(Mutex::new(Generator::blocks(&[block], &options)?)))
    }

    /// The next rows; fewer than `count` if there are no more.
    fn next_rows<'py>(&self, py: Python<'py>, count: usize) -> Result<Vec<PyRow<'py>>, Error> {
        let rows = detached(py, || Ok(self.lock().next_rows(count)?))?;
        let row = |Row { identity, question, answer }: Row<'_>| {
            let [question, answer] = [question, answer].map(|text| pyo3::types::PyString::new(py, text).into_any());
            (identity.algorithm.name(), identity.size, identity.seed, identity.index, question, answer)
        };
        Ok(rows.iter().map(row).collect())
    }

    /// Skips rows: their problems are sampled, but not solved.
    fn skip_rows(&self, py: Python<'_>, count: u64) -> Result<(), Error> {
        detached(py, || Ok(self.lock().skip_rows(count)?))
    }
}

impl TextGenerator {
    fn lock(&self) -> std::sync::MutexGuard<'_, Generator> {
        // A panic leaves a generator that continues somewhere in its stream.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text_options(format: &str, hints: bool, decimals: Option<u32>, options: &Bound<'_, PyDict>) -> Result<TextOptions, Error> {
    Ok(TextOptions::new(format.parse()?, hints, decimals).with_sampler(sampler_options(options)?))
}

/// Question and answer of a sample. Outputs, and hints of a trace, are those of `predicted`, if given.
#[pyfunction]
#[pyo3(signature = (samples, index, format, hints, predicted))]
pub(crate) fn format_text(
    py: Python<'_>,
    samples: &Samples,
    index: usize,
    format: &str,
    hints: bool,
    predicted: Option<(PyRef<'_, Samples>, usize)>,
) -> Result<(String, String), Error> {
    let formatter = Formatter::new(find(samples.algorithm())?, format.parse::<Format>()?, hints);
    let sample = samples.sample(index)?;
    let predicted = predicted.as_ref().map(|(predicted, index)| predicted.sample(*index)).transpose()?;
    let example = detached(py, || {
        Ok(match predicted {
            None => formatter.format(sample)?,
            Some(predicted) => formatter.format_prediction(sample, predicted)?,
        })
    })?;
    Ok((example.question, example.answer))
}

/// A question, against whose reference answer any number of answers can be verified.
#[pyclass(frozen, module = "clrs_rs._core")]
pub(crate) struct TextTask(Task);

#[pymethods]
impl TextTask {
    /// Parses a question. Without a reference answer, the algorithm computes it when it is needed.
    #[new]
    #[pyo3(signature = (question, reference))]
    fn new(py: Python<'_>, question: &str, reference: Option<&str>) -> Result<TextTask, Error> {
        let registry = Registry::builtin();
        let task = detached(py, || {
            Ok(match reference {
                None => Task::parse(&registry, question)?,
                Some(reference) => Task::with_reference(&registry, question, reference)?,
            })
        })?;
        Ok(TextTask(task))
    }

    #[getter]
    fn algorithm(&self) -> &'static str {
        self.0.question().algorithm().name()
    }

    #[getter]
    fn nodes(&self) -> usize {
        self.0.question().nodes()
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.0.question().format().name()
    }

    /// Whether a trace is asked for.
    #[getter]
    fn hints(&self) -> bool {
        self.0.question().hints()
    }

    /// The problem in JSON.
    fn problem(&self) -> Result<String, Error> {
        Ok(self.0.question().problem_json()?)
    }

    /// The reference answer.
    fn reference(&self, py: Python<'_>) -> Result<String, Error> {
        detached(py, || Ok(self.0.reference()?.to_owned()))
    }

    /// Whether the outputs of an answer are correct.
    fn is_valid(&self, py: Python<'_>, answer: &str) -> Result<bool, Error> {
        detached(py, || Ok(self.0.is_valid(answer)?))
    }

    /// The verdict on an answer in JSON.
    fn verify(&self, py: Python<'_>, answer: &str) -> Result<String, Error> {
        detached(py, || Ok(serde_json::to_string(&self.0.verify(answer)?)?))
    }
}
