use std::borrow::Cow;

use crate::batch::{Array, ArrayData, Batch};
use crate::spec::{Probe, Spec, Stage};

use super::TransformError;

/// Makes an input `pred` of the hint `pred_h`, which must be the same at every step. Batches without it stay as they are.
pub fn predecessors_as_input(mut batch: Batch) -> Result<Batch, TransformError> {
    let Some(place) = batch.spec.iter().position(|probe| probe.name == "pred_h" && probe.stage == Stage::Hint) else {
        return Ok(batch);
    };
    if batch.spec.get("pred").is_some() {
        return Err(TransformError::Taken);
    }
    let hint = &batch.arrays[place];
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

    let mut probes = batch.spec.to_vec();
    let hint = probes.remove(place);
    batch.arrays.remove(place);
    let inputs = probes.iter().take_while(|probe| probe.stage == Stage::Input).count();
    probes.insert(inputs, Probe { name: Cow::Borrowed("pred"), stage: Stage::Input, ..hint });
    batch.arrays.insert(inputs, first);
    batch.spec = Spec::new(probes).map_err(|_| TransformError::Taken)?;
    Ok(batch)
}
