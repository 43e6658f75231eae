//! Values of parameters for one update or one evaluation, and what is made of them once for all parts of a batch.
//!
//! All encoders are linear: the encoding of a node is `x E + e`, where `x` holds the few numbers that its probes give. A layer
//! on top of it computes `(x E + e) W + b = x (E W) + (e W + b)`. So an edge carries its raw numbers and never `H` encoded ones.
//! The products `E W` are pieces like others: parts of a batch find gradients of pieces, and these become gradients of
//! parameters once, when all parts are added up.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use burn::tensor::{Device, Tensor, TensorData};
use clrs_kernels::gemm::Packed;

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

    /// The layers of messages as kernels read them, made when they are first asked for.
    pub(crate) fn messages(&self, task: usize, layer: Handle, make: impl FnOnce() -> Prepared) -> Arc<Prepared> {
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(messages.entry((task, layer)).or_insert_with(|| Arc::new(make())))
    }

    /// Gradients of parameters from those of pieces, in the order of [`Parameters::list`]; none where nothing depends on one.
    pub(crate) fn gradients(&self, encoders: &Encoders, of_pieces: PieceGradients) -> Vec<Option<Vec<f32>>> {
        let values = &self.0.values;
        let mut gradients: Vec<Option<Vec<f32>>> = vec![None; values.len()];
        let mut add = |Handle(place): Handle, from: usize, more: &[f32]| {
            let count = values[place].shape().num_elements();
            let into = gradients[place].get_or_insert_with(|| vec![0.0; count]);
            into[from..from + more.len()].iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        let tracked: Vec<Tensor<2>> = values.iter().map(|value| self.leaf(value.clone())).collect();
        let mut sum: Option<Tensor<1>> = None;
        for (piece, gradient) in of_pieces {
            match piece {
                Piece::Whole(handle) => add(handle, 0, &gradient),
                Piece::Block(handle, number) => add(handle, number * gradient.len(), &gradient),
                _ => {
                    // What has this gradient: their product's.
                    let made = compose(&tracked, encoders, piece);
                    let gradient = Tensor::<2>::from_data(TensorData::new(gradient, made.dims()), &self.device());
                    let product = (made * gradient).sum();
                    sum = Some(match sum {
                        None => product,
                        Some(sum) => sum + product,
                    });
                }
            }
        }
        if let Some(sum) = sum {
            let mut found = sum.backward();
            for (place, value) in tracked.iter().enumerate() {
                if let Some(gradient) = value.grad_remove(&mut found) {
                    add(Handle(place), 0, &gradient.try_into_vec_as().expect("f32"));
                }
            }
        }
        gradients
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
