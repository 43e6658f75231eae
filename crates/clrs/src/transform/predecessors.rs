use std::borrow::Cow;

use crate::batch::{Array, ArrayData, Batch};
use crate::spec::{Probe, Spec, Stage};

use super::TransformError;

/// Turns the hint `pred_h`, which must be the same at every step, into the input `pred`. Batches without the hint stay the
/// same.
pub fn predecessors_as_input(mut batch: Batch) -> Result<Batch, TransformError> {
    let spec = predecessors_as_input_spec(&batch.spec)?;
    let Some(index) = hint_index(&batch.spec) else { return Ok(batch) };
    let hint = batch.arrays.remove(index);
    let ([_, samples, nodes], ArrayData::F64(cells)) = (&hint.shape[..], &hint.data) else {
        return Err(TransformError::Array("pred_h".into()));
    };
    let (samples, nodes) = (*samples, *nodes);
    let row = |step: usize, sample: usize| &cells[(step * samples + sample) * nodes..][..nodes];
    for (sample, &length) in batch.lengths.iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths are counts")]
        let steps = length as usize;
        if let Some(step) = (1..steps).find(|&step| row(step, sample) != row(0, sample)) {
            return Err(TransformError::Moves { sample, step });
        }
    }
    let first = Array { shape: vec![samples, nodes], data: ArrayData::F64(cells[..samples * nodes].to_vec()) };
    batch.arrays.insert(input_count(&batch.spec), first);
    Ok(Batch { spec, ..batch })
}

/// The spec of [`predecessors_as_input`].
///
/// # Errors
/// If the name `pred` exists already.
pub fn predecessors_as_input_spec(spec: &Spec) -> Result<Spec, TransformError> {
    let Some(index) = hint_index(spec) else { return Ok(spec.clone()) };
    if spec.get("pred").is_some() {
        return Err(TransformError::Taken);
    }
    let mut probes = spec.to_vec();
    let hint = probes.remove(index);
    probes.insert(input_count(spec), Probe { name: Cow::Borrowed("pred"), stage: Stage::Input, ..hint });
    Ok(Spec::new(probes)?)
}

fn hint_index(spec: &Spec) -> Option<usize> {
    spec.iter().position(|probe| probe.name == "pred_h" && probe.stage == Stage::Hint)
}

fn input_count(spec: &Spec) -> usize {
    spec.iter().take_while(|probe| probe.stage == Stage::Input).count()
}
