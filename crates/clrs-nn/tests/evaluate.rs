//! Judging networks: what must hold whatever their parameters.

use std::collections::HashMap;

use burn::tensor::{Device, Tensor};
use clrs::batch::BatchError;
use clrs::clrs30::Split;
use clrs::sampling::{FixedSet, Sampler};
use clrs::{AnyAlgorithm, Registry, SamplerOptions, Trajectories};
use clrs_nn::data::Changes;
use clrs_nn::evaluate::{Candidate, EvaluateError, Examples, Manner, Report, Steps, examine};
use clrs_nn::train::Flow;
use clrs_nn::trained::tasks;
use clrs_nn::{Batch, Mode, Network, Parameters, Recipe};

const MANNER: Manner = Manner { batch_size: 5, steps: Steps::Oracle, hints: false, dump: false };

/// A network that has not learnt anything yet.
struct Newborn {
    recipe: Recipe,
    algorithm: &'static dyn AnyAlgorithm,
    network: Network,
    parameters: Parameters,
}

impl Newborn {
    fn new(algorithm: &'static dyn AnyAlgorithm) -> Newborn {
        let network = clrs_nn::Settings { processor: "pgn".into(), hidden: 8, ..clrs_nn::Settings::default() };
        let recipe = Recipe { algorithms: vec![algorithm.name().into()], network, ..Recipe::default() };
        let (_, tasks) = tasks(&recipe, &Registry::builtin()).expect("a task");
        let (network, parameters) = Network::new(tasks, &recipe.network, 7).expect("a network");
        Newborn { recipe, algorithm, network, parameters }
    }

    fn changes(&self) -> Changes {
        Changes::new(&self.recipe, self.algorithm, 0, Split::Test)
    }

    fn judge(&self, runs: &Trajectories, manner: Manner) -> Report {
        self.try_to_judge(runs, manner).expect("a report")
    }

    fn try_to_judge(&self, runs: &Trajectories, manner: Manner) -> Result<Report, EvaluateError> {
        let weights = self.parameters.fixed(&Device::flex());
        let candidate = Candidate { network: &self.network, weights: &weights, task: 0, algorithm: self.algorithm };
        examine(candidate, runs, &self.changes(), manner, &mut |_| Flow::Continue)
    }

    fn batch(&self, runs: &Trajectories) -> Batch {
        let dense = clrs::Batch::new(&runs.iter().collect::<Vec<_>>(), 0).expect("samples of one size");
        Batch::new(&self.changes().apply(dense, 0).expect("a batch"))
    }
}

fn drawn(algorithm: &'static dyn AnyAlgorithm, size: usize, count: usize) -> Trajectories {
    let sampler = Sampler::new(algorithm, size, 5, &SamplerOptions::default()).expect("a sampler");
    FixedSet::new(sampler, count).expect("samples").into_trajectories()
}

#[test]
fn where_samples_are_as_long_as_they_can_be_the_bound_gives_what_the_true_number_of_steps_gives() {
    let mut compared = 0;
    for algorithm in Registry::builtin().iter() {
        let all = drawn(algorithm, 4, 12);
        let mut longest = Trajectories::new(all.spec().clone());
        for run in all.iter().filter(|run| run.steps() == algorithm.max_steps(run.nodes())) {
            let cells: Vec<_> = run.iter().map(|(_, cells)| cells).collect();
            longest.push(run.nodes(), run.steps(), &cells).expect("a run");
        }
        if longest.len() > 1 {
            let newborn = Newborn::new(algorithm);
            let [oracle, max] = [Steps::Oracle, Steps::Max].map(|steps| newborn.judge(&longest, Manner { steps, ..MANNER }));
            assert_eq!(oracle, max, "{}", algorithm.name());
            compared += 1;
        }
    }
    assert!(compared >= 8, "only {compared} algorithms have samples that long");
}

#[test]
fn a_network_ends_where_it_repeats_itself_and_does_not_look_at_lengths() {
    let mut early = 0;
    for algorithm in Registry::builtin().iter().take(12) {
        let newborn = Newborn::new(algorithm);
        let batch = newborn.batch(&drawn(algorithm, 5, 4));
        let pass = newborn.network.pass(&newborn.parameters.fixed(&Device::flex()), 0);
        let most = 6;
        let settle = |batch: &Batch| {
            let mut steps = vec![0; batch.samples()];
            let outputs = newborn.network.settle(&pass, batch, most, &mut |shown| {
                shown.alive.iter().for_each(|&sample| steps[sample] = shown.step + 1);
            });
            (steps, outputs.into_iter().map(|(place, logits)| (place, numbers(logits))).collect::<HashMap<_, _>>())
        };
        let settled = settle(&batch);
        assert_eq!(settled, settle(&batch.clone().lasting(99)), "{}", algorithm.name());
        let (steps, outputs) = settled;
        for (sample, &steps) in steps.iter().enumerate() {
            let told = newborn.network.unroll(&pass, &batch.clone().lasting(steps), Mode::Evaluate, &mut |_, _, _| {});
            for (place, logits) in told {
                let width = logits.dims()[1] * logits.dims()[2];
                let (told, found) = (&numbers(logits)[sample * width..][..width], &outputs[&place][sample * width..][..width]);
                let near = told.iter().zip(found).all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs().max(1.0));
                assert!(near, "{} sample {sample}: {told:?}, {found:?}", algorithm.name());
            }
            early += usize::from(steps < most);
        }
    }
    assert!(early > 0, "some come to rest before they have to");
}

#[test]
fn hints_are_scored_alike_in_batches_of_any_size() {
    for algorithm in Registry::builtin().iter().take(12) {
        let newborn = Newborn::new(algorithm);
        let runs = drawn(algorithm, 5, 7);
        let [whole, parts] = [7, 2].map(|batch_size| newborn.judge(&runs, Manner { batch_size, hints: true, ..MANNER }));
        assert!(!whole.hints.is_empty() && whole.hints.len() == parts.hints.len());
        for (whole, parts) in whole.hints.iter().zip(&parts.hints) {
            assert_eq!((&whole.name, whole.per_step.len()), (&parts.name, runs.max_steps() - 1), "{}", algorithm.name());
            assert_eq!(whole.per_step.len(), parts.per_step.len(), "{}", algorithm.name());
            let near = whole.per_step.iter().zip(&parts.per_step).all(|(a, b)| a.is_nan() && b.is_nan() || (a - b).abs() < 1e-4);
            assert!(near, "{}: {whole:?}, {parts:?}", algorithm.name());
        }
    }
}

#[test]
fn a_dump_has_every_step_in_the_order_of_the_samples() {
    let algorithm = Registry::builtin().iter().find(|algorithm| drawn(*algorithm, 5, 4).max_steps() > 3).expect("one");
    let newborn = Newborn::new(algorithm);
    let runs = drawn(algorithm, 5, 4);
    let report = newborn.judge(&runs, Manner { dump: true, ..MANNER });
    let dump = report.dump.expect("a dump");
    let longest = runs.max_steps() - 1;
    assert_eq!(dump.arrays["hidden"].0, [longest, 4, 5, 8]);
    let steps: Vec<f64> = runs.iter().map(|run| (run.steps() - 1).max(1) as f64).collect();
    assert_eq!(dump.arrays["steps"].1.iter().copied().map(f64::from).collect::<Vec<_>>(), steps);
    let hints = dump.arrays.iter().filter(|(name, _)| name.starts_with("hint/"));
    assert!(hints.clone().count() > 0 && hints.clone().all(|(_, (shape, _))| shape[..2] == [longest, 4]));
    let size: usize = 5 * 8;
    for (place, row) in dump.arrays["hidden"].1.chunks_exact(size).enumerate() {
        let (step, sample) = (place / 4, place % 4);
        assert_eq!(row.iter().all(|value| *value == 0.0), step >= runs.get(sample).steps() - 1, "step {step}, sample {sample}");
    }
}

#[test]
fn a_set_of_several_sizes_is_refused_even_where_no_batch_is_mixed() {
    let newborn = Newborn::new(Registry::builtin().find("bfs").expect("bfs"));
    let mut runs = drawn(newborn.algorithm, 4, 8);
    runs.append(&drawn(newborn.algorithm, 5, 8));
    let mixed = Some(BatchError::Sizes(4, 5));
    let sizes =
        |refused: Option<EvaluateError>| if let Some(EvaluateError::Padding(error)) = refused { Some(error) } else { None };
    assert_eq!(sizes(newborn.try_to_judge(&runs, Manner { batch_size: 8, ..MANNER }).err()), mixed);
    assert_eq!(sizes(Examples::new(runs, &newborn.changes(), 8).err()), mixed);
}

fn numbers(logits: Tensor<3>) -> Vec<f32> {
    logits.try_into_vec_as().expect("f32")
}
