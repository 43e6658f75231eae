//! Errors of networks as Python exceptions.

use std::io::ErrorKind;

use clrs_nn::BuildError;
use clrs_nn::config::model::ConfigError;
use clrs_nn::config::recipe::RecipeError;
use clrs_nn::data::dense::DenseError;
use clrs_nn::eval::evaluate::UnknownSteps;
use clrs_nn::eval::metrics::EvalError;
use clrs_nn::eval::trained::OpenModelError;
use clrs_nn::run::error::RunError;
use clrs_nn::run::tensor_file::TensorFileError;
use clrs_nn::train::model::ModelError;
use clrs_nn::train::plan::PlanError;

use crate::error::{Error, io_error};

mod exceptions {
    use pyo3::import_exception;

    import_exception!(clrs_rs.errors, DataPointError);
    import_exception!(clrs_rs.errors, MissingRunError);
    import_exception!(clrs_rs.errors, ModelError);
    import_exception!(clrs_rs.errors, RecipeError);
    import_exception!(clrs_rs.errors, RunError);
    import_exception!(clrs_rs.errors, TrainError);
}

/// Settings and arguments of a model that this module refuses itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    #[error("the settings of the network are invalid: {0}")]
    Config(serde_json::Error),
    #[error("algorithm {task} does not exist: the model has {tasks}")]
    NoTask { task: usize, tasks: usize },
    #[error("the predictions of the hint `{0}` are missing")]
    NoLogits(String),
    #[error("the predictions of the hint `{name}` have shape {found:?}, which is not that of the hint")]
    Logits { name: String, found: Vec<usize> },
    #[error("a model cannot go on training in a forked process, which has no thread to sample its batches; create it there")]
    Forked,
}

/// Converts errors of one type to an exception.
macro_rules! exception {
    ($error:ty, $exception:ident) => {
        impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::Python(exceptions::$exception::new_err(error.to_string()))
            }
        }
    };
}
exception!(BuildError, ModelError);
exception!(ConfigError, RecipeError);
exception!(DenseError, DataPointError);
exception!(ModelError, ModelError);
exception!(SettingError, ModelError);
exception!(TensorFileError, ModelError);
exception!(EvalError, ModelError);
exception!(PlanError, RecipeError);
exception!(RecipeError, RecipeError);
exception!(UnknownSteps, ModelError);

impl From<OpenModelError> for Error {
    fn from(error: OpenModelError) -> Error {
        let is_missing = matches!(error, OpenModelError::NoCheckpoint { .. } | OpenModelError::Run(RunError::NoRun(_)))
            || io_error(&error).is_some_and(|cause| cause.kind() == ErrorKind::NotFound);
        run_error(error.to_string(), is_missing)
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        // A directory that cannot be created has a missing file among its causes, but is no missing run.
        let is_missing = matches!(error, RunError::NoRun(_) | RunError::NoCheckpoint(_));
        run_error(error.to_string(), is_missing)
    }
}

fn run_error(text: String, is_missing: bool) -> Error {
    Error::Python(if is_missing { exceptions::MissingRunError::new_err(text) } else { exceptions::RunError::new_err(text) })
}

/// Training failed.
pub(crate) fn train_error(message: String) -> Error {
    Error::Python(exceptions::TrainError::new_err(message))
}
