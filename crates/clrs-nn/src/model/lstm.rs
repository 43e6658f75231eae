//! An LSTM after the processor, with a state per node.

use crate::exec::context::ForwardContext;
use crate::exec::parameters::{Linear, ParameterBuilder};
use crate::exec::tensor::Tensor;

/// One layer for all four gates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lstm(Linear);

/// Hidden and cell state, `[B * N, H]` each.
#[derive(Clone)]
pub(super) struct LstmState {
    pub(super) hidden: Tensor<2>,
    pub(super) cell: Tensor<2>,
}

impl LstmState {
    pub(super) fn map(self, change: impl Fn(Tensor<2>) -> Tensor<2>) -> LstmState {
        LstmState { hidden: change(self.hidden), cell: change(self.cell) }
    }
}

impl Lstm {
    pub(super) fn new(hidden: usize, builder: &mut ParameterBuilder) -> Lstm {
        Lstm(builder.linear(("gates", "linear"), 2 * hidden, 4 * hidden))
    }

    /// Returns the next state; the first starts from zeros.
    pub(super) fn step(&self, ctx: &ForwardContext, x: Tensor<2>, state: Option<LstmState>) -> LstmState {
        let [rows, h] = x.dims();
        let zeros = || ctx.zeros([rows, h]);
        let LstmState { hidden, cell } = state.unwrap_or_else(|| LstmState { hidden: zeros(), cell: zeros() });
        let gates = ctx.linear(self.0, Tensor::cat(vec![x, hidden], 1));
        let gate = |index: usize| gates.clone().narrow(1, index * h..(index + 1) * h);
        // The forget gate starts open (Jozefowicz et al., 2015), as in Haiku.
        let cell = gate(2).scale(1.0, 1.0).sigmoid() * cell + gate(0).sigmoid() * gate(1).tanh();
        LstmState { hidden: gate(3).sigmoid() * cell.clone().tanh(), cell }
    }
}
