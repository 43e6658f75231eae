use std::collections::VecDeque;

use crate::batch::{Array, ArrayData, Batch};
use crate::spec::{Probe, Spec, Stage};

use super::TransformError;

/// A piece of `L` steps: all arrays are `[L, B, ...]`, inputs and outputs repeated along their sample's steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// The probes, one per array.
    pub spec: Spec,
    /// Inputs, outputs and hints, in the order of the spec.
    pub arrays: Vec<Array>,
    /// 1 where a sample begins, `[L, B]`.
    pub is_first: Array,
    /// 1 where a sample ends, `[L, B]`.
    pub is_last: Array,
}

/// Lays the samples of batches end to end, lane by lane without padding, and cuts them into chunks. A sample may span several.
pub struct Chunks<I> {
    batches: I,
    length: usize,
    /// Batches with steps still to give.
    open: VecDeque<Open>,
}

struct Open {
    batch: Batch,
    lengths: Vec<usize>,
    /// Steps of each lane that were given already.
    given: Vec<usize>,
}

impl<I: Iterator<Item = Batch>> Chunks<I> {
    /// Chunks of `length` steps.
    pub fn new(batches: I, length: usize) -> Result<Chunks<I>, TransformError> {
        if length == 0 {
            return Err(TransformError::NoSteps);
        }
        Ok(Chunks { batches, length, open: VecDeque::new() })
    }

    /// The next chunk; `None` when the batches end.
    #[expect(
        clippy::should_implement_trait,
        reason = "it can fail, and an iterator of results would have to say what comes after"
    )]
    pub fn next(&mut self) -> Result<Option<Chunk>, TransformError> {
        while !self.is_full() {
            let Some(batch) = self.batches.next() else { return Ok(None) };
            self.accept(batch)?;
        }
        let chunk = self.fill();
        while self.open.front().is_some_and(|open| open.given == open.lengths) {
            self.open.pop_front();
        }
        Ok(Some(chunk))
    }

    /// Whether every lane has enough steps left.
    fn is_full(&self) -> bool {
        let lanes = self.open.front().map_or(0, |open| open.lengths.len());
        let left = |lane: usize| self.open.iter().map(|open| open.lengths[lane] - open.given[lane]).sum::<usize>();
        lanes > 0 && (0..lanes).all(|lane| left(lane) >= self.length)
    }

    fn accept(&mut self, batch: Batch) -> Result<(), TransformError> {
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
        let given = vec![0; lengths.len()];
        self.open.push_back(Open { batch, lengths, given });
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
                while total < length && open.given[lane] < open.lengths[lane] {
                    let step = open.given[lane];
                    for ((probe, from), into) in open.batch.iter().zip(&mut arrays) {
                        let source = if probe.stage == Stage::Hint { step * lanes + lane } else { lane };
                        copy_row(from, source, into, total * lanes + lane);
                    }
                    is_first[total * lanes + lane] = i64::from(step == 0);
                    open.given[lane] += 1;
                    is_last[total * lanes + lane] = i64::from(open.given[lane] == open.lengths[lane]);
                    total += 1;
                }
            }
        }
        let marks = |cells| Array { shape: vec![length, lanes], data: ArrayData::I64(cells) };
        Chunk { spec, arrays, is_first: marks(is_first), is_last: marks(is_last) }
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

/// Copies a row, which is all axes of the chunk's array but time and lane.
fn copy_row(from: &Array, source: usize, into: &mut Array, target: usize) {
    fn copy<T: Copy>(from: &[T], source: usize, into: &mut [T], target: usize, row: usize) {
        into[target * row..][..row].copy_from_slice(&from[source * row..][..row]);
    }
    let row = into.shape[2..].iter().product();
    match (&from.data, &mut into.data) {
        (ArrayData::F64(from), ArrayData::F64(into)) => copy(from, source, into, target, row),
        (ArrayData::F32(from), ArrayData::F32(into)) => copy(from, source, into, target, row),
        (ArrayData::I64(from), ArrayData::I64(into)) => copy(from, source, into, target, row),
        _ => unreachable!("made from an array of the same type"),
    }
}
