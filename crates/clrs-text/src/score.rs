//! Scores of predicted answers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clrs::cancel::Inherited;
use clrs::{RandomState, Registry};
use clrs_store::{StoreError, open_regular};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::verify::{Task, TaskError, Verdict};

/// A line of a file of predictions. Other fields are ignored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prediction {
    /// The question.
    pub question: String,
    /// What a model answered.
    pub prediction: String,
    /// The reference answer. Without it, the algorithm runs on the problem of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Problem size, if it is not the number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The size by dm-clrs's name for it, if there is no `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
}

/// Scores by algorithm and size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScoreReport {
    /// One per algorithm and size, in order.
    pub groups: Vec<GroupScore>,
    /// All samples together.
    pub total: Scores,
}

/// Scores of an algorithm at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupScore {
    /// The algorithm.
    pub algorithm: String,
    /// Problem size.
    pub size: usize,
    /// The scores.
    #[serde(flatten)]
    pub scores: Scores,
}

/// Means over samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scores {
    /// Number of samples.
    pub samples: usize,
    /// Fraction of answers that equal the reference; see [`Verdict::exact_match`].
    pub exact_match: Estimate,
    /// Fraction of correct answers; see [`Verdict::valid`].
    pub valid: Estimate,
    /// Fraction of answers with the right shape; see [`Verdict::shape`].
    pub shape: Estimate,
    /// Fraction of answers that can be read; see [`Verdict::parsed`].
    pub parsed: Estimate,
    /// Mean of [`Verdict::element_accuracy`].
    pub element_accuracy: Estimate,
}

/// A mean with its bootstrap confidence interval of 95%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the mean and the ends of the interval")]
pub struct Estimate {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

/// Why predictions cannot be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum ScoreError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {error}", .path.display())]
    Io {
        path: PathBuf,
        #[source]
        error: std::io::Error,
    },
    #[error("{}: line {line}: {reason}", .path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    #[error("{}: no predictions", .0.display())]
    Empty(PathBuf),
}

/// Scores a file of predictions, one JSON object per line. Every verdict is passed to `observe`, in order.
///
/// # Errors
/// If the file cannot be read, a line is not a prediction, or `observe` fails. Predicted answers may be any text.
pub fn score_file<E: From<ScoreError>>(
    path: &Path,
    observe: impl FnMut(&Prediction, &Verdict) -> Result<(), E>,
) -> Result<ScoreReport, E> {
    score_lines(open_regular(path).map_err(ScoreError::from)?, path, observe)
}

/// Scores predictions from any source; errors name it `path`. See [`score_file`].
pub fn score_lines<E: From<ScoreError>>(
    source: impl Read,
    path: &Path,
    mut observe: impl FnMut(&Prediction, &Verdict) -> Result<(), E>,
) -> Result<ScoreReport, E> {
    let registry = Registry::builtin();
    let mut lines = Lines { reader: BufReader::new(source), path, line: 0 };
    let mut groups: BTreeMap<(String, usize), Vec<Sample>> = BTreeMap::new();
    loop {
        let chunk = lines.chunk()?;
        if chunk.is_empty() {
            break;
        }
        let verify = |(line, text): &(usize, String)| {
            let error = |reason: String| ScoreError::Line { path: path.into(), line: *line, reason };
            let prediction = Prediction::parse(text).map_err(error)?;
            let task = prediction.task(&registry).map_err(|invalid| error(invalid.to_string()))?;
            let verdict = task.verify(&prediction.prediction).map_err(|invalid| error(invalid.to_string()))?;
            let size = prediction.size.or(prediction.length).unwrap_or(task.question().nodes());
            Ok(((task.question().algorithm().name().to_owned(), size), prediction, verdict))
        };
        // Not as one result: the first of several errors is reported, whichever thread finds one first.
        let inherited = Inherited::current();
        let verified: Vec<Result<_, ScoreError>> = chunk.par_iter().map(|line| inherited.run(|| verify(line))).collect();
        for verified in verified {
            let (group, prediction, verdict) = verified?;
            observe(&prediction, &verdict)?;
            groups.entry(group).or_default().push(sample(&verdict));
        }
    }
    if groups.is_empty() {
        return Err(ScoreError::Empty(path.into()).into());
    }
    let total = Scores::new(&groups.values().flatten().copied().collect::<Vec<_>>());
    let groups: Vec<_> = groups.into_iter().collect();
    let score = |((algorithm, size), samples): ((String, usize), Vec<Sample>)| GroupScore {
        algorithm,
        size,
        scores: Scores::new(&samples),
    };
    Ok(ScoreReport { groups: groups.into_par_iter().map(score).collect(), total })
}

impl Prediction {
    /// Parses a line of a file.
    fn parse(line: &str) -> Result<Prediction, String> {
        if !line.trim_start().starts_with('{') {
            return Err("not a prediction: expected a JSON object".into());
        }
        let prediction = serde_json::from_str(line).or_else(|error| {
            // Models can end in the middle of a character that has two escapes.
            let repaired = replace_lone_surrogates(line);
            if repaired == line { Err(error) } else { serde_json::from_str(&repaired) }
        });
        prediction.map_err(|error| {
            // The position without the line, which is 1.
            let text = error.to_string();
            let (reason, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
            format!("not a prediction: {reason} at column {}", error.column())
        })
    }

    /// The task that the question sets.
    ///
    /// # Errors
    /// If the question cannot be parsed, or the reference answer is not an answer to it.
    pub fn task(&self, registry: &Registry) -> Result<Task, TaskError> {
        match &self.answer {
            Some(answer) => Task::with_reference(registry, &self.question, answer),
            None => Task::parse(registry, &self.question),
        }
    }
}

/// Replaces the escapes of surrogates that are not pairs (`\ud83d`, as Python writes them), which are not text, by U+FFFD.
fn replace_lone_surrogates(json: &str) -> String {
    let unit = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut text, mut at) = (String::with_capacity(json.len()), 0);
    while let Some(length) = json[at..].find('\\') {
        text.push_str(&json[at..at + length]);
        at += length;
        let (escape, replacement) = match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, None),
            (Some(0xd800..0xe000), _) => (6, Some("\\ufffd")),
            _ => (json[at..].chars().take(2).map(char::len_utf8).sum(), None),
        };
        text.push_str(replacement.unwrap_or(&json[at..at + escape]));
        at += escape;
    }
    text + &json[at..]
}

/// Lines of a file.
struct Lines<'p, R> {
    reader: R,
    path: &'p Path,
    /// Number of the last line that was read.
    line: usize,
}

/// Longest line of a file.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Maximum number of lines in memory at a time.
const CHUNK_LINES: usize = 1024;
/// Size of the lines in memory from which on no other is read.
const CHUNK_BYTES: usize = 16 << 20;

impl<R: BufRead> Lines<'_, R> {
    /// The next lines, to be verified in parallel; none at the end of the file.
    fn chunk(&mut self) -> Result<Vec<(usize, String)>, ScoreError> {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while chunk.len() < CHUNK_LINES
            && bytes < CHUNK_BYTES
            && let Some(text) = self.next()?
        {
            bytes += text.len();
            chunk.push((self.line, text));
        }
        Ok(chunk)
    }

    /// The next line that is not empty.
    fn next(&mut self) -> Result<Option<String>, ScoreError> {
        loop {
            self.line += 1;
            let mut bytes = Vec::new();
            let read = self.reader.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| ScoreError::Io { path: self.path.into(), error })?;
            let error = |reason: String| ScoreError::Line { path: self.path.into(), line: self.line, reason };
            if read == 0 {
                return Ok(None);
            }
            if read as u64 > MAX_LINE_BYTES {
                return Err(error(format!("longer than {MAX_LINE_BYTES} bytes")));
            }
            if !bytes.trim_ascii().is_empty() {
                let text = String::from_utf8(bytes).map_err(|_| error("not UTF-8; expected JSON lines".into()))?;
                return Ok(Some(text));
            }
        }
    }
}

/// What counts of a verdict, in the order of [`Scores`].
type Sample = [f64; 5];

fn sample(verdict: &Verdict) -> Sample {
    let indicator = |holds: bool| f64::from(u8::from(holds));
    let [exact_match, valid, shape, parsed] = [verdict.exact_match, verdict.valid, verdict.shape, verdict.parsed].map(indicator);
    [exact_match, valid, shape, parsed, verdict.element_accuracy]
}

impl Scores {
    fn new(samples: &[Sample]) -> Scores {
        let [exact_match, valid, shape, parsed, element_accuracy] = bootstrap(samples);
        Scores { samples: samples.len(), exact_match, valid, shape, parsed, element_accuracy }
    }
}

/// Number of resamples.
const RESAMPLES: u32 = 1000;
/// Number of resamples below the interval, and above it: 2.5% each.
const TAIL: usize = 25;

/// Means and percentile intervals: samples are drawn with replacement, always with the same random numbers.
fn bootstrap<const METRICS: usize>(samples: &[[f64; METRICS]]) -> [Estimate; METRICS] {
    let count = samples.len() as f64;
    let mean = |samples: &mut dyn Iterator<Item = &[f64; METRICS]>| {
        let mut sums = [0.0; METRICS];
        for sample in samples {
            sums.iter_mut().zip(sample).for_each(|(sum, value)| *sum += value);
        }
        sums.map(|sum| sum / count)
    };
    let resample = |index: u32| {
        let mut random = RandomState::of_sample(0, index.into());
        // Multiplying is faster than drawing again what is too large, and the bias is far below that of the estimate.
        let mut draws = samples.iter().map(|_| &samples[((u64::from(random.word()) * samples.len() as u64) >> 32) as usize]);
        mean(&mut draws)
    };
    let resampled: Vec<[f64; METRICS]> = (0..RESAMPLES).into_par_iter().map(resample).collect();
    let means = mean(&mut samples.iter());
    std::array::from_fn(|metric| {
        let mut of_metric: Vec<f64> = resampled.iter().map(|means| means[metric]).collect();
        of_metric.sort_by(f64::total_cmp);
        Estimate { mean: means[metric], low: of_metric[TAIL], high: of_metric[of_metric.len() - 1 - TAIL] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval of a fraction is about 1.96 standard errors wide on both sides.
    #[test]
    fn intervals_of_fractions_have_the_known_width() {
        let samples: Vec<[f64; 2]> = (0..400).map(|index| [f64::from(u8::from(index % 4 == 0)), 1.0]).collect();
        let [quarter, all] = bootstrap(&samples);
        let width = 1.96 * (0.25 * 0.75 / 400.0f64).sqrt();
        assert_eq!(quarter.mean, 0.25);
        assert!((quarter.low - (0.25 - width)).abs() < 0.01, "{quarter:?}");
        assert!((quarter.high - (0.25 + width)).abs() < 0.01, "{quarter:?}");
        assert_eq!(all, Estimate { mean: 1.0, low: 1.0, high: 1.0 });
        assert_eq!(bootstrap(&samples), [quarter, all], "the same every time");
    }
}
