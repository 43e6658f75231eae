//! The largest of each number among the nodes of a sample.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::Scratch;

use super::{BackwardInput, InputGradients, SavedState, FusedOp, Slices, compute, input, only};
use crate::exec::features::ForwardContext;

/// Of rows `[B * N, size]`, of which every `nodes` are a sample: `[B, size]`. Of equal ones the first takes the gradient.
pub(crate) fn max_pool(pass: &ForwardContext, rows: Tensor<2>, nodes: usize) -> Tensor<2> {
    let [count, size] = rows.dims();
    compute(pass, MaxPool { samples: count / nodes, nodes, size }, vec![input(rows)])
}

struct MaxPool {
    samples: usize,
    nodes: usize,
    size: usize,
}

impl FusedOp for MaxPool {
    fn shape(&self) -> Vec<usize> {
        vec![self.samples, self.size]
    }

    /// Keeps which node it was.
    fn forward(&self, &[rows, ..]: &Slices<'_>, out: &mut [f32], keep: bool, _: &mut Scratch) -> SavedState {
        let mut winners = vec![0u32; if keep { out.len() } else { 0 }];
        for (sample, out) in out.chunks_exact_mut(self.size).enumerate() {
            let rows = &rows[sample * self.nodes * self.size..][..self.nodes * self.size];
            out.copy_from_slice(&rows[..self.size]);
            let winners = winners.chunks_exact_mut(self.size).nth(sample);
            if let Some(winners) = winners {
                for (node, row) in (0..).zip(rows.chunks_exact(self.size)) {
                    for ((best, winner), &x) in out.iter_mut().zip(&mut *winners).zip(row) {
                        *winner = if x > *best { node } else { *winner };
                        *best = if x > *best { x } else { *best };
                    }
                }
            } else {
                for row in rows.chunks_exact(self.size) {
                    out.iter_mut().zip(row).for_each(|(best, &x)| *best = if x > *best { x } else { *best });
                }
            }
        }
        Arc::new(winners)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let winners = back.kept::<Vec<u32>>();
        let mut d_rows = vec![0.0; self.samples * self.nodes * self.size];
        for (at, (&winner, &d)) in winners.iter().zip(back.d_out).enumerate() {
            let (sample, number) = (at / self.size, at % self.size);
            d_rows[(sample * self.nodes + winner as usize) * self.size + number] = d;
        }
        only(d_rows)
    }
}
