//! Evaluation: properties that hold for any parameters.

use std::collections::HashMap;
use std::ops::ControlFlow;

use burn::tensor::Device;
use clrs::batch::BatchError;
use clrs::clrs30::Split;
use clrs::sampling::{FixedSet, Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Cells, Registry, Stage, Trajectories};
use clrs_nn::data::sets::network_spec;
use clrs_nn::data::transform::BatchTransform;
use clrs_nn::eval::evaluate::{EvalBatches, EvalOptions, EvalReport, Steps, TaskModel, evaluate};
use clrs_nn::eval::metrics::EvalError;
use clrs_nn::exec::tensor::Tensor;
use clrs_nn::model::rollout::Termination;
use clrs_nn::{Mode, ModelBatch, ModelConfig, Network, Parameters, Recipe, Task, Weights};

fn options() -> EvalOptions {
    EvalOptions::default().batch_size(5)
}

/// A network with its initial parameters.
struct Untrained {
    recipe: Recipe,
    algorithm: &'static dyn AnyAlgorithm,
    network: Network,
    parameters: Parameters,
}

impl Untrained {
    fn new(algorithm: &'static dyn AnyAlgorithm) -> Untrained {
        let model = ModelConfig { processor: "pgn".into(), hidden: 8, ..ModelConfig::default() };
        let recipe = Recipe { algorithms: vec![algorithm.name().into()], model, ..Recipe::default() };
        let spec = network_spec(&recipe, &algorithm.spec().into(), algorithm).expect("the transforms apply");
        let task = Task { name: algorithm.name().into(), spec };
        let (network, parameters) = Network::new(vec![task], &recipe.model, 7).expect("a network");
        Untrained { recipe, algorithm, network, parameters }
    }

    fn transform(&self) -> BatchTransform {
        BatchTransform::new(&self.recipe, self.algorithm, 0, Split::Test)
    }

    fn evaluate(&self, samples: &Trajectories, options: &EvalOptions) -> EvalReport {
        self.try_evaluate(samples, options).expect("a report")
    }

    fn try_evaluate(&self, samples: &Trajectories, options: &EvalOptions) -> Result<EvalReport, EvalError> {
        let weights = Weights::no_grad(&self.parameters, &Device::flex());
        let model = TaskModel { network: &self.network, weights: &weights, task: 0, algorithm: self.algorithm };
        evaluate(model, samples, &self.transform(), options, &mut |_| ControlFlow::Continue(()))
    }

    fn batch(&self, samples: &Trajectories) -> ModelBatch {
        let dense = clrs::Batch::new(&samples.iter().collect::<Vec<_>>(), 0).expect("samples of one size");
        ModelBatch::new(&self.transform().apply(dense, 0).expect("a batch"))
    }
}

fn draw(algorithm: &'static dyn AnyAlgorithm, size: usize, count: usize) -> Trajectories {
    let sampler = Sampler::new(algorithm, size, 5, &SamplerOptions::default()).expect("a sampler");
    FixedSet::new(sampler, count).expect("samples").into_trajectories()
}

#[test]
fn for_samples_of_maximum_length_max_steps_give_the_report_of_oracle_steps() {
    let mut compared = 0;
    for algorithm in Registry::builtin().iter() {
        let all = draw(algorithm, 4, 12);
        let mut longest = Trajectories::new(all.spec().clone());
        for sample in all.iter().filter(|sample| sample.steps() == algorithm.max_steps(sample.nodes())) {
            let cells: Vec<_> = sample.iter().map(|(_, cells)| cells).collect();
            longest.push(sample.nodes(), sample.steps(), &cells).expect("a sample");
        }
        if longest.len() > 1 {
            let model = Untrained::new(algorithm);
            let [oracle, mut max] = [Steps::Oracle, Steps::Max].map(|steps| model.evaluate(&longest, &options().steps(steps)));
            max.steps = Steps::Oracle;
            assert_eq!(oracle, max, "{}", algorithm.name());
            compared += 1;
        }
    }
    assert!(compared >= 8, "only {compared} algorithms have samples that long");
}

#[test]
fn a_fixpoint_rollout_ends_when_decisions_repeat_and_does_not_read_lengths() {
    let mut early = 0;
    for algorithm in Registry::builtin().iter().take(12) {
        let model = Untrained::new(algorithm);
        let batch = model.batch(&draw(algorithm, 5, 4));
        let ctx = model.network.context(&Weights::no_grad(&model.parameters, &Device::flex()), 0);
        let max_steps = 6;
        let unroll = |batch: &ModelBatch| {
            let mut steps = vec![0; batch.samples()];
            let outputs = model.network.unroll(&ctx, batch, Termination::Fixpoint { max_steps }, Mode::Evaluate, &mut |view| {
                view.active.iter().for_each(|&sample| steps[sample] = view.step + 1);
            });
            (steps, outputs.into_iter().map(|(index, logits)| (index, values(logits))).collect::<HashMap<_, _>>())
        };
        let unrolled = unroll(&batch);
        assert_eq!(unrolled, unroll(&batch.clone().with_steps(99)), "{}", algorithm.name());
        let (steps, outputs) = unrolled;
        for (sample, &steps) in steps.iter().enumerate() {
            let fixed = model.network.unroll(&ctx, &batch, Termination::Fixed(steps), Mode::Evaluate, &mut |_| {});
            for (index, logits) in fixed {
                let width = logits.dims()[1] * logits.dims()[2];
                let (expected, found) = (&values(logits)[sample * width..][..width], &outputs[&index][sample * width..][..width]);
                let near = expected.iter().zip(found).all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs().max(1.0));
                assert!(near, "{} sample {sample}: {expected:?}, {found:?}", algorithm.name());
            }
            early += usize::from(steps < max_steps);
        }
    }
    assert!(early > 0, "some samples end before the bound");
}

#[test]
fn hint_scores_do_not_depend_on_the_batch_size() {
    for algorithm in Registry::builtin().iter().take(12) {
        let model = Untrained::new(algorithm);
        let samples = draw(algorithm, 5, 7);
        let [one, many] = [7, 2].map(|batch_size| {
            model.evaluate(&samples, &options().batch_size(batch_size).hints(true)).hints.expect("hint scores")
        });
        assert!(!one.is_empty() && one.len() == many.len());
        for (one, many) in one.iter().zip(&many) {
            let longest = samples.iter().map(|sample| sample.steps()).max().expect("samples");
            assert_eq!((&one.name, one.per_step.len()), (&many.name, longest - 1), "{}", algorithm.name());
            assert_eq!(one.per_step.len(), many.per_step.len(), "{}", algorithm.name());
            let near = one.per_step.iter().zip(&many.per_step).all(|(a, b)| a.is_nan() && b.is_nan() || (a - b).abs() < 1e-4);
            assert!(near, "{}: {one:?}, {many:?}", algorithm.name());
        }
    }
}

#[test]
fn a_dump_has_every_step_in_the_order_of_the_samples() {
    let longest = |samples: &Trajectories| samples.iter().map(|sample| sample.steps()).max().expect("samples");
    let algorithm = Registry::builtin().iter().find(|algorithm| longest(&draw(*algorithm, 5, 4)) > 3).expect("one");
    let model = Untrained::new(algorithm);
    let samples = draw(algorithm, 5, 4);
    let dump = model.evaluate(&samples, &options().dump(true)).dump.expect("a dump");
    let longest = longest(&samples) - 1;
    assert_eq!(dump.tensors["hidden"].0, [longest, 4, 5, 8]);
    let steps: Vec<f64> = samples.iter().map(|sample| (sample.steps() - 1).max(1) as f64).collect();
    assert_eq!(dump.tensors["steps"].1.iter().copied().map(f64::from).collect::<Vec<_>>(), steps);
    let hints = dump.tensors.iter().filter(|(name, _)| name.starts_with("hint/"));
    assert!(hints.clone().count() > 0 && hints.clone().all(|(_, (shape, _))| shape[..2] == [longest, 4]));
    let size: usize = 5 * 8;
    for (index, row) in dump.tensors["hidden"].1.chunks_exact(size).enumerate() {
        let (step, sample) = (index / 4, index % 4);
        let has_ended = step >= samples.get(sample).steps() - 1;
        assert_eq!(row.iter().all(|value| *value == 0.0), has_ended, "step {step}, sample {sample}");
    }
}

/// For every algorithm: outputs are those of the report, the first hint row is the true one, and the number of rows follows the steps.
/// The first row of a trace in which a decision is not what was recorded.
fn first_error(trace: &clrs::Trace) -> Option<usize> {
    let differ = |decided: &clrs::Column, recorded: &clrs::Column| match (decided, recorded) {
        (clrs::Column::Class(a), clrs::Column::Class(b)) => (0..a.len()).any(|cell| b[cell] != -1 && a[cell] != b[cell]),
        (clrs::Column::Node(a), clrs::Column::Node(b)) => a != b,
        _ => false,
    };
    let predictions = trace.predictions.iter().flatten();
    let errors = predictions.filter_map(|prediction| {
        let (decided, recorded) = (&prediction.probe.rows, &trace.get(&prediction.probe.name)?.rows);
        let row = decided.iter().zip(recorded).position(|(decided, recorded)| differ(decided, recorded))?;
        Some(if prediction.probe.stage == Stage::Hint { row } else { trace.steps })
    });
    errors.min()
}

#[test]
fn predicted_trajectories_have_the_decisions_of_the_report_and_the_form_of_a_recording() {
    for algorithm in Registry::builtin().iter() {
        let model = Untrained::new(algorithm);
        let samples = draw(algorithm, 5, 7);
        for steps in [Steps::Oracle, Steps::Fixpoint] {
            let report = model.evaluate(&samples, &options().steps(steps).trajectories([1, 6]));
            let chosen: Vec<usize> = report.trajectories.iter().map(|trajectory| trajectory.sample).collect();
            assert_eq!(chosen, [1, 6], "{}", algorithm.name());
            for trajectory in &report.trajectories {
                let (truth, predicted) = (samples.get(trajectory.sample), trajectory.predicted.get(0));
                let outputs: Vec<Cells<'_>> = report.predicted[trajectory.sample].iter().map(clrs::Column::cells).collect();
                assert_eq!(predicted.stage(Stage::Output), outputs, "{}", algorithm.name());
                if steps == Steps::Oracle {
                    assert_eq!(predicted.steps(), truth.steps().max(2), "{}", algorithm.name());
                }
                for (probe, cells) in predicted.iter().filter(|(probe, _)| probe.stage == Stage::Hint) {
                    let width = probe.width(truth.nodes());
                    let first = truth.get(&probe.name).expect("a recorded hint").slice(0..width);
                    // As text: hints may be NaN before their first step.
                    let (found, first) = (format!("{:?}", cells.slice(0..width)), format!("{first:?}"));
                    assert_eq!(found, first, "{} {}", algorithm.name(), probe.name);
                }
                let trace = trajectory.trace(algorithm, truth).expect("a trace");
                let predictions = trace.predictions.as_ref().expect("predictions");
                assert_eq!(predictions.len(), predicted.spec().len());
                assert_eq!(trajectory.first_error(truth), first_error(&trace), "{}", algorithm.name());
                for prediction in predictions {
                    for row in prediction.probabilities.iter().flatten() {
                        assert!(row.iter().all(|p| (0.0..=1.0 + 1e-5).contains(p)), "{} {row:?}", algorithm.name());
                    }
                }
            }
        }
    }
}

#[test]
fn probabilities_agree_with_the_decisions() {
    let algorithm = Registry::builtin().find("bfs").expect("bfs");
    let samples = draw(algorithm, 5, 3);
    let report = Untrained::new(algorithm).evaluate(&samples, &options().trajectories([0]));
    let trajectory = &report.trajectories[0];
    let index = trajectory.predicted.spec().iter().position(|probe| probe.name == "pi").expect("pi");
    let Some(Cells::Node(pointers)) = trajectory.predicted.get(0).get("pi") else { panic!("pi is a pointer") };
    let probabilities = trajectory.probabilities[index].as_ref().expect("pointers have probabilities");
    assert_eq!(probabilities[0].len(), 25);
    for (pointer, row) in pointers.iter().zip(probabilities[0].chunks_exact(5)) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        assert!(row.iter().all(|p| *p <= row[*pointer as usize]));
    }
}

#[test]
fn samples_that_the_set_does_not_have_are_refused() {
    let model = Untrained::new(Registry::builtin().find("bfs").expect("bfs"));
    let error = model.try_evaluate(&draw(model.algorithm, 4, 3), &options().trajectories([3])).err();
    assert!(matches!(error, Some(EvalError::NoSample { sample: 3, samples: 3 })));
}

#[test]
fn a_set_of_several_sizes_is_refused_even_if_no_batch_is_mixed() {
    let model = Untrained::new(Registry::builtin().find("bfs").expect("bfs"));
    let mut samples = draw(model.algorithm, 4, 8);
    samples.append(&draw(model.algorithm, 5, 8));
    let mixed = Some(BatchError::Sizes(4, 5));
    let sizes = |error: Option<EvalError>| if let Some(EvalError::Batch(error)) = error { Some(error) } else { None };
    assert_eq!(sizes(model.try_evaluate(&samples, &options().batch_size(8)).err()), mixed);
    assert_eq!(sizes(EvalBatches::new(samples.into(), &model.transform(), 8).err()), mixed);
}

#[test]
fn a_network_whose_logits_are_not_finite_is_not_scored() {
    let mut model = Untrained::new(Registry::builtin().find("bfs").expect("bfs"));
    let samples = draw(model.algorithm, 4, 2);
    assert!(model.try_evaluate(&samples, &options()).is_ok());
    model.parameters = {
        use clrs_nn::run::tensor_file::TensorFile;
        let mut file = TensorFile::from_parameters(&model.parameters, |parameter| parameter.name.clone());
        file.tensors.values_mut().for_each(|(_, values)| values.fill(3e38));
        let mut parameters = model.parameters.clone();
        file.load_into(&mut parameters, |parameter| parameter.name.clone()).expect("finite parameters");
        parameters
    };
    let error = model.try_evaluate(&samples, &options()).err();
    assert!(matches!(error, Some(EvalError::NotFinite { .. })), "{error:?}");
}

fn values(logits: Tensor<3>) -> Vec<f32> {
    logits.into_vec()
}
