//! What kernels count against what shapes say. Counts are of the whole process, so this is the only test in it.

use std::path::Path;

use burn::tensor::Device;
use clrs_kernels::messages::MessageCounts;
use clrs_nn::parity::fixture::ParityFixture;
use clrs_nn::parity::flops::Flops;
use clrs_nn::{Batch, evaluate, train};

#[test]
fn a_step_of_training_has_a_message_of_every_pair_of_live_samples() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/networks/processor_mpnn.safetensors");
    let recording = ParityFixture::read(&path).expect("a recording");
    let (device, batch) = (Device::flex(), Batch::new(&recording.dense));
    let counted = |round: &dyn Fn()| {
        let before = MessageCounts::total();
        round();
        MessageCounts::total() - before
    };
    let training = counted(&|| {
        train::gradients(&recording.network, &recording.parameters, 0, &batch, &device, |_| None);
    });
    let weights = recording.parameters.fixed(&device);
    let evaluation = counted(&|| {
        evaluate::predict(&recording.network, &weights, 0, &batch);
    });

    let samples: usize = (0..batch.steps()).map(|step| batch.live(step)).sum();
    let (n, settings) = (batch.nodes(), recording.network.settings());
    assert_eq!(evaluation, MessageCounts { forward: (samples * n * n) as u64, backward: 0 });
    assert_eq!(training.forward, evaluation.forward);
    // Every receiver has a winner, and at most one per channel.
    let receivers = samples * n;
    assert!((receivers as u64..=(receivers * n.min(settings.hidden)) as u64).contains(&training.backward), "{training:?}");

    let [training, evaluation] = [training, evaluation].map(|count| Flops::count(settings, &batch, count).expect("mpnn"));
    assert!(training.forward.to_bits() == evaluation.forward.to_bits() && training.backward > 0.0);
}
