//! Errors of the libraries as Python exceptions.

use std::io::ErrorKind;

use clrs::CheckError;
use clrs::batch::BatchError;
use clrs::clrs30::{UnknownSplit, UnknownVersion};
use clrs::problems::InvalidProblem;
use clrs::registry::UnknownAlgorithm;
use clrs::sampling::{OptionError, SampleError};
use clrs::score::ScoreError;
use clrs::spec::InvalidSpec;
use clrs::transform::TransformError;
use clrs_store::memory::MemoryError;
use clrs_store::{StoreError, StoreErrorKind};
use clrs_text::{FormatError, TaskError, TextError, UnknownFormat};
use pyo3::PyErr;
use pyo3::exceptions::PyKeyboardInterrupt;

/// The exceptions, which are defined in `clrs_rs/errors.py`: classes with several bases need Python.
mod exceptions {
    use pyo3::import_exception;

    import_exception!(clrs_rs.errors, ArgumentTypeError);
    import_exception!(clrs_rs.errors, BatchError);
    import_exception!(clrs_rs.errors, DataPointError);
    import_exception!(clrs_rs.errors, InternalError);
    import_exception!(clrs_rs.errors, InvalidProblemError);
    import_exception!(clrs_rs.errors, MissingFileError);
    import_exception!(clrs_rs.errors, OptionError);
    import_exception!(clrs_rs.errors, SampleError);
    import_exception!(clrs_rs.errors, ScoreError);
    import_exception!(clrs_rs.errors, StoreError);
    import_exception!(clrs_rs.errors, TextError);
    import_exception!(clrs_rs.errors, TooLargeError);
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
    #[error("expected {expected}, found {found}")]
    NotData { expected: &'static str, found: String },
    #[error("`{name}` must be a number, a str or a list of numbers, not {found}")]
    OptionType { name: String, found: String },
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
    #[error("the pickled samples are damaged: {0}")]
    Pickle(String),
    #[error("{0}")]
    TooLarge(String),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    TextFormat(#[from] FormatError),
    #[error(transparent)]
    UnknownTextFormat(#[from] UnknownFormat),
    #[error(transparent)]
    TextTask(#[from] TaskError),
    #[error("interrupted")]
    Cancelled,
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

impl From<MemoryError> for Error {
    fn from(error: MemoryError) -> Error {
        match error {
            MemoryError::Sample(error) => error.into(),
            error => Error::TooLarge(error.to_string()),
        }
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
            Error::Cancelled => PyKeyboardInterrupt::new_err(()),
            Error::UnknownAlgorithm(_) => exceptions::UnknownAlgorithmError::new_err(text),
            Error::Sample(SampleError::Option(OptionError::Unknown { .. })) => exceptions::UnknownOptionError::new_err(text),
            Error::Sample(SampleError::InvalidProblem(InvalidProblem::Json(error))) => {
                let text = format!("not a problem of this algorithm: {}", json_error_in_python(&error.to_string()));
                exceptions::InvalidProblemError::new_err(text)
            }
            Error::Sample(SampleError::InvalidProblem(InvalidProblem::NotSampled(_))) => exceptions::SampleError::new_err(text),
            Error::Sample(SampleError::InvalidProblem(_)) => exceptions::InvalidProblemError::new_err(text),
            Error::Sample(SampleError::Option(_)) | Error::UnknownVersion(_) | Error::UnknownSplit(_) => {
                exceptions::OptionError::new_err(text)
            }
            Error::Sample(_) => exceptions::BatchError::new_err(text),
            Error::NotData { .. } | Error::OptionType { .. } => exceptions::ArgumentTypeError::new_err(text),
            Error::Spec(_) | Error::DataPoint { .. } | Error::Pickle(_) => exceptions::DataPointError::new_err(text),
            Error::Score(_) | Error::Prediction { .. } => exceptions::ScoreError::new_err(text),
            Error::Transform(_) => exceptions::TransformError::new_err(text),
            Error::Text(_) | Error::TextFormat(_) | Error::UnknownTextFormat(_) | Error::TextTask(_) => {
                exceptions::TextError::new_err(text)
            }
            Error::Store(error) => store_error(&error),
            Error::TooLarge(_) => exceptions::TooLargeError::new_err(text),
            Error::Internal(_) => exceptions::InternalError::new_err(text),
        }
    }
}

/// The message of an error in JSON, in words of Python: users wrote a dictionary, not a text with lines and columns.
fn json_error_in_python(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("{field} is missing");
    }
    if let Some((field, known)) = message.strip_prefix("unknown field ").and_then(|rest| rest.split_once(", expected ")) {
        return format!("it has no {field}, but {}", known.trim_start_matches("one of ").replace(" or ", " and "));
    }
    if message == "trailing characters" {
        return "a list has too many elements".into();
    }
    if let Some((found, expected)) = message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected ")) {
        let count = expected.split(' ').find(|word| word.parse::<usize>().is_ok()).unwrap_or("another number of");
        return format!("expected a list of {count} elements, found one of {found}");
    }
    let mismatch = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let Some((found, expected)) = mismatch.and_then(|rest| rest.split_once(", expected ")) else { return message.into() };
    let count = expected.strip_prefix("an array of length ").or_else(|| expected.strip_prefix("a tuple of size "));
    let list = count.map(|count| format!("a list of {count} elements"));
    let expected = match list.as_deref().unwrap_or(expected) {
        "a sequence" => "a list",
        "f64" => "a number",
        "u32" => "an integer from 0 to 4294967295",
        "usize" | "u64" => "an integer that is not negative",
        "a string" => "a str",
        "a map" => "a dict",
        other if other.starts_with("struct ") => "a dict",
        other => other,
    };
    let found = match found {
        "map" => "a dict",
        "sequence" => "a list",
        "null" => "None",
        // As in "integer `3`" and "string "x"".
        other => {
            other.split_once(' ').map_or(other, |(kind, value)| if kind == "floating" { &value["point ".len()..] } else { value })
        }
    };
    format!("expected {expected}, found {}", found.trim_matches('`'))
}

/// An exception with the number of the operating system's error, if there is one.
fn store_error(error: &StoreError) -> PyErr {
    let text = error.to_string();
    let is_missing = matches!(error.kind, StoreErrorKind::MissingSet { .. } | StoreErrorKind::NoSets);
    match io_error(error) {
        Some(cause) if cause.kind() == ErrorKind::NotFound => exceptions::MissingFileError::new_err((cause.raw_os_error(), text)),
        None if is_missing => exceptions::MissingFileError::new_err(text),
        Some(cause) if cause.raw_os_error().is_some() => exceptions::StoreError::new_err((cause.raw_os_error(), text)),
        _ => exceptions::StoreError::new_err(text),
    }
}

/// The error of the operating system among the causes of an error.
pub(crate) fn io_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e std::io::Error> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| error.downcast_ref())
}
