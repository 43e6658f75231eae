//! Responses: JSON and the page, compressed if the client can read that.

use std::io::Write;

use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::error::ApiError;

/// Shorter bodies are sent as they are.
const MIN_COMPRESSED: usize = 1000;

/// Whether a client reads gzip.
#[derive(Clone, Copy)]
pub(super) struct Gzip(bool);

impl Gzip {
    pub(super) fn of(headers: &HeaderMap) -> Gzip {
        let accepts = |value: &HeaderValue| {
            value.to_str().is_ok_and(|text| {
                text.split(',').any(|coding| {
                    let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
                    name.trim() == "gzip" && weight.trim() != "q=0"
                })
            })
        };
        Gzip(headers.get_all(ACCEPT_ENCODING).iter().any(accepts))
    }
}

/// A body, perhaps compressed.
pub(super) struct Json {
    status: StatusCode,
    bytes: Bytes,
    is_compressed: bool,
}

impl Json {
    /// A short body.
    pub(super) fn small(status: StatusCode, value: &serde_json::Value) -> Json {
        Json { status, bytes: value.to_string().into(), is_compressed: false }
    }

    /// Serializes and compresses. Takes time for large values: not for the threads that answer requests.
    pub(super) fn new(value: &impl Serialize, gzip: Gzip) -> Result<Json, ApiError> {
        let bytes = serde_json::to_vec(value).map_err(|_| ApiError::Internal)?;
        let is_compressed = gzip.0 && bytes.len() >= MIN_COMPRESSED;
        // Large traces are compressed fast: they are read on this machine.
        let level = if bytes.len() > 1_000_000 { Compression::fast() } else { Compression::default() };
        let bytes = if is_compressed { compress(&bytes, level)? } else { bytes };
        Ok(Json { status: StatusCode::OK, bytes: bytes.into(), is_compressed })
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.to_string() });
        Json::small(self.status(), &body).into_response()
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.bytes).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if self.is_compressed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// The page, compressed once.
pub(super) struct Page {
    plain: Bytes,
    compressed: Bytes,
}

impl Page {
    pub(super) fn new(html: String) -> Page {
        let compressed = compress(html.as_bytes(), Compression::best()).expect("writing to memory does not fail");
        Page { plain: html.into(), compressed: compressed.into() }
    }

    pub(super) fn respond(&self, gzip: Gzip) -> Response {
        let bytes = if gzip.0 { &self.compressed } else { &self.plain };
        let mut response = bytes.clone().into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if gzip.0 {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

fn compress(bytes: &[u8], level: Compression) -> Result<Vec<u8>, ApiError> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|_| ApiError::Internal)
}
