//! Sinkhorn's method in logarithms: rows, then columns, normalised again and again, towards a permutation.
//!
//! As in `clrs-nn`, logits are divided by a temperature, and no node may point to itself. Backward goes through every round; what
//! each normalisation gave is kept for it, `2 iterations n n` numbers. Columns are normalised sixteen at once, without a transpose.

use crate::isa::{Isa, Kernel};
use crate::rowwise::{log_softmax, log_softmax_backward};
use crate::simd::{LANES, Simd};

/// The lower, the nearer to a permutation.
const TEMPERATURE: f32 = 0.1;
/// Added to the logit of a node that points to itself.
const NOTHING: f32 = -1e6;

/// What backward needs of forward. Its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: usize,
    /// After each normalisation of rows, and of columns.
    iterates: Vec<f32>,
}

/// Turns logits `[n, n]` into logarithms of a matrix whose rows and columns sum to about 1.
///
/// # Panics
/// If lengths do not match.
pub fn forward(isa: Isa, nodes: usize, logits: &mut [f32], iterations: usize, mut tape: Option<&mut Tape>) {
    assert_eq!(logits.len(), nodes * nodes, "logits are [n, n]");
    for x in &mut *logits {
        *x /= TEMPERATURE;
    }
    logits.iter_mut().step_by(nodes + 1).for_each(|x| *x += NOTHING);
    if let Some(tape) = &mut tape {
        tape.nodes = nodes;
        tape.iterates.clear();
    }
    for _ in 0..iterations {
        log_softmax(isa, logits, nodes);
        if let Some(tape) = &mut tape {
            tape.iterates.extend_from_slice(logits);
        }
        isa.run(Columns { nodes, logits });
        if let Some(tape) = &mut tape {
            tape.iterates.extend_from_slice(logits);
        }
    }
}

/// Turns the gradient of what [`forward`] gave into that of the logits.
///
/// # Panics
/// If the gradient is not of the tape's shape.
pub fn backward(isa: Isa, tape: &Tape, d: &mut [f32]) {
    let n = tape.nodes;
    assert_eq!(d.len(), n * n, "logits are [n, n]");
    for round in tape.iterates.chunks_exact((2 * n * n).max(1)).rev() {
        let (rows, columns) = round.split_at(n * n);
        isa.run(ColumnsBackward { nodes: n, y: columns, d });
        log_softmax_backward(isa, rows, d, n);
    }
    for d in d {
        *d /= TEMPERATURE;
    }
}

/// The logarithm of the softmax of each column.
struct Columns<'a> {
    nodes: usize,
    logits: &'a mut [f32],
}

impl Kernel for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for at in (0..self.nodes).step_by(LANES) {
            let mut top = s.splat(f32::NEG_INFINITY);
            for row in self.logits.chunks_exact(self.nodes) {
                top = s.max(s.load_at(row, at), top);
            }
            let mut total = s.splat(0.0);
            for row in self.logits.chunks_exact(self.nodes) {
                total = s.add(total, s.exp(s.sub(s.load_at(row, at), top)));
            }
            let mut logarithm = [0.0; LANES];
            s.store(&mut logarithm, total);
            for x in &mut logarithm {
                *x = x.ln();
            }
            let shift = s.add(top, s.load(&logarithm));
            for row in self.logits.chunks_exact_mut(self.nodes) {
                s.store_at(row, at, s.sub(s.load_at(row, at), shift));
            }
        }
    }
}

struct ColumnsBackward<'a> {
    nodes: usize,
    y: &'a [f32],
    d: &'a mut [f32],
}

impl Kernel for ColumnsBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        for at in (0..self.nodes).step_by(LANES) {
            let mut total = s.splat(0.0);
            for d in self.d.chunks_exact(self.nodes) {
                total = s.add(total, s.load_at(d, at));
            }
            for (y, d) in self.y.chunks_exact(self.nodes).zip(self.d.chunks_exact_mut(self.nodes)) {
                s.store_at(d, at, s.sub(s.load_at(d, at), s.mul(s.exp(s.load_at(y, at)), total)));
            }
        }
    }
}
