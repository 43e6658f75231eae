//! Recipes: everything that determines a training run, as a TOML file.
//!
//! A file lists what differs from [`Recipe::default`]; any field can be overridden (`name=value`). Unknown fields are refused with a
//! suggestion. The complete recipe is written into the run directory.

use clrs::suggest::{did_you_mean, nearest};
use serde::{Deserialize, Serialize};

use super::data_source::DataSource;
use super::model::{ConfigError, ModelConfig, ensure};

/// Everything that determines a training run.
///
/// ```
/// use clrs_nn::Recipe;
///
/// let recipe = Recipe::parse("steps = 500", &["hidden=64", "lengths=4,8"])?;
/// assert_eq!((recipe.model.hidden, recipe.lengths, recipe.steps), (64, vec![4, 8], 500));
///
/// let unknown = Recipe::parse("hiden = 64", &[]).unwrap_err();
/// assert_eq!(unknown.to_string(), "unknown field `hiden`; did you mean `hidden`?");
/// # Ok::<(), clrs_nn::config::recipe::RecipeError>(())
/// ```
// No `deny_unknown_fields`: serde does not support it with `flatten`. [`Recipe::parse`] refuses unknown fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the file")]
pub struct Recipe {
    /// Algorithms to train on, in turn, with one shared processor.
    pub algorithms: Vec<String>,

    /// The model. In a file, its fields are beside the others.
    #[serde(flatten)]
    pub model: ModelConfig,

    /// Data source: a version of the benchmark (`clrs30@2.0.3`, `clrs30@1.0.0`, `clrs30@1.0.0-unsorted`), `on_the_fly`, or a directory
    /// of sets named `ALGORITHM_train.arrow` and `ALGORITHM_val.arrow`.
    pub data: DataSource,
    /// Order in which a fixed set is read: `sequential`, epoch after epoch, or `random`, with replacement.
    pub order: Order,
    /// Sizes of samples drawn on the fly, in turn.
    pub lengths: Vec<usize>,
    /// Edge probabilities of graphs drawn on the fly; every graph draws one. Halved for algorithms with very long trajectories.
    pub edge_probabilities: Vec<f64>,
    /// Whether `pos` is replaced by sorted uniform random values in training and validation.
    pub random_pos: bool,
    /// Whether `pred_h` hints that never change become inputs.
    pub pred_as_input: bool,
    /// How permutations are predicted: `sinkhorn` (a cyclic permutation and a mask of its first node) or `pointers`.
    pub permutations: Permutations,
    /// Samples per batch.
    pub batch_size: usize,
    /// Algorithm steps per update, carrying the recurrent state from chunk to chunk; 0 trains on complete trajectories.
    pub chunk_length: usize,

    /// Whether fused kernels are used on the CPU for processors, decoders and losses. Weight folding, hard Sinkhorn and Adam always
    /// use kernels.
    pub fused: bool,

    /// Training steps; with several algorithms, every step updates once for each.
    pub steps: usize,
    /// Learning rate of Adam.
    pub learning_rate: f32,
    /// Maximum global gradient norm; 0 disables clipping.
    pub grad_clip: f32,
    /// Whether the parameters of the processor are frozen; an LSTM is still trained.
    pub freeze_processor: bool,
    /// Steps between two validations.
    pub eval_every: usize,
    /// Validation samples for data drawn on the fly, times the algorithm's evaluation multiplier (1, 32 or 64). Fixed validation sets
    /// are used completely.
    pub val_samples: usize,
    /// Validations without improvement before training stops; 0 disables early stopping.
    pub patience: usize,
    /// Seed of initial parameters, teacher forcing, dropout and noise.
    pub seed: u32,
    /// Seed of samples drawn on the fly, of random order, and of random positions.
    pub data_seed: u32,
}

/// Order in which a fixed set is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Order {
    /// One sample after another, epoch after epoch; a batch may contain the end of one epoch and the start of the next.
    #[serde(alias = "in_order")]
    Sequential,
    /// At random, with replacement.
    #[serde(alias = "drawn")]
    Random,
}

/// How permutations are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Permutations {
    /// As a cyclic permutation by Sinkhorn's method, and a mask of its first node.
    Sinkhorn,
    /// As plain pointers.
    Pointers,
}

impl Default for Recipe {
    /// The training setup of the generalist with an `mpnn`: one algorithm, data drawn on the fly.
    fn default() -> Recipe {
        Recipe {
            algorithms: Vec::new(),
            model: ModelConfig::default(),
            data: DataSource::OnTheFly,
            order: Order::Sequential,
            lengths: vec![4, 7, 11, 13, 16],
            edge_probabilities: (1..=9).map(|tenths| f64::from(tenths) / 10.0).collect(),
            random_pos: true,
            pred_as_input: true,
            permutations: Permutations::Sinkhorn,
            batch_size: 32,
            chunk_length: 0,
            fused: true,
            steps: 10_000,
            learning_rate: 1e-3,
            grad_clip: 1.0,
            freeze_processor: false,
            eval_every: 50,
            val_samples: 64,
            patience: 0,
            seed: 42,
            data_seed: 42,
        }
    }
}

/// The recipes that come with the program: name and text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("paper-2022", include_str!("../../recipes/paper-2022.toml")),
    ("generalist-2022", include_str!("../../recipes/generalist-2022.toml")),
];

/// Former names of fields, which runs of checkpoint format 1 have, and their current names.
const RENAMED: &[(&str, &str)] = &[("edge_chances", "edge_probabilities")];

/// Why a recipe cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum RecipeError {
    #[error("{0}")]
    Syntax(Box<toml::de::Error>),
    #[error("unknown field `{name}`{}", did_you_mean(suggestion.as_deref()))]
    UnknownField { name: String, suggestion: Option<String> },
    #[error("`{name}`: {message}")]
    Value { name: String, message: String },
    #[error("`{0}` is not of the form field=value")]
    Override(String),
    #[error("`{0}` is set twice")]
    Duplicate(String),
}

impl Recipe {
    /// Parses the text of a file, then overrides fields: `hidden=64`, `lengths=4,8`.
    ///
    /// # Errors
    /// On invalid TOML, unknown fields and values of another type. Ranges are checked by [`Recipe::validate`].
    pub fn parse(text: &str, overrides: &[&str]) -> Result<Recipe, RecipeError> {
        let defaults = toml::Table::try_from(Recipe::default()).expect("a recipe is a TOML table");
        let mut recipe = defaults.clone();
        let file: toml::Table = text.parse().map_err(|error| RecipeError::Syntax(Box::new(error)))?;
        for (name, value) in file {
            let name = RENAMED.iter().find(|(old, _)| *old == name).map_or(name.as_str(), |(_, new)| new);
            set(&mut recipe, &defaults, name, value)?;
        }
        let recipe: Recipe = recipe.try_into().map_err(|error| RecipeError::Syntax(Box::new(error)))?;
        recipe.with_overrides(overrides)
    }

    /// Overrides fields: `hidden=64`, `lengths=4,8`.
    ///
    /// # Errors
    /// On unknown fields and values of another type.
    pub fn with_overrides(&self, overrides: &[impl AsRef<str>]) -> Result<Recipe, RecipeError> {
        let defaults = toml::Table::try_from(Recipe::default()).expect("a recipe is a TOML table");
        let mut recipe = toml::Table::try_from(self).expect("a recipe is a TOML table");
        let mut seen: Vec<&str> = Vec::new();
        for text in overrides {
            let text = text.as_ref();
            let (name, value) = text.split_once('=').ok_or_else(|| RecipeError::Override(text.into()))?;
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return Err(RecipeError::Duplicate(name.into()));
            }
            seen.push(name);
            let value = typed(default_of(&defaults, name)?, value);
            set(&mut recipe, &defaults, name, value)?;
        }
        recipe.try_into().map_err(|error| RecipeError::Syntax(Box::new(error)))
    }

    /// The complete recipe as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a recipe is a TOML table")
    }

    /// Hash of the fields that differ from their defaults, in hexadecimal digits: a new field of a later version does not change it.
    pub fn content_hash(&self) -> String {
        let table = |recipe: &Recipe| toml::Table::try_from(recipe).expect("a recipe is a TOML table");
        let (table, defaults) = (table(self), table(&Recipe::default()));
        let fields: toml::Table = table.into_iter().filter(|(name, value)| defaults.get(name) != Some(value)).collect();
        blake3::hash(fields.to_string().as_bytes()).to_hex().to_string()
    }

    /// Checks the range of every field. [`TrainPlan`](crate::train::plan::TrainPlan) checks what depends on algorithms or data.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.model.validate()?;
        let bounds = [
            ("steps", self.steps, 1, usize::MAX),
            ("batch_size", self.batch_size, 1, MAX_BATCH),
            ("eval_every", self.eval_every, 1, usize::MAX),
            ("val_samples", self.val_samples, 1, MAX_VAL_SAMPLES),
            ("chunk_length", self.chunk_length, 0, MAX_CHUNK),
        ];
        for (field, value, min, max) in bounds {
            ensure(value >= min, field, value, format!("be at least {min}"))?;
            ensure(value <= max, field, value, format!("be at most {max}"))?;
        }
        for (field, value) in [("learning_rate", self.learning_rate), ("grad_clip", self.grad_clip)] {
            ensure(value.is_finite() && value >= 0.0, field, value, "be a finite number of at least 0")?;
        }
        if self.data == DataSource::OnTheFly {
            ensure(!self.lengths.is_empty(), "lengths", "[]", "contain at least one size")?;
        }
        for &length in &self.lengths {
            ensure(length >= 1, "lengths", length, "contain sizes of at least 1")?;
        }
        for &p in &self.edge_probabilities {
            ensure((0.0..=1.0).contains(&p), "edge_probabilities", p, "contain probabilities from 0 to 1")?;
        }
        Ok(())
    }
}

/// Every micro-batch of an update has its own random stream, numbered by 16 bits.
const MAX_BATCH: usize = 1 << 16;
/// The size of a large test set.
const MAX_VAL_SAMPLES: usize = 1 << 16;
/// Longer than the longest trajectory of the benchmark at its largest size.
const MAX_CHUNK: usize = 1 << 20;

/// The default of a field.
fn default_of<'t>(defaults: &'t toml::Table, name: &str) -> Result<&'t toml::Value, RecipeError> {
    defaults.get(name).ok_or_else(|| {
        let suggestion = nearest(name, defaults.keys().map(String::as_str)).map(str::to_string);
        RecipeError::UnknownField { name: name.into(), suggestion }
    })
}

/// Sets a field, if the result is a recipe.
fn set(recipe: &mut toml::Table, defaults: &toml::Table, name: &str, value: toml::Value) -> Result<(), RecipeError> {
    let default = default_of(defaults, name)?;
    // `learning_rate = 1` means 1.0.
    let value = match (default, value) {
        (toml::Value::Float(_), toml::Value::Integer(integer)) => toml::Value::Float(integer as f64),
        (_, value) => value,
    };
    recipe.insert(name.into(), value);
    recipe.clone().try_into::<Recipe>().map(|_| ()).map_err(|error| {
        let message = match default {
            toml::Value::String(_) if recipe[name].is_str() => variants(error.message()),
            toml::Value::Integer(_) if recipe[name].as_integer().is_some_and(|given| given >= 0) => {
                format!("{} is too large", recipe[name])
            }
            _ => format!("expected {}, got {}", expected(default), recipe[name]),
        };
        RecipeError::Value { name: name.into(), message }
    })
}

/// Description of the type of a field.
fn expected(default: &toml::Value) -> String {
    match default {
        toml::Value::Integer(_) => "a non-negative integer".into(),
        toml::Value::Float(_) => "a number".into(),
        toml::Value::Boolean(_) => "true or false".into(),
        toml::Value::Array(items) => match items.first() {
            Some(toml::Value::Integer(_)) => "a list of non-negative integers".into(),
            Some(toml::Value::Float(_)) => "a list of numbers".into(),
            _ => "a list of strings".into(),
        },
        _ => "a string".into(),
    }
}

/// Rewrites serde's message about an unknown enum variant.
fn variants(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown variant ") else { return message.into() };
    format!("unknown value {}", rest.replacen(", expected ", "; expected ", 1))
}

/// Command-line text as a value of the default's type, or as a string if it is not one, which [`set`] refuses.
fn typed(default: &toml::Value, text: &str) -> toml::Value {
    let string = || toml::Value::String(text.into());
    match default {
        toml::Value::Array(items) => {
            let like = items.first().cloned().unwrap_or_else(|| toml::Value::String(String::new()));
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            toml::Value::Array(items.map(|item| typed(&like, item)).collect())
        }
        toml::Value::Integer(_) => text.parse().map_or_else(|_| string(), toml::Value::Integer),
        toml::Value::Float(_) => text.parse().map_or_else(|_| string(), toml::Value::Float),
        toml::Value::Boolean(_) => text.parse().map_or_else(|_| string(), toml::Value::Boolean),
        _ => string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_OVERRIDES: &[&str] = &[];

    #[test]
    fn shipped_recipes_parse_and_are_valid() {
        for (name, text) in SHIPPED {
            let recipe = Recipe::parse(text, NO_OVERRIDES).unwrap_or_else(|error| panic!("{name}: {error}"));
            recipe.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn overrides_have_the_types_of_their_fields() {
        let overrides = ["hidden=64", "lengths=4,8", "learning_rate=1", "layer_norm=false", "processor=pgn"];
        let recipe = Recipe::parse("steps = 7", &overrides).expect("a recipe");
        let ModelConfig { hidden, layer_norm, processor, .. } = recipe.model;
        assert_eq!((hidden, layer_norm, &*processor), (64, false, "pgn"));
        assert_eq!((recipe.lengths, recipe.learning_rate, recipe.steps), (vec![4, 8], 1.0, 7));
    }

    #[test]
    fn an_empty_list_in_the_file_can_be_overridden() {
        let recipe = Recipe::parse("edge_probabilities = []\nlengths = []", &["edge_probabilities=0.1", "lengths=4"]);
        let recipe = recipe.expect("a recipe");
        assert_eq!((recipe.edge_probabilities, recipe.lengths), (vec![0.1], vec![4]));
    }

    #[test]
    fn errors_name_the_field_and_what_it_expects() {
        let message = |text: &str, overrides: &[&str]| Recipe::parse(text, overrides).expect_err("invalid").to_string();
        assert_eq!(message("hiden = 3", &[]), "unknown field `hiden`; did you mean `hidden`?");
        assert_eq!(message("", &["batchsize=3"]), "unknown field `batchsize`; did you mean `batch_size`?");
        assert_eq!(message("hidden = \"wide\"", &[]), "`hidden`: expected a non-negative integer, got \"wide\"");
        assert_eq!(message("", &["steps=-1"]), "`steps`: expected a non-negative integer, got -1");
        assert_eq!(message("", &["layer_norm=2"]), "`layer_norm`: expected true or false, got \"2\"");
        assert_eq!(message("", &["lengths=4,x"]), "`lengths`: expected a list of non-negative integers, got [4, \"x\"]");
        assert_eq!(message("processor = 3", &[]), "`processor`: expected a string, got 3");
        let feedback = "`feedback`: unknown value `softer`; expected one of `soft`, `hard`";
        assert!(message("", &["feedback=softer"]).starts_with(feedback), "{}", message("", &["feedback=softer"]));
        assert_eq!(message("", &["hidden"]), "`hidden` is not of the form field=value");
        assert_eq!(message("", &["hidden=1", "hidden=2"]), "`hidden` is set twice");
        assert!(message("data = \"clrs30@9\"", &[]).contains("clrs30@9"));
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let message = |recipe: Recipe| recipe.validate().expect_err("out of range").to_string();
        let default = Recipe::default;
        assert_eq!(message(Recipe { steps: 0, ..default() }), "`steps` must be at least 1, not 0");
        let large = Recipe { chunk_length: 1_000_000_000, ..default() };
        assert_eq!(message(large), "`chunk_length` must be at most 1048576, not 1000000000");
        let samples = Recipe { val_samples: 1 << 30, ..default() };
        assert_eq!(message(samples), "`val_samples` must be at most 65536, not 1073741824");
        let rate = Recipe { learning_rate: f32::NAN, ..default() };
        assert_eq!(message(rate), "`learning_rate` must be a finite number of at least 0, not NaN");
        assert_eq!(message(Recipe { lengths: vec![], ..default() }), "`lengths` must contain at least one size, not []");
    }

    #[test]
    fn a_written_recipe_reads_back() {
        let recipe = Recipe { lengths: vec![3], ..Recipe::default() };
        assert_eq!(Recipe::parse(&recipe.to_toml(), NO_OVERRIDES).expect("a recipe"), recipe);
    }

    #[test]
    fn names_of_format_1_still_parse() {
        let recipe = Recipe::parse("edge_chances = [0.25]\norder = \"drawn\"", NO_OVERRIDES).expect("a recipe");
        assert_eq!((recipe.edge_probabilities, recipe.order), (vec![0.25], Order::Random));
    }
}
