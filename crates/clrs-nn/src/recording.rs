//! Recordings of dm-clrs: a network with its parameters, a batch, and what the reference makes of them.
//!
//! `xtask/python/record_networks.py` writes them. Our network with the same parameters must make the same of the batch.

use std::path::Path;

use burn::tensor::{Device, Tensor};
use clrs::{ArrayData, DType, Kind, Location, Probe, Spec, Stage};
use serde_json::Value;

use crate::batch::Batch;
use crate::network::{Mode, Network, Task};
use crate::parameters::Parameters;
use crate::settings::Settings;
use crate::tensors::{ArraysError, NamedArrays};

/// A recording, and our network for it.
pub struct Recording {
    /// All its arrays.
    pub file: NamedArrays,
    /// The settings it was made with: ours, and those of its data.
    pub case: Value,
    /// Our network of these settings.
    pub network: Network,
    /// The recorded parameters.
    pub parameters: Parameters,
    /// The recorded batch, dense.
    pub dense: clrs::Batch,
}

/// How far our network is from the recording.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Differences {
    /// Of the loss, relative.
    pub loss: f64,
    /// Of all gradients together, relative to their norm.
    pub gradients: f64,
    /// The parameter whose gradient is off the most.
    pub worst: String,
    /// Of a logit, relative to the largest of its decision, or to 1.
    pub logits: f64,
    /// Decisions that differ, although the best is ahead by more than 1e-4.
    pub decisions: usize,
    /// Numbers that were compared.
    pub compared: usize,
}

impl Differences {
    /// How far apart may be what was rounded otherwise: the loss, all gradients together, a logit.
    const LOSS: f64 = 1e-5;
    const GRADIENTS: f64 = 1e-4;
    const LOGITS: f64 = 1e-4;

    /// Whether ours is the recorded network. The same holds on every device.
    pub fn are_small(&self) -> bool {
        // A NaN is not small.
        self.loss <= Self::LOSS && self.gradients <= Self::GRADIENTS && self.logits <= Self::LOGITS && self.decisions == 0
    }
}

/// Why a file is no recording.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RecordingError {
    #[error(transparent)]
    Arrays(#[from] ArraysError),
    #[error("no recording: {0}")]
    Content(String),
    #[error(transparent)]
    Build(#[from] crate::network::BuildError),
}

impl Recording {
    /// Reads a file and makes our network of it.
    pub fn read(path: &Path) -> Result<Recording, RecordingError> {
        Recording::read_with(path, "")
    }

    /// The same, where there are several batches: that whose names begin with a prefix.
    pub fn read_with(path: &Path, prefix: &str) -> Result<Recording, RecordingError> {
        let file = NamedArrays::read(path)?;
        let content = |what: &str| RecordingError::Content(what.into());
        let case: Value = file.metadata.get("settings").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let algorithm = case.get("algorithm").and_then(Value::as_str).ok_or_else(|| content("it names no algorithm"))?;
        let mut settings = serde_json::to_value(Settings::default()).unwrap_or_default();
        for (name, value) in settings.as_object_mut().into_iter().flatten() {
            if let Some(recorded) = case.get(name) {
                *value = recorded.clone();
            }
        }
        let settings: Settings = serde_json::from_value(settings).map_err(|error| content(&error.to_string()))?;
        let dense = batch(&file, prefix).ok_or_else(|| content("its batch is not whole"))?;
        let task = Task { name: algorithm.into(), spec: dense.spec.clone() };
        let (network, mut parameters) = Network::new(vec![task], &settings, 0)?;
        file.fill(&mut parameters, |parameter| format!("param/{}", parameter.reference))?;
        let recorded = file.arrays.keys().filter(|name| name.starts_with("param/")).count();
        if recorded != parameters.list().len() {
            return Err(content(&format!("it has {recorded} parameters, ours {}", parameters.list().len())));
        }
        Ok(Recording { file, case, network, parameters, dense })
    }

    /// Computes the same with our network.
    pub fn compare(&self, device: &Device) -> Result<Differences, RecordingError> {
        let mut differences = Differences::default();
        self.compare_training(device, &mut differences)?;
        self.compare_evaluation(device, &mut differences);
        Ok(differences)
    }

    /// Loss and gradients alone.
    pub fn compare_training(&self, device: &Device, differences: &mut Differences) -> Result<(), RecordingError> {
        let batch = Batch::new(&self.dense);
        let weights = self.parameters.tracked(device);
        let pass = self.network.pass(&weights, 0);
        let loss = self.network.loss(&pass, &batch, &batch.judged_cells(), None);
        let expected = f64::from(self.array("loss")?[0]);
        differences.loss = (f64::from(loss.clone().into_scalar::<f32>()) - expected).abs() / expected.abs();

        let gradients = self.network.gradients(&self.parameters, 0, pass.gradients(&mut loss.backward()));
        let (mut error, mut norm, mut worst) = (0.0, 0.0, 0.0);
        for (parameter, gradient) in self.parameters.list().iter().zip(gradients) {
            let expected = self.array(&format!("grad/{}", parameter.reference))?;
            let found = gradient.unwrap_or_else(|| vec![0.0; expected.len()]);
            let of_this: f64 = found.iter().zip(expected).map(|(a, b)| f64::from(a - b).powi(2)).sum();
            norm += expected.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
            error += of_this;
            differences.compared += found.len();
            if of_this > worst {
                (worst, differences.worst) = (of_this, parameter.name.clone());
            }
        }
        differences.gradients = (error / norm).sqrt();
        Ok(())
    }

    /// Predictions alone, as far as they are recorded.
    pub fn compare_evaluation(&self, device: &Device, into: &mut Differences) {
        let batch = &Batch::new(&self.dense);
        let mut hints: Vec<(usize, usize, Tensor<3>)> = Vec::new();
        let pass = self.network.pass(&self.parameters.fixed(device), 0);
        let outputs = self.network.unroll(&pass, batch, Mode::Evaluate, &mut |step, place, logits| {
            hints.push((step, place, logits.clone()));
        });
        let outputs = outputs.into_iter().map(|(place, logits)| (0, place, logits, "eval", batch.samples()));
        let hints = hints.into_iter().map(|(step, place, logits)| (step, place, logits, "eval_hint", batch.judged(step)));
        for (step, place, logits, what, judged) in outputs.chain(hints) {
            let probe = &batch.spec()[place];
            let [_, rows, numbers] = logits.dims();
            let size = rows * numbers;
            let found: Vec<f32> = logits.try_into_vec_as().expect("f32");
            // Large recordings leave hints out.
            let Some((_, expected)) = self.file.arrays.get(&format!("{what}/{}", probe.name)) else { continue };
            for at in 0..judged {
                let start = (step * batch.samples() + batch.order()[at]) * size;
                let (found, expected) = (&found[at * size..][..size], &expected[start..][..size]);
                for (found, expected) in found.chunks_exact(numbers).zip(expected.chunks_exact(numbers)) {
                    compare_decision(probe.kind, found, expected, into);
                }
            }
        }
    }

    fn array(&self, name: &str) -> Result<&[f32], RecordingError> {
        let missing = || RecordingError::Arrays(ArraysError::Missing(name.into()));
        self.file.arrays.get(name).map(|(_, values)| &values[..]).ok_or_else(missing)
    }
}

fn compare_decision(kind: Kind, found: &[f32], expected: &[f32], into: &mut Differences) {
    let scale = expected.iter().fold(1.0f64, |most, x| most.max(f64::from(x.abs())));
    for (found, expected) in found.iter().zip(expected) {
        let difference = f64::from((found - expected).abs()) / scale;
        // A NaN is larger than anything.
        into.logits = if difference.is_nan() { f64::INFINITY } else { into.logits.max(difference) };
    }
    into.compared += found.len();
    let chosen = |row: &[f32]| match kind {
        Kind::Scalar => 0,
        Kind::Mask => usize::from(row[0] > 0.0),
        _ => crate::feedback::first_largest(row),
    };
    let (ours, theirs) = (chosen(found), chosen(expected));
    let lead = if kind == Kind::Mask { expected[0].abs() } else { expected[theirs] - expected[ours.min(expected.len() - 1)] };
    into.decisions += usize::from(ours != theirs && lead > 1e-4);
}

/// A batch of a recording, whose names begin with a prefix.
pub fn batch(file: &NamedArrays, prefix: &str) -> Option<clrs::Batch> {
    let spec: Vec<[String; 4]> = serde_json::from_str(file.metadata.get("spec")?).ok()?;
    let probes = spec.iter().map(|[name, stage, location, kind]| {
        let stage = [Stage::Input, Stage::Output, Stage::Hint].into_iter().find(|of| of.name() == stage)?;
        let location = [Location::Node, Location::Edge, Location::Graph].into_iter().find(|of| of.name() == location)?;
        let (shape, values) = file.arrays.get(&format!("{prefix}{}/{name}", stage.name()))?;
        let kind = match &kind[..] {
            "scalar" => Kind::Scalar,
            "mask" => Kind::Mask,
            "mask_one" => Kind::MaskOne,
            "categorical" => Kind::Categorical { classes: *shape.last()? },
            "pointer" => Kind::Pointer,
            "permutation_pointer" => Kind::CyclicPermutation,
            _ => return None,
        };
        let masked = values.contains(&-1.0) && matches!(kind, Kind::Mask | Kind::Categorical { .. });
        Some(Probe { name: name.clone().into(), stage, location, kind, masked, dtype: DType::F32, description: "".into() })
    });
    let spec = Spec::new(probes.collect::<Option<_>>()?).ok()?;
    let arrays = spec.iter().map(|probe| {
        let (shape, values) = file.arrays.get(&format!("{prefix}{}", probe.path()))?;
        Some(clrs::Array { shape: shape.clone(), data: ArrayData::F32(values.clone()) })
    });
    let arrays = arrays.collect::<Option<_>>()?;
    let lengths = file.arrays.get(&format!("{prefix}lengths"))?.1.iter().map(|&length| f64::from(length)).collect();
    Some(clrs::Batch { spec, arrays, lengths })
}
