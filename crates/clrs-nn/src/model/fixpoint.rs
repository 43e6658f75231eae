//! A pass that is not told how many steps to take: it ends where the network comes to rest.

use burn::tensor::{Device, Int, Tensor, TensorData};
use clrs::{Kind, Spec, Stage};

use crate::data::batch::{Batch, row_shape};
use crate::exec::features::ForwardContext;
use crate::model::feedback::{self, SCORED};
use crate::model::network::{Mode, Network, StepView, State};

impl Network {
    /// Runs over a batch until each sample has come to rest, and returns what [`Network::watch`] does. The lengths of samples are
    /// not read.
    ///
    /// A sample ends as soon as a step decides on all outputs and hints as the step before did, and after `most` steps. Scalars
    /// are no decisions: they are not compared.
    pub fn settle(&self, pass: &ForwardContext, batch: &Batch, most: usize, watch: &mut dyn FnMut(&StepView<'_>)) -> Vec<(usize, Tensor<3>)> {
        let (spec, nodes) = (batch.spec(), batch.nodes());
        let (task, device) = (pass.task, pass.device());
        let mode = &mut Mode::Evaluate;
        let mut inputs = self.inputs(task, batch, &device);
        let mut state = State::default();
        let mut active: Vec<usize> = (0..batch.samples()).collect();
        let mut before: Option<Decisions> = None;
        let mut results: Vec<(usize, Vec<f32>)> = Vec::new();
        for step in 0.. {
            let hints = self.hints(pass, batch, step, active.len(), state.hints.take(), mode);
            let (read, lstm) = self.step(pass, &inputs, &hints, active.len(), &state, mode);
            let hints = self.decode(pass, &read, Stage::Hint, mode);
            watch(&StepView { step, active: &active, hidden: &read.next, hints: &hints });
            let outputs = self.decode(pass, &read, Stage::Output, mode);

            let now = Decisions::new(spec, outputs.iter().chain(&hints));
            let is_last = step + 1 >= most;
            let rests = |at: usize| is_last || before.as_ref().is_some_and(|before| now.repeats(before, at));
            let (resting, moving): (Vec<usize>, Vec<usize>) = (0..active.len()).partition(|&at| rests(at));
            keep(&mut results, outputs, &resting, &active, batch);
            if moving.is_empty() {
                break;
            }
            let hidden = read.next;
            if resting.is_empty() {
                let hints = self.settings().hint_mode.decodes().then_some(hints);
                state = State { hidden: Some(hidden), lstm, hints };
                before = Some(now);
                continue;
            }
            let (samples, rows) = (indices(&moving, 1, &device), indices(&moving, nodes, &device));
            let some = |values: Tensor<2>| values.select(0, rows.clone());
            let hints = hints.into_iter().map(|(place, logits)| (place, logits.select(0, samples.clone()))).collect();
            inputs = inputs.select(&samples);
            state = State {
                hidden: Some(some(hidden)),
                lstm: lstm.map(|state| state.map(some)),
                hints: self.settings().hint_mode.decodes().then_some(hints),
            };
            before = Some(now.select(&moving));
            active = moving.into_iter().map(|at| active[at]).collect();
        }
        let tensor = |(place, values): (usize, Vec<f32>)| {
            let [rows, numbers] = row_shape(&spec[place], nodes);
            (place, Tensor::from_data(TensorData::new(values, [batch.samples(), rows, numbers]), &device))
        };
        results.into_iter().map(tensor).collect()
    }
}

/// Puts the outputs of samples that have ended where they belong.
fn keep(results: &mut Vec<(usize, Vec<f32>)>, outputs: Vec<(usize, Tensor<3>)>, ended: &[usize], active: &[usize], batch: &Batch) {
    for (number, (place, logits)) in outputs.into_iter().enumerate() {
        let width: usize = row_shape(&batch.spec()[place], batch.nodes()).iter().product();
        if number == results.len() {
            results.push((place, vec![0.0; batch.samples() * width]));
        }
        if ended.is_empty() {
            continue;
        }
        let logits: Vec<f32> = logits.try_into_vec_as().expect("f32");
        let into = &mut results[number].1;
        for &at in ended {
            into[active[at] * width..][..width].copy_from_slice(&logits[at * width..][..width]);
        }
    }
}

/// What a step decides on, by probe: the numbers of all samples, and how many a sample has.
struct Decisions(Vec<(Vec<f32>, usize)>);

impl Decisions {
    fn new<'l>(spec: &Spec, logits: impl Iterator<Item = &'l (usize, Tensor<3>)>) -> Decisions {
        let is_decision = |(place, _): &&(usize, Tensor<3>)| spec[*place].kind != Kind::Scalar;
        let decide = |(place, logits): &(usize, Tensor<3>)| {
            let [_, rows, numbers] = logits.dims();
            let decided = feedback::hard(spec[*place].kind, logits.clone(), SCORED);
            (decided.try_into_vec_as().expect("f32"), rows * numbers)
        };
        Decisions(logits.filter(is_decision).map(decide).collect())
    }

    /// Whether there are any on a sample, and they are as before.
    fn repeats(&self, before: &Decisions, at: usize) -> bool {
        !self.0.is_empty() && self.of(at).eq(before.of(at))
    }

    /// Those on one sample.
    fn of(&self, at: usize) -> impl Iterator<Item = &[f32]> {
        self.0.iter().map(move |(values, width)| &values[at * width..][..*width])
    }

    /// Those on some samples.
    fn select(&self, places: &[usize]) -> Decisions {
        let some = |(values, width): &(Vec<f32>, usize)| {
            (places.iter().flat_map(|at| &values[at * width..][..*width]).copied().collect(), *width)
        };
        Decisions(self.0.iter().map(some).collect())
    }
}

/// The rows of some samples, so many each, as places in a tensor.
fn indices(samples: &[usize], rows: usize, device: &Device) -> Tensor<1, Int> {
    let place = |place: usize| i64::try_from(place).expect("a place in memory");
    let places: Vec<i64> = samples.iter().flat_map(|sample| sample * rows..(sample + 1) * rows).map(place).collect();
    let count = places.len();
    Tensor::from_data(TensorData::new(places, [count]), device)
}
