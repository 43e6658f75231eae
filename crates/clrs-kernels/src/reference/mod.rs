//! Reference implementations of the kernels, in plain loops over `f64`: the definition that they are tested against.
//!
//! Nothing here is fused, shared or skipped, and all intermediate values are stored. Each computation is a [`ReferenceOp`]: inputs,
//! one output, and the gradients of all inputs. `tests/` compares every kernel with its reference on every instruction set, and the
//! gradients of the reference with finite differences of its output.

mod attention;
mod broadcast;
mod elementwise;
mod embedding_bag;
mod loss;
mod memory_attention;
mod messages;
mod pointers;
mod pool;
mod rowwise;
mod triplets;

pub use self::attention::Attention;
pub use self::broadcast::{Expand, PairwiseSum};
pub use self::elementwise::{Elementwise, MaskLogits, Product};
pub use self::embedding_bag::EmbeddingBag;
pub use self::loss::{BceWithLogits, Nll, Sigmoid, SquaredError};
pub use self::memory_attention::MemoryAttention;
pub use self::messages::Messages;
pub use self::pointers::{EdgePointers, Pointers};
pub use self::pool::{MaxPool, Narrow};
pub use self::rowwise::{LayerNorm, Sinkhorn, Softmax};
pub use self::triplets::Triplets;

/// A computation and its gradients.
///
/// # Examples
/// ```
/// use clrs_kernels::reference::{MaxPool, ReferenceOp};
///
/// let op = MaxPool { nodes: 2, dim: 1 };
/// let inputs = [vec![1.0, 3.0]];
/// assert_eq!(op.forward(&inputs).0, [3.0]);
/// assert_eq!(op.backward(&inputs, &[0.5]), [[0.0, 0.5]]);
/// ```
pub trait ReferenceOp {
    /// Returns the names and lengths of the inputs.
    fn inputs(&self) -> Vec<(&'static str, usize)>;

    /// Returns the output and the margin of the closest decision (the sign before a `ReLU`, the argmax of a maximum): the distance at
    /// which it would change. Where the margin is as small as rounding errors, two correct programs may differ.
    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64);

    /// Returns the gradients of all inputs, given that of the output.
    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>>;

    /// Returns whether finite differences of the output approximate its gradients.
    fn is_differentiable(&self) -> bool {
        true
    }
}

/// `x w`, for a row `x` and `w` of shape `[x.len(), columns]`.
fn matvec(x: &[f64], w: &[f64], columns: usize) -> Vec<f64> {
    let mut y = vec![0.0; columns];
    for (x, row) in x.iter().zip(w.chunks_exact(columns)) {
        y.iter_mut().zip(row).for_each(|(y, w)| *y += x * w);
    }
    y
}

/// Backward of [`matvec`]: adds to the gradient of `w` and returns that of `x`.
fn matvec_backward(x: &[f64], w: &[f64], d_y: &[f64], d_w: &mut [f64]) -> Vec<f64> {
    let rows = x.iter().zip(w.chunks_exact(d_y.len())).zip(d_w.chunks_exact_mut(d_y.len()));
    rows.map(|((x, w), d_w)| {
        d_w.iter_mut().zip(d_y).for_each(|(d_w, d)| *d_w += x * d);
        w.iter().zip(d_y).map(|(w, d)| w * d).sum()
    })
    .collect()
}

fn add(to: &mut [f64], x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += x);
}

fn relu(x: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| if x < 0.0 { 0.0 } else { x }).collect()
}

/// Backward of [`relu`], given its result.
fn relu_backward(y: &[f64], d_y: &[f64]) -> Vec<f64> {
    y.iter().zip(d_y).map(|(&y, &d)| if y > 0.0 { d } else { 0.0 }).collect()
}

/// The index and value of the maximum, the first of equal ones, and its distance to the next smaller element.
fn max_with_gap(of: impl Iterator<Item = f64>) -> (usize, f64, f64) {
    let (mut best, mut value, mut gap) = (0, f64::NEG_INFINITY, f64::INFINITY);
    for (index, x) in of.enumerate() {
        if x > value {
            (best, value, gap) = (index, x, x - value);
        } else {
            gap = gap.min(value - x);
        }
    }
    (best, value, gap)
}

/// The smallest absolute value.
fn min_abs(x: &[f64]) -> f64 {
    x.iter().fold(f64::INFINITY, |min, x| min.min(x.abs()))
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = row.iter().map(|x| (x - max).exp()).sum::<f64>();
    row.iter().map(|x| (x - max).exp() / total).collect()
}

/// Backward of [`softmax`], given its result.
fn softmax_backward(y: &[f64], d_y: &[f64]) -> Vec<f64> {
    let mean = y.iter().zip(d_y).map(|(y, d)| y * d).sum::<f64>();
    y.iter().zip(d_y).map(|(y, d)| y * (d - mean)).collect()
}
