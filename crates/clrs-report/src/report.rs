//! A report: everything that is computed from runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::figures::{self, Figure};
use crate::models::{plain, table};
use crate::results::Results;
use crate::runs::{ReportRun, RunState};
use crate::tables::{self, Table};

/// Tables and figures of runs.
///
/// ```
/// use clrs_nn::Recipe;
/// use clrs_report::{Report, ReportRun};
///
/// let planned = Recipe { algorithms: vec!["bfs".into()], ..Recipe::default() };
/// let runs = [ReportRun::read("runs/bfs-1".as_ref(), Some(planned))?];
/// let report = Report::new(&runs);
/// assert_eq!(report.headline(), "0 of 1 run finished: 1 algorithm, 1 model, 1 seed");
/// # Ok::<(), clrs_nn::run::error::RunError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Report<'r> {
    /// The runs by model and algorithm.
    pub results: Results<'r>,
    /// How many runs there are.
    pub counts: Counts,
    /// All tables.
    pub tables: Vec<Table>,
    /// All figures that there are results for.
    pub figures: Vec<Figure>,
    /// What applies to all tables.
    pub notes: Vec<String>,
    /// What was left out, a line each, with the way out.
    pub problems: Vec<String>,
}

/// Names and values.
type Fields = Vec<(String, String)>;

/// Numbers of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Planned or given.
    pub runs: usize,
    /// Finished.
    pub done: usize,
    /// Finished, and evaluated on the test set on all their algorithms.
    pub evaluated: usize,
    /// Running, or stopped before their end.
    pub unfinished: usize,
    /// Ended by an error.
    pub failed: usize,
    /// Planned only.
    pub not_started: usize,
}

impl<'r> Report<'r> {
    /// Computes tables and figures.
    pub fn new(runs: &'r [ReportRun]) -> Report<'r> {
        let results = Results::new(runs);
        let count = |is: fn(&RunState) -> bool| results.runs.iter().filter(|run| is(&run.state)).count();
        let counts = Counts {
            runs: results.runs.len(),
            done: results.done(),
            evaluated: results.evaluated(),
            unfinished: count(|state| matches!(state, RunState::Unfinished { .. })),
            failed: count(|state| matches!(state, RunState::Failed { .. })),
            not_started: count(|state| *state == RunState::NotStarted),
        };
        let problems = runs.iter().flat_map(|run| run.problems.iter().cloned()).chain(results.problems.clone()).collect();
        let (tables, figures) = (tables::all(&results), figures::all(&results));
        let notes = notes(&results);
        Report { results, counts, tables, figures, notes, problems }
    }

    /// How complete the report is, in one line.
    pub fn headline(&self) -> String {
        let Counts { runs, done, evaluated, .. } = self.counts;
        let seeds: BTreeSet<(u32, u32)> = self.results.runs.iter().map(|run| (run.recipe.seed, run.recipe.data_seed)).collect();
        let finished = match (done == runs, evaluated == done) {
            (true, true) => format!("{} finished and evaluated", plural(runs, "run")),
            (_, true) => format!("{done} of {} finished", plural(runs, "run")),
            _ => format!("{done} of {} finished, {evaluated} evaluated", plural(runs, "run")),
        };
        format!(
            "{finished}: {}, {}, {}",
            plural(self.results.algorithms.len(), "algorithm"),
            plural(self.results.models.len(), "model"),
            plural(seeds.len(), "seed")
        )
    }

    /// Seeds, programs, machines, devices and commands of the runs.
    pub(crate) fn facts(&self) -> Fields {
        let runs = &self.results.runs;
        let counted = |value: &dyn Fn(&ReportRun) -> Option<String>| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for value in runs.iter().filter_map(|run| value(run)) {
                *counts.entry(value).or_default() += 1;
            }
            let all = counts.len() < 2;
            let item = |(value, count): (String, usize)| if all { value } else { format!("{value} ({})", plural(count, "run")) };
            counts.into_iter().map(item).collect::<Vec<_>>().join("; ")
        };
        let provenance = |run: &ReportRun| run.provenance.clone().unwrap_or_default();
        let machine = |run: &ReportRun| {
            let of = provenance(run).machine?;
            let cpu = of.cpu.map(|cpu| format!(", {cpu}")).unwrap_or_default();
            Some(format!("{} {}{cpu}, {}", of.os, of.arch, plural(of.cores, "core")))
        };
        let seeds = |run: &ReportRun| Some((run.recipe.seed, run.recipe.data_seed));
        let distinct: BTreeSet<(u32, u32)> = runs.iter().filter_map(|run| seeds(run)).collect();
        let seed = |(seed, data): (u32, u32)| if seed == data { seed.to_string() } else { format!("{seed} (data {data})") };
        let first = runs.iter().find_map(|run| provenance(run).command);
        let facts = [
            ("runs", self.headline()),
            ("seeds", distinct.into_iter().map(seed).collect::<Vec<_>>().join(", ")),
            ("test set", self.results.test_sets().into_iter().collect::<Vec<_>>().join(", ")),
            ("program", counted(&|run| provenance(run).program)),
            ("machine", counted(&machine)),
            ("device", counted(&|run| provenance(run).device)),
            ("command of the first run", first.unwrap_or_default()),
        ];
        facts.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.into(), value)).collect()
    }

    /// Fields of the recipes that differ between runs with all their values, and those that are the same.
    pub(crate) fn recipe_fields(&self) -> (Fields, Fields) {
        let tables: Vec<toml::Table> = self.results.runs.iter().map(|run| table(&run.recipe)).collect();
        let Some(first) = tables.first() else { return Default::default() };
        let (mut varied, mut common) = (Vec::new(), Vec::new());
        for name in first.keys() {
            let mut values: Vec<&toml::Value> = Vec::new();
            for table in &tables {
                if !values.contains(&&table[name]) {
                    values.push(&table[name]);
                }
            }
            let text = values.iter().map(|value| plain(value)).collect::<Vec<_>>().join(", ");
            (if values.len() > 1 { &mut varied } else { &mut common }).push((name.clone(), text));
        }
        (varied, common)
    }

    /// The report for other programs.
    pub fn to_json(&self) -> Value {
        let object = |items: Fields| items.into_iter().collect::<BTreeMap<_, _>>();
        let (varied, common) = self.recipe_fields();
        let tables = self.tables.iter().map(|table| json!({"table": table.name, "title": table.title, "records": table.records}));
        json!({
            "counts": self.counts,
            "problems": self.problems,
            "notes": self.notes,
            "facts": object(self.facts()),
            "recipe": object(common),
            "recipe_differences": object(varied),
            "tables": tables.collect::<Vec<_>>(),
            "figures": self.figures.iter().map(|figure| figure.name).collect::<Vec<_>>(),
        })
    }
}

/// What applies to all tables.
fn notes(results: &Results<'_>) -> Vec<String> {
    let sets = results.test_sets();
    let is_papers = |set: &String| set.starts_with("clrs30@1.0.0");
    let mut notes = Vec::new();
    if !sets.is_empty() && !sets.iter().all(is_papers) {
        let sets: Vec<String> = sets.into_iter().collect();
        notes.push(format!(
            "The paper's results are for clrs30@1.0.0. These runs are evaluated on {}, with other samples, and some algorithms with \
             other probes: differences to the paper are not those of models alone.",
            sets.join(" and ")
        ));
    }
    let departures = results.departures_from_paper();
    if !departures.is_empty() {
        let departures: Vec<String> = departures.into_iter().collect();
        notes.push(format!(
            "Some of these networks are not trained as the paper's were (recipe `paper-2022`): {}. Differences to the paper are not \
             those of a reproduction.",
            departures.join(", ")
        ));
    }
    notes
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
