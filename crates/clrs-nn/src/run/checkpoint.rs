//! Checkpoints: parameters, optimizer state and recurrent state in a safetensors file.
//!
//! Format 2 is self-contained: the metadata holds the spec of every task, a fingerprint of the recipe and a checksum over all tensors.
//! Format 1 had neither; it still opens, with the specs that the recipe implies.

use std::collections::BTreeMap;
use std::path::Path;

use clrs::Spec;
use clrs_store::read_regular;
use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::tensor_file::{TensorFile, TensorFileError};
use crate::config::recipe::Recipe;
use crate::exec::parameters::{Parameter, Parameters};
use crate::model::losses::RecurrentState;
use crate::model::network::Task;

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunState {
    /// Training steps taken.
    pub step: usize,
    /// Step and score of the best validation so far.
    pub best: Option<(usize, f64)>,
    /// Validations since then.
    pub since_best: usize,
    /// Whether the run was stopped before the validation of this step had finished.
    #[serde(default)]
    pub pending_validation: bool,
}

/// First and second moments of Adam, and its number of updates.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimizerState {
    /// Updates so far, over all algorithms.
    pub updates: u64,
    /// Running means of gradients, in the order of the parameters.
    pub first: Vec<Vec<f32>>,
    /// Running means of squared gradients.
    pub second: Vec<Vec<f32>>,
}

/// Recurrent states by task and size, one per micro-batch.
pub type RecurrentStates = BTreeMap<(usize, usize), Vec<RecurrentState>>;

/// Format that is written.
const FORMAT: u32 = 2;

/// Metadata key of [`CheckpointMeta`].
const META_KEY: &str = "clrs.checkpoint";

/// Metadata of a checkpoint: one JSON text under one key, since safetensors does not keep the order of keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CheckpointMeta {
    format: u32,
    state: RunState,
    /// Updates of the optimizer; 0 if its state is not stored.
    updates: u64,
    /// dm-clrs's names of the parameters.
    #[serde(default)]
    reference: BTreeMap<String, String>,
    /// Tasks of the network. Format 2.
    #[serde(flatten)]
    specs: Option<TaskSpecs>,
    /// Hash of the recipe. Format 2.
    #[serde(default)]
    recipe: String,
    /// Hash of all tensors. Format 2.
    #[serde(default)]
    checksum: String,
}

/// The tasks of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskSpecs {
    /// Names and specs of the network, after all transforms.
    pub tasks: Vec<Task>,
    /// Specs of the recorded samples, before any transform.
    pub recorded: Vec<Spec>,
}

/// A checkpoint in memory.
#[derive(Clone, Debug)]
pub struct CheckpointFile {
    meta: CheckpointMeta,
    file: TensorFile,
}

/// What a checkpoint contains beside the parameters.
pub(crate) struct CheckpointContext<'c> {
    pub(crate) recipe: &'c Recipe,
    pub(crate) specs: &'c TaskSpecs,
    pub(crate) state: RunState,
}

/// Hash of everything in a recipe that determines the trained parameters at a given step. The number of steps does not, so a run can be
/// extended.
pub(crate) fn fingerprint(recipe: &Recipe) -> String {
    Recipe { steps: 0, ..recipe.clone() }.content_hash()
}

impl CheckpointFile {
    /// A checkpoint of the parameters alone, such as those of the best validation.
    pub(crate) fn new(parameters: &Parameters, context: &CheckpointContext<'_>) -> CheckpointFile {
        let names = |parameter: &Parameter| Some((parameter.name.clone(), parameter.dm_clrs_name.clone()?));
        let meta = CheckpointMeta {
            format: FORMAT,
            state: context.state,
            updates: 0,
            reference: parameters.list().iter().filter_map(names).collect(),
            specs: Some(context.specs.clone()),
            recipe: fingerprint(context.recipe),
            checksum: String::new(),
        };
        CheckpointFile { meta, file: TensorFile::from_parameters(parameters, |parameter| parameter.name.clone()) }
    }

    /// Adds the state that a run needs to resume.
    #[must_use]
    pub(crate) fn with_optimizer(
        mut self,
        parameters: &Parameters,
        optimizer: &OptimizerState,
        recurrent: &RecurrentStates,
    ) -> CheckpointFile {
        self.meta.updates = optimizer.updates;
        for (moments, name) in [(&optimizer.first, "first"), (&optimizer.second, "second")] {
            for (parameter, values) in parameters.list().iter().zip(moments) {
                self.file.tensors.insert(moment(name, parameter), (parameter.shape.clone(), values.clone()));
            }
        }
        for (name, values) in recurrent.iter().flat_map(|(&key, states)| recurrent_tensors(key, states)) {
            self.file.tensors.insert(name, (vec![values.len()], values));
        }
        self
    }

    /// The bytes of a checkpoint file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let meta = CheckpointMeta { checksum: checksum(&self.file), ..self.meta.clone() };
        let mut file = self.file.clone();
        file.metadata.insert(META_KEY.into(), serde_json::to_string(&meta).expect("plain data"));
        file.to_bytes()
    }

    /// Reads a checkpoint and verifies its checksum.
    ///
    /// # Errors
    /// If the file cannot be read, is not a checkpoint of a known format, or is damaged.
    pub fn read(path: &Path) -> Result<CheckpointFile, RunError> {
        let bytes = read_regular(path, MAX_BYTES)?;
        CheckpointFile::from_bytes(&bytes, path)
    }

    /// Parses the bytes of a checkpoint file; `path` is for error messages.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint of a known format, or are damaged.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<CheckpointFile, RunError> {
        let file = TensorFile::from_bytes(bytes).map_err(|source| RunError::Checkpoint { path: path.into(), source })?;
        let meta = file.metadata.get(META_KEY).and_then(|text| serde_json::from_str::<CheckpointMeta>(text).ok());
        let is_valid = |meta: &CheckpointMeta| match meta.format {
            1 => true,
            FORMAT => meta.specs.as_ref().is_some_and(|specs| specs.tasks.len() == specs.recorded.len()),
            _ => false,
        };
        let meta = meta.filter(is_valid).ok_or_else(|| RunError::Format(path.into()))?;
        if meta.format >= 2 && meta.checksum != checksum(&file) {
            return Err(RunError::Checksum(path.into()));
        }
        let mut checkpoint = CheckpointFile { meta, file };
        if checkpoint.meta.format == 1 {
            checkpoint.rename_format_1();
        }
        Ok(checkpoint)
    }

    /// Progress of the run at the checkpoint.
    pub fn state(&self) -> RunState {
        self.meta.state
    }

    /// Hash of all tensors.
    pub(crate) fn checksum(&self) -> String {
        if self.meta.checksum.is_empty() { checksum(&self.file) } else { self.meta.checksum.clone() }
    }

    /// Tasks of the network; `None` in format 1.
    pub fn specs(&self) -> Option<&TaskSpecs> {
        self.meta.specs.as_ref()
    }

    /// Refuses a checkpoint of another recipe. Format 1 has no fingerprint, and is accepted.
    pub(crate) fn ensure_recipe(&self, recipe: &Recipe, path: &Path) -> Result<(), RunError> {
        let matches = self.meta.format == 1 || self.meta.recipe == fingerprint(recipe);
        if matches { Ok(()) } else { Err(RunError::OtherRecipe(path.into())) }
    }

    /// Sets the parameters of a network, which must be exactly those of the checkpoint.
    pub(crate) fn load_parameters(&self, parameters: &mut Parameters, path: &Path) -> Result<(), RunError> {
        let failed = |source| RunError::Checkpoint { path: path.into(), source };
        let is_known = |name: &str| parameters.list().iter().any(|parameter| parameter.name == name);
        let is_state = |name: &str| name.starts_with(OPTIMIZER) || name.starts_with(RECURRENT);
        if let Some(unknown) = self.file.tensors.keys().find(|name| !is_state(name) && !is_known(name)) {
            return Err(failed(TensorFileError::Unknown(unknown.clone())));
        }
        self.file.load_into(parameters, |parameter| parameter.name.clone()).map_err(failed)
    }

    /// The optimizer's state.
    pub(crate) fn optimizer(&self, parameters: &Parameters, path: &Path) -> Result<OptimizerState, RunError> {
        let failed = |source| RunError::Checkpoint { path: path.into(), source };
        let moments = |name: &str| {
            let values = |parameter: &Parameter| self.file.get(&moment(name, parameter), &parameter.shape).map(<[f32]>::to_vec);
            parameters.list().iter().map(values).collect::<Result<Vec<_>, _>>().map_err(failed)
        };
        Ok(OptimizerState { updates: self.meta.updates, first: moments("first")?, second: moments("second")? })
    }

    /// Recurrent states of chunked training; those of at most `max` micro-batches.
    pub(crate) fn recurrent(&self, max: usize, path: &Path) -> Result<RecurrentStates, RunError> {
        let mut states = RecurrentStates::new();
        for (name, (_, values)) in &self.file.tensors {
            let Some(name) = name.strip_prefix(RECURRENT) else { continue };
            let mut segments = name.split('/');
            let mut number = || segments.next()?.parse::<usize>().ok();
            let (Some(task), Some(size), Some(index)) = (number(), number(), number()) else { continue };
            if index >= max {
                return Err(RunError::RecurrentState(path.into()));
            }
            let states = states.entry((task, size)).or_default();
            if states.len() <= index {
                states.resize_with(index + 1, RecurrentState::default);
            }
            let state = &mut states[index];
            match (segments.next(), segments.next().and_then(|index| index.parse().ok())) {
                (Some("hidden"), _) => state.hidden.clone_from(values),
                (Some("lstm_hidden"), _) => state.lstm.get_or_insert_default()[0].clone_from(values),
                (Some("lstm_cell"), _) => state.lstm.get_or_insert_default()[1].clone_from(values),
                (Some("hint"), Some(index)) => state.hints.push((index, values.clone())),
                _ => {}
            }
        }
        Ok(states)
    }

    /// Gives tensors the names of format 2.
    fn rename_format_1(&mut self) {
        let tensors = std::mem::take(&mut self.file.tensors);
        let rename = |name: String| {
            let name = name.replace("carried/", RECURRENT);
            let rename = |name: String, (old, new): &(&str, &str)| name.replace(old, new);
            RENAMED.iter().fold(name, rename)
        };
        self.file.tensors = tensors.into_iter().map(|(name, tensor)| (rename(name), tensor)).collect();
    }
}

/// Largest checkpoint that is read.
const MAX_BYTES: u64 = 16 << 30;

/// Prefixes of tensors that are not parameters.
const OPTIMIZER: &str = "adam/";
const RECURRENT: &str = "recurrent/";

/// Processor layers that had other names in format 1.
const RENAMED: &[(&str, &str)] = &[
    ("processor/asking/", "processor/query/"),
    ("processor/asked/", "processor/key/"),
    ("processor/questions", "processor/queries"),
];

/// Name of a moment of a parameter.
fn moment(name: &str, parameter: &Parameter) -> String {
    format!("{OPTIMIZER}{name}/{}", parameter.name)
}

/// Names and values of recurrent states: `recurrent/TASK/SIZE/MICRO_BATCH/..`.
fn recurrent_tensors((task, size): (usize, usize), states: &[RecurrentState]) -> Vec<(String, Vec<f32>)> {
    let mut tensors = Vec::new();
    for (index, RecurrentState { hidden, lstm, hints }) in states.iter().enumerate() {
        let name = |what: String| format!("{RECURRENT}{task}/{size}/{index}/{what}");
        tensors.push((name("hidden".into()), hidden.clone()));
        for (which, values) in ["lstm_hidden", "lstm_cell"].iter().zip(lstm.iter().flatten()) {
            tensors.push((name((*which).into()), values.clone()));
        }
        tensors.extend(hints.iter().map(|(hint, values)| (name(format!("hint/{hint}")), values.clone())));
    }
    tensors
}

/// Hash of names, shapes and values of all tensors.
fn checksum(file: &TensorFile) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = Vec::new();
    for (name, (shape, values)) in &file.tensors {
        hasher.update(format!("{name} {shape:?}\n").as_bytes());
        bytes.clear();
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        hasher.update(&bytes);
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recurrent_states_of_more_micro_batches_than_there_can_be_are_refused() {
        let mut file = TensorFile::default();
        file.tensors.insert("recurrent/0/0/1/hidden".into(), (vec![2], vec![1.0, 2.0]));
        let meta = CheckpointMeta {
            format: FORMAT,
            state: RunState::default(),
            updates: 0,
            reference: BTreeMap::new(),
            specs: None,
            recipe: String::new(),
            checksum: String::new(),
        };
        let mut checkpoint = CheckpointFile { meta, file };
        let states = checkpoint.recurrent(2, Path::new("last")).expect("two micro-batches");
        assert_eq!(states[&(0, 0)][1].hidden, [1.0, 2.0]);
        checkpoint.file.tensors.insert("recurrent/0/0/300000000/hidden".into(), (vec![0], Vec::new()));
        assert!(matches!(checkpoint.recurrent(2, Path::new("last")), Err(RunError::RecurrentState(_))));
    }

    #[test]
    fn the_fingerprint_depends_on_every_field_but_the_number_of_steps() {
        let recipe = Recipe::default();
        assert_eq!(fingerprint(&recipe), fingerprint(&Recipe { steps: 1, ..recipe.clone() }));
        assert_ne!(fingerprint(&recipe), fingerprint(&Recipe { learning_rate: 0.5, ..recipe.clone() }));
        assert_ne!(fingerprint(&recipe), fingerprint(&Recipe { seed: 1, ..recipe }));
    }
}
