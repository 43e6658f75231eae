//! Fixtures recorded from dm-clrs: the parameters of a network, a batch, and the loss, gradients and logits that dm-clrs computes.
//!
//! `xtask/python/record_networks.py` writes them. Our network must compute the same from the same parameters.

use std::path::Path;

use burn::tensor::Device;
use clrs::{ArrayData, DType, Kind, Location, Probe, Spec, Stage};
use serde_json::Value;

use crate::config::model::ModelConfig;
use crate::data::batch::ModelBatch;
use crate::exec::parameters::{Parameter, Parameters};
use crate::exec::tensor::Tensor;
use crate::exec::weights::Weights;
use crate::model::network::{Mode, Network, Task};
use crate::model::rollout::Termination;
use crate::run::tensor_file::{TensorFile, TensorFileError};

/// A fixture, and our network for it.
pub struct ParityFixture {
    /// All its tensors.
    pub file: TensorFile,
    /// The configuration it was recorded with: that of the model and of its data.
    pub case: Value,
    /// Our network with this configuration.
    pub network: Network,
    /// The recorded parameters.
    pub parameters: Parameters,
    /// The recorded batch, dense.
    pub dense: clrs::Batch,
}

/// Differences between our network and the fixture.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Differences {
    /// Relative difference of the loss.
    pub loss: f64,
    /// Norm of the difference of all gradients, relative to their norm.
    pub gradients: f64,
    /// Parameter whose gradient differs the most.
    pub worst: String,
    /// Largest difference of a logit, relative to the largest of its decision, or to 1.
    pub logits: f64,
    /// Decisions that differ although the best class leads by more than 1e-4.
    pub decisions: usize,
    /// Number of values compared.
    pub compared: usize,
}

impl Differences {
    /// Tolerances for different rounding.
    const LOSS: f64 = 1e-5;
    const GRADIENTS: f64 = 1e-4;
    const LOGITS: f64 = 1e-4;

    /// Whether all differences are within the tolerances, which are the same on every device.
    pub fn are_small(&self) -> bool {
        // NaN fails every comparison.
        self.loss <= Self::LOSS && self.gradients <= Self::GRADIENTS && self.logits <= Self::LOGITS && self.decisions == 0
    }
}

/// Why a file is not a fixture.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum FixtureError {
    #[error(transparent)]
    TensorFile(#[from] TensorFileError),
    #[error("not a fixture: {0}")]
    Content(String),
    #[error(transparent)]
    Build(#[from] crate::model::network::BuildError),
}

impl ParityFixture {
    /// Reads a file and builds our network.
    pub fn read(path: &Path) -> Result<ParityFixture, FixtureError> {
        ParityFixture::read_with(path, "")
    }

    /// Reads a file with several batches: the one whose names begin with a prefix.
    pub fn read_with(path: &Path, prefix: &str) -> Result<ParityFixture, FixtureError> {
        let file = TensorFile::read(path)?;
        let content = |what: &str| FixtureError::Content(what.into());
        let case: Value = file.metadata.get("settings").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let algorithm = case.get("algorithm").and_then(Value::as_str).ok_or_else(|| content("it names no algorithm"))?;
        let mut config = serde_json::to_value(ModelConfig::default()).unwrap_or_default();
        for (name, value) in config.as_object_mut().into_iter().flatten() {
            if let Some(recorded) = case.get(name) {
                *value = recorded.clone();
            }
        }
        let config: ModelConfig = serde_json::from_value(config).map_err(|error| content(&error.to_string()))?;
        let dense = batch(&file, prefix).ok_or_else(|| content("its batch is incomplete"))?;
        let task = Task { name: algorithm.into(), spec: dense.spec.clone() };
        let (network, mut parameters) = Network::new(vec![task], &config, 0)?;
        file.load_into(&mut parameters, |parameter| format!("param/{}", dm_clrs_name(parameter)))?;
        let recorded = file.tensors.keys().filter(|name| name.starts_with("param/")).count();
        if recorded != parameters.list().len() {
            return Err(content(&format!("it has {recorded} parameters, ours {}", parameters.list().len())));
        }
        Ok(ParityFixture { file, case, network, parameters, dense })
    }

    /// Compares training and evaluation.
    pub fn compare(&self, device: &Device) -> Result<Differences, FixtureError> {
        let mut differences = Differences::default();
        self.compare_training(device, &mut differences)?;
        self.compare_evaluation(device, &mut differences);
        Ok(differences)
    }

    /// Compares loss and gradients.
    pub fn compare_training(&self, device: &Device, differences: &mut Differences) -> Result<(), FixtureError> {
        let batch = ModelBatch::new(&self.dense);
        let weights = Weights::with_grad(&self.parameters, device);
        let ctx = self.network.context(&weights, 0);
        let loss = self.network.loss(&ctx, &batch, &batch.supervised_cells(), None);
        let expected = f64::from(self.tensor("loss")?[0]);
        differences.loss = (f64::from(loss.clone().into_scalar()) - expected).abs() / expected.abs();

        let gradients = self.network.gradients(&self.parameters, 0, ctx.backward(loss));
        let (mut error, mut norm, mut worst) = (0.0, 0.0, 0.0);
        for (parameter, gradient) in self.parameters.list().iter().zip(gradients) {
            let expected = self.tensor(&format!("grad/{}", dm_clrs_name(parameter)))?;
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

    /// Compares logits, as far as they are recorded.
    pub fn compare_evaluation(&self, device: &Device, into: &mut Differences) {
        let batch = &ModelBatch::new(&self.dense);
        let mut hints: Vec<(usize, usize, Tensor<3>)> = Vec::new();
        let ctx = self.network.context(&Weights::no_grad(&self.parameters, device), 0);
        let outputs = self.network.unroll(&ctx, batch, Termination::TrueLength, Mode::Evaluate, &mut |view| {
            hints.extend(view.hints.iter().map(|(index, logits)| (view.step, *index, logits.clone())));
        });
        let outputs = outputs.into_iter().map(|(index, logits)| (0, index, logits, "eval", batch.samples()));
        let hints = hints.into_iter().map(|(step, index, logits)| (step, index, logits, "eval_hint", batch.supervised(step)));
        for (step, index, logits, what, samples) in outputs.chain(hints) {
            let probe = &batch.spec()[index];
            let [_, rows, classes] = logits.dims();
            let size = rows * classes;
            let found = logits.into_vec();
            // Large fixtures omit hints.
            let Some((_, expected)) = self.file.tensors.get(&format!("{what}/{}", probe.name)) else { continue };
            for sample in 0..samples {
                let start = (step * batch.samples() + batch.order()[sample]) * size;
                let (found, expected) = (&found[sample * size..][..size], &expected[start..][..size]);
                for (found, expected) in found.chunks_exact(classes).zip(expected.chunks_exact(classes)) {
                    compare_decision(probe.kind, found, expected, into);
                }
            }
        }
    }

    fn tensor(&self, name: &str) -> Result<&[f32], FixtureError> {
        let missing = || FixtureError::TensorFile(TensorFileError::Missing(name.into()));
        self.file.tensors.get(name).map(|(_, values)| &values[..]).ok_or_else(missing)
    }
}

/// Fixtures are recorded from dm-clrs, which has all of their parameters.
fn dm_clrs_name(parameter: &Parameter) -> &str {
    parameter.dm_clrs_name.as_deref().unwrap_or_default()
}

fn compare_decision(kind: Kind, found: &[f32], expected: &[f32], into: &mut Differences) {
    let scale = expected.iter().fold(1.0f64, |most, x| most.max(f64::from(x.abs())));
    for (found, expected) in found.iter().zip(expected) {
        let difference = f64::from((found - expected).abs()) / scale;
        // NaN counts as infinitely different.
        into.logits = if difference.is_nan() { f64::INFINITY } else { into.logits.max(difference) };
    }
    into.compared += found.len();
    let chosen = |row: &[f32]| match kind {
        Kind::Scalar => 0,
        Kind::Mask => usize::from(row[0] > 0.0),
        _ => crate::model::feedback::argmax(row),
    };
    let (ours, theirs) = (chosen(found), chosen(expected));
    let lead = if kind == Kind::Mask { expected[0].abs() } else { expected[theirs] - expected[ours.min(expected.len() - 1)] };
    into.decisions += usize::from(ours != theirs && lead > 1e-4);
}

/// A batch of a fixture, whose names begin with a prefix.
pub fn batch(file: &TensorFile, prefix: &str) -> Option<clrs::Batch> {
    let spec: Vec<[String; 4]> = serde_json::from_str(file.metadata.get("spec")?).ok()?;
    let probes = spec.iter().map(|[name, stage, location, kind]| {
        let (stage, location) = (Stage::from_name(stage)?, Location::from_name(location)?);
        let (shape, values) = file.tensors.get(&format!("{prefix}{}/{name}", stage.name()))?;
        let kind = Kind::from_dm_clrs_name(kind, *shape.last()?)?;
        let masked = values.contains(&-1.0) && matches!(kind, Kind::Mask | Kind::Categorical { .. });
        Some(Probe { name: name.clone().into(), stage, location, kind, masked, dtype: DType::F32, description: "".into() })
    });
    let spec = Spec::new(probes.collect::<Option<_>>()?).ok()?;
    let arrays = spec.iter().map(|probe| {
        let (shape, values) = file.tensors.get(&format!("{prefix}{}", probe.path()))?;
        Some(clrs::Array { shape: shape.clone(), data: ArrayData::F32(values.clone()) })
    });
    let arrays = arrays.collect::<Option<_>>()?;
    let lengths = file.tensors.get(&format!("{prefix}lengths"))?.1.iter().map(|&length| f64::from(length)).collect();
    Some(clrs::Batch { spec, arrays, lengths })
}
