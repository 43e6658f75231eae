//! What a network is made of: one name per setting, the same in recipes, on the command line and in a run's files.

use serde::{Deserialize, Serialize};

/// Everything that decides a network's parameters and what it computes, beside the specs of its algorithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// The processor, by name: see [`crate::model::processors::RECIPES`].
    pub processor: String,
    /// Size of every hidden vector.
    pub hidden: usize,
    /// How a node puts its messages together.
    pub aggregation: Aggregation,
    /// Steps of message passing per step of the algorithm.
    pub message_steps: usize,
    /// What is done with hints.
    pub hint_mode: HintMode,
    /// How predicted hints are fed back.
    pub feedback: Feedback,
    /// Chance that a sample is fed the true hint in a step of training.
    pub teacher_forcing: f64,
    /// Whether the processor normalises what it returns.
    pub layer_norm: bool,
    /// Heads of attention.
    pub heads: usize,
    /// Features of a triplet of nodes.
    pub triplet_features: usize,
    /// How encoders start.
    pub init: EncoderInit,
    /// Whether an LSTM follows the processor.
    pub lstm: bool,
    /// Chance that a hidden value is dropped in training.
    pub dropout: f64,
}

impl Default for ModelConfig {
    fn default() -> ModelConfig {
        ModelConfig {
            processor: "mpnn".into(),
            hidden: 128,
            aggregation: Aggregation::Max,
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

/// How a node puts its messages together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they say it themselves")]
pub enum Aggregation {
    Max,
    Mean,
    Sum,
}

/// What is done with hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HintMode {
    /// Read and predicted.
    EncodedDecoded,
    /// Predicted, not read.
    DecodedOnly,
    /// Neither: the network sees inputs and predicts outputs.
    None,
    /// The same computation as `EncodedDecoded`, but no loss on hints: what hints are worth, and nothing else, is the difference.
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

    /// Whether predicted hints are part of the loss.
    pub fn is_supervised(self) -> bool {
        matches!(self, HintMode::EncodedDecoded | HintMode::DecodedOnly)
    }
}

/// How predicted hints are fed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// As chances, with their gradients.
    Soft,
    /// As decisions; no gradient passes.
    Hard,
    /// Soft in training, hard in evaluation.
    HardOnEval,
    /// As decisions, but scalars with their gradients: what the code of the paper did.
    #[serde(rename = "hard_2022")]
    Hard2022,
}

/// How encoders start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncoderInit {
    /// As any linear layer.
    Default,
    /// Encoders of scalar hints start small: a scalar has one input, and long runs would blow it up.
    XavierOnScalars,
}
