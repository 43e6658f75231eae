//! Parity with dm-clrs: the same parameters and batch give the same loss, gradients and predictions as its recorded fixtures.

use std::path::{Path, PathBuf};

use burn::tensor::Device;
use clrs::Stage;
use clrs_nn::ModelBatch;
use clrs_nn::exec::parameters::{Init, ParameterBuilder};
use clrs_nn::model::processors::ProcessorRegistry;
use clrs_nn::parity::fixture::{self, ParityFixture};
use clrs_nn::run::tensor_file::TensorFile;
use clrs_nn::train::gradients;
use clrs_nn::train::optimizer::{Adam, AdamConfig};

fn fixtures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/networks");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).expect("goldens").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn networks_equal_dm_clrs() {
    let mut failed = Vec::new();
    let mut seen = Vec::new();
    for path in fixtures() {
        let name = name(&path);
        if ["optimizer", "training"].contains(&&*name) {
            continue;
        }
        let mut fixture = ParityFixture::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Probes without recorded predictions would not be compared.
        let decodes_hints = fixture.network.config().hint_mode.is_supervised();
        for probe in fixture.dense.spec.iter() {
            let (what, expected) = match probe.stage {
                Stage::Input => continue,
                Stage::Output => ("eval", true),
                Stage::Hint => ("eval_hint", decodes_hints),
            };
            let recorded = fixture.file.tensors.contains_key(&format!("{what}/{}", probe.name));
            assert!(recorded || !expected, "{name}: no predictions of {}", probe.name);
        }
        for fused in [true, false] {
            fixture.network.fused = fused;
            let found = fixture.compare(&Device::flex()).unwrap_or_else(|error| panic!("{name}: {error}"));
            if !found.are_small() {
                failed.push(format!("{name}, fused {fused}: {found:?}"));
            }
        }
        seen.push(fixture.network.config().processor.clone());
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // Processors that dm-clrs does not have cannot be recorded.
    let registry = ProcessorRegistry::builtin();
    let recorded = |name: &str| seen.iter().any(|seen| seen == name);
    let missing = registry.iter().find(|entry| entry.dm_clrs_module.is_some() && !recorded(entry.name));
    assert!(missing.is_none(), "no fixture for {}", missing.map_or("", |entry| entry.name));
}

#[test]
fn adam_updates_equal_dm_clrs() {
    let file = TensorFile::read(&fixtures()[0].with_file_name("optimizer.safetensors")).expect("a fixture");
    let mut builder = ParameterBuilder::new(0);
    for (name, shape) in [("matrix", &[3, 4][..]), ("single", &[1]), ("vector", &[5])] {
        builder.parameter(name, shape, Init::Constant(0.0));
    }
    let mut parameters = builder.finish();
    file.load_into(&mut parameters, |parameter| format!("param/{}", parameter.name)).expect("parameters");
    let mut adam = Adam::new(&parameters);
    for update in 0..20 {
        let of = |what: &str| -> Vec<Vec<f32>> {
            let names = parameters.list().iter().map(|parameter| format!("{update}/{what}/{}", parameter.name));
            names.map(|name| file.tensors[&name].1.clone()).collect()
        };
        let (gradients, expected) = (of("grad"), of("param"));
        adam.update(&mut parameters, &gradients.into_iter().map(Some).collect::<Vec<_>>(), 0, CONFIG);
        for (found, expected) in parameters.values().iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() <= 1e-6, "update {update}: {found}, reference {expected}");
        }
    }
}

#[test]
fn twenty_training_steps_equal_dm_clrs() {
    let ParityFixture { file, network, mut parameters, .. } =
        ParityFixture::read_with(&fixtures()[0].with_file_name("training.safetensors"), "0/").expect("a fixture");
    let mut adam = Adam::new(&parameters);
    for (step, &expected) in file.tensors["losses"].1.iter().enumerate() {
        let batch = ModelBatch::new(&fixture::batch(&file, &format!("{step}/")).expect("a batch"));
        let (loss, gradients) = gradients(&network, &parameters, 0, &batch, &Device::flex(), |_| None);
        adam.update(&mut parameters, &gradients, 0, CONFIG);
        assert!((loss - expected).abs() <= 1e-3 * expected, "step {step}: {loss}, reference {expected}");
    }
    assert_eq!(adam.state().updates, 20);
}

/// The configuration of these fixtures.
const CONFIG: AdamConfig = AdamConfig { learning_rate: 1e-3, grad_clip: 1.0, freeze_processor: false };
