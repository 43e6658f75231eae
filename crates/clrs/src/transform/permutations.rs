use std::borrow::Cow;

use crate::batch::{Array, ArrayData, Batch};
use crate::spec::{DType, Kind, Location, Probe, Spec};

use super::TransformError;

/// Replaces each permutation by a cycle, in which the first node points to the last, and a mask of the first node. Both are
/// float32, as in dm-clrs; the cycle is one-hot, `[.., N, N]`.
pub fn cyclic_permutations(batch: Batch) -> Result<Batch, TransformError> {
    let spec = cyclic_permutations_spec(&batch.spec)?;
    let mut arrays = Vec::with_capacity(spec.len());
    for (probe, array) in batch.spec.iter().zip(batch.arrays) {
        if is_permutation(probe) {
            let (cycle, first) = cyclic_permutation(&array).ok_or_else(|| TransformError::Array(probe.name.to_string()))?;
            arrays.extend([cycle, first]);
        } else {
            arrays.push(array);
        }
    }
    Ok(Batch { spec, arrays, lengths: batch.lengths })
}

/// The spec of [`cyclic_permutations`].
///
/// # Errors
/// If the name of a mask exists already.
pub fn cyclic_permutations_spec(spec: &Spec) -> Result<Spec, TransformError> {
    let mut probes = Vec::with_capacity(spec.len());
    for probe in spec.iter() {
        if !is_permutation(probe) {
            probes.push(probe.clone());
            continue;
        }
        probes.push(Probe { kind: Kind::CyclicPermutation, dtype: DType::F32, ..probe.clone() });
        probes.push(Probe {
            name: Cow::Owned(probe.mask_name()),
            kind: Kind::MaskOne,
            dtype: DType::F32,
            description: Cow::Borrowed("first node of the order"),
            ..probe.clone()
        });
    }
    Ok(Spec::new(probes)?)
}

/// Treats permutations as plain pointers. The values stay the same.
#[must_use]
pub fn plain_permutations(batch: Batch) -> Batch {
    Batch { spec: plain_permutations_spec(&batch.spec), ..batch }
}

/// The spec of [`plain_permutations`].
///
/// # Panics
/// Never: the names stay the same.
#[must_use]
pub fn plain_permutations_spec(spec: &Spec) -> Spec {
    let plain = |probe: &Probe| Probe { kind: probe.kind.plain(), ..probe.clone() };
    Spec::new(spec.iter().map(plain).collect()).expect("the names stay the same")
}

fn is_permutation(probe: &Probe) -> bool {
    probe.kind == Kind::Permutation && probe.location == Location::Node
}

/// The one-hot cycle `[.., N, N]` and the mask of the first node `[.., N]` of predecessors in a linear order `[.., N]`. The
/// pointers need not be a permutation: predictions may be any pointers. Returns `None` if one is not a node.
pub fn cyclic_permutation(pointers: &Array) -> Option<(Array, Array)> {
    let nodes = *pointers.shape.last()?;
    let all: Vec<usize> = match &pointers.data {
        ArrayData::I64(cells) => cells.iter().map(|&node| usize::try_from(node).ok()).collect::<Option<_>>()?,
        ArrayData::F64(_) | ArrayData::F32(_) => return None,
    };
    let mut cycle = vec![0f32; all.len() * nodes];
    let mut mask = vec![0f32; all.len()];
    let samples = all.chunks_exact(nodes).zip(cycle.chunks_exact_mut(nodes * nodes)).zip(mask.chunks_exact_mut(nodes));
    for ((pointers, cycle), mask) in samples {
        let mut in_degree = vec![0usize; nodes];
        for (node, &predecessor) in pointers.iter().enumerate() {
            *in_degree.get_mut(predecessor)? += 1;
            cycle[node * nodes + predecessor] = 1.0;
        }
        let last = (0..nodes).min_by_key(|&node| in_degree[node])?;
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
