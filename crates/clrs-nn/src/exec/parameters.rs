//! All numbers that are learnt: named matrices in one list.
//!
//! A layer is a handle on its place in the list, so that the optimiser, checkpoints and other programs see one flat thing, and
//! a pass through the network may read its parameters with or without tracking gradients.

use burn::tensor::Device;
use clrs::random::RandomState;

use crate::exec::weights::Weights;

/// The place of a parameter in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub(crate) usize);

/// What a parameter is called, here and elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in our files: `bfs/encoder/pos/weight`.
    pub name: String,
    /// Its name in dm-clrs: module and parameter.
    pub reference: String,
    /// Its shape in files: vectors have one axis there, and are matrices of one row here.
    pub shape: Vec<usize>,
    /// Whom it belongs to.
    pub owner: Owner,
}

/// Whom a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The processor, which all algorithms share.
    Processor,
    /// The encoders and decoders of an algorithm, by its place.
    Algorithm(usize),
}

/// A weight and a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// `[inputs, outputs]`
    pub weight: ParamId,
    /// `[1, outputs]`
    pub bias: ParamId,
    /// Number of outputs.
    pub outputs: usize,
}

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Everywhere the same.
    Constant(f32),
    /// A normal distribution without its tails beyond two deviations.
    Normal {
        /// The deviation before the tails are cut.
        deviation: f64,
    },
}

/// The parameters of a network and their values, which stay in the memory of the host: an optimiser goes over them once per
/// step, and checkpoints and other programs read them.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    pub(crate) list: Vec<Parameter>,
    pub(crate) values: Vec<Vec<f32>>,
}

impl Parameters {
    /// What they are called.
    pub fn list(&self) -> &[Parameter] {
        &self.list
    }

    /// Their values, in the same order.
    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    /// How many numbers there are in all.
    pub fn count(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }

    /// The values for passes that do not learn.
    pub fn fixed(&self, device: &Device) -> Weights {
        Weights::fixed(self, device)
    }

    /// The values for passes whose gradients are wanted.
    pub fn tracked(&self, device: &Device) -> Weights {
        Weights::tracked(self, device)
    }
}

/// The shape of a parameter as a matrix.
pub(crate) fn matrix_shape(shape: &[usize]) -> [usize; 2] {
    match *shape {
        [columns] => [1, columns],
        [rows, columns] => [rows, columns],
        _ => unreachable!("parameters are vectors and matrices"),
    }
}

/// Makes parameters while a network is put together.
pub struct ParameterBuilder {
    list: Vec<Parameter>,
    values: Vec<Vec<f32>>,
    random: RandomState,
    prefix: String,
    reference_prefix: String,
    owner: Owner,
}

impl ParameterBuilder {
    /// For a network that starts from a seed.
    pub fn new(seed: u32) -> ParameterBuilder {
        ParameterBuilder {
            list: Vec::new(),
            values: Vec::new(),
            random: RandomState::new(seed),
            prefix: String::new(),
            reference_prefix: String::new(),
            owner: Owner::Processor,
        }
    }

    /// What follows belongs to an owner; names begin with a prefix, ours and that of dm-clrs.
    pub fn begin(&mut self, owner: Owner, prefix: impl Into<String>, reference_prefix: impl Into<String>) {
        (self.owner, self.prefix, self.reference_prefix) = (owner, prefix.into(), reference_prefix.into());
    }

    /// A linear layer that starts as the reference's do: weights by fan-in, bias 0.
    pub fn linear(&mut self, name: &str, reference: &str, inputs: usize, outputs: usize) -> Linear {
        let deviation = 1.0 / (inputs as f64).sqrt();
        self.linear_from(name, reference, inputs, outputs, Init::Normal { deviation }, 0.0)
    }

    /// A linear layer that starts otherwise.
    pub fn linear_from(&mut self, name: &str, reference: &str, inputs: usize, outputs: usize, start: Init, bias: f32) -> Linear {
        Linear {
            weight: self.parameter(&format!("{name}/weight"), &format!("{reference}/w"), &[inputs, outputs], start),
            bias: self.parameter(&format!("{name}/bias"), &format!("{reference}/b"), &[outputs], Init::Constant(bias)),
            outputs,
        }
    }

    /// Any vector or matrix.
    pub fn parameter(&mut self, name: &str, reference: &str, shape: &[usize], start: Init) -> ParamId {
        let [rows, columns] = matrix_shape(shape);
        self.values.push((0..rows * columns).map(|_| draw(start, &mut self.random)).collect());
        self.list.push(Parameter {
            name: format!("{}{name}", self.prefix),
            reference: format!("{}{reference}", self.reference_prefix),
            shape: shape.to_vec(),
            owner: self.owner,
        });
        ParamId(self.list.len() - 1)
    }

    /// All of them.
    pub fn finish(self) -> Parameters {
        Parameters { list: self.list, values: self.values }
    }
}

fn draw(start: Init, random: &mut RandomState) -> f32 {
    match start {
        Init::Constant(value) => value,
        #[expect(clippy::cast_possible_truncation, reason = "parameters are f32")]
        Init::Normal { deviation } => loop {
            // Box and Muller's transform; 1 - x is never 0.
            let radius = (-2.0 * libm::log(1.0 - random.double())).sqrt();
            let normal = radius * libm::cos(std::f64::consts::TAU * random.double());
            if normal.abs() <= 2.0 {
                break (normal * deviation) as f32;
            }
        },
    }
}
