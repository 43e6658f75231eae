//! Files that an evaluation writes. They are opened before the work, so that it is not lost to a mistyped path, and written as
//! it proceeds.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, ensure};
use clrs::score::SampleResult;
use clrs::{Cells, Column, Stage, Trace, Trajectories};
use clrs_nn::eval::evaluate::EvalReport;
use clrs_store::{AtomicFile, lossy_path};
use serde::{Serialize, Serializer};

use super::{Arguments, Task};
use crate::arguments;
use crate::error::Advise;

/// The requested files.
pub(super) struct Files {
    examples: Option<OutputFile>,
    trajectories: Option<OutputFile>,
    dump: Option<OutputFile>,
}

/// A file that is written as results arrive. The first error is kept until the end: the evaluation is worth more than the file.
struct OutputFile {
    path: PathBuf,
    writer: BufWriter<AtomicFile>,
    failed: Option<io::Error>,
}

/// A line of `--examples`.
#[derive(Serialize)]
struct Example<'e> {
    #[serde(serialize_with = "lossy_path")]
    run: &'e Path,
    algorithm: &'static str,
    set: String,
    sample: usize,
    nodes: usize,
    steps: usize,
    #[serde(serialize_with = "as_map")]
    predicted: Vec<(&'e str, Cells<'e>)>,
    #[serde(serialize_with = "as_map")]
    truth: Vec<(&'e str, Cells<'e>)>,
    valid: bool,
    #[serde(flatten)]
    result: &'e SampleResult,
}

/// A line of `--trajectories`.
#[derive(Serialize)]
struct Trajectory<'t> {
    #[serde(serialize_with = "lossy_path")]
    run: &'t Path,
    set: String,
    sample: usize,
    #[serde(flatten)]
    trace: Trace,
}

fn as_map<S: Serializer>(outputs: &[(&str, Cells<'_>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(outputs.iter().map(|(name, cells)| (name, cells)))
}

impl Files {
    /// Paths of the requested files.
    pub(super) fn paths(arguments: &Arguments) -> Vec<&Path> {
        let paths = [&arguments.examples, &arguments.trajectories, &arguments.dump];
        paths.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    /// Opens the requested files.
    pub(super) fn create(arguments: &Arguments) -> Result<Files> {
        let paths = Files::paths(arguments);
        for (index, path) in paths.iter().enumerate() {
            ensure!(!paths[..index].contains(path), "{}: two flags name the same file", path.display());
        }
        let create = |path: &Option<PathBuf>| {
            let file = path.as_ref().map(|path| AtomicFile::create(path, arguments::on_existing(arguments.force)));
            Ok::<_, Error>(file.transpose().advise_force()?.map(OutputFile::new))
        };
        Ok(Files {
            examples: create(&arguments.examples)?,
            trajectories: create(&arguments.trajectories)?,
            dump: create(&arguments.dump)?,
        })
    }

    /// Adds an evaluation.
    pub(super) fn add(&mut self, task: &Task<'_>, truth: &Trajectories, report: &EvalReport) -> Result<()> {
        if let Some(file) = &mut self.examples {
            add_examples(file, task, truth, report);
        }
        if let Some(file) = &mut self.trajectories {
            for predicted in &report.trajectories {
                let trace = predicted.trace(task.algorithm, truth.get(predicted.sample))?;
                let line = Trajectory { run: &task.run.path, set: task.set.to_string(), sample: predicted.sample, trace };
                file.write_line(&line);
            }
        }
        if let (Some(file), Some(dump)) = (&mut self.dump, &report.dump) {
            file.write(|writer| writer.write_all(&dump.to_bytes()));
        }
        Ok(())
    }

    /// Completes all files. One that could not be written does not keep the others from being completed.
    pub(super) fn commit(self) -> Result<()> {
        let files = [self.examples, self.trajectories, self.dump].into_iter().flatten();
        let results: Vec<Result<()>> = files.map(OutputFile::commit).collect();
        results.into_iter().collect()
    }
}

impl OutputFile {
    fn new(file: AtomicFile) -> OutputFile {
        OutputFile { path: file.path().into(), writer: BufWriter::new(file), failed: None }
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<AtomicFile>) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.writer).err();
        }
    }

    fn write_line(&mut self, line: &impl Serialize) {
        self.write(|writer| {
            serde_json::to_writer(&mut *writer, line)?;
            writer.write_all(b"\n")
        });
    }

    fn commit(mut self) -> Result<()> {
        self.write(BufWriter::flush);
        let OutputFile { path, writer, failed } = self;
        let file = match (failed, writer.into_parts()) {
            (None, (file, _)) => file,
            (Some(error), _) => return Err(Error::new(error).context(path.display().to_string())),
        };
        file.commit().advise_force()
    }
}

fn add_examples(file: &mut OutputFile, task: &Task<'_>, truth: &Trajectories, report: &EvalReport) {
    let outputs = truth.spec().iter().filter(|probe| probe.stage == Stage::Output);
    let names: Vec<&str> = outputs.map(|probe| &*probe.name).collect();
    let predictions = report.predicted.iter().zip(&report.results);
    for (sample, (truth, (predicted, result))) in truth.iter().zip(predictions).enumerate() {
        let example = Example {
            run: &task.run.path,
            algorithm: task.algorithm.name(),
            set: task.set.to_string(),
            sample,
            nodes: truth.nodes(),
            steps: truth.steps(),
            predicted: named(&names, predicted.iter().map(Column::cells)),
            truth: named(&names, truth.stage(Stage::Output)),
            valid: result.failure.is_none(),
            result,
        };
        file.write_line(&example);
    }
}

fn named<'n>(names: &[&'n str], cells: impl IntoIterator<Item = Cells<'n>>) -> Vec<(&'n str, Cells<'n>)> {
    names.iter().copied().zip(cells).collect()
}
