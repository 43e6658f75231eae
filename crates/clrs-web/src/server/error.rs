//! Errors of requests: a status and one line.

use axum::http::StatusCode;
use clrs::InvalidProblem;
use clrs::registry::UnknownAlgorithm;
use clrs::sampling::{OptionError, SampleError};

#[cfg(feature = "networks")]
use crate::networks::NetworkError;

/// Why a request cannot be answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    #[error(transparent)]
    Unknown(#[from] UnknownAlgorithm),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Problem(#[from] InvalidProblem),
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error("{0}")]
    Request(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("there is nothing at this address")]
    NotFound,
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("the server is busy; try again")]
    Busy,
    #[error("the request took too long")]
    TimedOut,
    #[cfg(feature = "networks")]
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("internal error (please report it)")]
    Internal,
}

impl ApiError {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            ApiError::Unknown(_) | ApiError::NotFound => StatusCode::NOT_FOUND,
            ApiError::Sample(_) | ApiError::Problem(_) | ApiError::Option(_) | ApiError::Request(_) => StatusCode::BAD_REQUEST,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            #[cfg(feature = "networks")]
            ApiError::Network(error) => match error {
                NetworkError::NoRun(_) => StatusCode::NOT_FOUND,
                NetworkError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
                NetworkError::Abandoned => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::BAD_REQUEST,
            },
            ApiError::Forbidden(_) => StatusCode::FORBIDDEN,
            ApiError::Busy | ApiError::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
