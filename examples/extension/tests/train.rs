//! The algorithm, the distribution and the processor work together, by name.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use clrs_extension_example::registries;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::EvalOptions;
use clrs_nn::eval::trained::{Checkpoint, TrainedModel};
use clrs_nn::exec::device::Device;

fn train(out: &Path, overrides: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_clrs-extension-example")).arg(out).args(overrides).output().expect("the program runs")
}

#[test]
fn the_processor_learns_the_algorithm_and_the_run_opens_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("run");
    let output = train(&out, &["steps=60", "eval_every=20", "hidden=16"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("step 60: validation score") && text.contains("32 samples of 16 keys"), "{text}");

    let model = TrainedModel::open_with(&out, &Checkpoint::Last, &registries(), &Device::flex()).expect("a model");
    assert_eq!((model.recipe.model.processor.as_str(), model.algorithms[0].name()), ("mean", "selection_sort"));
    let evaluate = |set| model.evaluate("selection_sort", &set, &EvalOptions::default(), &mut |_| ControlFlow::Continue(()));
    let score = evaluate(EvalSet::sampled(4)).expect("a report").metrics.score;
    assert!(score > 0.5, "a network that has learned nothing scores about 0.25, this one {score}");

    // Without the registry, the names are unknown.
    let error = TrainedModel::open(&out).err().expect("unknown names").to_string();
    assert!(error.contains("unknown algorithm `selection_sort`"), "{error}");
}

#[test]
fn a_resumed_run_of_the_processor_has_the_same_bits() {
    let directory = tempfile::tempdir().expect("a directory");
    let [whole, resumed] = ["whole", "resumed"].map(|name| directory.path().join(name));
    let run = |out: &Path, steps: &str| {
        let output = train(out, &[steps, "eval_every=4", "hidden=8"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let parameters =
        |out: &Path| TrainedModel::open_with(out, &Checkpoint::Last, &registries(), &Device::flex()).expect("a model").parameters;
    run(&whole, "steps=8");
    run(&resumed, "steps=4");
    let mut trainer = clrs_nn::train::trainer::Trainer::new(
        clrs_nn::train::plan::TrainPlan::new(
            clrs_nn::Recipe { steps: 8, ..clrs_nn::run::directory::read_recipe(&resumed).expect("a recipe") },
            &registries(),
        )
        .expect("a plan"),
        &Device::flex(),
    )
    .expect("a trainer");
    trainer.resume(&resumed).expect("a checkpoint");
    assert_eq!(trainer.parameters(), &parameters(&resumed));
    for _ in 4..8 {
        trainer.step().expect("a step");
    }
    assert_eq!(trainer.parameters(), &parameters(&whole));
}

#[test]
fn options_of_the_distribution_are_settable_and_checked() {
    let registries = registries();
    let sort = registries.algorithms.find("selection_sort").expect("registered");
    assert!(sort.options().iter().any(|option| option.name == "swap"));
    let options = clrs::sampling::SamplerOptions::parse(["swap=2"]).expect("an option");
    assert!(clrs::sampling::Sampler::new(sort, 4, 1, &options).is_err());
}
