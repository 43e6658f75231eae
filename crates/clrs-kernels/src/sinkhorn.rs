//! Sinkhorn operator in log space (Mena et al., 2018): rows and columns are normalized in turns, so that the matrix approaches a
//! permutation.
//!
//! Logits are divided by a temperature first, and the diagonal is masked: no node points to itself. Backward goes through every
//! iteration; the result of each normalization is stored for it, `[2 I, N, N]` for `I` iterations. Columns are normalized sixteen
//! at once, without a transpose.
//!
//! # Bits
//! AVX2 and AVX-512 agree. Portable code without fused multiply-add differs in the last bits of the exponentials.

use crate::isa::{Isa, Kernel};
use crate::memory::elements;
use crate::rowwise::{log_softmax, log_softmax_backward};
use crate::simd::{LANES, Simd};

/// Lower temperatures give results closer to a permutation. The value is that of dm-clrs.
pub const TEMPERATURE: f32 = 0.1;
/// Added to the diagonal: no node points to itself.
pub const MASK_VALUE: f32 = -1e6;

/// Values that [`backward`] needs. The memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    nodes: usize,
    /// The result of each normalization, of rows and columns in turns.
    iterates: Vec<f32>,
}

/// Replaces logits, `[N, N]`, by the logarithms of a matrix whose rows and columns sum to about 1.
///
/// # Panics
/// If the length does not match.
///
/// # Examples
/// ```
/// use clrs_kernels::{Isa, sinkhorn};
///
/// // With two nodes and a masked diagonal, one permutation is left.
/// let mut logits = [0.3, -0.2, 0.1, 0.5];
/// sinkhorn::forward(Isa::best(), 2, &mut logits, 10, None);
/// let [aa, ab, ba, bb] = logits.map(f32::exp);
/// assert_eq!((aa, bb), (0.0, 0.0));
/// assert!((ab - 1.0).abs() < 1e-6 && (ba - 1.0).abs() < 1e-6);
/// ```
pub fn forward(isa: Isa, nodes: usize, logits: &mut [f32], iterations: usize, mut tape: Option<&mut Tape>) {
    assert_eq!(logits.len(), elements([nodes, nodes]), "logits must be [N, N]");
    for x in &mut *logits {
        *x /= TEMPERATURE;
    }
    logits.iter_mut().step_by(nodes + 1).for_each(|x| *x += MASK_VALUE);
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

/// Replaces the gradient of the result of [`forward`], `[N, N]`, by that of the logits.
///
/// # Panics
/// If the gradient does not have the shape of the tape.
pub fn backward(isa: Isa, tape: &Tape, d: &mut [f32]) {
    let n = tape.nodes;
    assert_eq!(d.len(), n * n, "d must be [N, N]");
    for round in tape.iterates.chunks_exact((2 * n * n).max(1)).rev() {
        let (rows, columns) = round.split_at(n * n);
        isa.run(ColumnsBackward { nodes: n, y: columns, d });
        log_softmax_backward(isa, rows, d, n);
    }
    for d in d {
        *d /= TEMPERATURE;
    }
}

/// Log-softmax of each column.
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
            let mut log_total = [0.0; LANES];
            s.store(&mut log_total, total);
            for x in &mut log_total {
                *x = x.ln();
            }
            let shift = s.add(top, s.load(&log_total));
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
