//! The folder of a training run: plain files that outlive the program.
//!
//! - `config.toml`: the whole recipe.
//! - `metrics.jsonl`: a line per step and algorithm (`loss`, `grad_norm`), and per validation (`val`, and the judgements).
//! - `events.out.tfevents.STEP.clrs`: the same numbers for `TensorBoard`; a run that goes on begins another file.
//! - `last.safetensors`: parameters and the optimiser's state of the last checkpoint; a run goes on from there.
//! - `best.safetensors`: the parameters of the best validation.
//! - `provenance.json`: which program made it, from what.
//! - `lock`: held by the process that trains.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::chunked::RecurrentState;
use crate::run::events::Events;
use crate::train::optimizer::Adam;
use crate::exec::parameters::{Parameter, Parameters};
use crate::config::recipe::{Recipe, RecipeError};
use crate::run::tensor_file::{TensorFileError, TensorFile};
use crate::train::trainer::RecurrentStates;

/// A run's folder, held by this process.
pub struct RunFolder {
    lock: Lock,
    metrics: File,
    events: Events,
}

/// A folder that no other process trains in while this is kept.
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Steps taken.
    pub step: usize,
    /// The best validation so far: its step and its score.
    pub best: Option<(usize, f64)>,
    /// Validations since then.
    pub since_best: usize,
}

/// What is wrong with a run's folder.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RunError {
    #[error("{}: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: cannot be written at step {step}: {error}{}", .path.display(), kept(*.step))]
    Write { path: PathBuf, step: usize, error: io::Error },
    #[error("{}: a run is there already; go on with it (--resume), or choose another folder", .0.display())]
    Exists(PathBuf),
    #[error("{}: it is there, but no run is; choose another folder", .0.display())]
    Occupied(PathBuf),
    #[error("{}: not the folder of a run: it has no config.toml", .0.display())]
    NoRun(PathBuf),
    #[error("{}: another process is training there", .0.display())]
    InUse(PathBuf),
    #[error("{}: {error}", .path.display())]
    Recipe { path: PathBuf, error: RecipeError },
    #[error(transparent)]
    Arrays(TensorFileError),
    #[error("{}: {error}", .path.display())]
    Checkpoint { path: PathBuf, error: TensorFileError },
    #[error("{}: what it carries is not what the recipe carries; begin a new run in another folder", .0.display())]
    RecurrentState(PathBuf),
    #[error("{}: there is no checkpoint to go on from (last.safetensors); begin a new run in another folder", .0.display())]
    NoCheckpoint(PathBuf),
    #[error("{}: no checkpoint of this version of the program; parameters alone are for `clrs train --weights`", .0.display())]
    Format(PathBuf),
}

/// What is left of a run whose files cannot be written.
fn kept(step: usize) -> &'static str {
    if step == 0 { "" } else { "; the checkpoint before it is kept" }
}

/// The recipe of a run.
const CONFIG: &str = "config.toml";

/// The version of checkpoints. Readers refuse every other.
const FORMAT: u32 = 1;

/// What a checkpoint says beside its arrays: one text under one key, since others may come in any order.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    state: State,
    /// Updates of the optimiser, where its state is kept too.
    updates: u64,
    /// What each parameter is called in dm-clrs, for programs that take it there.
    #[serde(default)]
    reference: BTreeMap<String, String>,
}

const HEAD: &str = "clrs.checkpoint";

impl RunFolder {
    /// A new run in a folder that holds none. It is one when it has its recipe, which comes with the first checkpoint.
    pub fn create(path: &Path, provenance: &Value) -> Result<RunFolder, RunError> {
        std::fs::create_dir_all(path).map_err(at(path))?;
        let lock = Lock::take(path)?;
        if path.join(CONFIG).exists() {
            return Err(RunError::Exists(path.into()));
        }
        let metrics_path = path.join("metrics.jsonl");
        // One without a line is left by a run that was killed before it began.
        if metrics_path.metadata().is_ok_and(|there| there.len() > 0) {
            return Err(RunError::Occupied(metrics_path));
        }
        let metrics = File::create(&metrics_path).map_err(at(&metrics_path))?;
        let text = serde_json::to_string_pretty(provenance).expect("JSON") + "\n";
        let provenance_path = path.join("provenance.json");
        write_whole(&provenance_path, text.as_bytes()).map_err(at(&provenance_path))?;
        RunFolder::with(lock, metrics, 0)
    }

    /// Keeps the recipe. There is a checkpoint by then: what has a recipe can go on.
    pub(crate) fn begin(&self, recipe: &Recipe) -> Result<(), RunError> {
        let path = self.path().join(CONFIG);
        write_whole(&path, recipe.to_toml().as_bytes()).map_err(at(&path))
    }

    /// A run that was begun, to go on with it from a step; what was noted later is forgotten.
    pub fn open(lock: Lock, step: usize) -> Result<RunFolder, RunError> {
        let metrics_path = lock.path.join("metrics.jsonl");
        let kept = keep_until(&metrics_path, step).map_err(at(&metrics_path))?;
        write_whole(&metrics_path, kept.as_bytes()).map_err(at_step(&metrics_path, step))?;
        let metrics = OpenOptions::new().append(true).open(&metrics_path).map_err(at(&metrics_path))?;
        RunFolder::with(lock, metrics, step)
    }

    fn with(lock: Lock, metrics: File, step: usize) -> Result<RunFolder, RunError> {
        let events_path = lock.path.join(format!("events.out.tfevents.{step:010}.clrs"));
        let events = Events::create(&events_path).map_err(at_step(&events_path, step))?;
        Ok(RunFolder { lock, metrics, events })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.lock.path
    }

    /// Notes numbers of a step and an algorithm.
    pub fn note(&mut self, step: usize, algorithm: &str, numbers: &[(&str, f64)]) -> Result<(), RunError> {
        let mut line = json!({"step": step, "algorithm": algorithm});
        for &(name, number) in numbers {
            line[name] = json!(number);
        }
        let path = self.path().join("metrics.jsonl");
        self.metrics.write_all(format!("{line}\n").as_bytes()).map_err(at_step(&path, step))?;
        let values = numbers.iter().map(|&(name, number)| (format!("{algorithm}/{name}"), number));
        self.events.write(step, values).map_err(at_step(self.events.path(), step))
    }

    /// Keeps everything a run needs to go on.
    pub(crate) fn save_last(
        &self,
        parameters: &Parameters,
        adam: &Adam,
        carried: &RecurrentStates,
        state: State,
    ) -> Result<(), RunError> {
        let mut file = checkpoint(parameters, state, adam.updates);
        for (moments, name) in [(&adam.first, "first"), (&adam.second, "second")] {
            for (parameter, values) in parameters.list().iter().zip(moments) {
                file.arrays.insert(moment(name, parameter), (parameter.shape.clone(), values.clone()));
            }
        }
        for (name, values) in carried.iter().flat_map(|(&of, parts)| carried_arrays(of, parts)) {
            file.arrays.insert(name, (vec![values.len()], values));
        }
        self.save("last.safetensors", &file, state.step)
    }

    /// Keeps the parameters of the best validation.
    pub fn save_best(&self, parameters: &Parameters, state: State) -> Result<(), RunError> {
        self.save("best.safetensors", &checkpoint(parameters, state, 0), state.step)
    }

    fn save(&self, name: &str, file: &TensorFile, step: usize) -> Result<(), RunError> {
        let path = self.path().join(name);
        write_whole(&path, &file.to_bytes()).map_err(at_step(&path, step))
    }
}

/// The recipe of a run.
pub fn read_recipe(path: &Path) -> Result<Recipe, RunError> {
    let config = path.join(CONFIG);
    let text = match std::fs::read_to_string(&config) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(RunError::NoRun(path.into())),
        text => text.map_err(at(&config))?,
    };
    Recipe::parse(&text, &[]).map_err(|error| RunError::Recipe { path: config, error })
}

/// Reads parameters of a checkpoint; returns the file for what else it holds, and how far the run was.
pub fn load(path: &Path, parameters: &mut Parameters) -> Result<(TensorFile, State), RunError> {
    let wrong = |error| RunError::Checkpoint { path: path.into(), error };
    let file = TensorFile::read(path).map_err(RunError::Arrays)?;
    let state = head(&file).ok_or_else(|| RunError::Format(path.into()))?.state;
    let known = |name: &str| parameters.list().iter().any(|parameter| parameter.name == name);
    if let Some(unknown) =
        file.arrays.keys().find(|name| !name.starts_with("adam/") && !name.starts_with("carried/") && !known(name))
    {
        return Err(wrong(TensorFileError::Unknown(unknown.clone())));
    }
    file.fill(parameters, |parameter| parameter.name.clone()).map_err(wrong)?;
    Ok((file, state))
}

/// The optimiser's state of a checkpoint.
pub fn load_adam(path: &Path, file: &TensorFile, parameters: &Parameters) -> Result<Adam, RunError> {
    let wrong = |error| RunError::Checkpoint { path: path.into(), error };
    let moments = |name: &str| {
        let values = |parameter: &Parameter| file.get(&moment(name, parameter), &parameter.shape).map(<[f32]>::to_vec);
        parameters.list().iter().map(values).collect::<Result<Vec<_>, _>>().map_err(wrong)
    };
    Ok(Adam {
        updates: head(file).ok_or_else(|| RunError::Format(path.into()))?.updates,
        first: moments("first")?,
        second: moments("second")?,
    })
}

/// What lanes carry, as arrays: `carried/TASK/SIZE/PART/..`, numbers by their places.
fn carried_arrays((task, size): (usize, usize), parts: &[RecurrentState]) -> Vec<(String, Vec<f32>)> {
    let mut arrays = Vec::new();
    for (part, RecurrentState { hidden, lstm, hints }) in parts.iter().enumerate() {
        let name = |what: String| format!("carried/{task}/{size}/{part}/{what}");
        arrays.push((name("hidden".into()), hidden.clone()));
        for (which, values) in ["lstm_hidden", "lstm_cell"].iter().zip(lstm.iter().flatten()) {
            arrays.push((name((*which).into()), values.clone()));
        }
        arrays.extend(hints.iter().map(|(place, values)| (name(format!("hint/{place}")), values.clone())));
    }
    arrays
}

/// What lanes carried at a checkpoint; those of as many parts as a batch has samples at most.
pub(crate) fn load_carried(path: &Path, file: &TensorFile, most: usize) -> Result<RecurrentStates, RunError> {
    let mut states = RecurrentStates::new();
    for (name, (_, values)) in &file.arrays {
        let Some(name) = name.strip_prefix("carried/") else { continue };
        let mut words = name.split('/');
        let mut number = || words.next()?.parse::<usize>().ok();
        let (Some(task), Some(size), Some(part)) = (number(), number(), number()) else { continue };
        if part >= most {
            return Err(RunError::RecurrentState(path.into()));
        }
        let parts = states.entry((task, size)).or_default();
        while parts.len() <= part {
            parts.push(RecurrentState { hidden: Vec::new(), lstm: None, hints: Vec::new() });
        }
        let carried = &mut parts[part];
        match (words.next(), words.next().and_then(|place| place.parse().ok())) {
            (Some("hidden"), _) => carried.hidden.clone_from(values),
            (Some("lstm_hidden"), _) => carried.lstm.get_or_insert_default()[0].clone_from(values),
            (Some("lstm_cell"), _) => carried.lstm.get_or_insert_default()[1].clone_from(values),
            (Some("hint"), Some(place)) => carried.hints.push((place, values.clone())),
            _ => {}
        }
    }
    Ok(states)
}

fn checkpoint(parameters: &Parameters, state: State, updates: u64) -> TensorFile {
    let names = |parameter: &Parameter| (parameter.name.clone(), parameter.reference.clone());
    let reference = parameters.list().iter().map(names).collect();
    let head = Head { format: FORMAT, state, updates, reference };
    let mut file = TensorFile::of(parameters, |parameter| parameter.name.clone());
    file.metadata.insert(HEAD.into(), json!(head).to_string());
    file
}

fn head(file: &TensorFile) -> Option<Head> {
    serde_json::from_str(file.metadata.get(HEAD)?).ok().filter(|head: &Head| head.format == FORMAT)
}

fn moment(name: &str, parameter: &Parameter) -> String {
    format!("adam/{name}/{}", parameter.name)
}

impl Lock {
    /// Takes it, if no other process has it.
    pub fn take(path: &Path) -> Result<Lock, RunError> {
        let lock = path.join("lock");
        let file = File::create(&lock).map_err(at(&lock))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { path: path.into(), _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(RunError::InUse(path.into())),
            Err(std::fs::TryLockError::Error(error)) => Err(RunError::Io { path: lock, error }),
        }
    }
}

/// The lines of a file of metrics up to a step. A last line that was cut off is dropped.
fn keep_until(path: &Path, step: usize) -> io::Result<String> {
    let mut kept = String::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let of = serde_json::from_str::<Value>(&line).ok().and_then(|value| value.get("step")?.as_u64());
        if of.is_some_and(|of| of <= step as u64) {
            kept.push_str(&line);
            kept.push('\n');
        }
    }
    Ok(kept)
}

/// Writes a file beside its place, and then puts it there: no one finds half of it.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask, like any other file
    let mut file = builder.tempfile_in(folder)?;
    // As a plain file, whose errors do not name the temporary one.
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> RunError {
    let path = path.to_path_buf();
    move |error| RunError::Io { path: path.clone(), error }
}

fn at_step(path: &Path, step: usize) -> impl Fn(io::Error) -> RunError {
    let path = path.to_path_buf();
    move |error| RunError::Write { path: path.clone(), step, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_that_carries_more_parts_than_there_are_samples_is_refused() {
        let mut file = TensorFile::default();
        file.arrays.insert("carried/0/0/1/hidden".into(), (vec![2], vec![1.0, 2.0]));
        let carried = load_carried(Path::new("last"), &file, 2).expect("two parts");
        assert_eq!(carried[&(0, 0)][1].hidden, [1.0, 2.0]);
        file.arrays.insert("carried/0/0/300000000/hidden".into(), (vec![0], Vec::new()));
        assert!(matches!(load_carried(Path::new("last"), &file, 2), Err(RunError::RecurrentState(_))));
    }
}
