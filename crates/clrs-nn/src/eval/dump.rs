//! What goes on inside a network: hidden states and logits of one batch, for those who want to look at them.

use burn::tensor::Tensor;
use clrs::{Kind, Probe};

use crate::data::batch::Batch;
use crate::model::network::StepView;
use crate::run::tensor_file::TensorFile;

/// Gathers all steps of a batch. `T` is the number of steps, `B` of samples in the order in which they came, `N` of nodes.
///
/// - `hidden`: hidden states after every step, `[T, B, N, H]`.
/// - `hint/NAME`: the logits of the hint that follows the step, `[T, B, ...]`.
/// - `output/NAME`: the logits of an output, `[B, ...]`.
/// - `steps`: steps that each sample took, `[B]`; what comes after them is 0.
///
/// `...` is `[N]` for nodes, `[N, N]` for edges and nothing for the graph, with one more axis for the classes of a categorical
/// and for the nodes that a pointer may choose.
pub(crate) struct Dump<'b> {
    batch: &'b Batch,
    hidden: Vec<f32>,
    hints: Vec<(usize, Vec<f32>)>,
    steps: Vec<usize>,
}

impl<'b> Dump<'b> {
    pub(crate) fn new(batch: &'b Batch) -> Dump<'b> {
        Dump { batch, hidden: Vec::new(), hints: Vec::new(), steps: Vec::new() }
    }

    pub(crate) fn observe(&mut self, shown: &StepView<'_>) {
        let batch = self.batch;
        let places: Vec<usize> = shown.active.iter().map(|&at| batch.order()[at]).collect();
        self.steps.resize(batch.samples(), 0);
        for &sample in &places {
            self.steps[sample] = shown.step + 1;
        }
        let hidden: Vec<f32> = shown.hidden.clone().try_into_vec_as().expect("f32");
        append(&mut self.hidden, &hidden, &places, batch.samples());
        if self.hints.is_empty() {
            self.hints = shown.hints.iter().map(|(place, _)| (*place, Vec::new())).collect();
        }
        for ((_, all), (_, logits)) in self.hints.iter_mut().zip(shown.hints) {
            let logits: Vec<f32> = logits.clone().try_into_vec_as().expect("f32");
            append(all, &logits, &places, batch.samples());
        }
    }

    pub(crate) fn finish(self, outputs: &[(usize, Tensor<3>)]) -> TensorFile {
        let Dump { batch, hidden, hints, steps } = self;
        let (samples, nodes) = (batch.samples(), batch.nodes());
        let taken = steps.iter().copied().max().unwrap_or(0);
        let size = hidden.len() / (taken * samples * nodes).max(1);
        let mut file = TensorFile::default();
        file.arrays.insert("hidden".into(), (vec![taken, samples, nodes, size], hidden));
        for (place, logits) in hints {
            let probe = &batch.spec()[place];
            let shape = [&[taken, samples][..], &shape(probe, nodes)].concat();
            file.arrays.insert(probe.path(), (shape, logits));
        }
        for (place, logits) in outputs {
            let probe = &batch.spec()[*place];
            let logits: Vec<f32> = logits.clone().try_into_vec_as().expect("f32");
            let mut values = Vec::new();
            append(&mut values, &logits, batch.order(), samples);
            file.arrays.insert(probe.path(), ([&[samples][..], &shape(probe, nodes)].concat(), values));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a count that f32 has exactly")]
        let steps = steps.into_iter().map(|steps| steps as f64 as f32).collect();
        file.arrays.insert("steps".into(), (vec![samples], steps));
        file
    }
}

/// Adds the rows of some samples, at their places among all, as one more step.
fn append(all: &mut Vec<f32>, rows: &[f32], places: &[usize], samples: usize) {
    let (start, width) = (all.len(), rows.len() / places.len());
    all.resize(start + samples * width, 0.0);
    for (row, &sample) in rows.chunks_exact(width).zip(places) {
        all[start + sample * width..][..width].copy_from_slice(row);
    }
}

/// The axes of the logits of a probe.
fn shape(probe: &Probe, nodes: usize) -> Vec<usize> {
    let mut shape = clrs::batch::row_shape(probe, nodes);
    if matches!(probe.kind, Kind::Pointer | Kind::Permutation) {
        shape.push(nodes);
    }
    shape
}
