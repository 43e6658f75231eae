//! Loss and validation curves of a run, from the metrics that training logs.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use clrs_store::open_regular;
use serde::{Deserialize, Serialize};

use super::directory::METRICS;
use super::error::{RunError, at};

/// Validations of a run on one of its algorithms.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidationCurve {
    /// The algorithm.
    pub algorithm: String,
    /// Validations by increasing step.
    pub points: Vec<Validation>,
}

/// A validation. Metrics are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Validation {
    /// Training steps before it.
    pub step: usize,
    /// Mean score over the outputs.
    pub score: f64,
    /// Share of correct answers.
    pub validity: Option<f64>,
    /// Share of answers that equal the reference's.
    pub exact_match: Option<f64>,
}

impl ValidationCurve {
    /// A curve from validations by increasing step.
    pub fn new(algorithm: String, points: Vec<Validation>) -> ValidationCurve {
        ValidationCurve { algorithm, points }
    }
}

impl Validation {
    /// A validation of which only the score is known.
    pub fn new(step: usize, score: f64) -> Validation {
        Validation { step, score, validity: None, exact_match: None }
    }
}

/// Losses of a run on one of its algorithms. Of a long run, means of consecutive steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LossCurve {
    /// The algorithm.
    pub algorithm: String,
    /// Steps and losses, by increasing step.
    pub points: Vec<(usize, f64)>,
    /// Steps per point.
    #[serde(skip)]
    per_point: usize,
    /// Sum and number of the losses after the last point.
    #[serde(skip)]
    open: (f64, usize),
}

impl LossCurve {
    fn add(&mut self, step: usize, loss: f64) {
        self.points.truncate(self.points.partition_point(|&(before, _)| before < step));
        self.open = (self.open.0 + loss, self.open.1 + 1);
        if self.open.1 >= self.per_point {
            self.points.push((step, self.open.0 / self.open.1 as f64));
            self.open = (0.0, 0);
        }
        if self.points.len() >= MAX_LOSSES {
            let halved = self.points.chunks(2).map(|pair| {
                let sum: f64 = pair.iter().map(|(_, loss)| loss).sum();
                (pair[pair.len() - 1].0, sum / pair.len() as f64)
            });
            self.points = halved.collect();
            self.per_point *= 2;
        }
    }
}

/// A line of the file: a step of training or a validation.
#[derive(Deserialize)]
struct Line<'l> {
    step: usize,
    #[serde(borrow)]
    algorithm: Cow<'l, str>,
    loss: Option<f64>,
    val: Option<f64>,
    validity: Option<f64>,
    exact_match: Option<f64>,
}

/// Longest line that is read; lines of training have a hundred bytes.
const MAX_LINE: u64 = 1 << 16;
/// Most validations that are read: far more than a run of a million steps has.
const MAX_POINTS: usize = 1 << 22;
/// Points of a loss curve before pairs of them are replaced by their means.
const MAX_LOSSES: usize = 1 << 10;

/// Reads the validation curves of a run, in the order of its algorithms; none if it has no metrics yet.
///
/// Lines of training steps are skipped without parsing them. A last line without its end is being written and ignored; a step that
/// occurs again replaces what follows it.
///
/// # Errors
/// If the file cannot be read, or contains something else than metrics.
///
/// ```
/// use clrs_nn::run::metrics::read_curves;
///
/// let run = tempfile::tempdir()?;
/// std::fs::write(
///     run.path().join("metrics.jsonl"),
///     "{\"step\":1,\"algorithm\":\"bfs\",\"loss\":2.5}\n{\"step\":1,\"algorithm\":\"bfs\",\"val\":0.5}\n",
/// )?;
/// let curves = read_curves(run.path())?;
/// assert_eq!((curves[0].algorithm.as_str(), curves[0].points[0].score), ("bfs", 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_curves(run: &Path) -> Result<Vec<ValidationCurve>, RunError> {
    let mut reader = MetricsReader { reads_losses: false, ..MetricsReader::new(run) };
    reader.poll()?;
    Ok(reader.validations)
}

/// Curves of a run that may still train: every [poll](MetricsReader::poll) reads what is new.
#[derive(Debug)]
pub struct MetricsReader {
    path: PathBuf,
    /// Bytes and lines read so far.
    offset: u64,
    lines: usize,
    reads_losses: bool,
    losses: Vec<LossCurve>,
    validations: Vec<ValidationCurve>,
    /// Validations read so far.
    count: usize,
}

impl MetricsReader {
    /// A reader of the metrics of a run, which has read nothing yet.
    pub fn new(run: &Path) -> MetricsReader {
        MetricsReader {
            path: run.join(METRICS),
            offset: 0,
            lines: 0,
            reads_losses: true,
            losses: Vec::new(),
            validations: Vec::new(),
            count: 0,
        }
    }

    /// Loss curves, in the order of the run's algorithms.
    pub fn losses(&self) -> &[LossCurve] {
        &self.losses
    }

    /// Validation curves, in the order of the run's algorithms.
    pub fn validations(&self) -> &[ValidationCurve] {
        &self.validations
    }

    /// Reads the lines that were written since the last call. A file that has become shorter is another one and read from its
    /// beginning. A last line without its end is being written and left for the next call.
    ///
    /// # Errors
    /// If the file cannot be read, or contains something else than metrics.
    pub fn poll(&mut self) -> Result<(), RunError> {
        if !self.path.exists() {
            return Ok(());
        }
        let path = self.path.clone();
        let mut file = open_regular(&path)?;
        if file.metadata().map_err(at(&path))?.len() < self.offset {
            let run = path.parent().unwrap_or(Path::new("")).to_owned();
            *self = MetricsReader { reads_losses: self.reads_losses, ..MetricsReader::new(&run) };
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(at(&path))?;
        let mut file = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            (&mut file).take(MAX_LINE).read_until(b'\n', &mut line).map_err(at(&path))?;
            let number = self.lines + 1;
            if line.last() != Some(&b'\n') {
                if (line.len() as u64) < MAX_LINE {
                    return Ok(());
                }
                return Err(at(&path)(invalid(format!("line {number} is too long for metrics"))));
            }
            if self.reads_losses || line.windows(VALIDATION.len()).any(|window| window == VALIDATION) {
                let parsed: Line<'_> = serde_json::from_slice(&line)
                    .map_err(|error| at(&path)(invalid(format!("line {number} is not a line of metrics ({error})"))))?;
                self.add(&parsed);
                if self.count > MAX_POINTS {
                    return Err(at(&path)(invalid(format!("more than {MAX_POINTS} validations"))));
                }
            }
            self.offset += line.len() as u64;
            self.lines = number;
        }
    }

    fn add(&mut self, line: &Line<'_>) {
        if let Some(loss) = line.loss.filter(|_| self.reads_losses) {
            let curves = &mut self.losses;
            let index = curves.iter().position(|curve| curve.algorithm == line.algorithm).unwrap_or_else(|| {
                let algorithm = line.algorithm.clone().into_owned();
                curves.push(LossCurve { algorithm, points: Vec::new(), per_point: 1, open: (0.0, 0) });
                curves.len() - 1
            });
            curves[index].add(line.step, loss);
        }
        let Some(score) = line.val else { return };
        let curves = &mut self.validations;
        let index = curves.iter().position(|curve| curve.algorithm == line.algorithm).unwrap_or_else(|| {
            curves.push(ValidationCurve { algorithm: line.algorithm.clone().into_owned(), points: Vec::new() });
            curves.len() - 1
        });
        let points = &mut curves[index].points;
        points.truncate(points.partition_point(|point| point.step < line.step));
        points.push(Validation { step: line.step, score, validity: line.validity, exact_match: line.exact_match });
        self.count += 1;
    }
}

/// What distinguishes lines of validations.
const VALIDATION: &[u8] = b"\"val\"";

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<ValidationCurve>, String> {
        let run = tempfile::tempdir().expect("a directory");
        std::fs::write(run.path().join(METRICS), text).expect("a file");
        read_curves(run.path()).map_err(|error| error.to_string().rsplit('/').next().expect("a name").into())
    }

    #[test]
    fn curves_have_the_validations_of_each_algorithm() {
        let text = r#"{"step":10,"algorithm":"bfs","loss":1.0,"grad_norm":2.0}
{"step":10,"algorithm":"bfs","val":0.25,"validity":0.5,"exact_match":0.0}
{"step":10,"algorithm":"dfs","val":0.75}
{"step":20,"algorithm":"bfs","val":0.5}
{"step":20,"algorithm":"dfs","va"#;
        let curves = read(text.as_bytes()).expect("curves");
        let steps = |curve: &ValidationCurve| curve.points.iter().map(|point| point.step).collect::<Vec<_>>();
        assert_eq!(
            curves.iter().map(|curve| (&*curve.algorithm, steps(curve))).collect::<Vec<_>>(),
            [("bfs", vec![10, 20]), ("dfs", vec![10])]
        );
        assert_eq!(curves[0].points[0].validity, Some(0.5));
    }

    #[test]
    fn a_repeated_step_replaces_what_follows_it() {
        let lines = [(10, 0.1), (20, 0.2), (30, 0.3), (20, 0.9)];
        let lines = lines.map(|(step, val)| format!("{{\"step\":{step},\"algorithm\":\"bfs\",\"val\":{val}}}\n"));
        let curves = read(lines.concat().as_bytes()).expect("curves");
        assert_eq!(curves[0].points.iter().map(|point| (point.step, point.score)).collect::<Vec<_>>(), [(10, 0.1), (20, 0.9)]);
    }

    #[test]
    fn a_reader_continues_where_it_stopped() {
        let run = tempfile::tempdir().expect("a directory");
        let write = |text: &str| std::fs::write(run.path().join(METRICS), text).expect("a file");
        let line = |step: usize| format!("{{\"step\":{step},\"algorithm\":\"bfs\",\"loss\":{step}.5}}\n");
        let mut reader = MetricsReader::new(run.path());
        reader.poll().expect("no metrics yet");
        write(&format!("{}{}", line(1), &line(2)[..20]));
        reader.poll().expect("a complete and an incomplete line");
        assert_eq!(reader.losses()[0].points, [(1, 1.5)]);
        write(&(1..=5).map(line).collect::<String>());
        reader.poll().expect("the rest");
        assert_eq!(reader.losses()[0].points.iter().map(|point| point.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        write(&line(9));
        reader.poll().expect("another file");
        assert_eq!(reader.losses()[0].points, [(9, 9.5)]);
    }

    #[test]
    fn long_loss_curves_are_means_of_steps() {
        let run = tempfile::tempdir().expect("a directory");
        let steps = 5000;
        let line = |step| format!("{{\"step\":{step},\"algorithm\":\"a\",\"loss\":{step}}}\n");
        let lines: Vec<String> = (1..=steps).map(line).collect();
        std::fs::write(run.path().join(METRICS), lines.concat()).expect("a file");
        let mut reader = MetricsReader::new(run.path());
        reader.poll().expect("metrics");
        let points = &reader.losses()[0].points;
        assert!((MAX_LOSSES / 2..MAX_LOSSES).contains(&points.len()), "{}", points.len());
        // A point of k steps that ends at step s has the mean of s - k + 1 to s.
        assert!(points.iter().all(|&(step, loss)| (step as f64 - loss - 3.5).abs() < 1e-9), "{:?}", &points[..3]);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn other_files_are_refused_with_the_line() {
        assert_eq!(read(b"").expect("empty"), []);
        let message = read(b"\n{\"val\":1}\n").expect_err("no step");
        assert!(message.starts_with("metrics.jsonl: line 2 is not a line of metrics (missing field"), "{message}");
        let message = read(&vec![b'x'; 1 << 17]).expect_err("one line");
        assert_eq!(message, "metrics.jsonl: line 1 is too long for metrics");
    }
}
