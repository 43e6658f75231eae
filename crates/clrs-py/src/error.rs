//! Errors of the libraries as Python exceptions.

use clrs::batch::BatchError;
use clrs::registry::UnknownAlgorithm;
use clrs::sampling::{OptionError, SampleError};
use clrs::score::ScoreError;
use clrs::spec::InvalidSpec;
use pyo3::PyErr;

/// The exceptions, which are defined in `clrs_rs/errors.py`: classes with several bases need Python.
mod exceptions {
    use pyo3::import_exception;

    import_exception!(clrs_rs.errors, BatchError);
    import_exception!(clrs_rs.errors, DataPointError);
    import_exception!(clrs_rs.errors, InternalError);
    import_exception!(clrs_rs.errors, InvalidProblemError);
    import_exception!(clrs_rs.errors, OptionError);
    import_exception!(clrs_rs.errors, ScoreError);
    import_exception!(clrs_rs.errors, UnknownAlgorithmError);
    import_exception!(clrs_rs.errors, UnknownOptionError);
}

/// Everything that can go wrong in this module.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    UnknownAlgorithm(#[from] UnknownAlgorithm),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Spec(#[from] InvalidSpec),
    #[error("`{name}`: {reason}")]
    DataPoint { name: String, reason: String },
    #[error(transparent)]
    Score(#[from] ScoreError),
    #[error("the prediction of `{name}` is a {found}, expected a {expected}")]
    Prediction { name: String, expected: String, found: String },
    #[error("internal error (please report it): {0}")]
    Internal(String),
    #[error(transparent)]
    Python(#[from] PyErr),
}

impl From<BatchError> for Error {
    fn from(error: BatchError) -> Error {
        SampleError::from(error).into()
    }
}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Error {
        SampleError::from(error).into()
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        let text = error.to_string();
        match error {
            Error::Python(error) => error,
            Error::UnknownAlgorithm(_) => exceptions::UnknownAlgorithmError::new_err(text),
            Error::Sample(SampleError::Option(OptionError::Unknown { .. })) => exceptions::UnknownOptionError::new_err(text),
            Error::Sample(SampleError::Option(_)) => exceptions::OptionError::new_err(text),
            Error::Sample(SampleError::InvalidProblem(_)) => exceptions::InvalidProblemError::new_err(text),
            Error::Sample(_) => exceptions::BatchError::new_err(text),
            Error::Spec(_) | Error::DataPoint { .. } => exceptions::DataPointError::new_err(text),
            Error::Score(_) | Error::Prediction { .. } => exceptions::ScoreError::new_err(text),
            Error::Internal(_) => exceptions::InternalError::new_err(text),
        }
    }
}
