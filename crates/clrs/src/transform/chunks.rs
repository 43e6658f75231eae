use std::collections::VecDeque;

use crate::batch::{Array, ArrayData, Batch};
use crate::spec::{Probe, Spec, Stage};

use super::TransformError;

/// `L` steps of `B` lanes. All arrays are `[L, B, ...]`; inputs and outputs are repeated at every step of their sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Chunk {
    /// The probes, one per array.
    pub spec: Spec,
    /// Inputs, outputs and hints, in spec order.
    pub arrays: Vec<Array>,
    /// 1 at the first step of a sample, `[L, B]`.
    pub is_first: Array,
    /// 1 at the last step of a sample, `[L, B]`.
    pub is_last: Array,
}

/// Concatenates the samples of batches lane by lane, without padding, and cuts them into chunks. Lane `b` has sample `b` of
/// each batch; a sample may span several chunks.
pub struct Chunks<I> {
    batches: I,
    length: usize,
    /// Batches with steps that are not in a chunk yet.
    open: VecDeque<Open>,
}

struct Open {
    batch: Batch,
    lengths: Vec<usize>,
    /// Number of steps of each lane that earlier chunks contain.
    consumed: Vec<usize>,
}

impl<I: Iterator<Item = Batch>> Chunks<I> {
    /// Creates chunks of `length` steps.
    ///
    /// # Errors
    /// If `length` is 0.
    pub fn new(batches: I, length: usize) -> Result<Chunks<I>, TransformError> {
        if length == 0 {
            return Err(TransformError::NoSteps);
        }
        Ok(Chunks { batches, length, open: VecDeque::new() })
    }

    /// The next chunk, or `None` after the last batch. Steps that do not fill a chunk are dropped.
    ///
    /// # Errors
    /// If a batch is malformed, or has another size or other probes than the first.
    #[expect(
        clippy::should_implement_trait,
        reason = "fallible, and an iterator of results would have to define what follows an error"
    )]
    pub fn next(&mut self) -> Result<Option<Chunk>, TransformError> {
        while !self.is_full() {
            let Some(batch) = self.batches.next() else { return Ok(None) };
            self.accept(batch)?;
        }
        let chunk = self.fill();
        while self.open.front().is_some_and(|open| open.consumed == open.lengths) {
            self.open.pop_front();
        }
        Ok(Some(chunk))
    }

    /// Whether every lane has enough steps for a chunk.
    fn is_full(&self) -> bool {
        let lanes = self.open.front().map_or(0, |open| open.lengths.len());
        let left = |lane: usize| self.open.iter().map(|open| open.lengths[lane] - open.consumed[lane]).sum::<usize>();
        lanes > 0 && (0..lanes).all(|lane| left(lane) >= self.length)
    }

    fn accept(&mut self, batch: Batch) -> Result<(), TransformError> {
        batch.ensure_axes()?;
        if let Some(Open { batch: other, .. }) = self.open.front() {
            let lanes = |probe: &Probe, array: &Array| array.shape[time_axes(probe)..].to_vec();
            let same = batch.spec == other.spec
                && batch.iter().zip(other.iter()).all(|((probe, a), (_, b))| lanes(probe, a) == lanes(probe, b));
            if !same {
                return Err(TransformError::Shapes);
            }
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths are counts")]
        let lengths: Vec<usize> = batch.lengths.iter().map(|&length| length as usize).collect();
        let consumed = vec![0; lengths.len()];
        self.open.push_back(Open { batch, lengths, consumed });
        Ok(())
    }

    fn fill(&mut self) -> Chunk {
        let first = &self.open[0].batch;
        let (lanes, length) = (first.samples(), self.length);
        let spec = first.spec.clone();
        let mut arrays: Vec<Array> = first.iter().map(|(probe, array)| empty(probe, array, length)).collect();
        let (mut is_first, mut is_last) = (vec![0; length * lanes], vec![0; length * lanes]);
        for lane in 0..lanes {
            let mut total = 0;
            for open in &mut self.open {
                while total < length && open.consumed[lane] < open.lengths[lane] {
                    let step = open.consumed[lane];
                    for ((probe, from), into) in open.batch.iter().zip(&mut arrays) {
                        let source = if probe.stage == Stage::Hint { step * lanes + lane } else { lane };
                        copy_row(from, source, into, total * lanes + lane);
                    }
                    is_first[total * lanes + lane] = i64::from(step == 0);
                    open.consumed[lane] += 1;
                    is_last[total * lanes + lane] = i64::from(open.consumed[lane] == open.lengths[lane]);
                    total += 1;
                }
            }
        }
        let flags = |cells| Array { shape: vec![length, lanes], data: ArrayData::I64(cells) };
        Chunk { spec, arrays, is_first: flags(is_first), is_last: flags(is_last) }
    }
}

fn time_axes(probe: &Probe) -> usize {
    usize::from(probe.stage == Stage::Hint)
}

/// Zeros of the chunk's shape.
fn empty(probe: &Probe, array: &Array, length: usize) -> Array {
    let shape: Vec<usize> = [length].into_iter().chain(array.shape[time_axes(probe)..].iter().copied()).collect();
    let count = shape.iter().product();
    let data = match array.data {
        ArrayData::F64(_) => ArrayData::F64(vec![0.0; count]),
        ArrayData::F32(_) => ArrayData::F32(vec![0.0; count]),
        ArrayData::I64(_) => ArrayData::I64(vec![0; count]),
    };
    Array { shape, data }
}

/// Copies a row: all axes of the chunk's array except time and lane.
fn copy_row(from: &Array, source: usize, into: &mut Array, target: usize) {
    fn copy<T: Copy>(from: &[T], source: usize, into: &mut [T], target: usize, row: usize) {
        into[target * row..][..row].copy_from_slice(&from[source * row..][..row]);
    }
    let row = into.shape[2..].iter().product();
    match (&from.data, &mut into.data) {
        (ArrayData::F64(from), ArrayData::F64(into)) => copy(from, source, into, target, row),
        (ArrayData::F32(from), ArrayData::F32(into)) => copy(from, source, into, target, row),
        (ArrayData::I64(from), ArrayData::I64(into)) => copy(from, source, into, target, row),
        _ => unreachable!("`empty` creates an array of the same type"),
    }
}
