use std::borrow::Cow;

use crate::batch::{Array, ArrayData, Batch};
use crate::spec::{DType, Kind, Location, Probe, Spec};

use super::TransformError;

/// Makes of each order of the nodes a cycle, in which the first node points to the last, and a mask of the first node.
/// Both are float32, as the reference's are; the cycle is one-hot, `[.., N, N]`.
pub fn cyclic_permutations(batch: Batch) -> Result<Batch, TransformError> {
    let Batch { spec, arrays, lengths } = batch;
    let (mut probes, mut changed) = (Vec::new(), Vec::new());
    for (probe, array) in spec.iter().zip(arrays) {
        if !is_order(probe) {
            probes.push(probe.clone());
            changed.push(array);
            continue;
        }
        let (cycle, first) = cycles(&array).ok_or_else(|| TransformError::Array(probe.name.to_string()))?;
        probes.push(Probe { kind: Kind::CyclicPermutation, dtype: DType::F32, ..probe.clone() });
        probes.push(Probe {
            name: Cow::Owned(format!("{}_mask", probe.name)),
            kind: Kind::MaskOne,
            dtype: DType::F32,
            description: Cow::Borrowed("first node of the order"),
            ..probe.clone()
        });
        changed.extend([cycle, first]);
    }
    let spec = Spec::new(probes).map_err(|taken| TransformError::Array(taken.0))?;
    Ok(Batch { spec, arrays: changed, lengths })
}

/// Takes orders of the nodes for plain pointers. Values stay as they are.
#[must_use]
pub fn plain_permutations(mut batch: Batch) -> Batch {
    let plain = |probe: &Probe| if is_order(probe) { Probe { kind: Kind::Pointer, ..probe.clone() } } else { probe.clone() };
    batch.spec = Spec::new(batch.spec.iter().map(plain).collect()).expect("the names stay");
    batch
}

fn is_order(probe: &Probe) -> bool {
    probe.kind == Kind::Permutation && probe.location == Location::Node
}

/// The cycle and the mask of the first node. Pointers need not be an order: a network is to learn from any.
fn cycles(pointers: &Array) -> Option<(Array, Array)> {
    let nodes = *pointers.shape.last()?;
    let pointers_of_all: Vec<usize> = match &pointers.data {
        ArrayData::I64(cells) => cells.iter().map(|&node| usize::try_from(node).ok()).collect::<Option<_>>()?,
        ArrayData::F64(_) | ArrayData::F32(_) => return None,
    };
    let mut cycle = vec![0f32; pointers_of_all.len() * nodes];
    let mut mask = vec![0f32; pointers_of_all.len()];
    let samples =
        pointers_of_all.chunks_exact(nodes).zip(cycle.chunks_exact_mut(nodes * nodes)).zip(mask.chunks_exact_mut(nodes));
    for ((pointers, cycle), mask) in samples {
        let mut pointed_at = vec![0usize; nodes];
        for (node, &before) in pointers.iter().enumerate() {
            *pointed_at.get_mut(before)? += 1;
            cycle[node * nodes + before] = 1.0;
        }
        let last = (0..nodes).min_by_key(|&node| pointed_at[node])?;
        let first = (0..nodes).find(|&node| pointers[node] == node).unwrap_or(0);
        mask[first] = 1.0;
        cycle[first * nodes + last] += 1.0;
        cycle[first * nodes + first] -= 1.0;
    }
    let mut shape = pointers.shape.clone();
    let mask = Array { shape: shape.clone(), data: ArrayData::F32(mask) };
    shape.push(nodes);
    Some((Array { shape, data: ArrayData::F32(cycle) }, mask))
}
