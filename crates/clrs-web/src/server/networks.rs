//! Addresses of networks and their training.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::routing::get;
use clrs_nn::eval::evaluate::UnknownSteps;

use super::api::{Explorer, Parameters, SampleRequest, number};
use super::error::ApiError;
use super::respond::{Gzip, Json};
use crate::networks::predict::{Question, decisions, overview};
use crate::networks::training::training_run;

/// Most samples of a set.
const MAX_SAMPLES: usize = 128;
/// Largest problems for networks: their time grows with the cube of it for some.
const MAX_SIZE: usize = 64;

pub(super) fn add_routes(router: Router<Arc<Explorer>>) -> Router<Arc<Explorer>> {
    router.route("/api/network", get(network)).route("/api/network/sample", get(sample)).route("/api/training", get(training))
}

/// Parses a question, and the index of a sample if there is one.
fn parse(query: Result<Query<Parameters>, QueryRejection>) -> Result<(Question, usize), ApiError> {
    let Query(query) = query.map_err(|error| ApiError::Request(error.body_text()))?;
    let (mut question, mut sample) = (Question::default(), 0);
    let request = SampleRequest::parse(&query, |name, value| {
        match name {
            "run" => question.run = number(name, value)?,
            "count" => question.count = number(name, value)?,
            "sample" => sample = number(name, value)?,
            "steps" => question.steps = value.parse().map_err(|error: UnknownSteps| ApiError::Request(error.to_string()))?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if !(1..=MAX_SAMPLES).contains(&question.count) || request.size > MAX_SIZE {
        return Err(ApiError::TooLarge(format!(
            "the explorer evaluates networks on 1 to {MAX_SAMPLES} samples of size {MAX_SIZE} or less"
        )));
    }
    let SampleRequest { algorithm, size, seed, options } = request;
    Ok((Question { algorithm, size, seed, options, ..question }, sample))
}

async fn network(
    State(explorer): State<Arc<Explorer>>,
    headers: HeaderMap,
    query: Result<Query<Parameters>, QueryRejection>,
) -> Result<Json, ApiError> {
    let ((question, _), gzip) = (parse(query)?, Gzip::of(&headers));
    let worker = Arc::clone(&explorer);
    let work = move |abandoned: &super::work::Abandoned| {
        Json::new(&overview(&worker.config.runs, &question, &|| abandoned.is_set())?, gzip)
    };
    explorer.workers.run(work).await
}

async fn sample(
    State(explorer): State<Arc<Explorer>>,
    headers: HeaderMap,
    query: Result<Query<Parameters>, QueryRejection>,
) -> Result<Json, ApiError> {
    let ((question, sample), gzip) = (parse(query)?, Gzip::of(&headers));
    let worker = Arc::clone(&explorer);
    let work = move |abandoned: &super::work::Abandoned| {
        Json::new(&decisions(&worker.config.runs, &question, sample, &|| abandoned.is_set())?, gzip)
    };
    explorer.workers.run(work).await
}

async fn training(State(explorer): State<Arc<Explorer>>, headers: HeaderMap) -> Result<Json, ApiError> {
    let gzip = Gzip::of(&headers);
    let worker = Arc::clone(&explorer);
    let work = move |_: &_| {
        let runs: Vec<_> = worker.config.runs.list().iter().map(|run| training_run(run)).collect();
        Json::new(&runs, gzip)
    };
    explorer.workers.run(work).await
}
