//! Training in pieces of time: trajectories laid end to end in lanes and cut into chunks of one length.
//!
//! A lane gives the steps of one sample after another; a chunk has as many steps of each lane. So long trajectories cost no
//! more memory than short ones, and no step is padding. What a lane carries from chunk to chunk (hidden state, LSTM, predicted
//! hints) goes on where it was, without its gradient. The reference means to do so too, but starts every chunk from its first state.

use std::collections::VecDeque;
use std::rc::Rc;

use clrs::{Spec, Stage};

use crate::batch::{Batch, live_steps};

/// A piece of so many steps of every lane.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub(crate) spec: Spec,
    pub(crate) nodes: usize,
    pub(crate) lanes: usize,
    pub(crate) steps: Vec<ChunkStep>,
}

/// One step of every lane. Numbers are `[lanes, R, K]`, as in a [`Batch`].
#[derive(Clone, Debug)]
pub(crate) struct ChunkStep {
    /// What each probe says: inputs and outputs of the lane's sample, hints as they are before the step.
    pub(crate) now: Vec<Vec<f32>>,
    /// Hints as they are after the step; zeros in lanes where none is judged.
    pub(crate) next: Vec<Vec<f32>>,
    /// Lanes where a sample begins.
    pub(crate) begins: Vec<bool>,
    /// Lanes whose predicted hints are judged.
    pub(crate) judged: Vec<bool>,
    /// Lanes where a sample ends: its outputs are judged.
    pub(crate) ends: Vec<bool>,
}

/// Lays samples end to end.
pub struct Lanes {
    lanes: Vec<VecDeque<Place>>,
    length: usize,
}

/// A step of a sample.
struct Place {
    batch: Rc<Batch>,
    sample: usize,
    step: usize,
}

impl Lanes {
    /// So many lanes; chunks of so many steps.
    pub fn new(lanes: usize, length: usize) -> Lanes {
        Lanes { lanes: (0..lanes).map(|_| VecDeque::new()).collect(), length }
    }

    /// The next chunk; asks for batches of as many samples as there are lanes, until every lane has enough steps.
    pub fn next<E>(&mut self, mut more: impl FnMut() -> Result<Batch, E>) -> Result<Chunk, E> {
        let left = |lane: &VecDeque<Place>| -> usize {
            lane.iter().map(|place| live_steps(place.batch.lengths()[place.sample]) - place.step).sum()
        };
        while self.lanes.iter().any(|lane| left(lane) < self.length) {
            let batch = Rc::new(more()?);
            // By their order in the dense batch: a lane's samples do not depend on how long others are.
            for (sample, &lane) in batch.order().iter().enumerate() {
                self.lanes[lane].push_back(Place { batch: Rc::clone(&batch), sample, step: 0 });
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
        let mut made = ChunkStep { now: empty(), next: empty(), begins: Vec::new(), judged: Vec::new(), ends: Vec::new() };
        for lane in &mut self.lanes {
            let Place { batch, sample, step } = lane.front_mut().expect("every lane has steps left");
            let length = batch.lengths()[*sample];
            for (place, probe) in spec.iter().enumerate() {
                let is_hint = probe.stage == Stage::Hint;
                batch.push_values(place, if is_hint { *step } else { 0 }, *sample, &mut made.now[place]);
                if is_hint && length > *step + 1 {
                    batch.push_values(place, *step + 1, *sample, &mut made.next[place]);
                } else if is_hint {
                    made.next[place].resize(made.now[place].len(), 0.0);
                }
            }
            made.begins.push(*step == 0);
            made.judged.push(length > *step + 1);
            *step += 1;
            let ends = *step == live_steps(length);
            made.ends.push(ends);
            if ends {
                lane.pop_front();
            }
        }
        made
    }
}

impl Chunk {
    /// The lanes in parts of about so many.
    pub fn parts(&self, size: usize) -> Vec<Chunk> {
        let count = self.lanes.div_ceil(size.max(1));
        (0..count).map(|part| self.select(&(part..self.lanes).step_by(count).collect::<Vec<_>>())).collect()
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
            begins: marks(&step.begins),
            judged: marks(&step.judged),
            ends: marks(&step.ends),
        };
        Chunk { spec: self.spec.clone(), nodes: self.nodes, lanes: lanes.len(), steps: self.steps.iter().map(step).collect() }
    }

    /// How many cells of each probe are judged.
    pub fn judged_cells(&self) -> Vec<f64> {
        let count = |(place, probe): (usize, &clrs::Probe)| {
            let of_step = |step: &ChunkStep| match probe.stage {
                Stage::Input => 0.0,
                Stage::Output => crate::batch::judged_cells(probe, self.nodes, &chosen(&step.now[place], &step.ends)),
                Stage::Hint => crate::batch::judged_cells(probe, self.nodes, &chosen(&step.next[place], &step.judged)),
            };
            self.steps.iter().map(of_step).sum()
        };
        self.spec.iter().enumerate().map(count).collect()
    }
}

/// The rows of the lanes that are marked.
pub(crate) fn chosen(values: &[f32], marks: &[bool]) -> Vec<f32> {
    let width = values.len() / marks.len();
    let lanes = marks.iter().enumerate().filter(|(_, marked)| **marked);
    lanes.flat_map(|(lane, _)| &values[lane * width..(lane + 1) * width]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::sampling::{Sampler, SamplerOptions, Stream};

    /// Samples in lanes: every step of every sample comes once and in order, whatever the length of chunks.
    #[test]
    fn lanes_give_every_step_once_and_in_order() {
        let registry = clrs::Registry::builtin();
        let algorithm = registry.iter().next().expect("an algorithm");
        for length in [1, 3, 7] {
            let sampler = Sampler::new(algorithm, 4, 1, &SamplerOptions::default()).expect("a sampler");
            let (mut stream, mut seen) = (Stream::new(sampler), Vec::new());
            let mut lanes = Lanes::new(2, length);
            let mut found: Vec<Vec<(bool, bool, bool)>> = vec![Vec::new(); 2];
            while found[0].len() < 60 {
                let chunk = lanes.next(|| {
                    let dense = stream.next(2)?;
                    seen.push(dense.lengths.clone());
                    Ok::<_, clrs::sampling::SampleError>(Batch::new(&dense))
                });
                for step in chunk.expect("samples").steps {
                    for (lane, found) in found.iter_mut().enumerate() {
                        found.push((step.begins[lane], step.judged[lane], step.ends[lane]));
                    }
                }
            }
            for (lane, found) in found.iter().enumerate() {
                let expected = seen.iter().flat_map(|lengths| {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths are counts")]
                    let steps = live_steps(lengths[lane] as usize);
                    let judged = lengths[lane] > 1.0;
                    (0..steps).map(move |step| (step == 0, judged, step + 1 == steps))
                });
                assert!(expected.zip(found).all(|(expected, found)| expected == *found), "lane {lane}, chunks of {length}");
            }
        }
    }
}
