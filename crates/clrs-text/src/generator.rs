use clrs::cancel::Inherited;
use clrs::sampling::{OptionError, SampleError, Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, InvalidProblem};
use rayon::prelude::*;
use serde::Serialize;

use crate::format::Format;
use crate::formatter::{FormatError, Formatter, into_string};
use crate::python_random::PythonRandom;
use crate::rows::{Identity, Rows};

/// How trajectories are sampled and formatted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TextOptions {
    /// The format.
    pub format: Format,
    /// Whether questions and answers have a trace.
    pub hints: bool,
    /// Decimals that numbers are truncated to before the algorithm runs on them; `None` for all of them.
    pub decimals: Option<u32>,
    /// Other options of the samplers.
    pub sampler: SamplerOptions,
}

impl TextOptions {
    /// Options with a format, traces and decimals.
    pub fn new(format: Format, hints: bool, decimals: Option<u32>) -> TextOptions {
        TextOptions { format, hints, decimals, sampler: SamplerOptions::default() }
    }

    /// Sets other options of the samplers.
    #[must_use]
    pub fn with_sampler(self, sampler: SamplerOptions) -> TextOptions {
        TextOptions { sampler, ..self }
    }

    fn sampler_options(&self) -> Result<SamplerOptions, OptionError> {
        let mut options = self.sampler.clone();
        if let Some(decimals) = self.decimals {
            options.push("truncate_decimals", decimals.to_string())?;
        }
        Ok(options)
    }
}

/// Samples of one algorithm, size and seed.
#[derive(Clone, Copy, Serialize)]
pub struct Block {
    /// The algorithm.
    #[serde(serialize_with = "crate::rows::name")]
    pub algorithm: &'static dyn AnyAlgorithm,
    /// Problem size.
    pub size: usize,
    /// Seed of the sampler.
    pub seed: u32,
    /// Number of samples.
    pub count: u64,
}

/// Why texts cannot be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum TextError {
    #[error("{algorithm} with size {size}: {error}")]
    Sample {
        algorithm: &'static str,
        size: usize,
        #[source]
        error: SampleError,
    },
    #[error("{algorithm}: {error}")]
    Format {
        algorithm: &'static str,
        #[source]
        error: FormatError,
    },
    #[error("no algorithms and sizes to choose from")]
    Empty,
}

/// Generates questions and answers, each as if it were the only sample of a batch.
///
/// ```
/// use clrs::Registry;
/// use clrs_text::{Generator, TextOptions};
///
/// let registry = Registry::builtin();
/// let (bfs, minimum) = (registry.find("bfs")?, registry.find("minimum")?);
/// // dm-clrs: clrs_generator({'bfs': [4, 5], 'minimum': [4, 5, 6]}, seed=0, num_decimals_in_float=None)
/// let tasks = [(bfs, 4), (bfs, 5), (minimum, 4), (minimum, 5), (minimum, 6)];
/// let mut generator = Generator::choices(&tasks, 0, &TextOptions::default())?;
/// let rows = generator.next_rows(3)?;
/// let tasks: Vec<_> = rows.iter().map(|row| (row.identity.algorithm.name(), row.identity.size, row.identity.index)).collect();
/// assert_eq!(tasks, [("minimum", 5, 0), ("minimum", 5, 1), ("bfs", 4, 0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Generator {
    sources: Vec<Source>,
    order: Order,
}

/// Samples of one algorithm and size.
struct Source {
    sampler: Sampler,
    formatter: Formatter,
    /// The next sample.
    next: Identity,
}

/// Which source is next.
enum Order {
    /// Any of them, as Python's `random.choice` chooses.
    Choices(Box<PythonRandom>),
    /// The first one that has samples left.
    Blocks { current: usize, left: Vec<u64> },
}

impl Generator {
    /// An endless stream that chooses an algorithm and size for each row, as `clrs_generator` of dm-clrs does with the list of
    /// all pairs in its dictionary. All samplers have the same seed.
    ///
    /// # Errors
    /// If there is nothing to choose from, or a size or an option is invalid.
    pub fn choices(
        tasks: &[(&'static dyn AnyAlgorithm, usize)],
        seed: u32,
        options: &TextOptions,
    ) -> Result<Generator, TextError> {
        if tasks.is_empty() {
            return Err(TextError::Empty);
        }
        let sources = tasks.iter().map(|&(algorithm, size)| Source::new(algorithm, size, seed, options));
        Ok(Generator { sources: sources.collect::<Result<_, _>>()?, order: Order::Choices(Box::new(PythonRandom::new(seed))) })
    }

    /// All samples of some blocks, one block after another.
    ///
    /// # Errors
    /// If a size or an option is invalid.
    pub fn blocks(blocks: &[Block], options: &TextOptions) -> Result<Generator, TextError> {
        let sources = blocks.iter().map(|block| Source::new(block.algorithm, block.size, block.seed, options));
        let left = blocks.iter().map(|block| block.count).collect();
        Ok(Generator { sources: sources.collect::<Result<_, _>>()?, order: Order::Blocks { current: 0, left } })
    }

    /// The next rows on all threads; fewer than `count` if there are no more.
    ///
    /// # Errors
    /// If the distribution cannot sample a problem of the size.
    pub fn next_rows(&mut self, count: usize) -> Result<Rows, TextError> {
        let picks: Vec<usize> = std::iter::from_fn(|| self.order.next(self.sources.len())).take(count).collect();
        self.draw(&picks)?;
        let units = self.units(&picks);
        let inherited = Inherited::current();
        let format = |unit: &Unit| inherited.run(|| self.sources[unit.source].format(unit));
        let formatted: Vec<Rows> = units.par_iter().map(format).collect::<Result<_, _>>()?;

        for &source in &picks {
            self.sources[source].next.index += 1;
        }
        Ok(if picks.is_sorted() { Rows::concatenated(formatted) } else { self.picked(&picks, &units, &formatted) })
    }

    /// Rows in the order of the picks. Those of a source are in order in its units: each pick takes the next one.
    fn picked(&self, picks: &[usize], units: &[Unit], formatted: &[Rows]) -> Rows {
        let mut next = vec![(0, 0); self.sources.len()];
        for (index, unit) in units.iter().enumerate().rev() {
            next[unit.source] = (index, 0);
        }
        let mut rows = Rows::default();
        for &source in picks {
            let (unit, row) = &mut next[source];
            if *row == formatted[*unit].len() {
                (*unit, *row) = (*unit + 1, 0);
            }
            rows.push(formatted[*unit].get(*row));
            *row += 1;
        }
        rows
    }

    /// Skips rows. Their problems are sampled, but not solved.
    ///
    /// # Errors
    /// As [`next_rows`](Generator::next_rows).
    pub fn skip_rows(&mut self, mut count: u64) -> Result<(), TextError> {
        /// Number of problems in memory at a time.
        const CHUNK: u64 = 1024;
        while count > 0 {
            let chunk = usize::try_from(count.min(CHUNK)).expect("a small number");
            let picks: Vec<usize> = std::iter::from_fn(|| self.order.next(self.sources.len())).take(chunk).collect();
            if picks.is_empty() {
                break;
            }
            self.draw(&picks)?;
            for &source in &picks {
                self.sources[source].next.index += 1;
            }
            count -= picks.len() as u64;
        }
        Ok(())
    }

    /// Samples the problems of all picks.
    fn draw(&mut self, picks: &[usize]) -> Result<(), TextError> {
        let mut counts = vec![0; self.sources.len()];
        for &source in picks {
            counts[source] += 1;
        }
        let drawn = self.sources.par_iter_mut().zip(counts).filter(|(_, count)| *count > 0);
        let inherited = Inherited::current();
        drawn.try_for_each(|(source, count)| {
            inherited.run(|| source.sampler.draw(count)).map_err(|error| source.sample_error(error))
        })
    }

    /// The problems of all picks in parts that are formatted on one thread each, source by source.
    fn units(&self, picks: &[usize]) -> Vec<Unit> {
        /// Few enough to balance the threads, many enough to reuse memory.
        const UNIT_ROWS: usize = 32;
        let mut picked: Vec<usize> = picks.to_vec();
        picked.sort_unstable();
        picked.dedup();
        let units = picked.into_iter().flat_map(|source| {
            let count = self.sources[source].sampler.problems().count();
            (0..count).step_by(UNIT_ROWS).map(move |start| Unit { source, start, end: count.min(start + UNIT_ROWS) })
        });
        units.collect()
    }
}

/// Some of the problems that a source has sampled.
struct Unit {
    source: usize,
    start: usize,
    end: usize,
}

impl Source {
    fn new(algorithm: &'static dyn AnyAlgorithm, size: usize, seed: u32, options: &TextOptions) -> Result<Source, TextError> {
        let error = |error: SampleError| TextError::Sample { algorithm: algorithm.name(), size, error };
        let sampler_options = options.sampler_options().map_err(|invalid| error(invalid.into()))?;
        Ok(Source {
            sampler: Sampler::new(algorithm, size, seed, &sampler_options).map_err(error)?,
            formatter: Formatter::new(algorithm, options.format, options.hints),
            next: Identity { algorithm, size, seed, index: 0 },
        })
    }

    fn sample_error(&self, error: InvalidProblem) -> TextError {
        TextError::Sample { algorithm: self.next.algorithm.name(), size: self.next.size, error: error.into() }
    }

    fn format(&self, unit: &Unit) -> Result<Rows, TextError> {
        let algorithm = self.next.algorithm;
        let mut recorder = algorithm.recorder();
        let mut rows = Rows::default();
        let (mut questions, mut answers) = (Vec::new(), Vec::new());
        for problem in unit.start..unit.end {
            recorder.clear();
            self.sampler.problems().record(problem, &mut recorder).map_err(|error| self.sample_error(error))?;
            let sample = recorder.trajectories().get(0);
            let written = self
                .formatter
                .write_question(sample, &mut questions)
                .and_then(|()| self.formatter.write_answer(sample, sample, &mut answers));
            written.map_err(|error| TextError::Format { algorithm: algorithm.name(), error })?;
            rows.questions.ends.push(questions.len());
            rows.answers.ends.push(answers.len());
            rows.identities.push(Identity { index: self.next.index + problem as u64, ..self.next });
        }
        rows.questions.text = into_string(questions);
        rows.answers.text = into_string(answers);
        Ok(rows)
    }
}

impl Order {
    /// The source of the next row; `None` if there are no more.
    fn next(&mut self, sources: usize) -> Option<usize> {
        match self {
            Order::Choices(random) => Some(random.choice(sources)),
            Order::Blocks { current, left } => {
                while *left.get(*current)? == 0 {
                    *current += 1;
                }
                left[*current] -= 1;
                Some(*current)
            }
        }
    }
}
