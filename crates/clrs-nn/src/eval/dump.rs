//! Hidden states and logits of one batch, for inspection.

use clrs::{Kind, Probe};

use crate::data::batch::ModelBatch;
use crate::exec::tensor::Tensor;
use crate::model::rollout::StepView;
use crate::run::tensor_file::TensorFile;

/// Collects all steps of a batch: `T` steps, `B` samples in the order of the set, `N` nodes.
///
/// - `hidden`: hidden states after every step, `[T, B, N, H]`.
/// - `hint/NAME`: logits of the hint that the step predicts, `[T, B, ...]`.
/// - `output/NAME`: logits of an output, `[B, ...]`.
/// - `steps`: number of steps of each sample, `[B]`; later values are 0.
///
/// `...` is `[N]` for nodes, `[N, N]` for edges and nothing for the graph, with one more axis for the classes of a categorical and for
/// the candidate nodes of a pointer.
pub(super) struct Dump<'b> {
    batch: &'b ModelBatch,
    hidden: Vec<f32>,
    hints: Vec<(usize, Vec<f32>)>,
    steps: Vec<usize>,
}

impl<'b> Dump<'b> {
    pub(super) fn new(batch: &'b ModelBatch) -> Dump<'b> {
        Dump { batch, hidden: Vec::new(), hints: Vec::new(), steps: Vec::new() }
    }

    pub(super) fn observe(&mut self, view: &StepView<'_>) {
        let batch = self.batch;
        let samples: Vec<usize> = view.active.iter().map(|&sample| batch.order()[sample]).collect();
        self.steps.resize(batch.samples(), 0);
        for &sample in &samples {
            self.steps[sample] = view.step + 1;
        }
        let hidden = view.hidden.clone().into_vec();
        append(&mut self.hidden, &hidden, &samples, batch.samples());
        if self.hints.is_empty() {
            self.hints = view.hints.iter().map(|(index, _)| (*index, Vec::new())).collect();
        }
        for ((_, all), (_, logits)) in self.hints.iter_mut().zip(view.hints) {
            let logits = logits.clone().into_vec();
            append(all, &logits, &samples, batch.samples());
        }
    }

    pub(super) fn finish(self, outputs: &[(usize, Tensor<3>)]) -> TensorFile {
        let Dump { batch, hidden, hints, steps } = self;
        let (samples, nodes) = (batch.samples(), batch.nodes());
        let taken = steps.iter().copied().max().unwrap_or(0);
        let size = hidden.len() / (taken * samples * nodes).max(1);
        let mut file = TensorFile::default();
        file.tensors.insert("hidden".into(), (vec![taken, samples, nodes, size], hidden));
        for (index, logits) in hints {
            let probe = &batch.spec()[index];
            let shape = [&[taken, samples][..], &shape(probe, nodes)].concat();
            file.tensors.insert(probe.path(), (shape, logits));
        }
        for (index, logits) in outputs {
            let probe = &batch.spec()[*index];
            let logits = logits.clone().into_vec();
            let mut values = Vec::new();
            append(&mut values, &logits, batch.order(), samples);
            file.tensors.insert(probe.path(), ([&[samples][..], &shape(probe, nodes)].concat(), values));
        }
        #[expect(clippy::cast_possible_truncation, reason = "counts that f32 represents exactly")]
        let steps = steps.into_iter().map(|steps| steps as f64 as f32).collect();
        file.tensors.insert("steps".into(), (vec![samples], steps));
        file
    }
}

/// Appends one step: the rows of some of `count` samples, by index.
fn append(all: &mut Vec<f32>, rows: &[f32], samples: &[usize], count: usize) {
    let (start, width) = (all.len(), rows.len() / samples.len());
    all.resize(start + count * width, 0.0);
    for (row, &sample) in rows.chunks_exact(width).zip(samples) {
        all[start + sample * width..][..width].copy_from_slice(row);
    }
}

/// Axes of the logits of a probe.
pub(super) fn shape(probe: &Probe, nodes: usize) -> Vec<usize> {
    let mut shape = clrs::batch::row_shape(probe, nodes);
    if matches!(probe.kind, Kind::Pointer | Kind::Permutation) {
        shape.push(nodes);
    }
    shape
}
