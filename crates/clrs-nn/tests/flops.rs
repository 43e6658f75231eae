//! Messages that the kernels count, against the shapes of a batch. Counters are global, so this is the only test of its process.

use std::path::Path;

use burn::tensor::Device;
use clrs_kernels::messages::MessageCounts;
use clrs_nn::eval::predict::predict;
use clrs_nn::parity::fixture::ParityFixture;
use clrs_nn::parity::flops::Flops;
use clrs_nn::{ModelBatch, Weights, train};

#[test]
fn a_training_step_has_a_message_for_every_pair_of_nodes_of_active_samples() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/networks/processor_mpnn.safetensors");
    let fixture = ParityFixture::read(&path).expect("a fixture");
    let (device, batch) = (Device::flex(), ModelBatch::new(&fixture.dense));
    let counted = |round: &dyn Fn()| {
        let before = MessageCounts::total();
        round();
        MessageCounts::total() - before
    };
    let training = counted(&|| {
        train::gradients(&fixture.network, &fixture.parameters, 0, &batch, &device, |_| None);
    });
    let weights = Weights::no_grad(&fixture.parameters, &device);
    let evaluation = counted(&|| {
        predict(&fixture.network, &weights, 0, &batch).expect("finite logits");
    });

    let samples: usize = (0..batch.steps()).map(|step| batch.active(step)).sum();
    let (n, hidden) = (batch.nodes(), fixture.network.config().hidden);
    assert_eq!(evaluation, MessageCounts { forward: (samples * n * n) as u64, backward: 0 });
    assert_eq!(training.forward, evaluation.forward);
    // Every receiver has at least one argmax, and at most one per hidden unit.
    let receivers = samples * n;
    assert!((receivers as u64..=(receivers * n.min(hidden)) as u64).contains(&training.backward), "{training:?}");

    let [training, evaluation] = [training, evaluation].map(|count| Flops::count(&fixture.network, &batch, count).expect("mpnn"));
    assert!(training.forward.to_bits() == evaluation.forward.to_bits() && training.backward > 0.0);
}
