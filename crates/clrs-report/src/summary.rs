//! Summaries of several runs: means and standard deviations over seeds, means over families and algorithms.
//!
//! Runs whose recipes differ in seeds alone are runs of one model. Runs that train a single algorithm each are one model for all of
//! them.

use clrs::clrs30::Split;
use clrs::{AnyAlgorithm, Family};
use clrs_nn::Recipe;
use clrs_nn::config::data_source::DataSource;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::metrics::Metrics;
use serde::Serialize;

use crate::models::{identity, labels};
use crate::paper::{PaperResult, PaperTable, paper_result};
use crate::stats::{MeanStddev, mean};

/// Metrics of one run on one algorithm and set.
#[derive(Clone)]
pub struct RunMetrics<'m> {
    /// How it was trained.
    pub recipe: &'m Recipe,
    /// The algorithm.
    pub algorithm: &'static dyn AnyAlgorithm,
    /// The set.
    pub set: &'m EvalSet,
    /// The metrics.
    pub metrics: &'m Metrics,
}

/// All runs of one model on one set.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The processor, and the recipe fields that distinguish the model from the others.
    pub model: String,
    /// The set.
    pub set: String,
    /// Every algorithm.
    pub algorithms: Vec<AlgorithmSummary>,
    /// Every family with an algorithm, in the paper's order.
    pub families: Vec<Average>,
    /// Mean over these families.
    pub over_families: Average,
    /// Mean over all algorithms.
    pub over_algorithms: Average,
}

/// One algorithm over seeds.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AlgorithmSummary {
    /// Its name.
    pub algorithm: &'static str,
    /// Its family.
    pub family: Family,
    /// Number of runs.
    pub runs: usize,
    /// Mean score over outputs.
    pub score: MeanStddev,
    /// Share of correct answers.
    pub validity: MeanStddev,
    /// Share of answers that equal the reference's.
    pub exact_match: MeanStddev,
    /// The paper's result.
    pub paper: Option<PaperResult>,
}

/// A mean of scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Average {
    /// The family, or what the mean is over.
    pub name: String,
    /// Number of values in the mean.
    pub count: usize,
    /// The mean.
    pub score: f64,
    /// The same mean of the paper's results, if it has all of them.
    pub paper: Option<f64>,
}

/// The table of the paper that a set belongs to.
pub fn paper_table(set: &EvalSet) -> Option<PaperTable> {
    match set {
        EvalSet::Fixed { data: DataSource::Benchmark(_), split: Split::Test } => Some(PaperTable::Test),
        EvalSet::Fixed { data: DataSource::Benchmark(_), split: Split::Val } => Some(PaperTable::Validation),
        _ => None,
    }
}

/// Summarizes every model on every set, in the order of their first occurrence.
pub fn summarize(runs: &[RunMetrics<'_>]) -> Vec<Summary> {
    let models: Vec<Recipe> = runs.iter().map(|run| identity(run.recipe)).collect();
    let distinct = models.iter().fold(Vec::new(), |mut distinct: Vec<&Recipe>, model| {
        if !distinct.contains(&model) {
            distinct.push(model);
        }
        distinct
    });
    let labels = labels(&distinct);
    let mut summaries = Vec::new();
    for (which, label) in distinct.iter().zip(labels) {
        let of_model: Vec<&RunMetrics<'_>> =
            runs.iter().zip(&models).filter(|(_, model)| model == which).map(|(run, _)| run).collect();
        let mut sets: Vec<&EvalSet> = Vec::new();
        for run in &of_model {
            if !sets.contains(&run.set) {
                sets.push(run.set);
            }
        }
        for set in sets {
            let of_set: Vec<&RunMetrics<'_>> = of_model.iter().copied().filter(|run| run.set == set).collect();
            summaries.push(summary(label.clone(), set, &which.model.processor, &of_set));
        }
    }
    summaries
}

fn summary(model: String, set: &EvalSet, processor: &str, runs: &[&RunMetrics<'_>]) -> Summary {
    let table = paper_table(set);
    let mut algorithms: Vec<AlgorithmSummary> = Vec::new();
    for RunMetrics { algorithm, .. } in runs {
        let name = algorithm.name();
        if algorithms.iter().all(|row| row.algorithm != name) {
            let of_algorithm: Vec<&Metrics> =
                runs.iter().filter(|run| run.algorithm.name() == name).map(|run| run.metrics).collect();
            let over_runs = |value: fn(&Metrics) -> f64| {
                MeanStddev::new(&of_algorithm.iter().map(|metrics| value(metrics)).collect::<Vec<_>>())
            };
            algorithms.push(AlgorithmSummary {
                algorithm: name,
                family: algorithm.family(),
                runs: of_algorithm.len(),
                score: over_runs(|metrics| metrics.score),
                validity: over_runs(|metrics| metrics.validity),
                exact_match: over_runs(|metrics| metrics.exact_match),
                paper: table.and_then(|table| paper_result(table, name, processor)),
            });
        }
    }
    let families = Family::ALL.into_iter().filter_map(|family| {
        let rows: Vec<&AlgorithmSummary> = algorithms.iter().filter(|row| row.family == family).collect();
        (!rows.is_empty()).then(|| average(family.name(), &rows))
    });
    let families: Vec<Average> = families.collect();
    let over_families = Average {
        name: "families".into(),
        count: families.len(),
        score: mean(families.iter().map(|family| family.score)),
        paper: families.iter().map(|family| family.paper).collect::<Option<Vec<_>>>().map(|of| mean(of.into_iter())),
    };
    let over_algorithms = average("algorithms", &algorithms.iter().collect::<Vec<_>>());
    Summary { model, set: set.to_string(), algorithms, families, over_families, over_algorithms }
}

fn average(name: &str, rows: &[&AlgorithmSummary]) -> Average {
    let paper: Option<Vec<f64>> = rows.iter().map(|row| row.paper.map(|paper| paper.mean)).collect();
    Average {
        name: name.into(),
        count: rows.len(),
        score: mean(rows.iter().map(|row| row.score.mean)),
        paper: paper.map(|paper| mean(paper.into_iter())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::Registry;
    use clrs::clrs30::Version;
    use clrs_nn::ModelConfig;

    #[test]
    fn runs_that_differ_in_seeds_are_one_model_and_others_are_named_by_their_differences() {
        let registry = Registry::builtin();
        let algorithms: Vec<_> = registry.iter().take(2).collect();
        let recipe = |algorithm: usize, seed: u32, hidden: usize| Recipe {
            algorithms: vec![algorithms[algorithm].name().into()],
            model: ModelConfig { processor: "mpnn".into(), hidden, ..ModelConfig::default() },
            seed,
            ..Recipe::default()
        };
        let trained =
            [(0, recipe(0, 1, 8), 0.5), (0, recipe(0, 2, 8), 0.7), (1, recipe(1, 1, 8), 0.2), (0, recipe(0, 1, 16), 0.9)];
        let set = EvalSet::fixed(DataSource::Benchmark(Version::default()), Split::Test);
        let metrics = |score: f64| -> Metrics {
            let values = serde_json::json!({"score": score, "outputs": {}, "validity": score, "exact_match": 0.0});
            serde_json::from_value(values).expect("metrics")
        };
        let metrics: Vec<Metrics> = trained.iter().map(|(_, _, score)| metrics(*score)).collect();
        let runs: Vec<RunMetrics<'_>> = trained
            .iter()
            .zip(&metrics)
            .map(|((of, recipe, _), metrics)| RunMetrics { recipe, algorithm: algorithms[*of], set: &set, metrics })
            .collect();
        let summaries = summarize(&runs);
        let labels: Vec<&str> = summaries.iter().map(|summary| &*summary.model).collect();
        assert_eq!(labels, ["mpnn hidden=8", "mpnn hidden=16"]);
        let small = &summaries[0];
        assert_eq!(small.algorithms.iter().map(|row| row.runs).collect::<Vec<_>>(), [2, 1]);
        assert!((small.algorithms[0].score.mean - 0.6).abs() < 1e-12);
        assert!((small.algorithms[0].score.stddev.expect("two runs") - 0.02f64.sqrt()).abs() < 1e-12);
        assert!((small.over_algorithms.score - 0.4).abs() < 1e-12);
        assert!(small.over_algorithms.paper.is_some() && small.over_families.paper.is_some());
    }
}
