//! A batch as the network reads it: samples sorted by length, longest first, every probe as `[B, R, K]`.
//!
//! `B` is the number of samples, `R` the number of decisions per sample and `K` the number of classes of a decision: a mask over nodes is
//! `[B, N, 1]`, a pointer `[B, N, N]` with one-hot rows, a categorical over edges `[B, N * N, K]`, a one-hot mask `[B, 1, N]`. So
//! feedback, losses and scores do not depend on the location.
//!
//! Samples that have ended are at the back: each step of the network computes the prefix that is still active.

use clrs::batch::Array;
use clrs::{Kind, Location, Probe, Spec, Stage};

use super::dense::{DenseArray, DenseBatch, DenseError, DenseValues, ensure_nodes};

/// Samples of one algorithm and size.
///
/// ```
/// use clrs::sampling::{Sampler, SamplerOptions, Stream};
/// use clrs_nn::ModelBatch;
///
/// let bfs = clrs::Registry::builtin().find("bfs")?;
/// let dense = Stream::new(Sampler::new(bfs, 5, 1, &SamplerOptions::default())?).next(3)?;
/// let batch = ModelBatch::new(&dense);
/// assert_eq!((batch.samples(), batch.nodes(), batch.active(0)), (3, 5, 3));
/// assert!(batch.lengths().is_sorted_by(|a, b| a >= b));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelBatch {
    spec: Spec,
    nodes: usize,
    lengths: Vec<usize>,
    order: Vec<usize>,
    probes: Vec<Rows>,
}

/// Samples of a micro-batch in training. Gradients are summed micro-batch by micro-batch, so the size is the same on every machine.
pub(crate) const MICRO_BATCH: usize = 2;

/// Samples of a micro-batch in evaluation: activations of their node pairs fit into a core's cache.
pub(crate) fn eval_micro_batch(nodes: usize) -> usize {
    const PAIRS: usize = 2048;
    (PAIRS / nodes.pow(2).max(1)).clamp(1, MICRO_BATCH)
}

/// Values of a probe, `[T, B, ...]`, samples in the order of the batch. A batch for predictions has the first row of hints, and no
/// outputs.
#[derive(Clone, Debug)]
struct Rows {
    values: Vec<f32>,
    /// Values per sample and step.
    width: usize,
}

impl ModelBatch {
    /// Converts a dense batch that a sampler or a transform created.
    pub fn new(dense: &clrs::Batch) -> ModelBatch {
        let (lengths, order) = by_length(&dense.lengths);
        let rows = |(probe, array): (&Probe, &Array)| {
            let steps = if probe.stage == Stage::Hint { array.shape[0] } else { 1 };
            let width = array.shape.iter().product::<usize>() / (steps * order.len());
            Rows::new(DenseValues::from(&array.data), steps, width, &order)
        };
        let probes = dense.iter().map(rows).collect();
        ModelBatch { spec: dense.spec.clone(), nodes: nodes_of(dense), lengths, order, probes }
    }

    /// Converts arrays from outside. Without outputs, the batch is for predictions and keeps only the first row of the hints, which
    /// the network is given.
    ///
    /// ```
    /// use clrs::sampling::{Sampler, SamplerOptions, Stream};
    /// use clrs_nn::ModelBatch;
    /// use clrs_nn::data::dense::DenseBatch;
    ///
    /// let bfs = clrs::Registry::builtin().find("bfs")?;
    /// let samples = Stream::new(Sampler::new(bfs, 5, 1, &SamplerOptions::default())?).next(3)?;
    /// let mut dense = DenseBatch::new(&samples);
    /// assert_eq!(ModelBatch::from_dense(&bfs.spec().into(), &dense)?.samples(), 3);
    /// dense.inputs.remove(0);
    /// let error = ModelBatch::from_dense(&bfs.spec().into(), &dense).unwrap_err();
    /// assert_eq!(error.to_string(), "the input `pos` is missing");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If an array is missing or has another shape, a length is not one of the hints, or a pointer leads to no node.
    pub fn from_dense(spec: &Spec, dense: &DenseBatch<'_>) -> Result<ModelBatch, DenseError> {
        let (layout, arrays) = dense.check(spec)?;
        let (lengths, order) = by_length(&dense.lengths);
        let is_supervised = dense.outputs.is_some();
        let rows = |(probe, array): (&Probe, Option<&DenseArray<'_>>)| {
            let width = clrs::batch::row_shape(probe, layout.nodes).iter().product();
            let Some(array) = array else { return Ok(Rows { values: Vec::new(), width }) };
            let steps = match probe.stage {
                Stage::Hint if is_supervised => layout.rows,
                Stage::Hint => layout.rows.min(1),
                Stage::Input | Stage::Output => 1,
            };
            let rows = Rows::new(array.values, steps, width, &order);
            ensure_nodes(probe, layout.nodes, &rows.values)?;
            Ok(rows)
        };
        let probes = spec.iter().zip(arrays).map(rows).collect::<Result<_, DenseError>>()?;
        Ok(ModelBatch { spec: spec.clone(), nodes: layout.nodes, lengths, order, probes })
    }

    /// Whether the batch has outputs and all hints, so that it has a loss.
    pub fn is_supervised(&self) -> bool {
        let mut stored = self.spec.iter().zip(&self.probes);
        stored.all(|(probe, rows)| match probe.stage {
            Stage::Input => true,
            Stage::Output => !rows.values.is_empty(),
            Stage::Hint => rows.values.len() >= self.lengths.first().map_or(0, |longest| longest * self.samples() * rows.width),
        })
    }

    /// The probes.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.lengths.len()
    }

    /// Index of each sample in the dense batch.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Number of hint rows of each sample, longest first.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Network steps until the longest sample ends. A sample with a single hint row still takes one step.
    pub fn steps(&self) -> usize {
        self.lengths.first().map_or(0, |&longest| active_steps(longest))
    }

    /// The same samples with a fixed number of network steps, at least one.
    #[must_use]
    pub fn with_steps(mut self, steps: usize) -> ModelBatch {
        self.lengths.fill(steps.max(1) + 1);
        self
    }

    /// Number of samples that are active in a step.
    pub fn active(&self, step: usize) -> usize {
        self.lengths.partition_point(|&length| active_steps(length) > step)
    }

    /// Number of samples whose hint predictions in a step are supervised: those with a true hint after it.
    pub fn supervised(&self, step: usize) -> usize {
        self.lengths.partition_point(|&length| length > step + 1)
    }

    /// Splits the samples into micro-batches of at most `size`. A micro-batch runs on one thread, so long and short samples are
    /// dealt out in turn, forth and back, and all micro-batches take about the same time.
    pub fn micro_batches(&self, size: usize) -> Vec<ModelBatch> {
        let count = self.samples().div_ceil(size.max(1));
        let mut indices = vec![Vec::with_capacity(size); count];
        for sample in 0..self.samples() {
            let (round, position) = (sample / count, sample % count);
            indices[if round % 2 == 0 { position } else { count - 1 - position }].push(sample);
        }
        indices.iter().map(|indices| self.select(indices)).collect()
    }

    /// Samples by index.
    fn select(&self, indices: &[usize]) -> ModelBatch {
        let lengths: Vec<usize> = indices.iter().map(|&index| self.lengths[index]).collect();
        let order = indices.iter().map(|&index| self.order[index]).collect();
        let probes = self.spec.iter().zip(&self.probes).map(|(probe, Rows { values, width })| {
            // Steps beyond the longest of these samples are dropped. Batches for predictions store fewer.
            let stored = values.len().checked_div(self.samples() * width).unwrap_or(0);
            let steps =
                if probe.stage == Stage::Hint { lengths.first().map_or(0, |&longest| longest.min(stored)) } else { stored };
            let mut chosen = Vec::with_capacity(steps * indices.len() * width);
            for step in 0..steps {
                for index in indices {
                    chosen.extend_from_slice(&values[(step * self.samples() + index) * width..][..*width]);
                }
            }
            Rows { values: chosen, width: *width }
        });
        ModelBatch { spec: self.spec.clone(), nodes: self.nodes, probes: probes.collect(), lengths, order }
    }

    /// Number of supervised cells of each probe over all steps. The loss of a probe is a mean over these.
    pub fn supervised_cells(&self) -> Vec<f64> {
        let count = |(index, probe): (usize, &Probe)| match probe.stage {
            Stage::Input => 0.0,
            Stage::Output => supervised_cells(probe, self.nodes, &self.values(index, 0, self.samples())),
            Stage::Hint => (0..self.steps())
                .map(|step| supervised_cells(probe, self.nodes, &self.values(index, step + 1, self.supervised(step))))
                .sum(),
        };
        self.spec.iter().enumerate().map(count).collect()
    }

    /// Values of a probe for the first samples, `[samples, R, K]`. Inputs and outputs have one step.
    pub fn values(&self, index: usize, step: usize, samples: usize) -> Vec<f32> {
        let probe = &self.spec[index];
        let Rows { values, width } = &self.probes[index];
        if samples == 0 {
            return Vec::new();
        }
        let start = step * self.samples() * width;
        let rows = &values[start..start + samples * width];
        match probe.kind {
            Kind::Pointer | Kind::Permutation => one_hot(rows, self.nodes),
            _ => rows.to_vec(),
        }
    }

    /// Appends the values of a probe for one sample, `[R, K]`.
    pub(crate) fn push_values(&self, index: usize, step: usize, sample: usize, into: &mut Vec<f32>) {
        let Rows { values, width } = &self.probes[index];
        let row = &values[(step * self.samples() + sample) * width..][..*width];
        match self.spec[index].kind {
            Kind::Pointer | Kind::Permutation => into.extend(one_hot(row, self.nodes)),
            _ => into.extend_from_slice(row),
        }
    }

    /// Shape of [`ModelBatch::values`].
    pub fn shape(&self, index: usize, samples: usize) -> [usize; 3] {
        let [rows, classes] = row_shape(&self.spec[index], self.nodes);
        [samples, rows, classes]
    }
}

impl Rows {
    fn new(dense: DenseValues<'_>, steps: usize, width: usize, order: &[usize]) -> Rows {
        let mut values = Vec::with_capacity(steps * order.len() * width);
        for step in 0..steps {
            for &sample in order {
                let start = (step * order.len() + sample) * width;
                dense.append_to(start..start + width, &mut values);
            }
        }
        Rows { values, width }
    }
}

/// Lengths from the longest to the shortest, and the index of each sample. Samples of equal length stay in order.
fn by_length(lengths: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let lengths: Vec<usize> = lengths.iter().map(|&length| to_index(length)).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&sample| std::cmp::Reverse(lengths[sample])); // stable
    (order.iter().map(|&sample| lengths[sample]).collect(), order)
}

/// Number of decisions per sample of a probe, and of classes per decision: `[R, K]`.
pub(crate) fn row_shape(probe: &Probe, nodes: usize) -> [usize; 2] {
    let count = probe.location.count(nodes);
    match probe.kind {
        Kind::Scalar | Kind::Mask => [count, 1],
        Kind::MaskOne => [1, count],
        Kind::Categorical { classes } => [count, classes],
        Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => [count, nodes],
    }
}

/// Value of a mask cell that is masked out.
pub(crate) const MASKED_OUT: f32 = -1.0;

/// Number of supervised decisions among values of a probe: all that are not masked out.
pub(crate) fn supervised_cells(probe: &Probe, nodes: usize, values: &[f32]) -> f64 {
    let [_, classes] = row_shape(probe, nodes);
    match probe.kind {
        Kind::Mask => values.iter().filter(|&&value| value != MASKED_OUT).count() as f64,
        Kind::Categorical { .. } => values.chunks_exact(classes).filter(|row| row.contains(&1.0)).count() as f64,
        _ => (values.len() / classes) as f64,
    }
}

/// Network steps of a sample, from its number of hint rows.
pub(crate) fn active_steps(length: usize) -> usize {
    length.saturating_sub(1).max(1)
}

fn nodes_of(dense: &clrs::Batch) -> usize {
    let of = |(probe, array): (&Probe, &Array)| {
        let axis = if probe.stage == Stage::Hint { 2 } else { 1 };
        (probe.location != Location::Graph).then(|| array.shape[axis])
    };
    dense.iter().find_map(of).unwrap_or(1)
}

/// Pointers as one-hot rows.
pub(super) fn one_hot(pointers: &[f32], nodes: usize) -> Vec<f32> {
    let mut rows = vec![0.0; pointers.len() * nodes];
    for (row, &node) in rows.chunks_exact_mut(nodes).zip(pointers) {
        row[to_index(f64::from(node))] = 1.0;
    }
    rows
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts and node indices, stored as floats")]
fn to_index(value: f64) -> usize {
    value as usize
}
