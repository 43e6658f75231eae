//! Values of parameters for one update or one evaluation, and what is made of them once for all parts of a batch.
//!
//! All encoders are linear: the encoding of a node is `x E + e`, where `x` holds the few numbers that its probes give. A layer
//! on top of it computes `(x E + e) W + b = x (E W) + (e W + b)`. So an edge carries its raw numbers and never `H` encoded ones.
//! The products `E W` are pieces like others: parts of a batch find gradients of pieces, and these become gradients of
//! parameters once, when all parts are added up.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use burn::tensor::{Device, Tensor, TensorData};
use clrs_kernels::gemm::{Accumulate, Epilogue, PackedMatrix, add_matmul_tn, matmul, matmul_packed};
use clrs_kernels::{Isa, Scratch};

use crate::model::encoders::{Encoders, Place};
use crate::exec::fused::PackedWeights;
use crate::model::task_modules::TaskModules;
use crate::exec::parameters::{ParamId, Linear, Parameters, matrix_shape};

/// Something that is multiplied with, or added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FoldedWeight {
    /// A parameter.
    Whole(ParamId),
    /// The `H` rows of a weight with that number: the first are for encodings, those behind for hidden states.
    Block(ParamId, usize),
    /// The encoders of a place, `[channels, H]`.
    Encoders(Place),
    /// The sum of their biases, `[1, H]`.
    EncoderBias(Place),
    /// A layer on top of them, `[channels, outputs]`.
    Layer(Linear, Place),
    /// What such a layer adds, `[1, outputs]`.
    LayerBias(Linear, Place),
    /// The same of all hints that read nodes alone, side by side.
    Joined(Term),
}

/// What a decoder multiplies with something of a node, or adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term {
    /// With its raw channels.
    Raw,
    /// With its hidden state before the step.
    Hidden,
    /// With that after it.
    Next,
    Bias,
}

impl Term {
    /// The piece of one layer.
    fn of(self, layer: Linear) -> FoldedWeight {
        match self {
            Term::Raw => FoldedWeight::Layer(layer, Place::Nodes),
            Term::Hidden => FoldedWeight::Block(layer.weight, 1),
            Term::Next => FoldedWeight::Block(layer.weight, 2),
            Term::Bias => FoldedWeight::LayerBias(layer, Place::Nodes),
        }
    }
}

/// Gradients of pieces.
pub(crate) type FoldedGradients = BTreeMap<FoldedWeight, Vec<f32>>;

/// Values of parameters. Copies share them, and what was made of them.
#[derive(Clone)]
pub struct Weights(Arc<Shared>);

struct Shared {
    values: Vec<Vec<f32>>,
    shapes: Vec<[usize; 2]>,
    device: Device,
    learns: bool,
    /// Pieces differ with the encoders, so by algorithm.
    pieces: Mutex<HashMap<(usize, FoldedWeight), Arc<Matrix>>>,
    messages: Mutex<HashMap<(usize, ParamId), Arc<PackedWeights>>>,
}

impl Weights {
    /// For passes that do not learn.
    pub(crate) fn fixed(parameters: &Parameters, device: &Device) -> Weights {
        Weights::new(parameters, device, false)
    }

    /// For passes whose gradients are wanted.
    pub(crate) fn tracked(parameters: &Parameters, device: &Device) -> Weights {
        Weights::new(parameters, device, true)
    }

    fn new(parameters: &Parameters, device: &Device, learns: bool) -> Weights {
        let values = parameters.values().to_vec();
        let shapes = parameters.list().iter().map(|parameter| matrix_shape(&parameter.shape)).collect();
        let device = device.clone();
        Weights(Arc::new(Shared { values, shapes, device, learns, pieces: Mutex::default(), messages: Mutex::default() }))
    }

    /// Where passes are computed.
    pub(crate) fn device(&self) -> Device {
        let device = self.0.device.clone();
        if self.0.learns { device.autodiff() } else { device }
    }

    /// A tensor for a pass, with a gradient of its own if any are wanted.
    pub(crate) fn leaf<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        if self.0.learns { tensor.autodiff().require_grad() } else { tensor }
    }

    /// A piece, made when it is first asked for.
    pub(crate) fn piece(&self, task: usize, heads: &TaskModules, piece: FoldedWeight) -> Arc<Matrix> {
        let mut pieces = self.0.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let (values, columns) = self.0.compose(heads, piece);
            Arc::new(Matrix::new(values, columns, &self.0.device))
        };
        Arc::clone(pieces.entry((task, piece)).or_insert_with(make))
    }

    /// The layers of messages as kernels read them, made when they are first asked for.
    pub(crate) fn messages(&self, task: usize, layer: ParamId, make: impl FnOnce() -> PackedWeights) -> Arc<PackedWeights> {
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(messages.entry((task, layer)).or_insert_with(|| Arc::new(make())))
    }
}

impl Shared {
    /// The numbers of a piece, row by row, and how many columns it has.
    fn compose(&self, heads: &TaskModules, piece: FoldedWeight) -> (Vec<f32>, usize) {
        let (h, values) = (heads.encoders.hidden, &self.values);
        let encoding = |place| Encoding::new(values, &heads.encoders, place);
        let on_top = |rows: &[f32], layer: Linear, sum: &mut [f32]| {
            let shape = [rows.len() / h, h, layer.outputs];
            let weight = &values[layer.weight.0][..h * layer.outputs];
            matmul(Isa::best(), shape, rows, weight, Accumulate::Output, Epilogue::Identity, sum);
        };
        match piece {
            FoldedWeight::Whole(ParamId(place)) => (values[place].clone(), self.shapes[place][1]),
            FoldedWeight::Block(ParamId(place), number) => {
                let columns = self.shapes[place][1];
                (values[place][number * h * columns..][..h * columns].to_vec(), columns)
            }
            FoldedWeight::Encoders(place) => (encoding(place).of_channels().to_vec(), h),
            FoldedWeight::EncoderBias(place) => (encoding(place).bias().to_vec(), h),
            FoldedWeight::Layer(layer, place) => {
                let encoding = encoding(place);
                let mut sum = vec![0.0; encoding.channels * layer.outputs];
                on_top(encoding.of_channels(), layer, &mut sum);
                (sum, layer.outputs)
            }
            FoldedWeight::LayerBias(layer, place) => {
                let mut sum = values[layer.bias.0].clone();
                on_top(encoding(place).bias(), layer, &mut sum);
                (sum, layer.outputs)
            }
            FoldedWeight::Joined(term) => {
                let parts: Vec<_> = heads.decoders.joined.iter().map(|&layer| self.compose(heads, term.of(layer))).collect();
                let columns: usize = parts.iter().map(|(_, columns)| columns).sum();
                let rows = parts.iter().map(|(values, columns)| values.len() / columns).max().unwrap_or(0);
                let row = |row: usize| parts.iter().flat_map(move |(values, columns)| &values[row * columns..][..*columns]);
                ((0..rows).flat_map(row).copied().collect(), columns)
            }
        }
    }
}

/// Gradients of parameters from those of pieces, in the order of [`Parameters::list`]; none where nothing depends on one.
pub(crate) fn gradients(parameters: &Parameters, heads: &TaskModules, of_pieces: FoldedGradients) -> Vec<Option<Vec<f32>>> {
    let encoders = &heads.encoders;
    let mut gradients = Found { parameters, gradients: vec![None; parameters.list().len()] };
    let mut places: BTreeMap<Place, EncodingBack> = BTreeMap::new();
    let encoding = |place| EncodingBack::new(Encoding::new(parameters.values(), encoders, place));
    for (piece, gradient) in of_pieces.into_iter().flat_map(|(piece, gradient)| apart(heads, piece, gradient)) {
        match piece {
            FoldedWeight::Joined(_) => unreachable!("taken apart"),
            FoldedWeight::Whole(handle) => add(gradients.of(handle), &gradient),
            FoldedWeight::Block(handle, number) => add(&mut gradients.of(handle)[number * gradient.len()..], &gradient),
            FoldedWeight::Encoders(place) => places.entry(place).or_insert_with(|| encoding(place)).add(0, &gradient),
            FoldedWeight::EncoderBias(place) => {
                let encoding = places.entry(place).or_insert_with(|| encoding(place));
                encoding.add(encoding.of.bias_place(), &gradient);
            }
            FoldedWeight::Layer(layer, place) => {
                let encoding = places.entry(place).or_insert_with(|| encoding(place));
                encoding.layer(0..encoding.of.channels, layer, &gradient, &mut gradients);
            }
            FoldedWeight::LayerBias(layer, place) => {
                add(gradients.of(layer.bias), &gradient);
                let encoding = places.entry(place).or_insert_with(|| encoding(place));
                encoding.layer(encoding.of.channels..encoding.of.channels + 1, layer, &gradient, &mut gradients);
            }
        }
    }
    for (place, EncodingBack { of, d_rows }) in places {
        let (weights, bias) = d_rows.split_at(of.bias_place());
        let mut from = 0;
        for layer in encoders.at(place) {
            let count = parameters.values()[layer.weight.0].len();
            add(gradients.of(layer.weight), &weights[from..from + count]);
            add(gradients.of(layer.bias), bias);
            from += count;
        }
    }
    gradients.gradients
}

/// The gradients of the pieces that a piece is made of.
fn apart(heads: &TaskModules, piece: FoldedWeight, gradient: Vec<f32>) -> Vec<(FoldedWeight, Vec<f32>)> {
    let FoldedWeight::Joined(term) = piece else { return vec![(piece, gradient)] };
    let layers = &heads.decoders.joined;
    let columns: usize = layers.iter().map(|layer| layer.outputs).sum();
    let mut from = 0;
    let one = |&layer: &Linear| {
        let range = from..from + layer.outputs;
        from = range.end;
        (term.of(layer), gradient.chunks_exact(columns).flat_map(|row| &row[range.clone()]).copied().collect())
    };
    layers.iter().map(one).collect()
}

/// What was found of the gradients of parameters.
struct Found<'p> {
    parameters: &'p Parameters,
    gradients: Vec<Option<Vec<f32>>>,
}

impl Found<'_> {
    fn of(&mut self, ParamId(place): ParamId) -> &mut [f32] {
        self.gradients[place].get_or_insert_with(|| vec![0.0; self.parameters.values()[place].len()])
    }
}

/// Adds numbers to others, place by place.
pub(crate) fn add(sum: &mut [f32], more: &[f32]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The encoders of a place: a row for each channel, then the sum of their biases. Where nothing is said, there is one channel that is
/// always 0, and its row is 0.
struct Encoding {
    channels: usize,
    hidden: usize,
    rows: Vec<f32>,
}

impl Encoding {
    fn new(values: &[Vec<f32>], encoders: &Encoders, place: Place) -> Encoding {
        let hidden = encoders.hidden;
        let mut rows: Vec<f32> = encoders.at(place).flat_map(|layer| &values[layer.weight.0]).copied().collect();
        if rows.is_empty() {
            rows = vec![0.0; hidden];
        }
        let channels = rows.len() / hidden;
        rows.resize(rows.len() + hidden, 0.0);
        encoders.at(place).for_each(|layer| add(&mut rows[channels * hidden..], &values[layer.bias.0]));
        Encoding { channels, hidden, rows }
    }

    fn bias_place(&self) -> usize {
        self.channels * self.hidden
    }

    fn of_channels(&self) -> &[f32] {
        &self.rows[..self.bias_place()]
    }

    fn bias(&self) -> &[f32] {
        &self.rows[self.bias_place()..]
    }
}

/// The gradient of encoders.
struct EncodingBack {
    of: Encoding,
    d_rows: Vec<f32>,
}

impl EncodingBack {
    fn new(of: Encoding) -> EncodingBack {
        EncodingBack { d_rows: vec![0.0; of.rows.len()], of }
    }

    fn add(&mut self, from: usize, gradient: &[f32]) {
        add(&mut self.d_rows[from..], gradient);
    }

    /// A layer on top of some rows, `R W`, has a gradient.
    fn layer(&mut self, rows: Range<usize>, layer: Linear, gradient: &[f32], gradients: &mut Found<'_>) {
        let (isa, h, outputs) = (Isa::best(), self.of.hidden, layer.outputs);
        let (count, range) = (rows.len(), rows.start * h..rows.end * h);
        let weight = &gradients.parameters.values()[layer.weight.0][..h * outputs];
        let transposed = PackedMatrix::transposed(weight, outputs, h);
        matmul_packed(isa, gradient, &transposed, Accumulate::Output, Epilogue::Identity, &mut self.d_rows[range.clone()]);
        let into = &mut gradients.of(layer.weight)[..h * outputs];
        add_matmul_tn(isa, [count, h, outputs], &self.of.rows[range], gradient, into, &mut Scratch::default());
    }
}

/// A piece in the forms that it is needed in.
pub(crate) struct Matrix {
    /// Its numbers, row by row.
    values: Vec<f32>,
    columns: usize,
    device: Device,
    /// Without a gradient: each pass has leaves of its own.
    tensor: OnceLock<Tensor<2>>,
    packed: OnceLock<PackedMatrix>,
    transposed: OnceLock<PackedMatrix>,
}

impl Matrix {
    fn new(values: Vec<f32>, columns: usize, device: &Device) -> Matrix {
        let device = device.clone();
        Matrix { values, columns, device, tensor: OnceLock::new(), packed: OnceLock::new(), transposed: OnceLock::new() }
    }

    /// Rows and columns.
    pub(crate) fn dims(&self) -> [usize; 2] {
        [self.values.len() / self.columns, self.columns]
    }

    /// Its numbers, row by row.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// For ordinary operations.
    pub(crate) fn tensor(&self) -> Tensor<2> {
        let make = || Tensor::from_data(TensorData::new(self.values.clone(), self.dims()), &self.device);
        self.tensor.get_or_init(make).clone()
    }

    /// As products read it.
    pub(crate) fn packed(&self) -> &PackedMatrix {
        let [rows, columns] = self.dims();
        self.packed.get_or_init(|| PackedMatrix::new(&self.values, rows, columns))
    }

    /// Its transpose.
    pub(crate) fn transposed(&self) -> &PackedMatrix {
        let [rows, columns] = self.dims();
        self.transposed.get_or_init(|| PackedMatrix::transposed(&self.values, columns, rows))
    }
}

/// The gradient of a piece, added up over steps.
#[derive(Debug, Default)]
pub(crate) struct Sum(Mutex<Vec<f32>>);

impl Sum {
    /// Lets something be added; it starts at 0.
    pub(crate) fn add<T>(&self, count: usize, to: impl FnOnce(&mut [f32]) -> T) -> T {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if values.is_empty() {
            values.resize(count, 0.0);
        }
        to(&mut values)
    }

    /// What was added up.
    pub(crate) fn take(&self) -> Vec<f32> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
