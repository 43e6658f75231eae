//! Models that are trained on arrays from outside.

use std::borrow::Cow;

use burn::tensor::Device;
use clrs::sampling::{Sampler, SamplerOptions, Stream};
use clrs::{Array, ArrayData, Registry, Spec, Stage};
use clrs_nn::data::chunk_rows::ChunkRows;
use clrs_nn::data::dense::{DenseArray, DenseBatch, DenseChunk, DenseValues, SpecEntry, spec};
use clrs_nn::eval::predict::PredictOptions;
use clrs_nn::exec::parameters::Owner;
use clrs_nn::model::losses::hint_losses;
use clrs_nn::model::rollout::Termination;
use clrs_nn::train::model::TrainableModel;
use clrs_nn::train::optimizer::AdamConfig;
use clrs_nn::train::plan::TrainPlan;
use clrs_nn::train::trainer::Trainer;
use clrs_nn::train::{average, gradients, update_streams};
use clrs_nn::{Mode, ModelBatch, ModelConfig, Network, Recipe, Registries, Task};

const ADAM: AdamConfig = AdamConfig { learning_rate: 1e-2, grad_clip: 1.0, freeze_processor: false };

fn samples(algorithm: &str, size: usize, count: usize) -> clrs::Batch {
    let algorithm = Registry::builtin().find(algorithm).expect("known");
    let sampler = Sampler::new(algorithm, size, 1, &SamplerOptions::default()).expect("a sampler");
    clrs::transform::cyclic_permutations(Stream::new(sampler).next(count).expect("samples")).expect("permutations")
}

/// The spec as dm-clrs would have it.
fn described(batch: &clrs::Batch) -> Spec {
    let entry = |(probe, array): (&'_ clrs::Probe, &'_ Array)| {
        let classes = *array.shape.last().expect("an axis");
        (probe.name.to_string(), probe.stage.name(), probe.location.name(), probe.kind.dm_clrs_name(), classes)
    };
    let entries: Vec<_> = batch.iter().map(entry).collect();
    let entries =
        entries.iter().map(|(name, stage, location, kind, classes)| SpecEntry { name, stage, location, kind, classes: *classes });
    spec(entries).expect("a spec")
}

fn model(batches: &[&clrs::Batch], config: &ModelConfig, adam: AdamConfig) -> TrainableModel {
    let task = |(index, batch): (usize, &&clrs::Batch)| Task { name: format!("algo_{index}"), spec: described(batch) };
    let (network, parameters) = Network::new(batches.iter().enumerate().map(task).collect(), config, 1).expect("a network");
    TrainableModel::new(network, parameters, adam, &Device::flex())
}

fn small() -> ModelConfig {
    ModelConfig { hidden: 8, ..ModelConfig::default() }
}

fn values(array: &Array) -> &[f32] {
    let ArrayData::F32(values) = &array.data else { panic!("predictions are f32") };
    values
}

#[test]
fn arrays_from_outside_give_the_bits_of_a_sampled_batch() {
    for algorithm in ["bfs", "heapsort", "kmp_matcher", "bridges"] {
        let dense = samples(algorithm, 6, 5);
        let model = model(&[&dense], &ModelConfig { dropout: 0.25, ..small() }, ADAM);
        let outside = ModelBatch::from_dense(&described(&dense), &DenseBatch::new(&dense)).expect("a batch");
        let (loss, found) = model.gradients(0, &outside, update_streams(7, 3)).expect("a batch of the task");
        let (network, parameters) = (model.network(), model.parameters());
        let inside = ModelBatch::new(&dense);
        let expected = gradients(network, parameters, 0, &inside, &Device::flex(), update_streams(7, 3));
        assert_eq!((loss, found), expected, "{algorithm}");
        let again = model.gradients(0, &outside, update_streams(7, 4)).expect("a batch of the task");
        assert_ne!(loss, again.0, "{algorithm}: another update, another dropout");
    }
}

#[test]
fn a_model_takes_the_steps_of_a_trainer() {
    let recipe = ["algorithms=bfs,insertion_sort", "hidden=8", "lengths=5", "batch_size=4", "val_samples=2", "random_pos=false"];
    let recipe = Recipe::parse("", &recipe).expect("a recipe");
    let plan = TrainPlan::new(recipe.clone(), &Registries::builtin()).expect("a plan");
    let mut trainer = Trainer::new(plan, &Device::flex()).expect("a trainer");
    let (network, parameters) = Network::new(trainer.network().tasks().to_vec(), &recipe.model, recipe.seed).expect("a network");
    assert_eq!(&parameters, trainer.parameters());
    let AdamConfig { freeze_processor, .. } = ADAM;
    let adam = AdamConfig { learning_rate: recipe.learning_rate, grad_clip: recipe.grad_clip, freeze_processor };
    let mut model = TrainableModel::new(network, parameters, adam, &Device::flex());
    let mut loaders: Vec<_> = ["bfs", "insertion_sort"]
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let algorithm = Registry::builtin().find(name).expect("known");
            clrs_nn::data::loader::BatchLoader::new(&recipe, algorithm, index, &clrs_nn::data::sets::SetCache::default())
                .expect("a loader")
        })
        .collect();
    for step in 1..=3u64 {
        let report = trainer.step().expect("a step");
        for (task, loader) in loaders.iter_mut().enumerate() {
            let dense = loader.next().expect("samples");
            let batch = ModelBatch::from_dense(&model.network().tasks()[task].spec, &DenseBatch::new(&dense)).expect("a batch");
            let random = update_streams(recipe.seed, step * 2 + task as u64);
            let (loss, gradients) = model.gradients(task, &batch, random).expect("a batch of the task");
            let norm = model.update(&gradients, task);
            assert_eq!((loss, norm), (report.tasks[task].loss, report.tasks[task].grad_norm), "step {step}, task {task}");
        }
        assert_eq!(model.parameters(), trainer.parameters(), "step {step}");
    }
}

const FAR: &[f64] = &[0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 2.0, 3.0, 5.0];
const SHORT: &[i64] = &[0; 14];

#[test]
fn wrong_arrays_are_refused_in_words() {
    let dense = samples("bfs", 5, 3);
    let spec = described(&dense);
    let rows = dense.get("pi_h").expect("a hint").shape[0];
    let refused = |change: &dyn Fn(&mut DenseBatch<'_>)| {
        let mut batch = DenseBatch::new(&dense);
        change(&mut batch);
        ModelBatch::from_dense(&spec, &batch).expect_err("a wrong batch").to_string()
    };
    assert_eq!(refused(&|batch| drop(batch.hints.remove(1))), "the hint `pi_h` is missing");
    assert_eq!(refused(&|batch| batch.outputs = Some(Vec::new())), "the output `pi` is missing");
    assert_eq!(refused(&|batch| batch.inputs[3].name = "weights"), "the input `weights` is not in the spec, or occurs twice");
    assert_eq!(
        refused(&|batch| batch.inputs.push(batch.inputs[0].clone())),
        "the input `pos` is not in the spec, or occurs twice"
    );
    assert_eq!(
        refused(&|batch| batch.inputs[2].shape = Cow::Owned(vec![3, 25])),
        format!("`A` has shape [3, 25], expected [3, 5, 5] for 3 samples of 5 nodes and {rows} rows")
    );
    assert_eq!(
        refused(&|batch| batch.lengths.push(1.0)),
        format!("`pos` has shape [3, 5], expected [4, 5] for 4 samples of 5 nodes and {rows} rows")
    );
    assert_eq!(
        refused(&|batch| batch.inputs[0].shape = Cow::Owned(vec![15])),
        "no input belongs to nodes or edges: the number of nodes is unknown"
    );
    assert_eq!(refused(&|batch| batch.lengths.clear()), "a batch needs at least one sample with one node");
    for length in [-1.0, 0.0, 1.5, f64::NAN, 1e9] {
        let message = refused(&|batch| batch.lengths[1] = length);
        assert!(message.starts_with(&format!("sample 1 has length {length}, expected an integer from 1 to {rows}")), "{message}");
    }
    assert_eq!(
        refused(&|batch| batch.outputs.as_mut().expect("outputs")[0].values = DenseValues::F64(FAR)),
        "`pi` contains 5, expected a node from 0 to 4"
    );
    assert_eq!(
        refused(&|batch| batch.outputs.as_mut().expect("outputs")[0].values = DenseValues::I64(SHORT)),
        "`pi` has 14 elements, expected 15"
    );
}

#[test]
fn wrong_specs_are_refused_in_words() {
    let refused = |stage, location, kind, classes| {
        let entry = SpecEntry { name: "p", stage, location, kind, classes };
        spec([entry]).expect_err("a wrong spec").to_string()
    };
    assert_eq!(refused("inputs", "node", "scalar", 0), "`p` has the unknown stage `inputs`");
    assert_eq!(refused("input", "nodes", "scalar", 0), "`p` has the unknown location `nodes`");
    assert_eq!(refused("input", "node", "soft_pointer", 0), "`p` has the unknown type `soft_pointer`");
    assert_eq!(refused("hint", "graph", "pointer", 0), "networks do not support the graph `p` of type pointer");
    assert_eq!(refused("hint", "node", "categorical", 0), "networks do not support the node `p` of type categorical");
    assert!(refused("output", "node", "should_be_permutation", 0).contains("apply `process_permutations` first"));
    let entry = SpecEntry { name: "p", stage: "input", location: "node", kind: "scalar", classes: 0 };
    assert_eq!(spec([entry, entry]).expect_err("twice").to_string(), "duplicate probe name `p`");
    let task = Task { name: "algo_0".into(), spec: spec([entry]).expect("a spec") };
    let error = Network::new(vec![task], &small(), 1).err().expect("nothing to predict");
    assert_eq!(error.to_string(), "the spec of algo_0 has no output");
}

#[test]
fn batches_of_other_tasks_are_refused_in_words() {
    let (bfs, sort) = (samples("bfs", 5, 2), samples("insertion_sort", 5, 2));
    let model = model(&[&bfs, &sort], &small(), ADAM);
    let batch = ModelBatch::new(&bfs);
    let message = |task| model.gradients(task, &batch, |_| None).expect_err("not of the task").to_string();
    assert_eq!(message(1), "the batch does not have the probes of algo_1");
    assert_eq!(message(2), "task 2 does not exist: the network has 2");
    let features = DenseBatch { outputs: None, ..DenseBatch::new(&bfs) };
    let features = ModelBatch::from_dense(&described(&bfs), &features).expect("features");
    let error = model.gradients(0, &features, |_| None).expect_err("no outputs");
    assert_eq!(error.to_string(), "a batch without outputs and all hints has no loss");
    assert!(model.losses(0, &features, |_| None).is_err());

    let large = samples("bfs", 130, 1);
    let config = ModelConfig { processor: "memnet_masked".into(), ..small() };
    let (network, parameters) =
        Network::new(vec![Task { name: "bfs".into(), spec: described(&large) }], &config, 1).expect("a network");
    let memory = TrainableModel::new(network, parameters, ADAM, &Device::flex());
    let error = memory.predict(0, &ModelBatch::new(&large), PredictOptions::default()).expect_err("too large");
    assert_eq!(error.to_string(), "a sample has 130 nodes; the processor takes at most 127");
}

#[test]
fn predictions_need_no_outputs_and_only_the_first_hints() {
    for algorithm in ["bfs", "heapsort", "dfs"] {
        let dense = samples(algorithm, 6, 5);
        let model = model(&[&dense], &small(), ADAM);
        let features = DenseBatch { outputs: None, ..DenseBatch::new(&dense) };
        let features = ModelBatch::from_dense(&described(&dense), &features).expect("features");
        let options = PredictOptions::default();
        let found = model.predict(0, &features, options).expect("finite logits");
        assert_eq!(found, model.predict(0, &ModelBatch::new(&dense), options).expect("finite logits"), "{algorithm}");
        let outputs = dense.iter().filter(|(probe, _)| probe.stage == Stage::Output);
        for (array, (probe, truth)) in found.outputs.iter().zip(outputs) {
            assert_eq!(array.shape, truth.shape, "{algorithm}: {}", probe.name);
        }
    }
}

#[test]
fn every_step_is_predicted_for_all_samples() {
    let dense = samples("dijkstra", 6, 5);
    let (model, batch) = (model(&[&dense], &small(), ADAM), ModelBatch::new(&dense));
    let last = model.predict(0, &batch, PredictOptions::default()).expect("finite logits");
    let steps = batch.steps() + 2;
    let options = PredictOptions::default().all_outputs(true).hints(true).hidden(true).steps(steps);
    let all = model.predict(0, &batch, options).expect("finite logits");
    let row = |array: &Array, step: usize| {
        let width = values(array).len() / steps;
        values(array)[step * width..][..width].to_vec()
    };
    assert_eq!(all.outputs[0].shape, [steps, 5, 6]);
    assert_eq!(all.output_logits[0].shape, [steps, 5, 6, 6]);
    assert_eq!(row(&all.outputs[0], steps - 1), values(&last.outputs[0]));
    assert_eq!(row(&all.output_logits[0], steps - 1), values(&last.output_logits[0]));
    assert_ne!(row(&all.output_logits[0], 0), values(&last.output_logits[0]));
    let only_hints = PredictOptions::default().hints(true).steps(steps);
    let hints = model.predict(0, &batch, only_hints).expect("finite logits");
    assert_eq!((&hints.outputs, &hints.hints), (&last.outputs, &all.hints));
    assert!(hints.hidden.is_none() && last.hints.is_empty());

    // While a sample is active, its hints and hidden states are those of an ordinary rollout.
    let ctx = model.network().context(model.weights(), 0);
    let hidden = all.hidden.as_ref().expect("hidden states");
    assert_eq!(hidden.shape, [steps, 5, 6, 8]);
    let close = |found: &[f32], expected: &[f32]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}, not {expected:?}");
    };
    model.network().unroll(&ctx, &batch, Termination::TrueLength, Mode::Evaluate, &mut |view| {
        for (position, &sample) in view.active.iter().enumerate() {
            let sample = batch.order()[sample];
            let of_sample = |row: &[f32], at: usize, count: usize| row[row.len() / count * at..][..row.len() / count].to_vec();
            let active = view.active.len();
            let expected = of_sample(&view.hidden.clone().into_vec(), position, active);
            close(&of_sample(&row(hidden, view.step), sample, 5), &expected);
            for ((index, logits), (of, array)) in view.hints.iter().zip(&all.hints) {
                assert_eq!(index, of);
                let expected = of_sample(&logits.clone().into_vec(), position, active);
                close(&of_sample(&row(array, view.step), sample, 5), &expected);
            }
        }
    });
}

#[test]
fn losses_of_probes_add_up_and_follow_from_logits() {
    for algorithm in ["bfs", "dfs", "bridges", "kmp_matcher", "heapsort"] {
        let dense = samples(algorithm, 6, 5);
        let (model, batch) = (model(&[&dense], &small(), ADAM), ModelBatch::new(&dense));
        let (total, _) = model.gradients(0, &batch, |_| None).expect("a batch of the task");
        let losses = model.losses(0, &batch, |_| None).expect("a batch of the task");
        let sum: f64 = losses.iter().map(|(_, loss)| loss).sum();
        assert!((sum - f64::from(total)).abs() < 1e-5 * sum, "{algorithm}: {sum}, not {total}");
        let options = PredictOptions::default().hints(true);
        let hints = model.predict(0, &batch, options).expect("finite logits").hints;
        let hints: Vec<(usize, Vec<f32>)> = hints.iter().map(|(index, array)| (*index, values(array).to_vec())).collect();
        for ((index, _), found) in hints.iter().zip(hint_losses(&batch, &hints)) {
            let (_, expected) = losses.iter().find(|(of, _)| of == index).expect("a supervised hint");
            let close = (found - expected).abs() <= 1e-5 * expected.abs().max(1e-3);
            assert!(close, "{algorithm}, {}: {found}, not {expected}", dense.spec[*index].name);
        }
    }
}

#[test]
fn accumulated_gradients_are_means_over_the_tasks_that_have_one() {
    let (bfs, sort) = (samples("bfs", 5, 3), samples("insertion_sort", 5, 3));
    let config = ModelConfig { lstm: true, ..small() };
    for freeze_processor in [false, true] {
        let mut model = model(&[&bfs, &sort], &config, AdamConfig { freeze_processor, ..ADAM });
        let of_task = |task, batch| model.gradients(task, &ModelBatch::new(batch), |_| None).expect("a batch of the task").1;
        let tasks = [of_task(0, &bfs), of_task(1, &sort)];
        let mean = average(&tasks);
        for (index, parameter) in model.parameters().list().iter().enumerate() {
            let terms: Vec<&Vec<f32>> = tasks.iter().filter_map(|task| task[index].as_ref()).collect();
            let terms: Vec<_> = terms.into_iter().filter(|term| term.iter().any(|value| *value != 0.0)).collect();
            match (&mean[index], &terms[..]) {
                (None, []) => {}
                (Some(mean), [single]) => assert_eq!(&mean, single, "{}", parameter.name),
                (Some(mean), [a, b]) => {
                    assert!(mean.iter().zip(a.iter().zip(*b)).all(|(mean, (a, b))| *mean == (a + b) / 2.0), "{}", parameter.name);
                }
                _ => panic!("{} has {} gradients", parameter.name, terms.len()),
            }
        }
        let before = model.parameters().clone();
        model.update(&mean, None);
        for (index, parameter) in before.list().iter().enumerate() {
            let moves = mean[index].is_some() && (parameter.owner != Owner::Processor || !freeze_processor);
            assert_eq!(model.parameters().values()[index] != before.values()[index], moves, "{}", parameter.name);
        }
        // All tasks have momentum now, and move without a gradient.
        let between = model.parameters().clone();
        model.update(&vec![None; before.list().len()], None);
        let moved = |index: usize| model.parameters().values()[index] != between.values()[index];
        let tasks = before.list().iter().enumerate().filter(|(_, parameter)| matches!(parameter.owner, Owner::Algorithm(_)));
        assert!(tasks.filter(|(index, _)| mean[*index].is_some()).all(|(index, _)| moved(index)));
    }
    assert_eq!(average(&[]), Vec::<Option<Vec<f32>>>::new());
}

#[test]
fn the_state_of_the_optimizer_continues_only_with_its_own_parameters() {
    let dense = samples("bfs", 5, 3);
    let batch = ModelBatch::new(&dense);
    let mut first = model(&[&dense], &small(), ADAM);
    let step = |model: &mut TrainableModel| {
        let (loss, gradients) = model.gradients(0, &batch, |_| None).expect("a batch of the task");
        model.update(&gradients, 0);
        loss
    };
    step(&mut first);
    let mut second = model(&[&dense], &small(), ADAM);
    *second.parameters_mut() = first.parameters().clone();
    second.set_optimizer(first.optimizer().clone()).expect("the same parameters");
    assert_eq!(step(&mut first), step(&mut second));
    assert_eq!(first.parameters(), second.parameters());
    let mut other = model(&[&dense], &ModelConfig { hidden: 4, ..small() }, ADAM);
    let error = other.set_optimizer(first.optimizer().clone()).expect_err("other sizes");
    assert!(error.to_string().starts_with("the state of the optimizer is of other parameters"), "{error}");
}

/// Probes of all rows, and which rows begin and end a trajectory.
type Rows = (Vec<(Stage, String, Array)>, Vec<bool>, Vec<bool>);

/// Complete samples of equal length as rows, one sample per lane after another.
fn rows_of(batches: &[clrs::Batch]) -> Rows {
    let lengths = &batches[0].lengths;
    assert!(batches.iter().all(|batch| batch.lengths.iter().all(|length| *length == lengths[0])));
    let (lanes, length) = (lengths.len(), batches[0].get("pos").map_or(0, |_| batches[0].arrays.last().expect("hints").shape[0]));
    let probes = (0..batches[0].arrays.len()).map(|index| {
        let probe = &batches[0].spec[index];
        let mut values = Vec::new();
        for batch in batches {
            let array: Vec<f64> = match &batch.arrays[index].data {
                ArrayData::F64(values) => values.clone(),
                ArrayData::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
                ArrayData::I64(values) => values.iter().map(|&value| value as f64).collect(),
            };
            let times = if probe.stage == Stage::Hint { 1 } else { length };
            values.extend(array.repeat(times));
        }
        let shape = &batches[0].arrays[index].shape;
        let row = if probe.stage == Stage::Hint { &shape[1..] } else { &shape[..] };
        let shape = [&[length * batches.len()][..], row].concat();
        (probe.stage, probe.name.to_string(), Array { shape, data: ArrayData::F64(values) })
    });
    let marks =
        |at: usize| -> Vec<bool> { (0..batches.len() * length).flat_map(|row| vec![row % length == at; lanes]).collect() };
    (probes.collect(), marks(0), marks(length - 1))
}

/// Some rows of a chunk.
fn chunk<'a>((probes, is_first, is_last): &'a Rows, rows: std::ops::Range<usize>, lanes: usize) -> DenseChunk<'a> {
    let of = |stage: Stage| {
        let of_stage = probes.iter().filter(|(of, ..)| *of == stage);
        let array = |(_, name, array): &'a (Stage, String, Array)| {
            let ArrayData::F64(values) = &array.data else { panic!("rows are f64") };
            let width: usize = array.shape[1..].iter().product();
            let shape = [&[rows.len()][..], &array.shape[1..]].concat();
            let values = DenseValues::F64(&values[rows.start * width..rows.end * width]);
            DenseArray { name, shape: shape.into(), values }
        };
        of_stage.map(array).collect()
    };
    let marks = |marks: &[bool]| marks[rows.start * lanes..rows.end * lanes].to_vec();
    DenseChunk {
        inputs: of(Stage::Input),
        hints: of(Stage::Hint),
        outputs: of(Stage::Output),
        lanes,
        is_first: marks(is_first),
        is_last: marks(is_last),
    }
}

#[test]
fn chunks_from_outside_have_the_loss_of_their_samples() {
    // All trajectories of insertion sort have one row per key.
    let dense = [samples("insertion_sort", 8, 4), samples("insertion_sort", 8, 4)];
    let config = ModelConfig { lstm: true, processor: "pgn".into(), ..small() };
    let model = model(&[&dense[0]], &config, ADAM);
    let expected = model.gradients(0, &ModelBatch::new(&dense[0]), |_| None).expect("a batch of the task");
    let (spec, rows) = (&model.network().tasks()[0].spec, rows_of(&dense));
    let close = |found: f32, expected: f32| (found - expected).abs() <= 1e-5 * expected.abs();
    for complete in [true, false] {
        let (mut stream, mut states) = (ChunkRows::default(), Vec::new());
        let ranges = if complete { vec![0..16] } else { vec![0..8, 8..16] };
        for range in ranges {
            let chunk = stream.next(spec, &chunk(&rows, range.clone(), 4)).expect("a chunk");
            let (loss, gradients) = model.chunk_gradients(0, &chunk, &mut states, |_| None).expect("a chunk of the task");
            assert!(close(loss, expected.0), "{range:?}: {loss}, not {}", expected.0);
            let pairs = gradients.iter().flatten().flatten().zip(expected.1.iter().flatten().flatten());
            for (found, expected) in pairs {
                assert!((found - expected).abs() < 1e-5, "{range:?}: {found}, not {expected}");
            }
        }
        assert_eq!(states.len(), 2);
    }
}

#[test]
fn the_state_of_chunks_does_not_depend_on_where_they_are_cut() {
    let dense = [samples("insertion_sort", 8, 3), samples("insertion_sort", 8, 3)];
    let config = ModelConfig { lstm: true, processor: "pgn".into(), ..small() };
    let model = model(&[&dense[0]], &config, ADAM);
    let (spec, rows) = (&model.network().tasks()[0].spec, rows_of(&dense));
    let run = |cuts: &[usize]| {
        let (mut stream, mut states) = (ChunkRows::default(), Vec::new());
        for cut in cuts.windows(2) {
            let chunk = stream.next(spec, &chunk(&rows, cut[0]..cut[1], 3)).expect("a chunk");
            model.chunk_gradients(0, &chunk, &mut states, |_| None).expect("a chunk of the task");
        }
        states
    };
    let (complete, pieces) = (run(&[0, 14]), run(&[0, 3, 5, 8, 14]));
    assert_eq!(complete.len(), pieces.len());
    for (found, expected) in pieces.iter().zip(&complete) {
        let pairs = found.hidden.iter().zip(&expected.hidden);
        assert!(pairs.clone().count() > 0 && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5));
    }
    // The state of three lanes is not one of four.
    let four = [samples("insertion_sort", 8, 4)];
    let wide = ChunkRows::default().next(spec, &chunk(&rows_of(&four), 0..8, 4)).expect("a chunk");
    let error = model.chunk_gradients(0, &wide, &mut complete.clone(), |_| None).expect_err("other lanes");
    assert_eq!(error.to_string(), "the recurrent state is of another number of lanes, nodes or hidden values");
}
