//! Results of models on algorithms over seeds: what tables and figures are made of.

use std::collections::BTreeSet;

use clrs::clrs30::Split;
use clrs::{AnyAlgorithm, Family, Registry};
use clrs_nn::Recipe;
use clrs_nn::config::data_source::DataSource;
use clrs_nn::config::recipe;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::Steps;

use crate::models::{differences, display_name, identities, identity, plain, table};
use crate::paper::{PaperModel, PaperResult, PaperTable};
use crate::runs::{Evaluation, ReportRun, RunState};
use crate::stats::MeanStddev;

/// Runs grouped by model and algorithm.
#[derive(Debug)]
#[non_exhaustive]
pub struct Results<'r> {
    /// All runs, without those whose recipe and seeds occurred before.
    pub runs: Vec<&'r ReportRun>,
    /// Algorithms by name.
    pub algorithms: Vec<AlgorithmRow>,
    /// Models: first the paper's baselines in its order, then others.
    pub models: Vec<Model>,
    /// Columns of tables.
    pub columns: Vec<Column>,
    /// Runs that were left out as duplicates, a line each.
    pub problems: Vec<String>,
    /// `[algorithm][model]`.
    cells: Vec<Vec<Cell>>,
}

/// An algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlgorithmRow {
    /// Its name.
    pub name: String,
    /// Its family, unless it belongs to another crate.
    pub family: Option<Family>,
}

/// Runs that differ in algorithm and seeds alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Model {
    /// Name in tables.
    pub label: String,
    /// The processor.
    pub processor: String,
    /// The baseline of the paper that it corresponds to.
    pub paper: Option<PaperModel>,
    recipe: Recipe,
}

/// A column of tables: a model, or the better one of several on each algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// Name in tables.
    pub label: String,
    /// The baseline of the paper beside it.
    pub paper: Option<PaperModel>,
    /// Indices of its models. Of several, the one with the highest mean validation score counts, for each algorithm.
    pub models: Vec<usize>,
}

/// Runs of a model on an algorithm.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Cell {
    /// Indices of its runs, planned or started.
    pub runs: Vec<usize>,
    /// Score on the test set with the true number of steps.
    pub score: Option<Group>,
    /// Score on the test set until predictions repeat: without the length of the trajectory, which reveals something of the answer.
    pub fixpoint: Option<Group>,
    /// Share of correct answers on the test set.
    pub validity: Option<Group>,
    /// Share of answers on the test set that equal the reference's.
    pub exact_match: Option<Group>,
    /// Best score on the validation set of the benchmark.
    pub validation: Option<Group>,
    /// Best score in the validations of training, on whatever data: what variants of a model are chosen by.
    pub selection: Option<Group>,
}

/// A value over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// Mean and standard deviation.
    pub value: MeanStddev,
    /// Number of runs.
    pub runs: usize,
}

impl Group {
    /// No run.
    pub(crate) const EMPTY: Group = Group { value: MeanStddev { mean: 0.0, stddev: None }, runs: 0 };
}

/// What a column has on an algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The value, if a run has it.
    pub value: Option<MeanStddev>,
    /// Number of runs in it.
    pub runs: usize,
    /// Number of runs that were planned or given.
    pub known: usize,
    /// Whether all of them are in it. If several models compete, all of theirs.
    pub is_complete: bool,
    /// Processor of the model that counts.
    pub processor: Option<String>,
    /// The paper's result.
    pub paper: Option<PaperResult>,
}

/// What a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Metric {
    /// Score on the test set.
    Test,
    /// Best score on the validation set.
    Validation,
}

impl<'r> Results<'r> {
    /// Groups runs. Only complete runs have values: a mean over runs that are trained for different times would mislead.
    pub fn new(all: &'r [ReportRun]) -> Results<'r> {
        let (mut runs, mut problems): (Vec<&ReportRun>, Vec<String>) = (Vec::new(), Vec::new());
        for run in all {
            match runs.iter_mut().find(|other| other.recipe == run.recipe) {
                None => runs.push(run),
                Some(other) => {
                    let (kept, left_out) = if progress(run) > progress(other) { (run, *other) } else { (*other, run) };
                    *other = kept;
                    if kept.folder != left_out.folder && left_out.state != RunState::NotStarted {
                        let (kept, left_out) = (kept.folder.display(), left_out.folder.display());
                        problems.push(format!("{left_out}: has the recipe and seeds of {kept} and counts once"));
                    }
                }
            }
        }
        let algorithms = algorithms(&runs);
        let identities = identities(&runs.iter().map(|run| &run.recipe).collect::<Vec<_>>());
        let models = models(&identities);
        let columns = columns(&models);
        let of_model =
            |model: &Model| -> Vec<usize> { (0..runs.len()).filter(|&index| identities[index] == model.recipe).collect() };
        let by_model: Vec<Vec<usize>> = models.iter().map(of_model).collect();
        let row = |algorithm: &AlgorithmRow| by_model.iter().map(|of| cell(&runs, of, &algorithm.name)).collect();
        let cells = algorithms.iter().map(row).collect();
        Results { runs, algorithms, models, columns, problems, cells }
    }

    /// Runs of a model on an algorithm, by their indices.
    pub fn cell(&self, algorithm: usize, model: usize) -> &Cell {
        &self.cells[algorithm][model]
    }

    /// What a column has on an algorithm.
    pub fn entry(&self, metric: Metric, algorithm: usize, column: &Column) -> Entry {
        let cells = column.models.iter().map(|&model| (model, self.cell(algorithm, model)));
        let known: Vec<(usize, &Cell)> = cells.filter(|(_, cell)| !cell.runs.is_empty()).collect();
        let selection = |cell: &Cell| cell.selection.map_or(f64::NEG_INFINITY, |group| group.value.mean);
        // The first of equals.
        let chosen = known.iter().rev().max_by(|(_, a), (_, b)| selection(a).total_cmp(&selection(b)));
        let Some(&(model, cell)) = chosen else { return Entry::default() };
        let group = |cell: &Cell| match metric {
            Metric::Test => cell.score,
            Metric::Validation => cell.validation,
        };
        let (model, known_runs) = (&self.models[model], cell.runs.len());
        Entry {
            value: group(cell).map(|group| group.value),
            runs: group(cell).map_or(0, |group| group.runs),
            known: known_runs,
            is_complete: known.iter().all(|(_, cell)| group(cell).is_some_and(|group| group.runs == cell.runs.len())),
            processor: Some(model.processor.clone()),
            paper: self.paper(metric, algorithm, column),
        }
    }

    /// The paper's result beside a column.
    pub fn paper(&self, metric: Metric, algorithm: usize, column: &Column) -> Option<PaperResult> {
        let table = match metric {
            Metric::Test => PaperTable::Test,
            Metric::Validation => PaperTable::Validation,
        };
        column.paper?.result(table, &self.algorithms[algorithm].name)
    }

    /// Number of complete runs.
    pub fn done(&self) -> usize {
        self.runs.iter().filter(|run| run.is_done()).count()
    }

    /// Number of complete runs that are evaluated on the test set, on all their algorithms.
    pub fn evaluated(&self) -> usize {
        let has = |run: &ReportRun, algorithm: &String| test(run, algorithm, Steps::Oracle).is_some();
        self.runs.iter().filter(|run| run.is_done() && run.recipe.algorithms.iter().all(|of| has(run, of))).count()
    }

    /// Names of the test sets that runs are evaluated on.
    pub fn test_sets(&self) -> BTreeSet<String> {
        let is_evaluated = |run: &&&ReportRun| {
            let algorithms = &run.recipe.algorithms;
            run.is_done() && algorithms.iter().any(|algorithm| test(run, algorithm, Steps::Oracle).is_some())
        };
        self.runs.iter().filter(is_evaluated).map(|run| test_set(&run.recipe).to_string()).collect()
    }

    /// Whether two columns are variants of one of the paper's models: their models differ in the processor alone.
    pub(crate) fn are_variants(&self, a: &Column, b: &Column) -> bool {
        let without_processor = |column: &Column| {
            let mut recipe = self.models[column.models[0]].recipe.clone();
            recipe.model.processor.clear();
            recipe
        };
        a.paper.is_some() && a.paper == b.paper && without_processor(a) == without_processor(b)
    }

    /// Fields in which models beside the paper's differ from its recipe, with their values: `hidden=32`.
    pub(crate) fn departures_from_paper(&self) -> BTreeSet<String> {
        let text = recipe::SHIPPED.iter().find(|(name, _)| *name == "paper-2022").map_or("", |(_, text)| text);
        let paper = identity(&Recipe::parse(text, &[]).expect("a recipe that comes with the program"));
        let paper = table(&paper);
        let of_model = |model: &Model| {
            let is_departure = |(name, value): &(&String, &toml::Value)| {
                // The data are a note of their own.
                !["processor", "data", "algorithms"].contains(&name.as_str()) && paper.get(*name) != Some(value)
            };
            let ours = table(&model.recipe);
            ours.iter().filter(is_departure).map(|(name, value)| format!("{name}={}", plain(value))).collect::<Vec<_>>()
        };
        self.models.iter().filter(|model| model.paper.is_some()).flat_map(of_model).collect()
    }
}

/// How far a run is, and how much of it is known: of runs with the same recipe, such as an archived one and its directory, the one
/// with more counts.
fn progress(run: &ReportRun) -> impl Ord {
    let step = match run.state {
        RunState::NotStarted => None,
        RunState::Unfinished { step, .. } | RunState::Failed { step, .. } => Some(step),
        RunState::Done => Some(usize::MAX),
    };
    (step, run.evaluations.len())
}

/// The test set that counts for a run: that of the version of the benchmark that it was trained on, or of the current one.
fn test_set(recipe: &Recipe) -> EvalSet {
    EvalSet::fixed(DataSource::Benchmark(recipe.data.version().unwrap_or_default()), Split::Test)
}

/// The evaluation of the best checkpoint on the test set.
pub(crate) fn test<'e>(run: &'e ReportRun, algorithm: &str, steps: Steps) -> Option<&'e Evaluation> {
    let set = test_set(&run.recipe);
    let is_test = |of: &&Evaluation| of.algorithm == algorithm && of.checkpoint == "best" && of.set == set && of.steps == steps;
    run.evaluations.iter().find(is_test)
}

/// The score of the best validation. On data other than the benchmark's, it is not one on the validation set.
fn validation(run: &ReportRun, algorithm: &str) -> Option<f64> {
    run.recipe.data.version()?;
    selection(run, algorithm)
}

/// The score of the best validation of training.
fn selection(run: &ReportRun, algorithm: &str) -> Option<f64> {
    let curve = run.curves.iter().find(|curve| curve.algorithm == algorithm)?;
    let best = run.best_step?;
    curve.points.iter().find(|point| point.step == best).map(|point| point.score)
}

fn algorithms(runs: &[&ReportRun]) -> Vec<AlgorithmRow> {
    let names: BTreeSet<&String> = runs.iter().flat_map(|run| &run.recipe.algorithms).collect();
    let family = |name: &str| Registry::builtin().find(name).ok().map(AnyAlgorithm::family);
    names.into_iter().map(|name| AlgorithmRow { name: name.clone(), family: family(name) }).collect()
}

fn models(identities: &[Recipe]) -> Vec<Model> {
    let mut distinct: Vec<&Recipe> = Vec::new();
    for identity in identities {
        if !distinct.contains(&identity) {
            distinct.push(identity);
        }
    }
    let model = |(recipe, fields): (&Recipe, String)| {
        let processor = recipe.model.processor.clone();
        let label = display_name(&processor) + &fields;
        Model { label, paper: PaperModel::of_processor(&processor), processor, recipe: recipe.clone() }
    };
    let fields = differences(&distinct);
    let mut models: Vec<Model> = distinct.into_iter().zip(fields).map(model).collect();
    models.sort_by(|a, b| {
        let key = |model: &Model| (model.paper.is_none(), model.paper, model.processor.clone(), model.label.clone());
        key(a).cmp(&key(b))
    });
    models
}

/// One column per model, except that variants of GAT that differ in the processor alone are one, as in the paper.
fn columns(models: &[Model]) -> Vec<Column> {
    let mut columns: Vec<(Recipe, Column)> = Vec::new();
    for (index, model) in models.iter().enumerate() {
        let mut same = model.recipe.clone();
        if model.paper == Some(PaperModel::Gat) {
            same.model.processor = "gat".into();
            if let Some((_, column)) = columns.iter_mut().find(|(recipe, _)| *recipe == same) {
                column.models.push(index);
                continue;
            }
        }
        columns.push((same, Column { label: model.label.clone(), paper: model.paper, models: vec![index] }));
    }
    columns.into_iter().map(|(_, column)| column).collect()
}

/// The runs of a model (by index) on an algorithm.
fn cell(runs: &[&ReportRun], of_model: &[usize], algorithm: &str) -> Cell {
    let is_trained = |&index: &usize| runs[index].recipe.algorithms.iter().any(|name| name == algorithm);
    let indices: Vec<usize> = of_model.iter().copied().filter(is_trained).collect();
    let group = |value: &dyn Fn(&ReportRun) -> Option<f64>| {
        let done = indices.iter().map(|&index| runs[index]).filter(|run| run.is_done());
        let values: Vec<f64> = done.filter_map(value).collect();
        (!values.is_empty()).then(|| Group { value: MeanStddev::new(&values), runs: values.len() })
    };
    Cell {
        score: group(&|run| test(run, algorithm, Steps::Oracle).map(|of| of.score)),
        fixpoint: group(&|run| test(run, algorithm, Steps::Fixpoint).map(|of| of.score)),
        validity: group(&|run| test(run, algorithm, Steps::Oracle).map(|of| of.validity)),
        exact_match: group(&|run| test(run, algorithm, Steps::Oracle).map(|of| of.exact_match)),
        validation: group(&|run| validation(run, algorithm)),
        selection: group(&|run| selection(run, algorithm)),
        runs: indices,
    }
}
