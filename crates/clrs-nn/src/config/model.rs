//! Configuration of a network.

use serde::{Deserialize, Serialize};

/// Everything that determines the parameters of a network and what it computes, beside the specs of its algorithms.
///
/// ```
/// use clrs_nn::ModelConfig;
///
/// let config = ModelConfig { processor: "pgn".into(), hidden: 0, ..ModelConfig::default() };
/// assert_eq!(config.validate().unwrap_err().to_string(), "`hidden` must be at least 1, not 0");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// Processor by name; see the list below.
    pub processor: String,
    /// Size of hidden vectors.
    pub hidden: usize,
    /// Aggregation of messages: `max`, `mean` or `sum`. Message-passing processors only.
    pub aggregation: Aggregation,
    /// Messages between nodes without an edge in a maximum: `masked` (left out) or `zero` (0 instead, as dm-clrs had it before May 2022).
    /// Deep Sets and processors over neighbors only.
    #[serde(default)] // plans of earlier versions lack it
    pub absent_edges: AbsentEdges,
    /// Processor steps per algorithm step.
    pub message_steps: usize,
    /// Use of hints: `encoded_decoded` (read and predicted), `decoded_only` (predicted, not read), `none` (neither), or
    /// `none_encoded_decoded` (computed as with `encoded_decoded`, but without a loss on hints).
    pub hint_mode: HintMode,
    /// How predicted hints are fed back: `soft` (probabilities, differentiable), `hard` (decisions, no gradient), `hard_on_eval` (soft in
    /// training, hard in evaluation), or `hard_2022` (decisions, but scalars with their gradients, as the paper's code did).
    pub feedback: Feedback,
    /// Teacher-forcing probability, per sample and step.
    pub teacher_forcing: f64,
    /// Whether the processor applies layer norm to its result. Memory networks do not.
    pub layer_norm: bool,
    /// Number of attention heads; must divide `hidden`. Attention processors only.
    pub heads: usize,
    /// Features per triplet of nodes. Processors with triplet reasoning only.
    pub triplet_features: usize,
    /// Initialization of encoders: `default` (as any linear layer) or `xavier_on_scalars` (smaller for scalar hints).
    pub init: EncoderInit,
    /// Whether an LSTM follows the processor.
    pub lstm: bool,
    /// Dropout probability of hidden values in training.
    pub dropout: f64,
}

impl Default for ModelConfig {
    fn default() -> ModelConfig {
        ModelConfig {
            processor: "mpnn".into(),
            hidden: 128,
            aggregation: Aggregation::Max,
            absent_edges: AbsentEdges::Masked,
            message_steps: 1,
            hint_mode: HintMode::EncodedDecoded,
            feedback: Feedback::Soft,
            teacher_forcing: 0.0,
            layer_norm: true,
            heads: 1,
            triplet_features: 8,
            init: EncoderInit::XavierOnScalars,
            lstm: false,
            dropout: 0.0,
        }
    }
}

/// Aggregation of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the functions")]
#[non_exhaustive]
pub enum Aggregation {
    Max,
    Mean,
    Sum,
}

/// Messages between nodes without an edge in a maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AbsentEdges {
    /// They are left out.
    #[default]
    Masked,
    /// They are 0.
    Zero,
}

/// Use of hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HintMode {
    /// Hints are read and predicted.
    EncodedDecoded,
    /// Hints are predicted, not read.
    DecodedOnly,
    /// The network reads inputs and predicts outputs.
    None,
    /// The computation of `EncodedDecoded` without a loss on hints: isolates the effect of supervision by hints.
    NoneEncodedDecoded,
}

impl HintMode {
    /// Whether hints are read.
    pub fn encodes(self) -> bool {
        matches!(self, HintMode::EncodedDecoded | HintMode::NoneEncodedDecoded)
    }

    /// Whether hints are predicted.
    pub fn decodes(self) -> bool {
        self != HintMode::None
    }

    /// Whether predicted hints contribute to the loss.
    pub fn is_supervised(self) -> bool {
        matches!(self, HintMode::EncodedDecoded | HintMode::DecodedOnly)
    }
}

/// How predicted hints are fed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Feedback {
    /// As probabilities, differentiable.
    Soft,
    /// As decisions, without gradient.
    Hard,
    /// Soft in training, hard in evaluation.
    HardOnEval,
    /// As decisions, but scalars with their gradients: what the paper's code did.
    #[serde(rename = "hard_2022")]
    Hard2022,
}

/// Initialization of encoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EncoderInit {
    /// As any linear layer.
    Default,
    /// Smaller weights for scalar hints, which have a single input and blow up long trajectories otherwise.
    XavierOnScalars,
}

/// A field of a configuration with a value out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{field}` must {rule}, not {value}")]
#[non_exhaustive]
pub struct ConfigError {
    /// Name of the field.
    pub field: &'static str,
    /// Requirement, to follow "must": `be at least 1`.
    pub rule: String,
    /// Its value.
    pub value: String,
}

/// Checks one field.
pub(crate) fn ensure(
    holds: bool,
    field: &'static str,
    value: impl std::fmt::Display,
    rule: impl Into<String>,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError { field, rule: rule.into(), value: value.to_string() }) }
}

/// Largest hidden size. Word indices of memory networks fit into 16 bits.
const MAX_HIDDEN: usize = 1 << 14;

/// Upper bound on processor steps per algorithm step.
const MAX_MESSAGE_STEPS: usize = 1 << 10;

impl ModelConfig {
    /// Checks the range of every field.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let at_least_1 = [
            ("hidden", self.hidden),
            ("message_steps", self.message_steps),
            ("heads", self.heads),
            ("triplet_features", self.triplet_features),
        ];
        for (field, value) in at_least_1 {
            ensure(value >= 1, field, value, "be at least 1")?;
        }
        let at_most = [
            ("hidden", self.hidden, MAX_HIDDEN),
            ("message_steps", self.message_steps, MAX_MESSAGE_STEPS),
            ("triplet_features", self.triplet_features, MAX_HIDDEN),
        ];
        for (field, value, max) in at_most {
            ensure(value <= max, field, value, format!("be at most {max}"))?;
        }
        ensure(self.hidden.is_multiple_of(self.heads), "heads", self.heads, format!("divide `hidden` ({})", self.hidden))?;
        let probability = |p: f64| (0.0..=1.0).contains(&p);
        ensure(probability(self.teacher_forcing), "teacher_forcing", self.teacher_forcing, "be a probability from 0 to 1")?;
        let dropout = probability(self.dropout) && self.dropout < 1.0;
        ensure(dropout, "dropout", self.dropout, "be a probability from 0 to below 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let message = |config: ModelConfig| config.validate().expect_err("out of range").to_string();
        let default = ModelConfig::default;
        assert_eq!(message(ModelConfig { hidden: 20_000, ..default() }), "`hidden` must be at most 16384, not 20000");
        assert_eq!(message(ModelConfig { heads: 3, ..default() }), "`heads` must divide `hidden` (128), not 3");
        assert_eq!(message(ModelConfig { heads: 0, ..default() }), "`heads` must be at least 1, not 0");
        let nan = ModelConfig { teacher_forcing: f64::NAN, ..default() };
        assert_eq!(message(nan), "`teacher_forcing` must be a probability from 0 to 1, not NaN");
        assert_eq!(
            message(ModelConfig { dropout: 1.0, ..default() }),
            "`dropout` must be a probability from 0 to below 1, not 1"
        );
    }
}
