//! The addresses of the server, and what they answer.

use std::str::FromStr;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use axum::{Router, http};
use clrs::sampling::OptionInfo;
use clrs::{AnyAlgorithm, Family, SamplerOptions, Trace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::Config;
use super::error::ApiError;
use super::respond::{Gzip, Json, Page};
use super::work::Workers;
use crate::document::AlgorithmText;
#[cfg(feature = "networks")]
use crate::networks::training::training_run;
use crate::page;
use crate::presets::{Preset, presets};

/// Largest body of a request: a graph of the largest size, with all digits.
const MAX_BODY: usize = 1 << 20;
/// Most values of a trace that is sent: some tens of megabytes as text.
const MAX_VALUES: usize = 12_000_000;
/// Largest number in an option. Some options are numbers of attempts.
const MAX_OPTION: f64 = 10_000.0;

/// What the server knows.
pub(super) struct Explorer {
    pub(super) config: Config,
    page: Page,
    algorithms: Vec<AlgorithmInfo>,
    presets: Vec<Preset>,
    pub(super) workers: Workers,
}

/// What the page asks for first.
#[derive(Serialize)]
struct Info<'i> {
    version: &'static str,
    algorithms: &'i [AlgorithmInfo],
    presets: &'i [Preset],
    max_size: usize,
    runs: Vec<RunInfo>,
}

/// A run whose network is shown.
#[derive(Serialize)]
struct RunInfo {
    name: String,
    /// Algorithms that it was trained on.
    algorithms: Vec<String>,
}

#[derive(Clone, Serialize)]
struct AlgorithmInfo {
    algorithm: &'static str,
    title: String,
    family: Family,
    summary: String,
    options: Vec<OptionInfo>,
    /// Fields of its problems that are lists, matrices or texts.
    fields: Vec<String>,
}

impl Explorer {
    pub(super) fn new(config: Config) -> Explorer {
        let mut algorithms: Vec<AlgorithmInfo> = config.registry.iter().map(describe).collect();
        algorithms.sort_by_key(|algorithm| algorithm.family);
        let names = |preset: &Preset| config.registry.find(&preset.algorithm).is_ok();
        let presets = presets().into_iter().filter(names).collect();
        Explorer { page: Page::new(page::served()), algorithms, presets, workers: Workers::new(), config }
    }

    /// Runs, and what they were trained on.
    #[cfg(feature = "networks")]
    fn runs(&self) -> Vec<RunInfo> {
        let describe = |run: &Arc<_>| {
            let run = training_run(run);
            RunInfo { name: run.name, algorithms: run.algorithms }
        };
        self.config.runs.list().iter().map(describe).collect()
    }

    #[cfg(not(feature = "networks"))]
    #[expect(clippy::unused_self, reason = "with networks, there are runs")]
    fn runs(&self) -> Vec<RunInfo> {
        Vec::new()
    }

    /// Runs an algorithm on a problem that the request may have chosen.
    fn record(&self, algorithm: &dyn AnyAlgorithm, problem: &str) -> Result<Trace, ApiError> {
        let nodes = algorithm.problem_nodes(problem)?;
        let most = self.config.max_size + ADDED_NODES;
        if nodes > most {
            return Err(ApiError::TooLarge(format!("the problem has {nodes} nodes; the explorer shows at most {most}")));
        }
        sendable(Trace::record(algorithm, problem)?)
    }

    fn sample(&self, request: &SampleRequest) -> Result<Trace, ApiError> {
        let algorithm = self.config.registry.find(&request.algorithm)?;
        let (size, most) = (request.size, self.config.max_size);
        if size > most {
            return Err(ApiError::TooLarge(format!("size {size} is too large; the explorer shows at most {most}")));
        }
        sendable(Trace::sample(algorithm, size, request.seed, &request.options)?)
    }
}

/// Some algorithms add nodes to those of the size: a source and a sink.
const ADDED_NODES: usize = 2;

fn describe(algorithm: &'static dyn AnyAlgorithm) -> AlgorithmInfo {
    let example = Trace::sample(algorithm, 4, 1, &SamplerOptions::default()).map(|trace| trace.problem);
    let fields = match example {
        Ok(Value::Object(fields)) => fields.into_iter().filter(|(_, value)| !value.is_number()).map(|(name, _)| name).collect(),
        _ => Vec::new(),
    };
    AlgorithmInfo {
        algorithm: algorithm.name(),
        title: algorithm.source().title(),
        family: algorithm.family(),
        summary: algorithm.source().summary(),
        options: algorithm.options(),
        fields,
    }
}

/// Refuses traces that a browser would choke on.
fn sendable(trace: Trace) -> Result<Trace, ApiError> {
    let values: usize = trace.probes.iter().flat_map(|probe| &probe.rows).map(|row| row.cells().count()).sum();
    if values > MAX_VALUES {
        let (nodes, steps) = (trace.nodes, trace.steps);
        return Err(ApiError::TooLarge(format!(
            "the run of {steps} steps on {nodes} nodes has {values} values; the explorer shows at most {MAX_VALUES}"
        )));
    }
    Ok(trace)
}

/// The addresses of the page and of algorithms.
pub(super) fn routes() -> Router<Arc<Explorer>> {
    Router::new()
        .route("/", get(index))
        .route("/api/info", get(info))
        .route("/api/algorithms/{name}", get(algorithm))
        .route("/api/trace", get(sample).post(record))
}

/// Answers at some addresses, and that there is nothing at others.
pub(super) fn router(routes: Router<Arc<Explorer>>, explorer: Arc<Explorer>) -> Router {
    routes
        .fallback(async || ApiError::NotFound)
        .method_not_allowed_fallback(async || ApiError::NotFound)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(explorer)
}

async fn index(State(explorer): State<Arc<Explorer>>, headers: HeaderMap) -> Response {
    explorer.page.respond(Gzip::of(&headers))
}

async fn info(State(explorer): State<Arc<Explorer>>, headers: HeaderMap) -> Result<Json, ApiError> {
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        algorithms: &explorer.algorithms,
        presets: &explorer.presets,
        max_size: explorer.config.max_size,
        runs: explorer.runs(),
    };
    Json::new(&info, Gzip::of(&headers))
}

async fn algorithm(
    State(explorer): State<Arc<Explorer>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Json, ApiError> {
    let algorithm = explorer.config.registry.find(&name)?;
    Json::new(&AlgorithmText::new(algorithm), Gzip::of(&headers))
}

/// A problem to sample.
pub(super) struct SampleRequest {
    pub(super) algorithm: String,
    pub(super) size: usize,
    pub(super) seed: u32,
    pub(super) options: SamplerOptions,
}

/// Parameters of an address, by name.
pub(super) type Parameters = Vec<(String, String)>;

/// Parses a number.
pub(super) fn number<T: FromStr>(name: &str, value: &str) -> Result<T, ApiError> {
    value.parse().map_err(|_| ApiError::Request(format!("`{name}` must be a number, not `{value}`")))
}

impl SampleRequest {
    /// Parses `algorithm=bfs&size=16&seed=1&set=p%3D0.5`. Other parameters are passed to `other`, which returns whether it knows them.
    pub(super) fn parse(
        parameters: &Parameters,
        mut other: impl FnMut(&str, &str) -> Result<bool, ApiError>,
    ) -> Result<SampleRequest, ApiError> {
        let mut request = SampleRequest { algorithm: String::new(), size: 16, seed: 1, options: SamplerOptions::default() };
        let mut options = Vec::new();
        for (name, value) in parameters {
            match name.as_str() {
                "algorithm" => request.algorithm.clone_from(value),
                "size" => request.size = number(name, value)?,
                "seed" => request.seed = number(name, value)?,
                "set" => options.push(value),
                _ if other(name, value)? => {}
                _ => return Err(ApiError::Request(format!("unknown parameter `{name}`"))),
            }
        }
        request.options = SamplerOptions::parse(options.into_iter().map(String::as_str))?;
        let too_large = |value: &str| value.parse::<f64>().is_ok_and(|number| number.is_nan() || number.abs() > MAX_OPTION);
        if let Some((name, value)) = request.options.iter().find(|(_, value)| value.split(',').any(too_large)) {
            return Err(ApiError::TooLarge(format!("`{name}={value}`: the explorer takes numbers up to {MAX_OPTION}")));
        }
        Ok(request)
    }
}

async fn sample(
    State(explorer): State<Arc<Explorer>>,
    headers: HeaderMap,
    query: Result<Query<Parameters>, QueryRejection>,
) -> Result<Json, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::Request(error.body_text()))?;
    let (request, gzip) = (SampleRequest::parse(&query, |_, _| Ok(false))?, Gzip::of(&headers));
    let worker = Arc::clone(&explorer);
    explorer.workers.run(move |_| Json::new(&worker.sample(&request)?, gzip)).await
}

/// A problem to run an algorithm on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordRequest {
    algorithm: String,
    problem: Value,
}

async fn record(
    State(explorer): State<Arc<Explorer>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json, ApiError> {
    let body = body.map_err(|error| match error.status() {
        http::StatusCode::PAYLOAD_TOO_LARGE => ApiError::TooLarge(format!("a problem may have at most {MAX_BODY} bytes")),
        _ => ApiError::Request(error.body_text()),
    })?;
    let gzip = Gzip::of(&headers);
    let worker = Arc::clone(&explorer);
    let work = move |_: &_| {
        let request: RecordRequest = serde_json::from_slice(&body).map_err(|error| ApiError::Request(error.to_string()))?;
        let algorithm = worker.config.registry.find(&request.algorithm)?;
        Json::new(&worker.record(algorithm, &request.problem.to_string())?, gzip)
    };
    explorer.workers.run(work).await
}
