use crate::batch::{ArrayData, Batch};
use crate::random::RandomState;

use super::TransformError;

/// Replaces `pos` by random numbers in ascending order; where positions start over (two strings), so do these.
pub fn random_positions(mut batch: Batch, random: &mut RandomState) -> Result<Batch, TransformError> {
    let missing = || TransformError::Array("pos".into());
    let place = batch.spec.iter().position(|probe| probe.name == "pos").ok_or_else(missing)?;
    let nodes = batch.arrays[place].shape.get(1).copied().ok_or_else(missing)?;
    let ArrayData::F64(pos) = &mut batch.arrays[place].data else { return Err(missing()) };
    let mut drawn = random.uniforms(0.0, 1.0, pos.len());
    for (sample, (pos, drawn)) in pos.chunks_exact_mut(nodes).zip(drawn.chunks_exact_mut(nodes)).enumerate() {
        if pos[0] != 0.0 {
            return Err(TransformError::Positions { sample });
        }
        let starts: Vec<usize> = (0..nodes).filter(|&node| pos[node] == 0.0).chain([nodes]).collect();
        for piece in starts.windows(2) {
            drawn[piece[0]..piece[1]].sort_unstable_by(f64::total_cmp);
        }
        pos.copy_from_slice(drawn);
    }
    Ok(batch)
}
