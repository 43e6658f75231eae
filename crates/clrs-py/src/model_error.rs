//! Errors of networks as Python exceptions.

use clrs_nn::BuildError;
use clrs_nn::data::dense::DenseError;
use clrs_nn::run::tensor_file::TensorFileError;
use clrs_nn::train::model::ModelError;

use crate::error::Error;

mod exceptions {
    use pyo3::import_exception;

    import_exception!(clrs_rs.errors, DataPointError);
    import_exception!(clrs_rs.errors, ModelError);
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
exception!(DenseError, DataPointError);
exception!(ModelError, ModelError);
exception!(SettingError, ModelError);
exception!(TensorFileError, ModelError);
