//! Trainable parameters: one flat list of named vectors and matrices.
//!
//! A layer holds indices into the list. The optimizer, checkpoints and other programs see the list alone, and a forward pass
//! reads it with or without tracking gradients.

use std::sync::Arc;

use clrs::random::RandomState;

/// Index of a parameter in [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub(crate) usize);

/// Name and shape of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Name in our files: `bfs/encoder/pos/weight`.
    pub name: String,
    /// Name in dm-clrs, module and parameter; `None` if dm-clrs does not have it.
    pub dm_clrs_name: Option<String>,
    /// Shape in files. A vector has one axis there; in computations it is a matrix of one row.
    pub shape: Vec<usize>,
    /// Module of the network that it belongs to.
    #[serde(skip)]
    pub owner: Owner,
}

impl Parameter {
    /// Module and name in dm-clrs, which stores parameters by module.
    pub fn dm_clrs_path(&self) -> Option<(&str, &str)> {
        self.dm_clrs_name.as_deref()?.rsplit_once('/')
    }
}

/// Module of the network that a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The processor, which all algorithms share.
    Processor,
    /// The LSTM behind the processor, which all algorithms share. As in dm-clrs, it is no part of a processor that is frozen or loaded.
    Lstm,
    /// Encoders and decoders of an algorithm, by its index among the tasks.
    Algorithm(usize),
}

/// A linear layer: indices of its weight and bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// `[inputs, outputs]`
    pub weight: ParamId,
    /// `[1, outputs]`
    pub bias: ParamId,
    /// Number of output features.
    pub outputs: usize,
}

/// Name of a layer or parameter, ours and dm-clrs's. A single text is the name of one that dm-clrs does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerName<'n> {
    name: &'n str,
    dm_clrs_name: Option<&'n str>,
}

impl<'n> From<&'n str> for LayerName<'n> {
    fn from(name: &'n str) -> LayerName<'n> {
        LayerName { name, dm_clrs_name: None }
    }
}

impl<'n> From<(&'n str, &'n str)> for LayerName<'n> {
    fn from((name, dm_clrs_name): (&'n str, &'n str)) -> LayerName<'n> {
        LayerName { name, dm_clrs_name: Some(dm_clrs_name) }
    }
}

/// Initializer of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Init {
    /// The same value everywhere.
    Constant(f32),
    /// Normal distribution around 0, truncated at two standard deviations.
    TruncatedNormal {
        /// Standard deviation before truncation.
        stddev: f64,
    },
}

/// Names, shapes and values of all parameters of a network.
///
/// Values are in host memory on every device: the optimizer passes over them once per step, and checkpoints and other programs
/// read them.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    pub(crate) list: Vec<Parameter>,
    /// Shared with the weights of a pass; an update happens when no pass is left, so it copies nothing.
    values: Arc<Vec<Vec<f32>>>,
}

impl Parameters {
    /// Names and shapes.
    pub fn list(&self) -> &[Parameter] {
        &self.list
    }

    /// Values, in the order of [`list`](Parameters::list).
    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut Vec<Vec<f32>> {
        Arc::make_mut(&mut self.values)
    }

    /// Names and shapes, and values to be changed.
    pub(crate) fn parts_mut(&mut self) -> (&[Parameter], &mut Vec<Vec<f32>>) {
        (&self.list, Arc::make_mut(&mut self.values))
    }

    pub(crate) fn shared_values(&self) -> Arc<Vec<Vec<f32>>> {
        Arc::clone(&self.values)
    }

    /// Total number of scalar parameters.
    pub fn count(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }
}

/// Shape of a parameter as a matrix.
pub(crate) fn matrix_shape(shape: &[usize]) -> [usize; 2] {
    match *shape {
        [columns] => [1, columns],
        [rows, columns] => [rows, columns],
        _ => unreachable!("parameters are vectors and matrices"),
    }
}

/// Creates parameters while a network is built.
///
/// ```
/// use clrs_nn::exec::parameters::{Owner, ParameterBuilder};
///
/// let mut builder = ParameterBuilder::new(42);
/// builder.scope(Owner::Processor, "processor/", Some("net/mpnn/"));
/// let layer = builder.linear(("skip", "linear"), 4, 2);
/// builder.linear("mine", 2, 2);
/// let parameters = builder.finish();
/// assert_eq!(layer.outputs, 2);
/// assert_eq!(parameters.list()[0].name, "processor/skip/weight");
/// assert_eq!(parameters.list()[0].dm_clrs_name.as_deref(), Some("net/mpnn/linear/w"));
/// assert_eq!(parameters.list()[2].dm_clrs_name, None);
/// assert_eq!(parameters.count(), 4 * 2 + 2 + 2 * 2 + 2);
/// ```
pub struct ParameterBuilder {
    list: Vec<Parameter>,
    values: Vec<Vec<f32>>,
    /// Stream of initial values; `None` counts parameters without creating them.
    random: Option<RandomState>,
    /// Number of scalar parameters.
    count: usize,
    prefix: String,
    dm_clrs_prefix: Option<String>,
    owner: Owner,
}

impl ParameterBuilder {
    /// Draws initial values from a seed.
    pub fn new(seed: u32) -> ParameterBuilder {
        ParameterBuilder {
            list: Vec::new(),
            values: Vec::new(),
            random: Some(RandomState::new(seed)),
            count: 0,
            prefix: String::new(),
            dm_clrs_prefix: None,
            owner: Owner::Processor,
        }
    }

    /// Counts parameters without creating their values.
    pub(crate) fn counting() -> ParameterBuilder {
        ParameterBuilder { random: None, ..ParameterBuilder::new(0) }
    }

    /// Number of scalar parameters so far.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Sets the owner and the name prefixes, ours and dm-clrs's, of the parameters that follow. Without a prefix in dm-clrs, they
    /// have no name there.
    pub fn scope<'p>(&mut self, owner: Owner, prefix: impl Into<String>, dm_clrs_prefix: impl Into<Option<&'p str>>) {
        (self.owner, self.prefix) = (owner, prefix.into());
        self.dm_clrs_prefix = dm_clrs_prefix.into().map(str::to_owned);
    }

    /// Adds a linear layer with dm-clrs's default initializers: weights scaled by fan-in, zero bias.
    pub fn linear<'n>(&mut self, name: impl Into<LayerName<'n>>, inputs: usize, outputs: usize) -> Linear {
        let stddev = 1.0 / (inputs as f64).sqrt();
        self.linear_with(name, [inputs, outputs], Init::TruncatedNormal { stddev }, 0.0)
    }

    /// Adds a linear layer `[inputs, outputs]` with an initializer for its weight and a constant initial bias.
    pub fn linear_with<'n>(&mut self, name: impl Into<LayerName<'n>>, shape: [usize; 2], weight: Init, bias: f32) -> Linear {
        let (LayerName { name, dm_clrs_name }, outputs) = (name.into(), shape[1]);
        let mut add = |ours: &str, theirs: &str, shape: &[usize], init| {
            let (name, dm_clrs_name) = (format!("{name}/{ours}"), dm_clrs_name.map(|name| format!("{name}/{theirs}")));
            self.parameter(LayerName { name: &name, dm_clrs_name: dm_clrs_name.as_deref() }, shape, init)
        };
        Linear { weight: add("weight", "w", &shape, weight), bias: add("bias", "b", &[outputs], Init::Constant(bias)), outputs }
    }

    /// Adds a vector or a matrix.
    pub fn parameter<'n>(&mut self, name: impl Into<LayerName<'n>>, shape: &[usize], init: Init) -> ParamId {
        let LayerName { name, dm_clrs_name } = name.into();
        let [rows, columns] = matrix_shape(shape);
        self.count = self.count.saturating_add(rows.saturating_mul(columns));
        let values = self.random.as_mut().map(|random| (0..rows * columns).map(|_| draw(init, random)).collect());
        self.values.push(values.unwrap_or_default());
        self.list.push(Parameter {
            name: format!("{}{name}", self.prefix),
            dm_clrs_name: self.dm_clrs_prefix.as_ref().zip(dm_clrs_name).map(|(prefix, name)| format!("{prefix}{name}")),
            shape: shape.to_vec(),
            owner: self.owner,
        });
        ParamId(self.list.len() - 1)
    }

    /// A name that several parameters have. Files store parameters by name, so all but one would be lost.
    pub(crate) fn duplicate(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.list.iter().map(|parameter| &*parameter.name).collect();
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    /// Returns the parameters.
    pub fn finish(self) -> Parameters {
        Parameters { list: self.list, values: Arc::new(self.values) }
    }
}

fn draw(init: Init, random: &mut RandomState) -> f32 {
    match init {
        Init::Constant(value) => value,
        #[expect(clippy::cast_possible_truncation, reason = "parameters are f32")]
        Init::TruncatedNormal { stddev } => loop {
            // Box-Muller transform; 1 - x is never 0.
            let radius = (-2.0 * libm::log(1.0 - random.double())).sqrt();
            let normal = radius * libm::cos(std::f64::consts::TAU * random.double());
            if normal.abs() <= 2.0 {
                break (normal * stddev) as f32;
            }
        },
    }
}
