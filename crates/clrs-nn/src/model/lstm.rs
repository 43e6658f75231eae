//! An LSTM after the processor: a memory of its own for every node.

use burn::tensor::Tensor;
use burn::tensor::activation::{sigmoid, tanh};

use crate::exec::features::ForwardContext;
use crate::exec::parameters::{ParameterBuilder, Linear};

/// A layer for all four gates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lstm(Linear);

/// What it carries, `[B * N, H]` each.
#[derive(Clone, Debug)]
pub(crate) struct LstmState {
    pub(crate) hidden: Tensor<2>,
    pub(crate) cell: Tensor<2>,
}

impl LstmState {
    pub(crate) fn map(self, change: impl Fn(Tensor<2>) -> Tensor<2>) -> LstmState {
        LstmState { hidden: change(self.hidden), cell: change(self.cell) }
    }
}

impl Lstm {
    pub(crate) fn new(hidden: usize, builder: &mut ParameterBuilder) -> Lstm {
        Lstm(builder.linear("gates", "linear", 2 * hidden, 4 * hidden))
    }

    /// The next state; the first starts from zeros.
    pub(crate) fn step(&self, pass: &ForwardContext, x: Tensor<2>, state: Option<LstmState>) -> LstmState {
        let [rows, h] = x.dims();
        let zeros = || Tensor::zeros([rows, h], &x.device());
        let LstmState { hidden, cell } = state.unwrap_or_else(|| LstmState { hidden: zeros(), cell: zeros() });
        let gates = pass.linear(self.0, Tensor::cat(vec![x, hidden], 1));
        let gate = |number: usize| gates.clone().slice([0..rows, number * h..(number + 1) * h]);
        // It forgets little at first.
        let cell = sigmoid(gate(2) + 1.0) * cell + sigmoid(gate(0)) * tanh(gate(1));
        LstmState { hidden: sigmoid(gate(3)) * tanh(cell.clone()), cell }
    }
}
