//! Recipes: everything that decides a training run, in a TOML file.
//!
//! A file names what differs from [`Recipe::default`]; any field can be set again on the command line (`--set name=value`). What
//! is unknown is refused with the nearest name. The whole recipe, nothing left out, is written into the run.

use serde::{Deserialize, Serialize};

use crate::config::model::ModelConfig;

/// Everything that decides a training run.
// No `deny_unknown_fields`: serde does not support it beside `flatten`. [`Recipe::parse`] refuses what is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the file")]
pub struct Recipe {
    /// The algorithms to learn, in turn, on one processor. There is no default.
    pub algorithms: Vec<String>,

    /// The network: its fields stand in the file among the others.
    #[serde(flatten)]
    pub network: ModelConfig,

    /// Where samples come from: a version of the benchmark (`clrs30@2.0.3`, `clrs30@1.0.0`), `on_the_fly`, or a folder of sets
    /// named `ALGORITHM_train` and `ALGORITHM_val`.
    pub data: String,
    /// How a fixed set is gone through: `in_order`, epoch after epoch, or `drawn`.
    pub order: Order,
    /// Sizes of samples made on the fly, in turn.
    pub lengths: Vec<usize>,
    /// Chances of an edge, of which every graph made on the fly draws one; half of them where runs would get very long.
    pub edge_probabilities: Vec<f64>,
    /// Whether `pos` becomes sorted random numbers in training and validation.
    pub random_pos: bool,
    /// Whether `pred_h` hints that never change become inputs.
    pub pred_as_input: bool,
    /// How orders of nodes are predicted: `sinkhorn` (a cyclic permutation and its first node) or `pointers`.
    pub permutations: Permutations,
    /// Samples of a batch.
    pub batch_size: usize,
    /// Steps of the algorithm per update, or 0 for whole trajectories: longer ones are then cut, and their state carried on.
    pub chunk_length: usize,

    /// Whether fused kernels are used on the CPU, or ordinary operations alone.
    pub fused: bool,

    /// Updates of the parameters.
    pub steps: usize,
    /// Size of an update.
    pub learning_rate: f32,
    /// The longest that all gradients together may be; 0 for any length.
    pub grad_clip: f32,
    /// Whether the processor stays as it is.
    pub freeze_processor: bool,
    /// Updates between two validations.
    pub eval_every: usize,
    /// Samples of a validation on data made on the fly, times 64 or 32 where a sample says little. Fixed sets are validated whole.
    pub val_samples: usize,
    /// Validations without a better score before training ends; 0 for never.
    pub patience: usize,
    /// Seed of the parameters, teacher forcing, dropout and noise.
    pub seed: u32,
    /// Seed of samples made on the fly, of draws from a fixed set, and of random positions.
    pub data_seed: u32,
}

/// How a fixed set is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after another, epoch after epoch; batches go over the end of an epoch.
    InOrder,
    /// Each by chance, with replacement.
    Drawn,
}

/// How orders of nodes are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permutations {
    /// As a cyclic permutation by Sinkhorn's method, and a mask for its first node.
    Sinkhorn,
    /// As plain pointers.
    Pointers,
}

impl Default for Recipe {
    /// One algorithm by the generalist recipe, data made on the fly.
    fn default() -> Recipe {
        Recipe {
            algorithms: Vec::new(),
            network: ModelConfig::default(),
            data: ON_THE_FLY.into(),
            order: Order::InOrder,
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

/// The value of `data` for samples made as they are needed.
pub const ON_THE_FLY: &str = "on_the_fly";

/// The recipes that come with the program, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("paper-2022", include_str!("../../recipes/paper-2022.toml")),
    ("generalist-2022", include_str!("../../recipes/generalist-2022.toml")),
];

/// Why something is no recipe.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RecipeError {
    #[error("{0}")]
    Syntax(Box<toml::de::Error>),
    #[error("no recipe has a field `{name}`{}", clrs::suggest::did_you_mean(suggestion.as_deref()))]
    Unknown { name: String, suggestion: Option<String> },
    #[error("`{name}`: {message}")]
    Value { name: String, message: String },
    #[error("`{0}` is no setting: write name=value")]
    Setting(String),
}

impl Recipe {
    /// A file's text, and then settings as typed: `hidden=64`, `lengths=4,8`.
    pub fn parse(text: &str, settings: &[String]) -> Result<Recipe, RecipeError> {
        let mut recipe = toml::Table::try_from(Recipe::default()).expect("a recipe is a table");
        let file: toml::Table = text.parse().map_err(|error| RecipeError::Syntax(Box::new(error)))?;
        for (name, value) in file {
            set(&mut recipe, &name, value)?;
        }
        for setting in settings {
            let (name, text) = setting.split_once('=').ok_or_else(|| RecipeError::Setting(setting.clone()))?;
            let value = typed(known(&recipe, name)?, text);
            set(&mut recipe, name, value)?;
        }
        recipe.try_into().map_err(|error| RecipeError::Syntax(Box::new(error)))
    }

    /// The whole of it as a file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a recipe is a table")
    }
}

/// The value that a field has now.
fn known<'t>(recipe: &'t toml::Table, name: &str) -> Result<&'t toml::Value, RecipeError> {
    recipe.get(name).ok_or_else(|| {
        let suggestion = clrs::suggest::nearest(name, recipe.keys().map(String::as_str)).map(str::to_string);
        RecipeError::Unknown { name: name.into(), suggestion }
    })
}

/// Sets a field, if a recipe with that value is still a recipe.
fn set(recipe: &mut toml::Table, name: &str, value: toml::Value) -> Result<(), RecipeError> {
    known(recipe, name)?;
    // `learning_rate = 1` means 1.0.
    let value = match (&recipe[name], value) {
        (toml::Value::Float(_), toml::Value::Integer(whole)) => toml::Value::Float(whole as f64),
        (_, value) => value,
    };
    let before = recipe.insert(name.into(), value).expect("the field was there");
    recipe.clone().try_into::<Recipe>().map(|_| ()).map_err(|error| {
        let message = match &before {
            toml::Value::String(_) if recipe[name].is_str() => choices(error.message()),
            toml::Value::Integer(_) if recipe[name].as_integer().is_some_and(|given| given >= 0) => {
                format!("{} is too large a number", recipe[name])
            }
            _ => format!("{} is wanted, not {}", wanted(&before), recipe[name]),
        };
        RecipeError::Value { name: name.into(), message }
    })
}

/// What a field takes that holds such a value.
fn wanted(like: &toml::Value) -> String {
    match like {
        toml::Value::Integer(_) => "a whole number from 0 on".into(),
        toml::Value::Float(_) => "a number".into(),
        toml::Value::Boolean(_) => "true or false".into(),
        toml::Value::Array(items) => items.first().map_or("a list".into(), |item| format!("a list, each {},", wanted(item))),
        _ => "a word".into(),
    }
}

/// What serde says of a word that is none of those there are, in words for people who write recipes.
fn choices(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown variant ") else { return message.into() };
    format!("there is no {}", rest.replacen(", expected ", "; there are ", 1).replacen("one of ", "", 1))
}

/// What was typed, as a value of the kind that the field has.
fn typed(like: &toml::Value, text: &str) -> toml::Value {
    let word = || toml::Value::String(text.into());
    match like {
        toml::Value::Array(items) => {
            let like = items.first().cloned().unwrap_or_else(|| toml::Value::String(String::new()));
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            toml::Value::Array(parts.map(|part| typed(&like, part)).collect())
        }
        toml::Value::Integer(_) => text.parse().map_or_else(|_| word(), toml::Value::Integer),
        toml::Value::Float(_) => text.parse().map_or_else(|_| word(), toml::Value::Float),
        toml::Value::Boolean(_) => text.parse().map_or_else(|_| word(), toml::Value::Boolean),
        _ => word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_recipes_are_recipes() {
        for (name, text) in SHIPPED {
            Recipe::parse(text, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn settings_are_read_as_their_fields_are() {
        let settings = ["hidden=64", "lengths=4,8", "learning_rate=1", "layer_norm=false", "processor=pgn"];
        let recipe = Recipe::parse("steps = 7", &settings.map(String::from)).expect("a recipe");
        let ModelConfig { hidden, layer_norm, processor, .. } = recipe.network;
        assert_eq!((hidden, layer_norm, &*processor), (64, false, "pgn"));
        assert_eq!((recipe.lengths, recipe.learning_rate, recipe.steps), (vec![4, 8], 1.0, 7));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str, settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
            Recipe::parse(text, &settings).expect_err("wrong").to_string()
        };
        assert_eq!(message("hiden = 3", &[]), "no recipe has a field `hiden`; did you mean `hidden`?");
        assert_eq!(message("", &["batchsize=3"]), "no recipe has a field `batchsize`; did you mean `batch_size`?");
        assert_eq!(message("hidden = \"wide\"", &[]), "`hidden`: a whole number from 0 on is wanted, not \"wide\"");
        assert_eq!(message("", &["steps=-1"]), "`steps`: a whole number from 0 on is wanted, not -1");
        assert_eq!(message("", &["layer_norm=2"]), "`layer_norm`: true or false is wanted, not \"2\"");
        let lengths = "`lengths`: a list, each a whole number from 0 on, is wanted, not [4, \"x\"]";
        assert_eq!(message("", &["lengths=4,x"]), lengths);
        assert!(message("processor = 3", &[]).starts_with("`processor`: a word is wanted, not 3"));
        let feedback = "`feedback`: there is no `softer`; there are `soft`, `hard`";
        assert!(message("", &["feedback=softer"]).starts_with(feedback));
        assert_eq!(message("", &["hidden"]), "`hidden` is no setting: write name=value");
    }

    #[test]
    fn a_written_recipe_is_read_back() {
        let recipe = Recipe { lengths: vec![3], ..Recipe::default() };
        assert_eq!(Recipe::parse(&recipe.to_toml(), &[]).expect("a recipe"), recipe);
    }
}
