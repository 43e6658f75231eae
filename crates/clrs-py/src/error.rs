//! Errors of the libraries as Python exceptions.

use clrs::CheckError;
use clrs::batch::BatchError;
use clrs::clrs30::{UnknownSplit, UnknownVersion};
use clrs::problems::InvalidProblem;
use clrs::registry::UnknownAlgorithm;
use clrs::sampling::{OptionError, SampleError};
use clrs::score::ScoreError;
use clrs::spec::InvalidSpec;
use clrs::transform::TransformError;
use clrs_store::StoreError;
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
    import_exception!(clrs_rs.errors, StoreError);
    import_exception!(clrs_rs.errors, TransformError);
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
    #[error(transparent)]
    Transform(#[from] TransformError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    UnknownVersion(#[from] UnknownVersion),
    #[error(transparent)]
    UnknownSplit(#[from] UnknownSplit),
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

impl From<InvalidProblem> for Error {
    fn from(error: InvalidProblem) -> Error {
        SampleError::from(error).into()
    }
}

impl From<CheckError> for Error {
    fn from(error: CheckError) -> Error {
        match error {
            CheckError::Malformed(error) => error.into(),
            error => Error::Internal(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::Internal(error.to_string())
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
            Error::Sample(SampleError::InvalidProblem(_)) => exceptions::InvalidProblemError::new_err(text),
            Error::Sample(SampleError::Option(_)) | Error::UnknownVersion(_) | Error::UnknownSplit(_) => {
                exceptions::OptionError::new_err(text)
            }
            Error::Sample(_) => exceptions::BatchError::new_err(text),
            Error::Spec(_) | Error::DataPoint { .. } => exceptions::DataPointError::new_err(text),
            Error::Score(_) | Error::Prediction { .. } => exceptions::ScoreError::new_err(text),
            Error::Transform(_) => exceptions::TransformError::new_err(text),
            Error::Store(error) => store_error(&error),
            Error::Internal(_) => exceptions::InternalError::new_err(text),
        }
    }
}

/// An exception with the number of the operating system's error, if there is one.
fn store_error(error: &StoreError) -> PyErr {
    let mut cause = std::error::Error::source(error);
    let mut number = None;
    while let Some(error) = cause {
        number = number.or_else(|| error.downcast_ref::<std::io::Error>()?.raw_os_error());
        cause = error.source();
    }
    match number {
        Some(number) => exceptions::StoreError::new_err((number, error.to_string())),
        None => exceptions::StoreError::new_err(error.to_string()),
    }
}
