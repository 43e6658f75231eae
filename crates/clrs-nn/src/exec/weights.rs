//! Parameter values for one update or one evaluation, and the weights folded from them.
//!
//! All encoders are linear: the encoding of a node is `x E + e`, where `x` holds the few raw channels of its probes. A layer on
//! top computes `(x E + e) W + b = x (E W) + (e W + b)`. So an edge carries its raw channels and never `H` encoded values. The
//! products `E W` are *folded weights*, computed once for all micro-batches of a batch. Micro-batches accumulate gradients of folded
//! weights, and `gradients` unfolds these into gradients of parameters, once per update.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use burn::tensor::{Device, Tensor, TensorData};
use clrs::Location;
use clrs_kernels::gemm::{Accumulate, Epilogue, PackedMatrix, add_matmul_tn, add_matvec, matmul};
use clrs_kernels::messages::PackedWeights;
use clrs_kernels::{Isa, Scratch};

use super::parallel;
use super::parameters::{Linear, ParamId, Parameters, matrix_shape};

/// A matrix that features are multiplied with, or a row that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FoldedWeight {
    /// A parameter as it is.
    Parameter(ParamId),
    /// The `i`-th block of `H` rows of a weight. Block 0 applies to encodings, those behind it to hidden states.
    Block(ParamId, usize),
    /// All encoders of a location, `[channels, H]`.
    Encoders(Location),
    /// Sum of the encoders' biases, `[1, H]`.
    EncoderBias(Location),
    /// A layer folded with the encoders below it, `[channels, outputs]`.
    Layer(Linear, Location),
    /// Bias of a layer folded with the biases of the encoders below it, `[1, outputs]`.
    LayerBias(Linear, Location),
    /// The decoders of all hints that read nodes alone, side by side.
    NodeHints(NodeTerm),
}

/// A term of a decoder that reads nodes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NodeTerm {
    /// Applies to the raw channels of a node.
    Raw,
    /// Applies to the hidden state before the step.
    Hidden,
    /// Applies to the hidden state after the step.
    Next,
    /// The bias.
    Bias,
}

impl NodeTerm {
    fn of(self, layer: Linear) -> FoldedWeight {
        match self {
            NodeTerm::Raw => FoldedWeight::Layer(layer, Location::Node),
            NodeTerm::Hidden => FoldedWeight::Block(layer.weight, 1),
            NodeTerm::Next => FoldedWeight::Block(layer.weight, 2),
            NodeTerm::Bias => FoldedWeight::LayerBias(layer, Location::Node),
        }
    }
}

/// The layers of a task that weights are folded from.
#[derive(Clone, Debug)]
pub(crate) struct TaskLayers {
    /// Size of encodings.
    pub(crate) hidden: usize,
    /// Encoders by the location of their features, in the order of their channels.
    pub(crate) encoders: Vec<(Location, Linear)>,
    /// Decoders of the hints that read nodes alone.
    pub(crate) node_hints: Vec<Linear>,
}

impl TaskLayers {
    fn encoders(&self, location: Location) -> impl Iterator<Item = Linear> {
        self.encoders.iter().filter(move |(of, _)| *of == location).map(|(_, layer)| *layer)
    }
}

/// Gradients of folded weights.
pub(crate) type FoldedGradients = BTreeMap<FoldedWeight, Vec<f32>>;

/// A folded weight that passes read, and in which layouts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedWeight {
    weight: FoldedWeight,
    packed: bool,
    transposed: bool,
}

/// Parameter values for forward passes. Clones share the values and the folded weights.
#[derive(Clone)]
pub struct Weights(Arc<Shared>);

struct Shared {
    values: Arc<Vec<Vec<f32>>>,
    shapes: Vec<[usize; 2]>,
    device: Device,
    requires_grad: bool,
    /// By task: folded weights depend on its encoders.
    folded: Mutex<HashMap<(usize, FoldedWeight), Arc<WeightMatrix>>>,
    messages: Mutex<HashMap<(usize, ParamId), Arc<PackedWeights>>>,
}

impl Weights {
    /// For evaluation: no gradients are tracked.
    pub fn no_grad(parameters: &Parameters, device: &Device) -> Weights {
        Weights::new(parameters, device, false)
    }

    /// For training: gradients are tracked.
    pub fn with_grad(parameters: &Parameters, device: &Device) -> Weights {
        Weights::new(parameters, device, true)
    }

    fn new(parameters: &Parameters, device: &Device, requires_grad: bool) -> Weights {
        let values = parameters.shared_values();
        let shapes = parameters.list().iter().map(|parameter| matrix_shape(&parameter.shape)).collect();
        let (device, folded, messages) = (device.clone(), Mutex::default(), Mutex::default());
        Weights(Arc::new(Shared { values, shapes, device, requires_grad, folded, messages }))
    }

    /// Device that forward passes run on.
    pub(crate) fn device(&self) -> Device {
        let device = self.0.device.clone();
        if self.0.requires_grad { device.autodiff() } else { device }
    }

    /// Whether gradients are tracked.
    pub(crate) fn requires_grad(&self) -> bool {
        self.0.requires_grad
    }

    /// Turns a tensor into a leaf of the autodiff graph, if gradients are tracked.
    pub(crate) fn leaf<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        if self.0.requires_grad { tensor.autodiff().require_grad() } else { tensor }
    }

    /// A folded weight, computed on first use.
    pub(crate) fn folded(&self, task: usize, layers: &TaskLayers, weight: FoldedWeight) -> Arc<WeightMatrix> {
        let mut folded = self.0.folded.lock().unwrap_or_else(PoisonError::into_inner);
        let fold = || {
            let (values, columns) = self.0.fold(layers, weight);
            Arc::new(WeightMatrix::new(values, columns, &self.0.device))
        };
        Arc::clone(folded.entry((task, weight)).or_insert_with(fold))
    }

    /// Folds weights on all threads. Passes would fold them on first use, but all passes need the same weight at the same time:
    /// one would fold it, and the others wait.
    pub(crate) fn prepare(&self, task: usize, layers: &TaskLayers, used: &[UsedWeight]) {
        let elements = self.0.values.iter().map(Vec::len).sum();
        let prepare = |&UsedWeight { weight, packed, transposed }: &UsedWeight| {
            let (values, columns) = self.0.fold(layers, weight);
            let matrix = WeightMatrix::new(values, columns, &self.0.device);
            if packed {
                matrix.packed();
            }
            if transposed {
                matrix.transposed();
            }
            ((task, weight), Arc::new(matrix))
        };
        let prepared = parallel::map_elements(elements, used.iter().collect(), prepare);
        self.0.folded.lock().unwrap_or_else(PoisonError::into_inner).extend(prepared);
    }

    /// The weights that passes have read so far.
    pub(crate) fn used(&self) -> Vec<UsedWeight> {
        let folded = self.0.folded.lock().unwrap_or_else(PoisonError::into_inner);
        let used = |(&(_, weight), matrix): (&(usize, FoldedWeight), &Arc<WeightMatrix>)| UsedWeight {
            weight,
            packed: matrix.packed.get().is_some(),
            transposed: matrix.transposed.get().is_some(),
        };
        folded.iter().map(used).collect()
    }

    /// The layers of a message function as the kernel reads them, packed on first use.
    pub(crate) fn packed_messages(
        &self,
        task: usize,
        layer: ParamId,
        pack: impl FnOnce() -> PackedWeights,
    ) -> Arc<PackedWeights> {
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(messages.entry((task, layer)).or_insert_with(|| Arc::new(pack())))
    }
}

impl Shared {
    /// Values of a folded weight, row by row, and its number of columns.
    fn fold(&self, layers: &TaskLayers, weight: FoldedWeight) -> (Vec<f32>, usize) {
        let (h, values) = (layers.hidden, &self.values);
        let encoding = |location| Encoding::new(values, layers, location);
        let add_product = |rows: &[f32], layer: Linear, sum: &mut [f32]| {
            let shape = [rows.len() / h, h, layer.outputs];
            let weight = &values[layer.weight.0][..h * layer.outputs];
            matmul(Isa::best(), shape, rows, weight, Accumulate::Output, Epilogue::Identity, sum);
        };
        match weight {
            FoldedWeight::Parameter(ParamId(index)) => (values[index].clone(), self.shapes[index][1]),
            FoldedWeight::Block(ParamId(index), block) => {
                let columns = self.shapes[index][1];
                (values[index][block * h * columns..][..h * columns].to_vec(), columns)
            }
            FoldedWeight::Encoders(location) => (encoding(location).weights().to_vec(), h),
            FoldedWeight::EncoderBias(location) => (encoding(location).bias().to_vec(), h),
            FoldedWeight::Layer(layer, location) => {
                let encoding = encoding(location);
                let mut product = vec![0.0; encoding.channels * layer.outputs];
                add_product(encoding.weights(), layer, &mut product);
                (product, layer.outputs)
            }
            FoldedWeight::LayerBias(layer, location) => {
                let mut sum = values[layer.bias.0].clone();
                add_product(encoding(location).bias(), layer, &mut sum);
                (sum, layer.outputs)
            }
            FoldedWeight::NodeHints(term) => {
                let blocks: Vec<_> = layers.node_hints.iter().map(|&layer| self.fold(layers, term.of(layer))).collect();
                let columns: usize = blocks.iter().map(|(_, columns)| columns).sum();
                let rows = blocks.iter().map(|(values, columns)| values.len() / columns).max().unwrap_or(0);
                let row = |row: usize| blocks.iter().flat_map(move |(values, columns)| &values[row * columns..][..*columns]);
                ((0..rows).flat_map(row).copied().collect(), columns)
            }
        }
    }
}

/// Unfolds gradients of folded weights into gradients of parameters, in the order of [`Parameters::list`]. `None` where no folded
/// weight depends on a parameter.
pub(crate) fn gradients(parameters: &Parameters, layers: &TaskLayers, folded: FoldedGradients) -> Vec<Option<Vec<f32>>> {
    let mut gradients = ParameterGradients { parameters, values: vec![None; parameters.list().len()] };
    let mut encodings: BTreeMap<Location, EncodingGradient> = BTreeMap::new();
    let encoding = |location| EncodingGradient::new(Encoding::new(parameters.values(), layers, location));
    for (weight, gradient) in folded.into_iter().flat_map(|(weight, gradient)| split_node_hints(layers, weight, gradient)) {
        match weight {
            FoldedWeight::NodeHints(_) => unreachable!("split into layers above"),
            FoldedWeight::Parameter(id) => gradients.add(id, gradient),
            FoldedWeight::Block(id, block) => add(&mut gradients.of(id)[block * gradient.len()..], &gradient),
            FoldedWeight::Encoders(location) => {
                encodings.entry(location).or_insert_with(|| encoding(location)).add(0, &gradient);
            }
            FoldedWeight::EncoderBias(location) => {
                let encoding = encodings.entry(location).or_insert_with(|| encoding(location));
                encoding.add(encoding.encoding.bias_offset(), &gradient);
            }
            FoldedWeight::Layer(layer, location) => {
                let encoding = encodings.entry(location).or_insert_with(|| encoding(location));
                encoding.layer(0..encoding.encoding.channels, layer, &gradient, &mut gradients);
            }
            FoldedWeight::LayerBias(layer, location) => {
                add(gradients.of(layer.bias), &gradient);
                let encoding = encodings.entry(location).or_insert_with(|| encoding(location));
                let channels = encoding.encoding.channels;
                encoding.layer(channels..channels + 1, layer, &gradient, &mut gradients);
            }
        }
    }
    for (location, EncodingGradient { encoding, d_rows }) in encodings {
        let (weights, bias) = d_rows.split_at(encoding.bias_offset());
        let mut from = 0;
        for layer in layers.encoders(location) {
            let count = parameters.values()[layer.weight.0].len();
            add(gradients.of(layer.weight), &weights[from..from + count]);
            add(gradients.of(layer.bias), bias);
            from += count;
        }
    }
    gradients.values
}

/// Splits the gradient of [`FoldedWeight::NodeHints`] into those of its layers.
fn split_node_hints(layers: &TaskLayers, weight: FoldedWeight, gradient: Vec<f32>) -> Vec<(FoldedWeight, Vec<f32>)> {
    let FoldedWeight::NodeHints(term) = weight else { return vec![(weight, gradient)] };
    let columns: usize = layers.node_hints.iter().map(|layer| layer.outputs).sum();
    let mut from = 0;
    let split = |&layer: &Linear| {
        let range = from..from + layer.outputs;
        from = range.end;
        (term.of(layer), gradient.chunks_exact(columns).flat_map(|row| &row[range.clone()]).copied().collect())
    };
    layers.node_hints.iter().map(split).collect()
}

/// Gradients of parameters, allocated when something is added.
struct ParameterGradients<'p> {
    parameters: &'p Parameters,
    values: Vec<Option<Vec<f32>>>,
}

impl ParameterGradients<'_> {
    fn add(&mut self, id: ParamId, gradient: Vec<f32>) {
        match &mut self.values[id.0] {
            sum @ None => *sum = Some(gradient),
            Some(sum) => add(sum, &gradient),
        }
    }

    fn of(&mut self, ParamId(index): ParamId) -> &mut [f32] {
        self.values[index].get_or_insert_with(|| vec![0.0; self.parameters.values()[index].len()])
    }
}

/// Adds elementwise.
pub(crate) fn add(sum: &mut [f32], terms: &[f32]) {
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

/// All encoders of a location as one matrix: a row per channel, then a row with the sum of the biases. A location without
/// encoders has one channel, which is always 0, with a row of zeros.
struct Encoding {
    channels: usize,
    hidden: usize,
    rows: Vec<f32>,
}

impl Encoding {
    fn new(values: &[Vec<f32>], layers: &TaskLayers, location: Location) -> Encoding {
        let hidden = layers.hidden;
        let mut rows: Vec<f32> = layers.encoders(location).flat_map(|layer| &values[layer.weight.0]).copied().collect();
        if rows.is_empty() {
            rows = vec![0.0; hidden];
        }
        let channels = rows.len() / hidden;
        rows.resize(rows.len() + hidden, 0.0);
        layers.encoders(location).for_each(|layer| add(&mut rows[channels * hidden..], &values[layer.bias.0]));
        Encoding { channels, hidden, rows }
    }

    fn bias_offset(&self) -> usize {
        self.channels * self.hidden
    }

    fn weights(&self) -> &[f32] {
        &self.rows[..self.bias_offset()]
    }

    fn bias(&self) -> &[f32] {
        &self.rows[self.bias_offset()..]
    }
}

/// Gradient of an [`Encoding`].
struct EncodingGradient {
    encoding: Encoding,
    d_rows: Vec<f32>,
}

impl EncodingGradient {
    fn new(encoding: Encoding) -> EncodingGradient {
        EncodingGradient { d_rows: vec![0.0; encoding.rows.len()], encoding }
    }

    fn add(&mut self, from: usize, gradient: &[f32]) {
        add(&mut self.d_rows[from..], gradient);
    }

    /// Backward of `R W`, a layer on top of some rows `R`.
    fn layer(&mut self, rows: Range<usize>, layer: Linear, gradient: &[f32], gradients: &mut ParameterGradients<'_>) {
        let (isa, h, outputs) = (Isa::best(), self.encoding.hidden, layer.outputs);
        let (count, range) = (rows.len(), rows.start * h..rows.end * h);
        let weight = &gradients.parameters.values()[layer.weight.0][..h * outputs];
        // There are few rows: a product with each is faster than transposing the weight.
        for (gradient, d_row) in gradient.chunks_exact(outputs).zip(self.d_rows[range.clone()].chunks_exact_mut(h)) {
            add_matvec(isa, weight, gradient, d_row);
        }
        let d_weight = &mut gradients.of(layer.weight)[..h * outputs];
        add_matmul_tn(isa, [count, h, outputs], &self.encoding.rows[range], gradient, d_weight, &mut Scratch::default());
    }
}

/// A folded weight in the layouts that operations read, each created on first use.
pub(crate) struct WeightMatrix {
    /// Row-major values.
    values: Vec<f32>,
    columns: usize,
    device: Device,
    /// Without a gradient: every forward pass has its own leaves.
    tensor: OnceLock<Tensor<2>>,
    packed: OnceLock<PackedMatrix>,
    transposed: OnceLock<PackedMatrix>,
}

impl WeightMatrix {
    fn new(values: Vec<f32>, columns: usize, device: &Device) -> WeightMatrix {
        let device = device.clone();
        WeightMatrix { values, columns, device, tensor: OnceLock::new(), packed: OnceLock::new(), transposed: OnceLock::new() }
    }

    /// Rows and columns.
    pub(crate) fn dims(&self) -> [usize; 2] {
        [self.values.len() / self.columns, self.columns]
    }

    /// Row-major values.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// For tensor operations.
    pub(crate) fn tensor(&self) -> Tensor<2> {
        let make = || Tensor::from_data(TensorData::new(self.values.clone(), self.dims()), &self.device);
        self.tensor.get_or_init(make).clone()
    }

    /// For matrix products.
    pub(crate) fn packed(&self) -> &PackedMatrix {
        let [rows, columns] = self.dims();
        self.packed.get_or_init(|| PackedMatrix::new(&self.values, rows, columns))
    }

    /// The transpose, for backward products.
    pub(crate) fn transposed(&self) -> &PackedMatrix {
        let [rows, columns] = self.dims();
        self.transposed.get_or_init(|| PackedMatrix::transposed(&self.values, columns, rows))
    }
}

/// Gradient of a folded weight, accumulated over steps.
#[derive(Debug, Default)]
pub(crate) struct GradAccumulator(RefCell<Vec<f32>>);

impl GradAccumulator {
    /// Lets a closure add to the gradient, which starts as `count` zeros.
    pub(crate) fn add<T>(&self, count: usize, add: impl FnOnce(&mut [f32]) -> T) -> T {
        let mut values = self.0.borrow_mut();
        if values.is_empty() {
            values.resize(count, 0.0);
        }
        add(&mut values)
    }

    /// Returns the gradient and resets it; empty if nothing was added.
    pub(crate) fn take(&self) -> Vec<f32> {
        self.0.take()
    }
}
