//! Plans: the resolved runs of a sweep, in `plan.jsonl`.
//!
//! The first line names the sweep, every other line is a run. Planning again adds lines and never changes or moves one, so that the
//! number of a run (its task number) and its directory stay the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use clrs::sampling::SampleError;
use clrs_nn::train::plan::{PlanError, TrainPlan};
use clrs_nn::{Recipe, Registries};
use clrs_store::{OnExisting, StoreError, create_directory, read_regular, write_atomic, write_atomic_durable};
use serde::{Deserialize, Serialize};

use crate::cost::CostModel;
use crate::eval_plan::EvalPlan;
use crate::file::{Cell, SweepFile};

/// The runs of a sweep.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Name of the sweep.
    pub name: String,
    /// Every run; its index is its task number.
    pub runs: Vec<PlannedRun>,
}

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedRun {
    /// Hash of the recipe.
    pub id: String,
    /// Run directory, relative to the directory of the sweep.
    pub folder: PathBuf,
    /// Estimated floating-point operations of its training and evaluation.
    pub flops: f64,
    /// Those of its evaluation.
    #[serde(default)] // plans of earlier versions lack it
    pub eval_flops: f64,
    /// What it is evaluated on.
    pub eval: EvalPlan,
    /// Its complete recipe.
    pub recipe: Recipe,
}

/// Why a plan cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum PlanFileError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: not the directory of a sweep (no {FILE})", .0.display())]
    NoPlan(PathBuf),
    #[error("{}, line {line}: {reason}; remove the file and plan again: runs keep their directories", .path.display())]
    Damaged { path: PathBuf, line: usize, reason: String },
    #[error("{}: a plan of format {format}; this program reads format {FORMAT}", .path.display())]
    Format { path: PathBuf, format: u32 },
    #[error("{} is the directory of the sweep `{name}`, not of `{other}`; choose another directory", .path.display())]
    OtherSweep { path: PathBuf, name: String, other: String },
    #[error("{cell}: {source}")]
    Run { cell: String, source: Box<PlanError> },
    #[error("{cell}: evaluation: {source}")]
    Eval { cell: String, source: SampleError },
    #[error("{}: another process plans into it", .0.display())]
    InUse(PathBuf),
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("two cells of the grid have the same recipe: {0}")]
    Duplicate(String),
    #[error(
        "{}: run {id} ({cell}) was planned with other values of {fields}, probably by another version of this program; \
         choose another directory", .path.display()
    )]
    Changed { path: PathBuf, id: String, cell: String, fields: String },
}

/// The file.
pub const FILE: &str = "plan.jsonl";
/// A copy of the sweep file.
pub const SWEEP_FILE: &str = "sweep.toml";
const FORMAT: u32 = 1;
/// A plan of a million runs.
const MAX_BYTES: u64 = 4 << 30;
/// Directory of the runs.
const RUNS: &str = "runs";

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    sweep: String,
}

impl Plan {
    /// Resolves and checks every run of a sweep.
    ///
    /// # Errors
    /// The first cell that cannot be trained, or that occurs twice.
    pub fn new(sweep: &SweepFile, registries: &Registries) -> Result<Plan, PlanFileError> {
        let mut costs = CostModel::default();
        let mut checked = Vec::new();
        let mut runs: Vec<PlannedRun> = Vec::with_capacity(sweep.cells.len());
        let mut ids = BTreeSet::new();
        for Cell { recipe, eval } in &sweep.cells {
            let cell = || describe(recipe);
            ensure_trainable(recipe, registries, &mut checked)?;
            let eval_error = |source| PlanFileError::Eval { cell: cell(), source };
            let eval_flops = costs.evaluation(recipe, eval, registries).map_err(eval_error)?;
            let flops = costs.training(recipe, registries).unwrap_or_default() + eval_flops;
            let recipe = Recipe { data: recipe.data.clone().absolute(), ..recipe.clone() };
            let id = id(&recipe);
            let folder = folder(&recipe, &id);
            if !ids.insert(id.clone()) {
                return Err(PlanFileError::Duplicate(cell()));
            }
            runs.push(PlannedRun { id, folder, flops, eval_flops, eval: eval.clone(), recipe });
        }
        Ok(Plan { name: sweep.name.clone(), runs })
    }

    /// Adds the runs of another plan that this one lacks, and returns their number. What existing runs are evaluated on is updated.
    ///
    /// # Errors
    /// If a run has the same id but another recipe.
    pub fn extend(&mut self, other: Plan, path: &Path) -> Result<usize, PlanFileError> {
        let index: BTreeMap<String, usize> = self.runs.iter().enumerate().map(|(index, run)| (run.id.clone(), index)).collect();
        let before = self.runs.len();
        for run in other.runs {
            let Some(&known) = index.get(&run.id) else {
                self.runs.push(run);
                continue;
            };
            let known = &mut self.runs[known];
            if known.recipe != run.recipe {
                let fields = differing_fields(&known.recipe, &run.recipe).join(", ");
                let cell = describe(&run.recipe);
                return Err(PlanFileError::Changed { path: path.into(), id: run.id, cell, fields });
            }
            known.eval = run.eval;
        }
        Ok(self.runs.len() - before)
    }

    /// Reads the plan of a directory.
    ///
    /// # Errors
    /// If there is none, or it is damaged or of another format.
    pub fn read(directory: &Path) -> Result<Plan, PlanFileError> {
        let path = directory.join(FILE);
        if !path.exists() {
            return Err(PlanFileError::NoPlan(directory.into()));
        }
        let bytes = read_regular(&path, MAX_BYTES)?;
        let damaged = |line: usize, reason: String| PlanFileError::Damaged { path: path.clone(), line, reason };
        let text = std::str::from_utf8(&bytes).map_err(|error| damaged(1, error.to_string()))?;
        let mut lines = text.lines().enumerate();
        let header = lines.next().map_or("", |(_, line)| line);
        let header: Header = serde_json::from_str(header).map_err(|error| damaged(1, reason(&error)))?;
        if header.format != FORMAT {
            return Err(PlanFileError::Format { path, format: header.format });
        }
        let mut runs: Vec<PlannedRun> = Vec::new();
        let mut ids = BTreeSet::new();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            let run: PlannedRun = serde_json::from_str(line).map_err(|error| damaged(number + 1, reason(&error)))?;
            // Nothing outside the directory is ever written.
            if !is_inside(&run.folder) || run.id != id(&run.recipe) {
                return Err(damaged(number + 1, "the run does not match its id or directory".into()));
            }
            if !ids.insert(run.id.clone()) {
                return Err(damaged(number + 1, format!("run {} occurs twice", run.id)));
            }
            runs.push(run);
        }
        Ok(Plan { name: header.sweep, runs })
    }

    /// Writes the plan and a copy of the sweep file into a directory, which is created if necessary.
    ///
    /// # Errors
    /// If a file cannot be written. An existing plan is intact then.
    pub fn write(&self, directory: &Path, sweep: &SweepFile) -> Result<(), PlanFileError> {
        if let Some((name, text)) = sweep.recipe_file.as_ref().filter(|(name, _)| is_inside(name)) {
            let path = directory.join(name);
            create_directory(path.parent().unwrap_or(directory))?;
            write_atomic(&path, OnExisting::Replace, text.as_bytes())?;
        }
        let header = Header { format: FORMAT, sweep: self.name.clone() };
        let mut text = serde_json::to_string(&header).expect("plain data") + "\n";
        for run in &self.runs {
            text += &serde_json::to_string(run).expect("plain data");
            text.push('\n');
        }
        write_atomic_durable(&directory.join(FILE), OnExisting::Replace, text.as_bytes())?;
        Ok(write_atomic(&directory.join(SWEEP_FILE), OnExisting::Replace, sweep.text.as_bytes())?)
    }

    /// Plans a sweep into a directory, or adds the runs of a sweep file that has grown. Returns the plan and the number of new runs.
    ///
    /// # Errors
    /// If a run is not valid, the directory has the plan of another sweep, or it cannot be written. Nothing has changed then.
    pub fn update(directory: &Path, sweep: &SweepFile, registries: &Registries) -> Result<(Plan, usize), PlanFileError> {
        let new = Plan::new(sweep, registries)?;
        create_directory(directory)?;
        let _lock = lock(directory)?;
        let mut plan = match Plan::read(directory) {
            Err(PlanFileError::NoPlan(_)) => Plan { name: new.name.clone(), runs: Vec::new() },
            plan => plan?,
        };
        if plan.name != new.name {
            let path = directory.into();
            return Err(PlanFileError::OtherSweep { path, name: plan.name, other: new.name });
        }
        let added = plan.extend(new, directory)?;
        plan.write(directory, sweep)?;
        Ok((plan, added))
    }

    /// What each run is, in a few words: algorithm, processor, seed, and other fields in which runs differ.
    pub fn labels(&self) -> Vec<String> {
        let tables: Vec<toml::Table> = self.runs.iter().map(|run| table(&run.recipe)).collect();
        let Some(first) = tables.first() else { return Vec::new() };
        let is_described = |name: &str| ["algorithms", "processor", "seed", "eval_every"].contains(&name);
        let varies = |name: &&String| !is_described(name) && tables.iter().any(|table| table[*name] != first[*name]);
        let fields: Vec<&String> = first.keys().filter(varies).collect();
        let label = |(run, table): (&PlannedRun, &toml::Table)| {
            fields.iter().fold(describe(&run.recipe), |label, field| format!("{label}, {field} {}", plain(&table[*field])))
        };
        self.runs.iter().zip(&tables).map(label).collect()
    }
}

impl PlannedRun {
    /// Floating-point operations until a training step.
    pub fn flops_at(&self, step: usize) -> f64 {
        (self.flops - self.eval_flops) * step as f64 / self.recipe.steps.max(1) as f64
    }
}

/// Whether a path stays inside the directory that it is relative to.
fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// Two plans at once would lose the runs of one.
fn lock(directory: &Path) -> Result<File, PlanFileError> {
    let path = directory.join("lock");
    let io = |source| PlanFileError::Io { path: path.clone(), source };
    let file = File::options().create(true).append(true).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(PlanFileError::InUse(directory.into())),
        Err(std::fs::TryLockError::Error(source)) => Err(io(source)),
    }
}

/// A message of serde without the position, which is that of a line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_string()
}

/// Cells of one model are next to each other in a grid, or a few apart.
const RECENT: usize = 8;

/// Checks a recipe. Seeds do not matter, so recipes that differ in them are checked once.
fn ensure_trainable(recipe: &Recipe, registries: &Registries, checked: &mut Vec<Recipe>) -> Result<(), PlanFileError> {
    let model = Recipe { seed: 0, data_seed: 0, ..recipe.clone() };
    if checked.iter().rev().take(RECENT).any(|other| *other == model) {
        return Ok(());
    }
    TrainPlan::new(model.clone(), registries)
        .map_err(|source| PlanFileError::Run { cell: describe(recipe), source: Box::new(source) })?;
    checked.push(model);
    Ok(())
}

/// What a run is, in a few words.
pub fn describe(recipe: &Recipe) -> String {
    let algorithms = match &recipe.algorithms[..] {
        [one] => one.clone(),
        several => format!("{} algorithms", several.len()),
    };
    format!("{algorithms}, {}, seed {}", recipe.model.processor, recipe.seed)
}

fn id(recipe: &Recipe) -> String {
    recipe.content_hash()[..12].into()
}

/// A name that tells a person which run it is, and the id.
fn folder(recipe: &Recipe, id: &str) -> PathBuf {
    let algorithms = match &recipe.algorithms[..] {
        [one] => one.clone(),
        several => format!("{}-algorithms", several.len()),
    };
    Path::new(RUNS).join(format!("{algorithms}-{}-seed{}-{id}", recipe.model.processor, recipe.seed))
}

/// A value in a few characters.
fn plain(value: &toml::Value) -> String {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "recipes have f32 values, which print shorter")]
        toml::Value::Float(number) => format!("{:?}", *number as f32),
        toml::Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn table(recipe: &Recipe) -> toml::Table {
    toml::Table::try_from(recipe).expect("a recipe is a TOML table")
}

fn differing_fields(a: &Recipe, b: &Recipe) -> Vec<String> {
    let (a, b) = (table(a), table(b));
    a.iter().filter(|(name, value)| b.get(*name) != Some(value)).map(|(name, _)| format!("`{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(text: &str) -> SweepFile {
        SweepFile::parse(text, "test", |_| unreachable!("no recipe file")).expect("a valid sweep")
    }

    const SMALL: &str = "[set]\nhidden = 8\nsteps = 4\n[grid]\nalgorithms = ['bfs', 'dfs']\nseed = [1, 2]";

    #[test]
    fn planning_again_adds_runs_and_leaves_the_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let registries = Registries::builtin();
        let (first, added) = Plan::update(directory.path(), &sweep(SMALL), &registries).expect("a plan");
        assert_eq!((first.runs.len(), added), (4, 4));
        // The new cells come first in the grid, and last in the plan.
        let larger = SMALL.replace("['bfs', 'dfs']", "['minimum', 'bfs', 'dfs']").replace("[1, 2]", "[0, 1, 2]");
        let (second, added) = Plan::update(directory.path(), &sweep(&larger), &registries).expect("a plan");
        assert_eq!((second.runs.len(), added), (9, 5));
        assert_eq!(second.runs[..4], first.runs[..]);
        assert_eq!(Plan::read(directory.path()).expect("a plan"), second);
        let (third, added) = Plan::update(directory.path(), &sweep(SMALL), &registries).expect("a plan");
        assert_eq!((third, added), (second, 0), "runs are never removed");
    }

    #[test]
    fn ids_depend_on_every_field_that_is_not_a_default() {
        let recipe = |overrides: &[&str]| Recipe::parse("algorithms = ['bfs']", overrides).expect("a recipe");
        assert_eq!(id(&recipe(&[])), id(&recipe(&["hidden=128"])));
        assert_ne!(id(&recipe(&[])), id(&recipe(&["seed=1"])));
        assert_ne!(id(&recipe(&["seed=1"])), id(&recipe(&["data_seed=1"])));
        assert_eq!(id(&recipe(&["seed=1", "steps=7"])), id(&recipe(&["steps=7", "seed=1"])));
    }

    #[test]
    fn plans_that_cannot_be_run_are_rejected_before_anything_is_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let error =
            |text: &str| Plan::update(directory.path(), &sweep(text), &Registries::builtin()).expect_err("invalid").to_string();
        assert_eq!(error("[grid]\nalgorithms = ['bsf']"), "bsf, mpnn, seed 42: unknown algorithm `bsf`; did you mean `bfs`?");
        assert_eq!(
            error("[grid]\nalgorithms = ['bfs', 'bfs']"),
            "two cells of the grid have the same recipe: bfs, mpnn, seed 42"
        );
        assert!(error("[set]\nsteps = 0\n[grid]\nalgorithms = ['bfs']").contains("`steps` must be at least 1"));
        assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
    }

    #[test]
    fn damaged_plans_name_their_line() {
        let directory = tempfile::tempdir().expect("a directory");
        Plan::update(directory.path(), &sweep(SMALL), &Registries::builtin()).expect("a plan");
        let path = directory.path().join(FILE);
        let text = std::fs::read_to_string(&path).expect("a plan");
        let error = |text: &str| {
            std::fs::write(&path, text).expect("writable");
            Plan::read(directory.path()).expect_err("damaged").to_string()
        };
        assert!(error(&text[..text.len() - 9]).contains("plan.jsonl, line 5: EOF while parsing"), "{}", error(&text[..99]));
        assert!(error(&text.replacen("\"bfs\"", "\"dfs\"", 1)).contains("line 2: the run does not match its id"));
        assert!(error(&text.replacen("runs/", "../../", 1)).contains("line 2: the run does not match its id or directory"));
        assert!(error(&text.replacen("\"format\":1", "\"format\":9", 1)).contains("a plan of format 9"));
        assert!(error("").contains("line 1: EOF"));
        let lines: Vec<&str> = text.lines().collect();
        assert!(error(&[lines[0], lines[1], lines[1]].join("\n")).contains("line 3: run"));
    }
}
