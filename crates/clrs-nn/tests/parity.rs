//! Against recordings of dm-clrs: the same parameters and batch give the same loss, gradients and predictions.

use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor};
use clrs::{Data, Dense, Kind, Location, Probe, Spec, Stage};
use clrs_nn::settings::Settings;
use clrs_nn::tensors::NamedArrays;
use clrs_nn::{Batch, Mode, Network, Parameters, Task};
use serde::Deserialize;

/// Of the loss, relative.
const LOSS: f64 = 1e-5;
/// Of all gradients together, relative to their norm.
const GRADIENTS: f64 = 1e-4;
/// Of a logit.
const LOGITS: f64 = 1e-4;

#[test]
fn networks_equal_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/networks");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("goldens").map(|entry| entry.expect("file").path()).collect();
    files.sort();
    let is_case = |path: &PathBuf| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with("optimiser"));
    let wrong: Vec<String> = files.iter().filter(|path| is_case(path)).flat_map(|path| compare(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files.len() > 40, "only {} recordings", files.len());
}

/// What a recording says of its network beside our settings.
#[derive(Deserialize)]
struct Case {
    algorithm: String,
}

/// What is different.
fn compare(path: &Path) -> Vec<String> {
    let file = NamedArrays::read(path).expect("a recording");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let (network, parameters, batch) = load(&file);
    let device = Device::flex();
    let mut wrong = Vec::new();

    let weights = parameters.tracked(&device);
    let loss = network.loss(weights.clone(), 0, &batch, &batch.judged_cells(), None);
    let expected = f64::from(file.arrays["loss"].1[0]);
    let found = f64::from(loss.clone().into_scalar::<f32>());
    if (found - expected).abs() > LOSS * expected.abs() {
        wrong.push(format!("{name}: loss {found}, reference {expected}"));
    }

    let gradients = loss.backward();
    let (mut error, mut norm, mut worst) = (0.0, 0.0, (0.0, String::new()));
    for (parameter, weight) in parameters.list().iter().zip(weights.values()) {
        let expected = &file.arrays[&format!("grad/{}", parameter.reference)].1;
        let found: Vec<f32> = match weight.grad(&gradients) {
            Some(gradient) => gradient.try_into_vec_as().expect("f32"),
            None => vec![0.0; expected.len()],
        };
        let of_this: f64 = found.iter().zip(expected).map(|(a, b)| f64::from(a - b).powi(2)).sum();
        norm += expected.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        error += of_this;
        if of_this > worst.0 {
            worst = (of_this, parameter.name.clone());
        }
    }
    let relative = (error / norm).sqrt();
    if relative.is_nan() || relative > GRADIENTS {
        wrong.push(format!("{name}: gradients differ by {relative:e} of their norm {}, most in {}", norm.sqrt(), worst.1));
    }

    let mut hints: Vec<(usize, usize, Tensor<3>)> = Vec::new();
    let fixed = parameters.fixed(&device);
    let outputs = network.unroll(fixed, 0, &batch, Mode::Evaluate, &mut |step, place, logits| {
        hints.push((step, place, logits.clone()));
    });
    let mut check = |what: String, sample: usize, found: &[f32], expected: &[f32], row: usize| {
        for (found, expected) in found.chunks_exact(row).zip(expected.chunks_exact(row)) {
            let difference = found.iter().zip(expected).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max);
            let scale = expected.iter().fold(1.0f64, |most, x| most.max(f64::from(x.abs())));
            if difference.is_nan() || difference > LOGITS * scale {
                wrong.push(format!("{name}: {what} of sample {sample}: {found:?}, reference {expected:?}"));
                return;
            }
        }
    };
    for (place, logits) in outputs {
        let probe = &batch.spec()[place];
        let [_, rows, numbers] = logits.dims();
        let found: Vec<f32> = logits.try_into_vec_as().expect("f32");
        let expected = &file.arrays[&format!("eval/{}", probe.name)].1;
        for (at, &sample) in batch.order().iter().enumerate() {
            let size = rows * numbers;
            check(format!("eval/{}", probe.name), sample, &found[at * size..][..size], &expected[sample * size..][..size], numbers);
        }
    }
    for (step, place, logits) in hints {
        let probe = &batch.spec()[place];
        let [live, rows, numbers] = logits.dims();
        let found: Vec<f32> = logits.try_into_vec_as().expect("f32");
        let Some((shape, expected)) = file.arrays.get(&format!("eval_hint/{}", probe.name)) else { continue };
        let size = rows * numbers;
        for at in 0..live.min(batch.judged(step)) {
            let sample = batch.order()[at];
            let start = (step * shape[1] + sample) * size;
            check(format!("hint {step}/{}", probe.name), sample, &found[at * size..][..size], &expected[start..][..size], numbers);
        }
    }
    wrong.truncate(6);
    wrong
}

/// The network of a recording with its parameters, and its batch.
fn load(file: &NamedArrays) -> (Network, Parameters, Batch) {
    let case: serde_json::Value = serde_json::from_str(&file.metadata["settings"]).expect("settings");
    let Case { algorithm } = Case::deserialize(&case).expect("an algorithm");
    let mut settings = serde_json::to_value(Settings::default()).expect("settings");
    for (name, value) in settings.as_object_mut().expect("fields") {
        if let Some(recorded) = case.get(name) {
            *value = recorded.clone();
        }
    }
    let settings: Settings = serde_json::from_value(settings).expect("settings");
    let batch = batch(file, "");
    let task = Task { name: algorithm, spec: batch.spec.clone() };
    let (network, mut parameters) = Network::new(vec![task], &settings, 0).expect("a network");
    file.fill(&mut parameters, |parameter| format!("param/{}", parameter.reference)).expect("parameters");
    let recorded = file.arrays.keys().filter(|name| name.starts_with("param/")).count();
    assert_eq!(recorded, parameters.list().len(), "as many parameters as the reference has");
    (network, parameters, Batch::new(&batch))
}

/// A batch of a recording.
fn batch(file: &NamedArrays, prefix: &str) -> clrs::Batch {
    let spec: Vec<[String; 4]> = serde_json::from_str(&file.metadata["spec"]).expect("a spec");
    let probes: Vec<Probe> = spec
        .iter()
        .map(|[name, stage, location, kind]| {
            let stage = [Stage::Input, Stage::Output, Stage::Hint].into_iter().find(|of| of.name() == stage).expect("a stage");
            let (shape, values) = &file.arrays[&format!("{prefix}{}/{name}", stage.name())];
            Probe {
                name: name.clone().into(),
                stage,
                location: [Location::Node, Location::Edge, Location::Graph]
                    .into_iter()
                    .find(|of| of.name() == location)
                    .expect("a location"),
                kind: match &kind[..] {
                    "scalar" => Kind::Scalar,
                    "mask" => Kind::Mask,
                    "mask_one" => Kind::MaskOne,
                    "categorical" => Kind::Categorical { classes: *shape.last().expect("an axis") },
                    "pointer" => Kind::Pointer,
                    "permutation_pointer" => Kind::CyclicPermutation,
                    other => panic!("no kind {other}"),
                },
                masked: values.contains(&-1.0) && kind != "scalar",
                dense: Dense::F32,
                meaning: "".into(),
            }
        })
        .collect();
    let spec = Spec::new(probes).expect("names taken once");
    let arrays = spec
        .iter()
        .map(|probe| {
            let (shape, values) = &file.arrays[&format!("{prefix}{}", probe.path())];
            clrs::Array { shape: shape.clone(), data: Data::F32(values.clone()) }
        })
        .collect();
    let lengths = file.arrays[&format!("{prefix}lengths")].1.iter().map(|&length| f64::from(length)).collect();
    clrs::Batch { spec, arrays, lengths }
}
