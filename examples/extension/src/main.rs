//! Trains and evaluates the processor `mean` on `selection_sort`: `cargo run --release -p clrs-extension-example -- DIR [field=value]..`

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;
use clrs_extension_example::registries;
use clrs_nn::Recipe;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::EvalOptions;
use clrs_nn::eval::trained::{Checkpoint, TrainedModel};
use clrs_nn::exec::device::Device;
use clrs_nn::run::directory::RunDir;
use clrs_nn::train::plan::TrainPlan;
use clrs_nn::train::trainer::{Event, Trainer};
use serde_json::json;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (out, overrides) = arguments.split_first().context("usage: clrs-extension-example DIR [field=value]..")?;
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let recipe = Recipe::parse(RECIPE, &overrides)?;

    let (registries, device) = (registries(), Device::flex());
    let plan = TrainPlan::new(recipe, &registries)?;
    let mut run = RunDir::create(Path::new(out), &json!({ "program": "clrs-extension-example" }))?;
    Trainer::new(plan, &device)?.run(&mut run, &mut |event| {
        if let Event::Validation { report, .. } = event {
            println!("step {}: validation score {:.3}", report.step, report.score);
        }
        ControlFlow::Continue(())
    })?;

    let model = TrainedModel::open_with(Path::new(out), &Checkpoint::Best, &registries, &device)?;
    let options = EvalOptions::default();
    let report = model.evaluate("selection_sort", &EvalSet::sampled(16), &options, &mut |_| ControlFlow::Continue(()))?;
    println!(
        "{} samples of 16 keys: score {:.3}, {:.3} sorted correctly",
        report.samples, report.metrics.score, report.metrics.validity
    );
    Ok(())
}

/// What differs from the defaults.
const RECIPE: &str = r#"
algorithms = ["selection_sort"]
processor = "mean"
hidden = 32
lengths = [4, 8]
steps = 200
eval_every = 50
"#;
