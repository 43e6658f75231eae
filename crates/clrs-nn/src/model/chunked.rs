//! The loss of a chunk: as that of a batch, but lanes begin and end samples at any step, and their state is carried.

use burn::tensor::{Device, Int, Tensor, TensorData};
use clrs::Stage;
use clrs::random::RandomState;

use crate::data::batch::row_shape;
use crate::data::chunk::{Chunk, ChunkStep, chosen};
use crate::exec::features::ForwardContext;
use crate::model::loss::add_loss;
use crate::model::lstm::LstmState;
use crate::model::network::{Mode, Network, State, choose, force};

/// What lanes carry from chunk to chunk, as numbers: no gradient goes back beyond a chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct RecurrentState {
    /// `[lanes * N, H]`
    pub hidden: Vec<f32>,
    /// Hidden and cell of the LSTM, if there is one.
    pub lstm: Option<[Vec<f32>; 2]>,
    /// Logits of predicted hints by their place in the spec, `[lanes, R, K]`.
    pub hints: Vec<(usize, Vec<f32>)>,
}

impl Network {
    /// The loss of a chunk, `[1]`, and what its lanes carry on. `cells` is [`Chunk::judged_cells`] of the chunk that this one is a
    /// part of. The first chunk carries nothing: all its lanes begin.
    pub fn chunk_loss(
        &self,
        pass: &ForwardContext,
        chunk: &Chunk,
        carried: Option<&RecurrentState>,
        cells: &[f64],
        random: Option<&mut RandomState>,
    ) -> (Tensor<1>, RecurrentState) {
        let (spec, nodes, lanes) = (&chunk.spec, chunk.nodes, chunk.lanes);
        let (task, device) = (pass.task, pass.device());
        let mut mode = Mode::Train(random);
        let mut state = carried.map_or_else(State::default, |carried| self.restore(carried, chunk, &device));
        // Nothing, but with a gradient: there may be no cost in a chunk.
        let mut sum = pass.grad_anchor.clone();
        for step in &chunk.steps {
            let tensor = |values: &[Vec<f32>], place: usize| {
                let [rows, numbers] = row_shape(&spec[place], nodes);
                Tensor::<3>::from_data(TensorData::new(values[place].clone(), [lanes, rows, numbers]), &device)
            };
            let said = self.said(task, lanes, nodes, &device, |place| tensor(&step.now, place));
            let hints = self.chunk_hints(pass, step, &state, &mut mode, &|place| tensor(&step.now, place));
            // A sample that begins knows nothing of the one before.
            let keep: Vec<f32> = step.begins.iter().flat_map(|&begins| vec![f32::from(!begins); nodes]).collect();
            let keep = Tensor::<2>::from_data(TensorData::new(keep, [lanes * nodes, 1]), &device);
            state.hidden = state.hidden.map(|hidden| hidden * keep.clone());
            state.lstm = state.lstm.map(|lstm| lstm.map(|rows| rows * keep.clone()));

            let (read, lstm) = self.step(pass, &said, &hints, lanes, &state, &mut mode);
            let hints = self.decode(pass, &read, Stage::Hint, &mut mode);
            let outputs = self.decode(pass, &read, Stage::Output, &mut mode);
            let mut add = |place: usize, logits: &Tensor<3>, truth: &[f32], marks: &[bool]| {
                if let Some(logits) = select(logits, marks) {
                    let truth = chosen(truth, marks);
                    sum = add_loss(Some(sum.clone()), pass, &spec[place], logits, truth, cells[place]);
                }
            };
            if self.settings().hint_mode.is_supervised() {
                for (place, logits) in &hints {
                    add(*place, logits, &step.next[*place], &step.judged);
                }
            }
            for (place, logits) in &outputs {
                add(*place, logits, &step.now[*place], &step.ends);
            }
            state = State { hidden: Some(read.next), lstm, hints: Some(hints) };
        }
        (sum, carry(state))
    }

    /// The hints that lanes read: the truth where a sample begins or chance says so, else what was predicted.
    fn chunk_hints(
        &self,
        pass: &ForwardContext,
        step: &ChunkStep,
        state: &State,
        mode: &mut Mode<'_>,
        truth: &dyn Fn(usize) -> Tensor<3>,
    ) -> Vec<(usize, Tensor<3>)> {
        let task = pass.task;
        let spec = &self.tasks()[task].spec;
        let random = if let Mode::Train(random) = mode { random.as_deref_mut() } else { None };
        let coins = force(self.settings().teacher_forcing, step.begins.len(), random);
        let coins = coins.unwrap_or_else(|| vec![false; step.begins.len()]);
        let forced: Vec<bool> = coins.iter().zip(&step.begins).map(|(coin, begins)| *coin || *begins).collect();
        let one = |place: usize| {
            let predicted = state.hints.iter().flatten().find(|(of, _)| *of == place);
            let Some((_, logits)) = predicted else { return truth(place) };
            choose(&forced, self.feed(pass, spec[place].kind, logits.clone(), false), || truth(place))
        };
        self.encoders(task).of(spec, Stage::Hint).map(|encoder| (encoder.probe, one(encoder.probe))).collect()
    }

    /// Whether what is carried has the shape of what lanes of a chunk carry.
    pub(crate) fn fits(&self, chunk: &Chunk, carried: &RecurrentState) -> bool {
        let rows = chunk.lanes * chunk.nodes * self.settings().hidden;
        let hint_fits = |(place, values): &(usize, Vec<f32>)| {
            let size = |probe| row_shape(probe, chunk.nodes).iter().product::<usize>() * chunk.lanes;
            *place < chunk.spec.len() && values.len() == size(&chunk.spec[*place])
        };
        carried.hidden.len() == rows
            && carried.lstm.iter().flatten().all(|values| values.len() == rows)
            && carried.hints.iter().all(hint_fits)
    }

    fn restore(&self, carried: &RecurrentState, chunk: &Chunk, device: &Device) -> State {
        let shape = [chunk.lanes * chunk.nodes, self.settings().hidden];
        let rows = |values: &Vec<f32>| Tensor::<2>::from_data(TensorData::new(values.clone(), shape), device);
        let logits = |(place, values): &(usize, Vec<f32>)| {
            let [rows, numbers] = row_shape(&chunk.spec[*place], chunk.nodes);
            (*place, Tensor::<3>::from_data(TensorData::new(values.clone(), [chunk.lanes, rows, numbers]), device))
        };
        State {
            hidden: Some(rows(&carried.hidden)),
            lstm: carried.lstm.as_ref().map(|[hidden, cell]| LstmState { hidden: rows(hidden), cell: rows(cell) }),
            hints: Some(carried.hints.iter().map(logits).collect()),
        }
    }
}

fn carry(state: State) -> RecurrentState {
    let values = |tensor: Tensor<2>| -> Vec<f32> { tensor.try_into_vec_as().expect("f32") };
    let logits = |(place, logits): (usize, Tensor<3>)| (place, logits.try_into_vec_as().expect("f32"));
    RecurrentState {
        hidden: state.hidden.map(values).unwrap_or_default(),
        lstm: state.lstm.map(|LstmState { hidden, cell }| [values(hidden), values(cell)]),
        hints: state.hints.into_iter().flatten().map(logits).collect(),
    }
}

/// The lanes that are marked, if there are any.
fn select(logits: &Tensor<3>, marks: &[bool]) -> Option<Tensor<3>> {
    let lanes: Vec<i64> = (0i64..).zip(marks).filter(|(_, marked)| **marked).map(|(lane, _)| lane).collect();
    match lanes.len() {
        0 => None,
        count if count == marks.len() => Some(logits.clone()),
        count => {
            let lanes = Tensor::<1, Int>::from_data(TensorData::new(lanes, [count]), &logits.device());
            Some(logits.clone().select(0, lanes))
        }
    }
}
