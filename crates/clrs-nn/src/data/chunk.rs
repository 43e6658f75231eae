//! Chunked training: trajectories are laid end to end in lanes and cut into chunks of equal length.
//!
//! A lane yields the steps of one sample after another; a chunk has the same number of steps of every lane. Long trajectories thus
//! cost no more memory than short ones, and there is no padding. The recurrent state of a lane (hidden state, LSTM, predicted hints) is
//! carried from chunk to chunk without gradient. dm-clrs intends the same but restarts every chunk from the initial state.

use std::collections::VecDeque;
use std::rc::Rc;

use clrs::{Spec, Stage};

use crate::data::batch::{ModelBatch, active_steps};

/// The same number of steps of every lane.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub(crate) spec: Spec,
    pub(crate) nodes: usize,
    pub(crate) lanes: usize,
    pub(crate) steps: Vec<ChunkStep>,
}

/// One step of every lane. Values are `[lanes, R, K]` per probe, as in a [`ModelBatch`].
#[derive(Clone, Debug)]
pub(crate) struct ChunkStep {
    /// Inputs and outputs of each lane's sample, and hints before the step.
    pub(crate) now: Vec<Vec<f32>>,
    /// Hints after the step; zeros in lanes where they are not supervised.
    pub(crate) next: Vec<Vec<f32>>,
    /// Lanes in which a sample starts.
    pub(crate) starts: Vec<bool>,
    /// Lanes whose predicted hints are supervised.
    pub(crate) supervised: Vec<bool>,
    /// Lanes in which a sample ends: its outputs are supervised.
    pub(crate) ends: Vec<bool>,
}

/// Lays samples end to end in lanes and cuts chunks.
pub struct ChunkLoader {
    lanes: Vec<VecDeque<Cursor>>,
    length: usize,
}

/// A position in a sample.
struct Cursor {
    batch: Rc<ModelBatch>,
    sample: usize,
    step: usize,
}

impl ChunkLoader {
    /// Creates empty lanes. `length` is the number of steps per chunk.
    pub fn new(lanes: usize, length: usize) -> ChunkLoader {
        ChunkLoader { lanes: (0..lanes).map(|_| VecDeque::new()).collect(), length }
    }

    /// Returns the next chunk. Calls `next_batch`, which returns one sample per lane, until every lane has enough steps.
    ///
    /// # Errors
    /// Those of `next_batch`.
    pub fn next<E>(&mut self, mut next_batch: impl FnMut() -> Result<ModelBatch, E>) -> Result<Chunk, E> {
        let remaining = |lane: &VecDeque<Cursor>| -> usize {
            lane.iter().map(|cursor| active_steps(cursor.batch.lengths()[cursor.sample]) - cursor.step).sum()
        };
        while self.lanes.iter().any(|lane| remaining(lane) < self.length) {
            let batch = Rc::new(next_batch()?);
            // In the order of the dense batch, so that a lane's samples do not depend on the lengths of others.
            for (sample, &lane) in batch.order().iter().enumerate() {
                self.lanes[lane].push_back(Cursor { batch: Rc::clone(&batch), sample, step: 0 });
            }
        }
        Ok(self.cut())
    }

    fn cut(&mut self) -> Chunk {
        let first = Rc::clone(&self.lanes[0][0].batch);
        let steps = (0..self.length).map(|_| self.step(first.spec())).collect();
        Chunk { spec: first.spec().clone(), nodes: first.nodes(), lanes: self.lanes.len(), steps }
    }

    /// One step of every lane.
    fn step(&mut self, spec: &Spec) -> ChunkStep {
        let empty = || vec![Vec::new(); spec.len()];
        let mut chunk_step =
            ChunkStep { now: empty(), next: empty(), starts: Vec::new(), supervised: Vec::new(), ends: Vec::new() };
        for lane in &mut self.lanes {
            let Cursor { batch, sample, step } = lane.front_mut().expect("every lane has steps left");
            let length = batch.lengths()[*sample];
            for (index, probe) in spec.iter().enumerate() {
                let is_hint = probe.stage == Stage::Hint;
                batch.push_values(index, if is_hint { *step } else { 0 }, *sample, &mut chunk_step.now[index]);
                if is_hint && length > *step + 1 {
                    batch.push_values(index, *step + 1, *sample, &mut chunk_step.next[index]);
                } else if is_hint {
                    let count = chunk_step.now[index].len();
                    chunk_step.next[index].resize(count, 0.0);
                }
            }
            chunk_step.starts.push(*step == 0);
            chunk_step.supervised.push(length > *step + 1);
            *step += 1;
            let ends = *step == active_steps(length);
            chunk_step.ends.push(ends);
            if ends {
                lane.pop_front();
            }
        }
        chunk_step
    }
}

impl Chunk {
    /// Splits the lanes into micro-batches of at most `size`.
    pub fn micro_batches(&self, size: usize) -> Vec<Chunk> {
        let count = self.lanes.div_ceil(size.max(1));
        (0..count).map(|first| self.select(&(first..self.lanes).step_by(count).collect::<Vec<_>>())).collect()
    }

    fn select(&self, lanes: &[usize]) -> Chunk {
        let rows = |values: &Vec<f32>| -> Vec<f32> {
            let width = values.len() / self.lanes;
            lanes.iter().flat_map(|lane| &values[lane * width..(lane + 1) * width]).copied().collect()
        };
        let marks = |marks: &[bool]| lanes.iter().map(|&lane| marks[lane]).collect();
        let step = |step: &ChunkStep| ChunkStep {
            now: step.now.iter().map(rows).collect(),
            next: step.next.iter().map(rows).collect(),
            starts: marks(&step.starts),
            supervised: marks(&step.supervised),
            ends: marks(&step.ends),
        };
        Chunk { spec: self.spec.clone(), nodes: self.nodes, lanes: lanes.len(), steps: self.steps.iter().map(step).collect() }
    }

    /// Number of supervised cells of each probe.
    pub fn supervised_cells(&self) -> Vec<f64> {
        let count = |(index, probe): (usize, &clrs::Probe)| {
            let of_step = |step: &ChunkStep| match probe.stage {
                Stage::Input => 0.0,
                Stage::Output => {
                    crate::data::batch::supervised_cells(probe, self.nodes, &select_lanes(&step.now[index], &step.ends))
                }
                Stage::Hint => {
                    crate::data::batch::supervised_cells(probe, self.nodes, &select_lanes(&step.next[index], &step.supervised))
                }
            };
            self.steps.iter().map(of_step).sum()
        };
        self.spec.iter().enumerate().map(count).collect()
    }
}

/// Values of the marked lanes.
pub(crate) fn select_lanes(values: &[f32], marks: &[bool]) -> Vec<f32> {
    let width = values.len() / marks.len();
    let lanes = marks.iter().enumerate().filter(|(_, marked)| **marked);
    lanes.flat_map(|(lane, _)| &values[lane * width..(lane + 1) * width]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::sampling::{Sampler, SamplerOptions, Stream};

    #[test]
    fn lanes_yield_every_step_once_and_in_order() {
        let registry = clrs::Registry::builtin();
        let algorithm = registry.iter().next().expect("an algorithm");
        for length in [1, 3, 7] {
            let sampler = Sampler::new(algorithm, 4, 1, &SamplerOptions::default()).expect("a sampler");
            let (mut stream, mut seen) = (Stream::new(sampler), Vec::new());
            let mut lanes = ChunkLoader::new(2, length);
            let mut found: Vec<Vec<(bool, bool, bool)>> = vec![Vec::new(); 2];
            while found[0].len() < 60 {
                let chunk = lanes.next(|| {
                    let dense = stream.next(2)?;
                    seen.push(dense.lengths.clone());
                    Ok::<_, clrs::sampling::SampleError>(ModelBatch::new(&dense))
                });
                for step in chunk.expect("samples").steps {
                    for (lane, found) in found.iter_mut().enumerate() {
                        found.push((step.starts[lane], step.supervised[lane], step.ends[lane]));
                    }
                }
            }
            for (lane, found) in found.iter().enumerate() {
                let expected = seen.iter().flat_map(|lengths| {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths are counts")]
                    let steps = active_steps(lengths[lane] as usize);
                    let supervised = lengths[lane] > 1.0;
                    (0..steps).map(move |step| (step == 0, supervised, step + 1 == steps))
                });
                assert!(expected.zip(found).all(|(expected, found)| expected == *found), "lane {lane}, chunks of {length}");
            }
        }
    }
}
