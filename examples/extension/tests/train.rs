//! The algorithm, the distribution and the processor work together, by name.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use clrs_extension_example::registries;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::EvalOptions;
use clrs_nn::eval::trained::{Checkpoint, TrainedModel};
use clrs_nn::exec::device::Device;
use clrs_nn::run::directory::{self, RunDir, RunLock};
use clrs_nn::train::plan::TrainPlan;
use clrs_nn::train::trainer::Trainer;

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
fn a_run_that_is_interrupted_resumes_to_the_same_bits() {
    let directory = tempfile::tempdir().expect("a directory");
    let (resumed, complete) = (directory.path().join("resumed"), directory.path().join("complete"));
    let small = ["hidden=8", "lengths=4", "val_samples=4", "eval_every=3"];
    for (out, steps) in [(&resumed, "steps=3"), (&complete, "steps=6")] {
        let output = train(out, &[&small[..], &[steps]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut recipe = directory::read_recipe(&resumed).expect("a recipe");
    recipe.steps = 6;
    let plan = TrainPlan::new(recipe, &registries()).expect("a plan");
    let mut trainer = Trainer::new(plan, &Device::flex()).expect("a trainer");
    trainer.resume(&resumed).expect("a checkpoint");
    let lock = RunLock::acquire(&resumed).expect("no other process");
    let mut run = RunDir::open(lock, trainer.state().step).expect("a run");
    trainer.run(&mut run, &mut |_| ControlFlow::Continue(())).expect("three more steps");
    for file in ["last.safetensors", "best.safetensors", "metrics.jsonl"] {
        let read = |run: &Path| std::fs::read(run.join(file)).expect("a file");
        assert!(read(&resumed) == read(&complete), "{file}");
    }
}

#[test]
fn options_of_the_distribution_are_settable_and_checked() {
    let registries = registries();
    let sort = registries.algorithms.find("selection_sort").expect("registered");
    assert!(sort.options().iter().any(|option| option.name == "swap"));
    let options = clrs::sampling::SamplerOptions::parse(["swap=2"]).expect("an option");
    assert!(clrs::sampling::Sampler::new(sort, 4, 1, &options).is_err());
}
