//! Files that an evaluation writes. They are opened before the work, so that it is not lost to a mistyped path.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clrs::score::SampleResult;
use clrs::{Cells, Column, Stage, Trace, Trajectories};
use clrs_nn::eval::evaluate::EvalReport;
use clrs_store::{AtomicFile, StoreError};
use serde::{Serialize, Serializer};

use super::{Arguments, Task};
use crate::arguments::{self, lossy};
use crate::error::Advise;

/// The requested files and their contents so far.
pub(super) struct Files {
    examples: Option<Contents>,
    trajectories: Option<Contents>,
    dump: Option<Contents>,
}

struct Contents {
    file: AtomicFile,
    bytes: Vec<u8>,
}

/// A line of `--examples`.
#[derive(Serialize)]
struct Example<'e> {
    #[serde(serialize_with = "lossy")]
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
    #[serde(serialize_with = "lossy")]
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
            Ok::<_, anyhow::Error>(file.transpose().advise_force()?.map(|file| Contents { file, bytes: Vec::new() }))
        };
        Ok(Files {
            examples: create(&arguments.examples)?,
            trajectories: create(&arguments.trajectories)?,
            dump: create(&arguments.dump)?,
        })
    }

    /// Adds an evaluation.
    pub(super) fn add(&mut self, task: &Task<'_>, truth: &Trajectories, report: &EvalReport) -> Result<()> {
        if let Some(Contents { bytes, .. }) = &mut self.examples {
            add_examples(bytes, task, truth, report)?;
        }
        if let Some(Contents { bytes, .. }) = &mut self.trajectories {
            for predicted in &report.trajectories {
                let trace = predicted.trace(task.algorithm, truth.get(predicted.sample))?;
                let line = Trajectory { run: &task.run.path, set: task.set.to_string(), sample: predicted.sample, trace };
                write_line(bytes, &line)?;
            }
        }
        if let (Some(Contents { bytes, .. }), Some(dump)) = (&mut self.dump, &report.dump) {
            *bytes = dump.to_bytes();
        }
        Ok(())
    }

    /// Writes all files. One that cannot be written does not keep the others from being written.
    pub(super) fn commit(self) -> Result<()> {
        let files = [self.examples, self.trajectories, self.dump].into_iter().flatten();
        let results: Vec<Result<()>> = files.map(Contents::commit).collect();
        results.into_iter().collect()
    }
}

impl Contents {
    fn commit(mut self) -> Result<()> {
        let path = self.file.path().to_path_buf();
        self.file.write_all(&self.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        let committed: Result<(), StoreError> = self.file.commit();
        committed.advise_force()
    }
}

fn add_examples(bytes: &mut Vec<u8>, task: &Task<'_>, truth: &Trajectories, report: &EvalReport) -> Result<()> {
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
        write_line(bytes, &example)?;
    }
    Ok(())
}

fn named<'n>(names: &[&'n str], cells: impl IntoIterator<Item = Cells<'n>>) -> Vec<(&'n str, Cells<'n>)> {
    names.iter().copied().zip(cells).collect()
}

fn write_line(bytes: &mut Vec<u8>, line: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *bytes, line).context("cannot be written as JSON")?;
    bytes.push(b'\n');
    Ok(())
}
