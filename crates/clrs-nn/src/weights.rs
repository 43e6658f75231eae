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
use clrs_kernels::gemm::{End, Packed, Start, add_transposed_product, product};
use clrs_kernels::{Isa, Scratch};

use crate::encode::{Encoders, Place};
use crate::fused::Prepared;
use crate::parameters::{Handle, Linear, Parameters, matrix_shape};

/// Something that is multiplied with, or added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Piece {
    /// A parameter.
    Whole(Handle),
    /// The `H` rows of a weight with that number: the first are for encodings, those behind for hidden states.
    Block(Handle, usize),
    /// The encoders of a place, `[channels, H]`.
    Encoders(Place),
    /// The sum of their biases, `[1, H]`.
    EncoderBias(Place),
    /// A layer on top of them, `[channels, outputs]`.
    Layer(Linear, Place),
    /// What such a layer adds, `[1, outputs]`.
    LayerBias(Linear, Place),
}

/// Gradients of pieces.
pub(crate) type PieceGradients = BTreeMap<Piece, Vec<f32>>;

/// Values of parameters on a device. Copies share them, and what was made of them.
#[derive(Clone)]
pub struct Weights(Arc<Shared>);

struct Shared {
    /// Without gradients: each pass has leaves of its own.
    values: Vec<Tensor<2>>,
    learns: bool,
    /// Pieces differ with the encoders, so by algorithm.
    pieces: Mutex<HashMap<(usize, Piece), Arc<Matrix>>>,
    messages: Mutex<HashMap<(usize, Handle), Arc<Prepared>>>,
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
        let tensor = |(shape, values): (&[usize], &Vec<f32>)| {
            Tensor::from_data(TensorData::new(values.clone(), matrix_shape(shape)), device)
        };
        let shapes = parameters.list().iter().map(|parameter| &parameter.shape[..]);
        let values = shapes.zip(parameters.values()).map(tensor).collect();
        Weights(Arc::new(Shared { values, learns, pieces: Mutex::default(), messages: Mutex::default() }))
    }

    /// Where passes are computed.
    pub(crate) fn device(&self) -> Device {
        let device = self.0.values[0].device();
        if self.0.learns { device.autodiff() } else { device }
    }

    /// A tensor for a pass, with a gradient of its own if any are wanted.
    pub(crate) fn leaf<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        if self.0.learns { tensor.autodiff().require_grad() } else { tensor }
    }

    /// A piece, made when it is first asked for.
    pub(crate) fn piece(&self, task: usize, encoders: &Encoders, piece: Piece) -> Arc<Matrix> {
        let pieces = || self.0.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pieces().get(&(task, piece)).cloned();
        known.unwrap_or_else(|| {
            // Not under the lock: a thread that computes may take up other work meanwhile, which asks for pieces too. Made twice it
            // is the same.
            let made = Arc::new(Matrix::new(compose(&self.0.values, encoders, piece)));
            Arc::clone(pieces().entry((task, piece)).or_insert(made))
        })
    }

    /// The layers of messages as kernels read them, made when they are first asked for. Copying takes up no other work.
    pub(crate) fn messages(&self, task: usize, layer: Handle, make: impl FnOnce() -> Prepared) -> Arc<Prepared> {
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(messages.entry((task, layer)).or_insert_with(|| Arc::new(make())))
    }
}

/// Gradients of parameters from those of pieces, in the order of [`Parameters::list`]; none where nothing depends on one.
pub(crate) fn gradients(parameters: &Parameters, encoders: &Encoders, of_pieces: PieceGradients) -> Vec<Option<Vec<f32>>> {
    let mut gradients = Found { parameters, gradients: vec![None; parameters.list().len()] };
    let mut places: BTreeMap<Place, Encoding> = BTreeMap::new();
    let encoding = |place| Encoding::new(parameters, encoders, place);
    for (piece, gradient) in of_pieces {
        match piece {
            Piece::Whole(handle) => add(gradients.of(handle), &gradient),
            Piece::Block(handle, number) => add(&mut gradients.of(handle)[number * gradient.len()..], &gradient),
            Piece::Encoders(place) => places.entry(place).or_insert_with(|| encoding(place)).add(0, &gradient),
            Piece::EncoderBias(place) => {
                let encoding = places.entry(place).or_insert_with(|| encoding(place));
                encoding.add(encoding.channels * encoding.hidden, &gradient);
            }
            Piece::Layer(layer, place) => {
                let encoding = places.entry(place).or_insert_with(|| encoding(place));
                encoding.layer(0..encoding.channels, layer, &gradient, &mut gradients);
            }
            Piece::LayerBias(layer, place) => {
                add(gradients.of(layer.bias), &gradient);
                let encoding = places.entry(place).or_insert_with(|| encoding(place));
                encoding.layer(encoding.channels..encoding.channels + 1, layer, &gradient, &mut gradients);
            }
        }
    }
    for (place, Encoding { d_rows, hidden, channels, .. }) in places {
        let (weights, bias) = d_rows.split_at(channels * hidden);
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

/// What was found of the gradients of parameters.
struct Found<'p> {
    parameters: &'p Parameters,
    gradients: Vec<Option<Vec<f32>>>,
}

impl Found<'_> {
    fn of(&mut self, Handle(place): Handle) -> &mut [f32] {
        self.gradients[place].get_or_insert_with(|| vec![0.0; self.parameters.values()[place].len()])
    }
}

/// Adds numbers to others, place by place.
pub(crate) fn add(sum: &mut [f32], more: &[f32]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The encoders of a place, a row for each channel and then the sum of their biases, and their gradient.
struct Encoding<'p> {
    parameters: &'p Parameters,
    channels: usize,
    hidden: usize,
    rows: Vec<f32>,
    d_rows: Vec<f32>,
}

impl<'p> Encoding<'p> {
    fn new(parameters: &'p Parameters, encoders: &Encoders, place: Place) -> Encoding<'p> {
        let (hidden, values) = (encoders.hidden, parameters.values());
        let mut rows: Vec<f32> = encoders.at(place).flat_map(|layer| &values[layer.weight.0]).copied().collect();
        if rows.is_empty() {
            rows = vec![0.0; hidden]; // as `nothing`
        }
        let channels = rows.len() / hidden;
        rows.resize(rows.len() + hidden, 0.0);
        encoders.at(place).for_each(|layer| add(&mut rows[channels * hidden..], &values[layer.bias.0]));
        Encoding { parameters, channels, hidden, d_rows: vec![0.0; rows.len()], rows }
    }

    fn add(&mut self, from: usize, gradient: &[f32]) {
        add(&mut self.d_rows[from..], gradient);
    }

    /// A layer on top of some rows, `R W`, has a gradient.
    fn layer(&mut self, rows: Range<usize>, layer: Linear, gradient: &[f32], gradients: &mut Found<'_>) {
        let (isa, h, outputs) = (Isa::best(), self.hidden, layer.outputs);
        let (count, range) = (rows.len(), rows.start * h..rows.end * h);
        let weight = &self.parameters.values()[layer.weight.0][..h * outputs];
        let into = &mut gradients.of(layer.weight)[..h * outputs];
        let scratch = &mut Scratch::default();
        add_transposed_product(isa, [count, h, outputs], &self.rows[range.clone()], gradient, into, scratch);
        let transposed = Packed::transposed(weight, outputs, h);
        product(isa, gradient, &transposed, Start::Result, End::Linear, &mut self.d_rows[range]);
    }
}

fn compose(values: &[Tensor<2>], encoders: &Encoders, piece: Piece) -> Tensor<2> {
    let h = encoders.hidden;
    let get = |Handle(place): Handle| values[place].clone();
    match piece {
        Piece::Whole(handle) => get(handle),
        Piece::Block(handle, number) => get(handle).slice([number * h..(number + 1) * h]),
        Piece::Encoders(place) => {
            let matrices: Vec<_> = encoders.at(place).map(|layer| get(layer.weight)).collect();
            if matrices.is_empty() { nothing(values, h) } else { Tensor::cat(matrices, 0) }
        }
        Piece::EncoderBias(place) => {
            let biases = encoders.at(place).map(|layer| get(layer.bias));
            biases.reduce(|sum, bias| sum + bias).unwrap_or_else(|| nothing(values, h))
        }
        Piece::Layer(layer, place) => compose(values, encoders, Piece::Encoders(place)).matmul(first(values, layer, h)),
        Piece::LayerBias(layer, place) => {
            compose(values, encoders, Piece::EncoderBias(place)).matmul(first(values, layer, h)) + get(layer.bias)
        }
    }
}

/// The rows of a layer that encodings meet.
fn first(values: &[Tensor<2>], layer: Linear, h: usize) -> Tensor<2> {
    values[layer.weight.0].clone().slice([0..h])
}

/// Where nothing is said: one channel that is 0, and an encoder that is 0.
fn nothing(values: &[Tensor<2>], h: usize) -> Tensor<2> {
    Tensor::zeros([1, h], &values[0].device())
}

/// A piece in the forms that it is needed in.
pub(crate) struct Matrix {
    pub(crate) tensor: Tensor<2>,
    values: OnceLock<Vec<f32>>,
    packed: OnceLock<Packed>,
    transposed: OnceLock<Packed>,
}

impl Matrix {
    fn new(tensor: Tensor<2>) -> Matrix {
        Matrix { tensor, values: OnceLock::new(), packed: OnceLock::new(), transposed: OnceLock::new() }
    }

    /// Rows and columns.
    pub(crate) fn dims(&self) -> [usize; 2] {
        self.tensor.dims()
    }

    /// Its numbers, row by row.
    pub(crate) fn values(&self) -> &[f32] {
        self.values.get_or_init(|| self.tensor.clone().try_into_vec_as().expect("f32"))
    }

    /// As products read it.
    pub(crate) fn packed(&self) -> &Packed {
        let [rows, columns] = self.dims();
        self.packed.get_or_init(|| Packed::new(self.values(), rows, columns))
    }

    /// Its transpose.
    pub(crate) fn transposed(&self) -> &Packed {
        let [rows, columns] = self.dims();
        self.transposed.get_or_init(|| Packed::transposed(self.values(), columns, rows))
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
