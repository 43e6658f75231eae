//! Reverse-mode automatic differentiation on the CPU: a flat list of operations.
//!
//! An operation is recorded with its inputs and with what its backward needs. [`Tape::backward`] walks the list from the end. A pass
//! of a micro-batch runs on one thread, so nothing is locked. burn's graph has the same purpose on other devices; for small networks,
//! its cost per operation exceeds that of the kernels.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use clrs_kernels::{Scratch, elementwise};

/// A range of the result of an operation, or of constant values.
#[derive(Clone)]
pub(crate) struct View {
    data: Rc<Vec<f32>>,
    start: usize,
    len: usize,
    /// The operation that computed the values, if it is on a tape.
    node: Option<usize>,
}

impl View {
    /// Values without a gradient.
    pub(crate) fn constant(values: Vec<f32>) -> View {
        View { start: 0, len: values.len(), data: Rc::new(values), node: None }
    }

    /// The same values without a gradient.
    pub(crate) fn detach(self) -> View {
        View { node: None, ..self }
    }

    /// A range of the values.
    pub(crate) fn narrow(self, start: usize, len: usize) -> View {
        assert!(start + len <= self.len, "a range of the values");
        View { start: self.start + start, len, ..self }
    }

    pub(crate) fn values(&self) -> &[f32] {
        &self.data[self.start..self.start + self.len]
    }

    pub(crate) fn into_vec(self) -> Vec<f32> {
        if self.len == self.data.len() {
            Rc::try_unwrap(self.data).unwrap_or_else(|data| data.to_vec())
        } else {
            self.values().to_vec()
        }
    }
}

/// An operation with one result.
pub(crate) trait Op {
    /// Writes the result to `out`, which is all zeros, and returns what backward needs, if `save` is set.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, scratch: &mut Scratch) -> Saved;
    /// Adds to the gradients of inputs and weights.
    fn backward(&self, back: Backward<'_>, scratch: &mut Scratch);
}

/// Values that forward saves for backward. `()` takes no memory.
pub(crate) type Saved = Box<dyn Any>;

/// The inputs of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'t>(&'t [View]);

impl<'t> Inputs<'t> {
    /// The values of the first inputs.
    pub(crate) fn values<const K: usize>(self) -> [&'t [f32]; K] {
        std::array::from_fn(|index| self.0[index].values())
    }

    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(self, index: usize) -> &'t [f32] {
        self.0[index].values()
    }
}

/// Arguments of [`Op::backward`].
pub(crate) struct Backward<'t> {
    pub(crate) inputs: Inputs<'t>,
    saved: Saved,
    /// Gradient of the result.
    pub(crate) d_out: Vec<f32>,
    gradients: &'t mut Gradients,
}

impl Backward<'_> {
    /// The values that forward saved.
    pub(crate) fn saved<T: Any>(&mut self) -> T {
        let saved = std::mem::replace(&mut self.saved, Box::new(()));
        *saved.downcast().expect("forward saves the type that backward reads")
    }

    /// Whether the gradient of an input is needed.
    pub(crate) fn needs_grad(&self, index: usize) -> bool {
        self.inputs.0[index].node.is_some()
    }

    /// Adds to the gradient of an input; does nothing if it is not needed.
    pub(crate) fn add(&mut self, index: usize, gradient: Vec<f32>) {
        self.gradients.add(&self.inputs.0[index], gradient);
    }
}

/// Gradients of the results of operations.
struct Gradients(Vec<Option<Vec<f32>>>);

impl Gradients {
    fn add(&mut self, view: &View, gradient: Vec<f32>) {
        debug_assert_eq!(gradient.len(), view.len, "a gradient has the shape of its input");
        let Some(node) = view.node else { return };
        match &mut self.0[node] {
            sum @ None if view.len == view.data.len() => *sum = Some(gradient),
            sum => {
                let sum = sum.get_or_insert_with(|| vec![0.0; view.data.len()]);
                elementwise::add(&mut sum[view.start..view.start + view.len], &gradient);
            }
        }
    }
}

struct Node {
    op: Box<dyn Op>,
    inputs: Vec<View>,
    saved: Saved,
}

/// The operations of one pass, in order. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Tape(Rc<RefCell<Vec<Node>>>);

thread_local! {
    /// Temporary memory of this thread's kernels.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Computes an operation with `len` result values, and records it if there is a tape.
pub(crate) fn apply(tape: Option<&Tape>, op: impl Op + 'static, inputs: Vec<View>, len: usize) -> View {
    let mut out = vec![0.0; len];
    let saved = SCRATCH.with_borrow_mut(|scratch| op.forward(Inputs(&inputs), &mut out, tape.is_some(), scratch));
    let node = tape.map(|Tape(nodes)| {
        let mut nodes = nodes.borrow_mut();
        nodes.push(Node { op: Box::new(op), inputs, saved });
        nodes.len() - 1
    });
    View { node, ..View::constant(out) }
}

impl Tape {
    /// Propagates the gradient of a single value to all operations that it depends on, and clears the tape.
    pub(crate) fn backward(&self, value: &View) {
        let mut nodes = self.0.take();
        let Some(last) = value.node else { return };
        let mut gradients = Gradients(vec![None; nodes.len()]);
        gradients.0[last] = Some(vec![1.0]);
        SCRATCH.with_borrow_mut(|scratch| {
            while let Some(Node { op, inputs, saved }) = nodes.pop() {
                if let Some(d_out) = gradients.0[nodes.len()].take() {
                    op.backward(Backward { inputs: Inputs(&inputs), saved, d_out, gradients: &mut gradients }, scratch);
                }
            }
        });
    }
}
