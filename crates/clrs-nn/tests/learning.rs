//! Updates: which parameters change, and which must not.

use burn::tensor::Device;
use clrs::sampling::{Sampler, SamplerOptions, Stream};
use clrs::{AnyAlgorithm, Registry};
use clrs_nn::config::model::AbsentEdges;
use clrs_nn::data::chunk::ChunkLoader;
use clrs_nn::exec::parameters::Owner;
use clrs_nn::train::gradients;
use clrs_nn::train::optimizer::{Adam, AdamConfig};
use clrs_nn::{ModelBatch, ModelConfig, Network, Parameters, Task, Weights};

const CONFIG: AdamConfig = AdamConfig { learning_rate: 1e-2, grad_clip: 1.0, freeze_processor: false };

fn dense(algorithm: &'static dyn AnyAlgorithm, size: usize, count: usize) -> clrs::Batch {
    let sampler = Sampler::new(algorithm, size, 1, &SamplerOptions::default()).expect("a sampler");
    clrs::transform::plain_permutations(Stream::new(sampler).next(count).expect("samples"))
}

/// A network for some algorithms, and a batch of each.
fn network(names: &[&str], config: &ModelConfig) -> (Network, Parameters, Vec<ModelBatch>) {
    let registry = Registry::builtin();
    let dense: Vec<clrs::Batch> = names.iter().map(|name| dense(registry.find(name).expect("known"), 5, 6)).collect();
    let tasks = names.iter().zip(&dense).map(|(name, batch)| Task { name: (*name).into(), spec: batch.spec.clone() });
    let (network, parameters) = Network::new(tasks.collect(), config, 1).expect("a network");
    (network, parameters, dense.iter().map(ModelBatch::new).collect())
}

#[test]
fn the_lstm_learns() {
    let config = ModelConfig { hidden: 8, lstm: true, ..ModelConfig::default() };
    let (network, before, batches) = network(&["bfs"], &config);
    let (mut after, mut adam) = (before.clone(), Adam::new(&before));
    let (_, of_loss) = gradients(&network, &after, 0, &batches[0], &Device::flex(), |_| None);
    adam.update(&mut after, &of_loss, 0, CONFIG);
    for (index, parameter) in before.list().iter().enumerate().filter(|(_, parameter)| parameter.name.starts_with("lstm/")) {
        assert_ne!(before.values()[index], after.values()[index], "{}", parameter.name);
    }
    assert!(before.list().iter().any(|parameter| parameter.name == "lstm/gates/weight"));
}

/// Ordinary operations multiply messages by the adjacency matrix, as dm-clrs did; kernels take the maximum over neighbors and 0.
#[test]
fn absent_edges_as_zeros_are_the_same_in_kernels_and_ordinary_operations() {
    for processor in ["pgn", "deepsets", "mpnn"] {
        let compute = |absent_edges, fused| {
            let config = ModelConfig { hidden: 8, processor: processor.into(), absent_edges, ..ModelConfig::default() };
            let (mut network, parameters, batches) = network(&["bellman_ford"], &config);
            network.fused = fused;
            gradients(&network, &parameters, 0, &batches[0], &Device::flex(), |_| None)
        };
        let (loss, of_loss) = compute(AbsentEdges::Zero, true);
        let (expected, of_expected) = compute(AbsentEdges::Zero, false);
        assert!((loss - expected).abs() < 1e-5, "{processor}: {loss} and {expected}");
        for (gradient, expected) in of_loss.iter().zip(&of_expected) {
            for (value, expected) in gradient.iter().flatten().zip(expected.iter().flatten()) {
                assert!((value - expected).abs() < 1e-5, "{processor}: {value} and {expected}");
            }
        }
        let (masked, _) = compute(AbsentEdges::Masked, true);
        assert_eq!(loss == masked, processor == "mpnn", "{processor}: {loss} and {masked}");
    }
}

#[test]
fn an_update_moves_the_processor_and_one_algorithm() {
    let config = ModelConfig { hidden: 8, processor: "triplet_gmpnn".into(), lstm: true, ..ModelConfig::default() };
    let (network, before, batches) = network(&["bfs", "insertion_sort"], &config);
    for freeze_processor in [false, true] {
        let (mut after, mut adam) = (before.clone(), Adam::new(&before));
        // The second task is updated first, so that it has moments that could change it again.
        for task in [1, 0] {
            let between = (after.clone(), adam.clone());
            let (_, of_loss) = gradients(&network, &after, task, &batches[task], &Device::flex(), |_| None);
            adam.update(&mut after, &of_loss, task, AdamConfig { freeze_processor, ..CONFIG });
            for (index, parameter) in before.list().iter().enumerate() {
                // Layers over the graph have no inputs: these algorithms have no graph probes.
                let has_gradient = of_loss[index].iter().flatten().any(|gradient| *gradient != 0.0);
                let moves = match parameter.owner {
                    Owner::Processor => !freeze_processor && has_gradient,
                    Owner::Lstm => has_gradient,
                    Owner::Algorithm(of) => of == task && has_gradient,
                };
                assert_eq!(after.values()[index] != between.0.values()[index], moves, "{}", parameter.name);
                if parameter.owner == Owner::Algorithm(1 - task) {
                    assert_eq!(adam.state().first[index], between.1.state().first[index], "{}", parameter.name);
                }
            }
        }
    }
}

#[test]
fn a_few_updates_lower_the_loss() {
    for processor in ["mpnn", "gat", "triplet_gpgn_mask"] {
        let config = ModelConfig { hidden: 16, processor: processor.into(), ..ModelConfig::default() };
        let (network, mut parameters, batches) = network(&["bfs"], &config);
        let mut adam = Adam::new(&parameters);
        let losses: Vec<f32> = (0..30)
            .map(|_| {
                let (loss, of_loss) = gradients(&network, &parameters, 0, &batches[0], &Device::flex(), |_| None);
                adam.update(&mut parameters, &of_loss, 0, CONFIG);
                loss
            })
            .collect();
        assert!(losses[29] < 0.5 * losses[0], "{processor}: {} to {}", losses[0], losses[29]);
    }
}

#[test]
fn a_chunk_of_complete_samples_has_the_loss_of_their_batch() {
    let config = ModelConfig { hidden: 8, lstm: true, processor: "pgn".into(), ..ModelConfig::default() };
    // Its trajectories all have the same length.
    let (network, parameters, batches) = network(&["insertion_sort"], &config);
    let (batch, ctx) = (&batches[0], &network.context(&Weights::no_grad(&parameters, &Device::flex()), 0));
    assert!(batch.lengths().iter().all(|length| *length == batch.lengths()[0]));
    let expected = network.loss(ctx, batch, &batch.supervised_cells(), None).into_scalar();

    let complete = ChunkLoader::new(6, batch.steps()).next(|| Ok::<_, ()>(batch.clone())).expect("a batch");
    let cells = complete.supervised_cells();
    assert_eq!(cells, batch.supervised_cells());
    let (found, _) = network.chunk_loss(ctx, &complete, None, &cells, None);
    let found = found.into_scalar();
    assert!((found - expected).abs() < 1e-5 * expected, "{found}, not {expected}");

    // In two chunks, the second continues from the state of the first.
    let half = batch.steps() / 2;
    assert_eq!(batch.steps(), 2 * half);
    let mut lanes = ChunkLoader::new(6, half);
    let (mut sum, mut carried_state) = (0.0, None);
    for _ in 0..2 {
        let chunk = lanes.next(|| Ok::<_, ()>(batch.clone())).expect("a batch");
        let (loss, state) = network.chunk_loss(ctx, &chunk, carried_state.as_ref(), &cells, None);
        sum += loss.into_scalar();
        carried_state = Some(state);
    }
    assert!((sum - expected).abs() < 1e-5 * expected, "{sum}, not {expected}");
}

#[test]
fn parameters_with_the_same_name_are_rejected() {
    use clrs_nn::BuildError;
    use clrs_nn::exec::context::ForwardContext;
    use clrs_nn::model::processors::{LayerNorm, Processor, ProcessorEntry, ProcessorInput, ProcessorOutput, ProcessorRegistry};

    struct Normalized([LayerNorm; 2]);
    impl Processor for Normalized {
        fn step(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
            let hidden = self.0.iter().fold(input.nodes.hidden(), |rows, norm| norm.apply(ctx, rows));
            ProcessorOutput { hidden, edges: None }
        }

        fn reads_adjacency(&self) -> bool {
            false
        }
    }
    let build = |second: ProcessorEntry| {
        let task = Task { name: "bfs".into(), spec: Registry::builtin().find("bfs").expect("known").spec().into() };
        let config = ModelConfig { hidden: 4, processor: "normalized".into(), ..ModelConfig::default() };
        Network::with_processors(vec![task], &config, &ProcessorRegistry::builtin().with(second), 1)
            .map(|(_, parameters)| parameters)
    };
    let same = ProcessorEntry::new("normalized", "two norms of one name", |config, builder| {
        Box::new(Normalized([(); 2].map(|()| LayerNorm::new("norm", config.hidden, builder))))
    });
    assert_eq!(build(same).err(), Some(BuildError::DuplicateParameter("processor/norm/offset".into())));
    let different = ProcessorEntry::new("normalized", "two norms", |config, builder| {
        Box::new(Normalized(["first", "second"].map(|name| LayerNorm::new(name, config.hidden, builder))))
    });
    let parameters = build(different).expect("different names");
    // dm-clrs does not have the processor, so its parameters have no names there.
    assert_eq!(parameters.list()[0].dm_clrs_name, None);
    let error = clrs_nn::run::tensor_file::TensorFile::with_dm_clrs_names(&parameters).expect_err("no name");
    assert_eq!(error.to_string(), "`processor/first/scale` has no name in dm-clrs, which has no such layer");
}

#[test]
fn an_infinite_gradient_changes_nothing() {
    let config = ModelConfig { hidden: 4, ..ModelConfig::default() };
    let (_, before, _) = network(&["bfs"], &config);
    let (mut after, mut adam) = (before.clone(), Adam::new(&before));
    let mut gradients: Vec<Option<Vec<f32>>> = before.values().iter().map(|values| Some(vec![1.0; values.len()])).collect();
    gradients[0].as_mut().expect("a gradient")[0] = f32::INFINITY;
    assert!(!adam.update(&mut after, &gradients, 0, CONFIG).is_finite());
    assert_eq!((&after, &adam), (&before, &Adam::new(&before)));
}
