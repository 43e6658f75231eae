//! A batch as the network reads it: samples in order of length, longest first, every probe as `[B, R, K]` numbers.
//!
//! `B` is the number of samples. `R` counts the decisions a probe asks for and `K` the numbers of each: a mask over nodes is
//! `[B, N, 1]`, a pointer `[B, N, N]` with a one in the row of each node, one of `K` classes per edge `[B, N * N, K]`, the one
//! node of a one-hot mask `[B, 1, N]`. So one function feeds back, one decodes, one judges, whatever the location.
//!
//! Samples that have ended are at the back: each step of the network computes the prefix that is still alive.

use burn::tensor::{Device, Tensor, TensorData};
use clrs::batch::{Array, ArrayData};
use clrs::{Kind, Location, Probe, Spec, Stage};

/// Samples of one algorithm and size.
#[derive(Clone, Debug)]
pub struct Batch {
    spec: Spec,
    nodes: usize,
    lengths: Vec<usize>,
    order: Vec<usize>,
    probes: Vec<Rows>,
}

/// Samples of a part in training. Gradients are added up part by part, so it is the same everywhere.
pub(crate) const PART: usize = 8;

/// Samples of a part in evaluation: what is kept of their pairs of nodes fits into a core's cache.
pub(crate) fn part_of(nodes: usize) -> usize {
    const PAIRS: usize = 2048;
    (PAIRS / nodes.pow(2).max(1)).clamp(1, PART)
}

/// The numbers of a probe, `[T, B, ...]`, samples in the batch's order.
#[derive(Clone, Debug)]
struct Rows {
    values: Vec<f32>,
    /// Numbers per sample and step.
    width: usize,
}

impl Batch {
    /// Takes over a dense batch.
    pub fn new(dense: &clrs::Batch) -> Batch {
        let lengths: Vec<usize> = dense.lengths.iter().map(|&length| whole(length)).collect();
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&sample| std::cmp::Reverse(lengths[sample])); // stable
        let probes = dense.iter().map(|(probe, array)| Rows::new(probe, array, &order)).collect();
        let lengths = order.iter().map(|&sample| lengths[sample]).collect();
        Batch { spec: dense.spec.clone(), nodes: nodes_of(dense), lengths, order, probes }
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

    /// Where each sample was in the dense batch.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Hint rows of each sample, longest first.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Steps of the network until the longest sample ends. A sample of one row still takes a step.
    pub fn steps(&self) -> usize {
        self.lengths.first().map_or(0, |&longest| live_steps(longest))
    }

    /// The same samples, each of which takes so many steps of the network, one at least.
    #[must_use]
    pub fn lasting(mut self, steps: usize) -> Batch {
        self.lengths.fill(steps.max(1) + 1);
        self
    }

    /// How many samples are alive in a step.
    pub fn live(&self, step: usize) -> usize {
        self.lengths.partition_point(|&length| live_steps(length) > step)
    }

    /// How many samples have a hint to predict in a step.
    pub fn judged(&self, step: usize) -> usize {
        self.lengths.partition_point(|&length| length > step + 1)
    }

    /// The same samples in parts of about so many, long and short ones in each. Every part has its own thread, and fits in
    /// its cache.
    pub fn parts(&self, size: usize) -> Vec<Batch> {
        let count = self.samples().div_ceil(size.max(1));
        (0..count).map(|part| self.select(&(part..self.samples()).step_by(count).collect::<Vec<_>>())).collect()
    }

    /// Some samples, by their places.
    fn select(&self, places: &[usize]) -> Batch {
        let lengths: Vec<usize> = places.iter().map(|&place| self.lengths[place]).collect();
        let order = places.iter().map(|&place| self.order[place]).collect();
        let probes = self.spec.iter().zip(&self.probes).map(|(probe, Rows { values, width })| {
            // Steps that only other samples have are left out; where hints are not kept, there is the first alone.
            let kept = values.len().checked_div(self.samples() * width).unwrap_or(0);
            let steps = if probe.stage == Stage::Hint { lengths.first().map_or(0, |&longest| longest.min(kept)) } else { 1 };
            let mut chosen = Vec::with_capacity(steps * places.len() * width);
            for step in 0..steps {
                for place in places {
                    chosen.extend_from_slice(&values[(step * self.samples() + place) * width..][..*width]);
                }
            }
            Rows { values: chosen, width: *width }
        });
        Batch { spec: self.spec.clone(), nodes: self.nodes, probes: probes.collect(), lengths, order }
    }

    /// How many cells of each probe are judged, over all steps: what its loss is a mean over.
    pub fn judged_cells(&self) -> Vec<f64> {
        let count = |(place, probe): (usize, &Probe)| match probe.stage {
            Stage::Input => 0.0,
            Stage::Output => judged_cells(probe, self.nodes, &self.values(place, 0, self.samples())),
            Stage::Hint => (0..self.steps())
                .map(|step| judged_cells(probe, self.nodes, &self.values(place, step + 1, self.judged(step))))
                .sum(),
        };
        self.spec.iter().enumerate().map(count).collect()
    }

    /// What a probe says of the first samples: `[samples, R, K]`. Inputs and outputs have one step.
    pub fn values(&self, place: usize, step: usize, samples: usize) -> Vec<f32> {
        let probe = &self.spec[place];
        let Rows { values, width } = &self.probes[place];
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

    /// What a probe says of one sample, added to others: `[R, K]`.
    pub(crate) fn push_values(&self, place: usize, step: usize, sample: usize, into: &mut Vec<f32>) {
        let Rows { values, width } = &self.probes[place];
        let row = &values[(step * self.samples() + sample) * width..][..*width];
        match self.spec[place].kind {
            Kind::Pointer | Kind::Permutation => into.extend(one_hot(row, self.nodes)),
            _ => into.extend_from_slice(row),
        }
    }

    /// [`Batch::values`] as a tensor.
    pub fn tensor(&self, place: usize, step: usize, samples: usize, device: &Device) -> Tensor<3> {
        let [rows, numbers] = row_shape(&self.spec[place], self.nodes);
        Tensor::from_data(TensorData::new(self.values(place, step, samples), [samples, rows, numbers]), device)
    }
}

impl Rows {
    fn new(probe: &Probe, array: &Array, order: &[usize]) -> Rows {
        let steps = if probe.stage == Stage::Hint { array.shape[0] } else { 1 };
        let width = array.shape.iter().product::<usize>() / (steps * order.len());
        let mut values = Vec::with_capacity(steps * order.len() * width);
        for step in 0..steps {
            for &sample in order {
                let start = (step * order.len() + sample) * width;
                push_f32(&array.data, start..start + width, &mut values);
            }
        }
        Rows { values, width }
    }
}

/// Decisions that a probe asks for, and the numbers of each.
pub(crate) fn row_shape(probe: &Probe, nodes: usize) -> [usize; 2] {
    let places = probe.location.count(nodes);
    match probe.kind {
        Kind::Scalar | Kind::Mask => [places, 1],
        Kind::MaskOne => [1, places],
        Kind::Categorical { classes } => [places, classes],
        Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => [places, nodes],
    }
}

/// What stands in a mask where the question is not asked.
pub(crate) const NOT_ASKED: f32 = -1.0;

/// How many of these decisions are judged: all, but for those that are not asked.
pub(crate) fn judged_cells(probe: &Probe, nodes: usize, values: &[f32]) -> f64 {
    let [_, numbers] = row_shape(probe, nodes);
    match probe.kind {
        Kind::Mask => values.iter().filter(|&&value| value != NOT_ASKED).count() as f64,
        Kind::Categorical { .. } => values.chunks_exact(numbers).filter(|row| row.contains(&1.0)).count() as f64,
        _ => (values.len() / numbers) as f64,
    }
}

/// Steps of the network that a sample of so many hint rows takes.
pub(crate) fn live_steps(length: usize) -> usize {
    length.saturating_sub(1).max(1)
}

fn nodes_of(dense: &clrs::Batch) -> usize {
    let of = |(probe, array): (&Probe, &Array)| {
        let axis = if probe.stage == Stage::Hint { 2 } else { 1 };
        (probe.location != Location::Graph).then(|| array.shape[axis])
    };
    dense.iter().find_map(of).unwrap_or(1)
}

/// Pointers as rows with a one.
fn one_hot(pointers: &[f32], nodes: usize) -> Vec<f32> {
    let mut rows = vec![0.0; pointers.len() * nodes];
    for (row, &node) in rows.chunks_exact_mut(nodes).zip(pointers) {
        row[whole(f64::from(node))] = 1.0;
    }
    rows
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts and nodes, kept as numbers")]
fn whole(number: f64) -> usize {
    number as usize
}

#[expect(clippy::cast_possible_truncation, reason = "the network computes in f32")]
fn push_f32(data: &ArrayData, range: std::ops::Range<usize>, into: &mut Vec<f32>) {
    match data {
        ArrayData::F64(values) => into.extend(values[range].iter().map(|&value| value as f32)),
        ArrayData::F32(values) => into.extend(&values[range]),
        ArrayData::I64(values) => into.extend(values[range].iter().map(|&value| value as f32)),
    }
}
