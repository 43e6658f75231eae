//! Several runs put together: means and deviations over seeds, means over families, both averages.
//!
//! Runs are runs of one model if their recipes differ in nothing but seeds; those that learn a single algorithm each are one
//! model for all of them.

use clrs::{AnyAlgorithm, Family};

use crate::eval::evaluate::Metrics;
use crate::eval::paper::{Reported, Table, reported};
use crate::config::recipe::Recipe;
use crate::data::eval_set::EvalSet;

/// How a run did at an algorithm on a set.
#[derive(Clone)]
pub struct Judged<'j> {
    /// How it was trained.
    pub recipe: &'j Recipe,
    /// At what.
    pub algorithm: &'static dyn AnyAlgorithm,
    /// On what.
    pub set: &'j EvalSet,
    /// The outcome.
    pub outcome: &'j Metrics,
}

/// All runs of one model on one set.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The processor, and what else tells the model from the others.
    pub model: String,
    /// The set.
    pub set: String,
    /// Every algorithm.
    pub algorithms: Vec<AlgorithmRow>,
    /// Every family of which there is an algorithm, in the paper's order.
    pub families: Vec<Average>,
    /// The mean over these families.
    pub over_families: Average,
    /// The mean over all algorithms.
    pub over_algorithms: Average,
}

/// An algorithm over seeds.
#[derive(Clone, Debug)]
pub struct AlgorithmRow {
    /// Its name.
    pub algorithm: &'static str,
    /// Its family.
    pub family: Family,
    /// The reference's score.
    pub score: Spread,
    /// The share of right answers.
    pub validity: Spread,
    /// The share of answers that equal the reference's.
    pub exact_match: Spread,
    /// What the paper reports.
    pub paper: Option<Reported>,
}

/// A mean of scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// The family, or what the mean is over.
    pub name: String,
    /// How many means it is the mean of.
    pub count: usize,
    /// The mean.
    pub score: f64,
    /// The same of what the paper reports for the same algorithms.
    pub paper: Option<f64>,
}

/// The mean of some numbers, and how they scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation as that of a sample: the sum of squares is divided by one less than their number.
    pub deviation: Option<f64>,
}

impl Spread {
    /// Of one number at least.
    pub fn new(numbers: &[f64]) -> Spread {
        let count = numbers.len();
        let mean = mean(numbers.iter().copied());
        let squares = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
        let deviation = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        Spread { count, mean, deviation }
    }
}

/// A summary for every model and set, in the order in which they first come.
pub fn summarise(judged: &[Judged<'_>]) -> Vec<Summary> {
    let models: Vec<Recipe> = judged.iter().map(|judged| model(judged.recipe)).collect();
    let distinct = models.iter().fold(Vec::new(), |mut distinct: Vec<&Recipe>, model| {
        if !distinct.contains(&model) {
            distinct.push(model);
        }
        distinct
    });
    let labels = labels(&distinct);
    let mut summaries = Vec::new();
    for (which, label) in distinct.iter().zip(labels) {
        let of_model: Vec<&Judged<'_>> =
            judged.iter().zip(&models).filter(|(_, model)| model == which).map(|(judged, _)| judged).collect();
        let mut sets: Vec<&EvalSet> = Vec::new();
        for judged in &of_model {
            if !sets.contains(&judged.set) {
                sets.push(judged.set);
            }
        }
        for set in sets {
            let of_set: Vec<&Judged<'_>> = of_model.iter().copied().filter(|judged| judged.set == set).collect();
            summaries.push(summary(label.clone(), set, &which.network.processor, &of_set));
        }
    }
    summaries
}

fn summary(model: String, set: &EvalSet, processor: &str, judged: &[&Judged<'_>]) -> Summary {
    let table = set.paper_table();
    let mut algorithms: Vec<AlgorithmRow> = Vec::new();
    for Judged { algorithm, .. } in judged {
        let name = algorithm.name();
        if algorithms.iter().all(|row| row.algorithm != name) {
            let runs: Vec<&Metrics> =
                judged.iter().filter(|judged| judged.algorithm.name() == name).map(|judged| judged.outcome).collect();
            let spread = |of: fn(&Metrics) -> f64| Spread::new(&runs.iter().map(|outcome| of(outcome)).collect::<Vec<_>>());
            algorithms.push(AlgorithmRow {
                algorithm: name,
                family: algorithm.family(),
                score: spread(|outcome| outcome.score),
                validity: spread(|outcome| outcome.validity),
                exact_match: spread(|outcome| outcome.exact_match),
                paper: table.and_then(|table: Table| reported(table, name, processor)),
            });
        }
    }
    let families = Family::ALL.into_iter().filter_map(|family| {
        let rows: Vec<&AlgorithmRow> = algorithms.iter().filter(|row| row.family == family).collect();
        (!rows.is_empty()).then(|| over_rows(family.name(), &rows))
    });
    let families: Vec<Average> = families.collect();
    let over_families = Average {
        name: "families".into(),
        count: families.len(),
        score: mean(families.iter().map(|family| family.score)),
        paper: families.iter().map(|family| family.paper).collect::<Option<Vec<_>>>().map(|of| mean(of.into_iter())),
    };
    let over_algorithms = over_rows("algorithms", &algorithms.iter().collect::<Vec<_>>());
    Summary { model, set: set.to_string(), algorithms, families, over_families, over_algorithms }
}

fn over_rows(name: &str, rows: &[&AlgorithmRow]) -> Average {
    let paper: Option<Vec<f64>> = rows.iter().map(|row| row.paper.map(|paper| paper.mean)).collect();
    Average {
        name: name.into(),
        count: rows.len(),
        score: mean(rows.iter().map(|row| row.score.mean)),
        paper: paper.map(|paper| mean(paper.into_iter())),
    }
}

fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len() as f64;
    numbers.sum::<f64>() / count
}

/// A recipe without what tells runs of one model apart.
fn model(recipe: &Recipe) -> Recipe {
    let mut model = Recipe { seed: 0, data_seed: 0, ..recipe.clone() };
    if model.algorithms.len() == 1 {
        model.algorithms.clear();
    }
    model
}

/// The processor of each model, and the fields in which they differ.
fn labels(models: &[&Recipe]) -> Vec<String> {
    let tables: Vec<toml::Table> =
        models.iter().map(|model| toml::Table::try_from(model).expect("a recipe is a table")).collect();
    let differs = |name: &&String| tables.iter().any(|table| table[*name] != tables[0][*name]);
    let fields: Vec<&String> = tables[0].keys().filter(|name| *name != "processor").filter(differs).collect();
    let label = |(model, table): (&&Recipe, &toml::Table)| {
        let fields = fields.iter().map(|name| (name, plain(&table[name.as_str()]))).filter(|(_, value)| !value.is_empty());
        let fields = fields.map(|(name, value)| format!(" {name}={value}"));
        model.network.processor.clone() + &fields.collect::<String>()
    };
    models.iter().zip(&tables).map(label).collect()
}

/// A value as it is typed on the command line.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        #[expect(clippy::cast_possible_truncation, reason = "recipes have f32, which are shorter so")]
        toml::Value::Float(number) => (*number as f32).to_string(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::ModelConfig;
    use clrs::Registry;
    use clrs::clrs30::Split;

    #[test]
    fn a_deviation_is_that_of_a_sample() {
        assert_eq!(Spread::new(&[1.0, 2.0, 3.0]), Spread { count: 3, mean: 2.0, deviation: Some(1.0) });
        assert_eq!(Spread::new(&[0.5]), Spread { count: 1, mean: 0.5, deviation: None });
    }

    #[test]
    fn runs_that_differ_in_seeds_are_one_model_and_others_are_named_by_their_difference() {
        let registry = Registry::builtin();
        let algorithms: Vec<_> = registry.iter().take(2).collect();
        let recipe = |algorithm: usize, seed: u32, hidden: usize| Recipe {
            algorithms: vec![algorithms[algorithm].name().into()],
            network: ModelConfig { processor: "mpnn".into(), hidden, ..ModelConfig::default() },
            seed,
            ..Recipe::default()
        };
        let runs = [(0, recipe(0, 1, 8), 0.5), (0, recipe(0, 2, 8), 0.7), (1, recipe(1, 1, 8), 0.2), (0, recipe(0, 1, 16), 0.9)];
        let set = EvalSet::Fixed { data: "clrs30".into(), split: Split::Test };
        let outcome = |score: f64| Metrics { outputs: Vec::new(), score, validity: score, exact_match: 0.0 };
        let outcomes: Vec<Metrics> = runs.iter().map(|(_, _, score)| outcome(*score)).collect();
        let judged: Vec<Judged<'_>> = runs
            .iter()
            .zip(&outcomes)
            .map(|((of, recipe, _), outcome)| Judged { recipe, algorithm: algorithms[*of], set: &set, outcome })
            .collect();
        let summaries = summarise(&judged);
        let labels: Vec<&str> = summaries.iter().map(|summary| &*summary.model).collect();
        assert_eq!(labels, ["mpnn hidden=8", "mpnn hidden=16"]);
        let small = &summaries[0];
        assert_eq!(small.algorithms.iter().map(|row| row.score.count).collect::<Vec<_>>(), [2, 1]);
        assert!((small.algorithms[0].score.mean - 0.6).abs() < 1e-12);
        assert!((small.algorithms[0].score.deviation.expect("two runs") - 0.02f64.sqrt()).abs() < 1e-12);
        assert!((small.over_algorithms.score - 0.4).abs() < 1e-12);
        assert!(small.over_algorithms.paper.is_some() && small.over_families.paper.is_some());
    }
}
