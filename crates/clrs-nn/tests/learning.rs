//! What training changes, and what it must not.

use burn::tensor::Device;
use clrs::sampling::{Sampler, SamplerOptions as Options, Stream};
use clrs::{AnyAlgorithm, Registry};
use clrs_nn::chunk::Lanes;
use clrs_nn::optimise::{Adam, Rule};
use clrs_nn::parameters::Owner;
use clrs_nn::run::{RunFolder, State};
use clrs_nn::tensors::NamedArrays;
use clrs_nn::train::gradients;
use clrs_nn::{Batch, Network, Parameters, Settings, Task};

const RULE: Rule = Rule { learning_rate: 1e-2, grad_clip: 1.0, freeze_processor: false };

fn dense(algorithm: &'static dyn AnyAlgorithm, size: usize, count: usize) -> clrs::Batch {
    let sampler = Sampler::new(algorithm, size, 1, &Options::default()).expect("a sampler");
    clrs::transform::plain_permutations(Stream::new(sampler).next(count).expect("samples"))
}

/// A network for some algorithms, and a batch of each.
fn network(names: &[&str], settings: &Settings) -> (Network, Parameters, Vec<Batch>) {
    let registry = Registry::builtin();
    let dense: Vec<clrs::Batch> = names.iter().map(|name| dense(registry.find(name).expect("known"), 5, 6)).collect();
    let tasks = names.iter().zip(&dense).map(|(name, batch)| Task { name: (*name).into(), spec: batch.spec.clone() });
    let (network, parameters) = Network::new(tasks.collect(), settings, 1).expect("a network");
    (network, parameters, dense.iter().map(Batch::new).collect())
}

#[test]
fn the_lstm_learns() {
    let settings = Settings { hidden: 8, lstm: true, ..Settings::default() };
    let (network, before, batches) = network(&["bfs"], &settings);
    let (mut after, mut adam) = (before.clone(), Adam::new(&before));
    let (_, of_loss) = gradients(&network, &after, 0, &batches[0], &Device::flex(), |_| None);
    adam.update(&mut after, &of_loss, 0, RULE);
    for (place, parameter) in before.list().iter().enumerate().filter(|(_, parameter)| parameter.name.starts_with("lstm/")) {
        assert_ne!(before.values()[place], after.values()[place], "{}", parameter.name);
    }
    assert!(before.list().iter().any(|parameter| parameter.name == "lstm/gates/weight"));
}

#[test]
fn an_update_moves_the_processor_and_one_algorithm() {
    let settings = Settings { hidden: 8, processor: "triplet_gmpnn".into(), ..Settings::default() };
    let (network, before, batches) = network(&["bfs", "insertion_sort"], &settings);
    for freeze_processor in [false, true] {
        let (mut after, mut adam) = (before.clone(), Adam::new(&before));
        // The second algorithm moves first, so that it has means that could move it again.
        for task in [1, 0] {
            let between = (after.clone(), adam.clone());
            let (_, of_loss) = gradients(&network, &after, task, &batches[task], &Device::flex(), |_| None);
            adam.update(&mut after, &of_loss, task, Rule { freeze_processor, ..RULE });
            for (place, parameter) in before.list().iter().enumerate() {
                // Some layers read nothing: these algorithms say nothing of the graph.
                let pulled = of_loss[place].iter().flatten().any(|gradient| *gradient != 0.0);
                let moves = match parameter.owner {
                    Owner::Processor => !freeze_processor && pulled,
                    Owner::Algorithm(of) => of == task && pulled,
                };
                assert_eq!(after.values()[place] != between.0.values()[place], moves, "{}", parameter.name);
                if parameter.owner == Owner::Algorithm(1 - task) {
                    assert_eq!(adam.first[place], between.1.first[place], "{}", parameter.name);
                }
            }
        }
    }
}

#[test]
fn a_few_updates_lower_the_loss() {
    for processor in ["mpnn", "gat", "triplet_gpgn_mask"] {
        let settings = Settings { hidden: 16, processor: processor.into(), ..Settings::default() };
        let (network, mut parameters, batches) = network(&["bfs"], &settings);
        let mut adam = Adam::new(&parameters);
        let losses: Vec<f32> = (0..30)
            .map(|_| {
                let (loss, of_loss) = gradients(&network, &parameters, 0, &batches[0], &Device::flex(), |_| None);
                adam.update(&mut parameters, &of_loss, 0, RULE);
                loss
            })
            .collect();
        assert!(losses[29] < 0.5 * losses[0], "{processor}: {} to {}", losses[0], losses[29]);
    }
}

#[test]
fn a_chunk_of_whole_samples_costs_what_their_batch_costs() {
    let settings = Settings { hidden: 8, lstm: true, processor: "pgn".into(), ..Settings::default() };
    // Its runs all have the same length.
    let (network, parameters, batches) = network(&["insertion_sort"], &settings);
    let (batch, pass) = (&batches[0], &network.pass(&parameters.fixed(&Device::flex()), 0));
    assert!(batch.lengths().iter().all(|length| *length == batch.lengths()[0]));
    let expected = network.loss(pass, batch, &batch.judged_cells(), None).into_scalar::<f32>();

    let whole = Lanes::new(6, batch.steps()).next(|| Ok::<_, ()>(batch.clone())).expect("a batch");
    let cells = whole.judged_cells();
    assert_eq!(cells, batch.judged_cells());
    let (found, _) = network.chunk_loss(pass, &whole, None, &cells, None);
    let found = found.into_scalar::<f32>();
    assert!((found - expected).abs() < 1e-5 * expected, "{found}, not {expected}");

    // In two pieces, the second carries on what the first leaves.
    let half = batch.steps() / 2;
    assert_eq!(batch.steps(), 2 * half);
    let mut lanes = Lanes::new(6, half);
    let (mut sum, mut carried) = (0.0, None);
    for _ in 0..2 {
        let chunk = lanes.next(|| Ok::<_, ()>(batch.clone())).expect("a batch");
        let (loss, state) = network.chunk_loss(pass, &chunk, carried.as_ref(), &cells, None);
        sum += loss.into_scalar::<f32>();
        carried = Some(state);
    }
    assert!((sum - expected).abs() < 1e-5 * expected, "{sum}, not {expected}");
}

#[test]
fn a_checkpoint_says_what_dm_clrs_calls_its_parameters() {
    let (_, parameters, _) = network(&["bfs"], &Settings { hidden: 8, ..Settings::default() });
    let folder = tempfile::tempdir().expect("a folder");
    let run = RunFolder::create(folder.path(), &serde_json::Value::Null).expect("a run");
    run.save_best(&parameters, State::default()).expect("a checkpoint");
    let file = NamedArrays::read(&folder.path().join("best.safetensors")).expect("a file");
    let head: serde_json::Value = serde_json::from_str(&file.metadata["clrs.checkpoint"]).expect("JSON");
    for parameter in parameters.list() {
        assert!(file.arrays.contains_key(&parameter.name), "{}", parameter.name);
        assert_eq!(head["reference"][&parameter.name], parameter.reference, "{}", parameter.name);
    }
    assert_eq!(head["reference"]["processor/sender/weight"], "net/mpnn_aggr_clrs_processor/linear_1/w");
}
