//! Run directories: status, checkpoints and resumption. A run that is stopped and resumed must end with the bits of one that was not.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use burn::tensor::Device;
use clrs::clrs30::{Split, Version};
use clrs::sampling::{FixedSet, Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Registry};
use clrs_nn::config::data_source::DataSource;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::EvalOptions;
use clrs_nn::eval::trained::{Checkpoint, OpenModelError, TrainedModel};
use clrs_nn::run::checkpoint::CheckpointFile;
use clrs_nn::run::directory::{BEST, LAST, RunDir, RunLock, read_recipe};
use clrs_nn::run::error::RunError;
use clrs_nn::run::status::{RunStatus, Status};
use clrs_nn::run::tensor_file::{TensorFile, TensorFileError};
use clrs_nn::train::plan::TrainPlan;
use clrs_nn::train::trainer::{Event, StopReason, TrainError, Trainer};
use clrs_nn::{Recipe, Registries};
use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
use clrs_store::{Header, OnExisting, Provenance, SetWriter, Shard};
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

type AnyError = Box<dyn std::error::Error>;

/// A small recipe: four steps, with validations after the second and the last.
fn recipe(overrides: &[&str]) -> Recipe {
    let text = "algorithms = ['bfs']\nhidden = 8\nlengths = [4]\nbatch_size = 2\nval_samples = 2\nsteps = 4\neval_every = 2";
    Recipe::parse(text, overrides).expect("a recipe")
}

fn trainer(recipe: Recipe) -> Trainer {
    let plan = TrainPlan::new(recipe, &Registries::builtin()).expect("a valid recipe");
    Trainer::new(plan, &Device::flex()).expect("a trainer")
}

fn go_on(_: &Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Stops a run after a step.
fn stop_after(step: usize) -> impl FnMut(&Event<'_>) -> ControlFlow<()> {
    move |event| match event {
        Event::Step(report) if report.step == step => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

/// Stops a run in the validation with a given number, from 1, before it has evaluated all samples.
fn stop_in_validation(number: usize) -> impl FnMut(&Event<'_>) -> ControlFlow<()> {
    let mut finished = 0;
    move |event| match event {
        Event::Validation { .. } => {
            finished += 1;
            ControlFlow::Continue(())
        }
        Event::Validating(_) if finished + 1 == number => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

/// Trains in a new run directory.
fn train(run: &Path, recipe: Recipe, mut on_event: impl FnMut(&Event<'_>) -> ControlFlow<()>) -> Result<StopReason, TrainError> {
    let mut directory = RunDir::create(run, &json!({"program": "test"})).expect("an empty directory");
    trainer(recipe).run(&mut directory, &mut on_event)
}

/// Resumes a run with the recipe in its directory.
fn resume(run: &Path, mut on_event: impl FnMut(&Event<'_>) -> ControlFlow<()>) -> Result<StopReason, AnyError> {
    let lock = RunLock::acquire(run)?;
    let mut trainer = trainer(read_recipe(run)?);
    trainer.resume(run)?;
    let mut directory = RunDir::open(lock, trainer.state().step)?;
    Ok(trainer.run(&mut directory, &mut on_event)?)
}

/// The error of an attempt to resume, which must be one of the run directory.
fn resume_error(run: &Path) -> RunError {
    *resume(run, go_on).expect_err("must not resume").downcast().expect("an error of the run directory")
}

fn status(run: &Path) -> RunStatus {
    RunStatus::read(run).expect("a valid status").expect("a status")
}

fn tensors(run: &Path, file: &str) -> BTreeMap<String, (Vec<usize>, Vec<u32>)> {
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect();
    let file = TensorFile::read(&run.join(file)).expect("a checkpoint");
    file.tensors.into_iter().map(|(name, (shape, values))| (name, (shape, bits(values)))).collect()
}

/// Asserts that two runs ended alike: the same checkpoints, byte for byte, and the same metrics.
fn assert_same_end(one: &Path, other: &Path) {
    for file in [LAST, BEST, "metrics.jsonl", "config.toml"] {
        let [one, other] = [one, other].map(|run| fs::read(run.join(file)).expect("a file of the run"));
        assert!(one == other, "{file} differs");
    }
    let without_time = |run: &Path| {
        let RunStatus { status, step, steps, best, error, .. } = status(run);
        (status, step, steps, best, error)
    };
    assert_eq!(without_time(one), without_time(other));
}

/// Two run directories that do not exist yet.
fn two_runs() -> (TempDir, [std::path::PathBuf; 2]) {
    let parent = tempdir().expect("a directory");
    let runs = ["one", "other"].map(|name| parent.path().join(name));
    (parent, runs)
}

/// Rewrites a checkpoint as format 1 wrote it: no specs, fingerprint or checksum, and the old names of tensors.
fn rewrite_as_format_1(path: &Path) {
    const KEY: &str = "clrs.checkpoint";
    const OLD_NAMES: [(&str, &str); 4] = [
        ("recurrent/", "carried/"),
        ("processor/query/", "processor/asking/"),
        ("processor/key/", "processor/asked/"),
        ("processor/queries", "processor/questions"),
    ];
    let old_name = |name: &str| OLD_NAMES.iter().fold(name.to_owned(), |name, (new, old)| name.replace(new, old));
    let mut file = TensorFile::read(path).expect("a checkpoint");
    let mut meta: Value = serde_json::from_str(&file.metadata[KEY]).expect("JSON");
    assert_eq!(meta["format"], 2);
    meta["format"] = json!(1);
    let fields = meta.as_object_mut().expect("an object");
    for field in ["tasks", "recorded", "recipe", "checksum"] {
        fields.remove(field).unwrap_or_else(|| panic!("format 2 has `{field}`"));
    }
    fields["state"].as_object_mut().expect("an object").remove("pending_validation");
    let reference = fields["reference"].as_object().expect("an object");
    fields["reference"] = reference.iter().map(|(name, value)| (old_name(name), value.clone())).collect();
    file.metadata.insert(KEY.into(), meta.to_string());
    file.tensors = file.tensors.into_iter().map(|(name, tensor)| (old_name(&name), tensor)).collect();
    fs::write(path, file.to_bytes()).expect("written");
}

#[test]
fn a_run_is_running_while_locked_and_stopped_once_its_process_is_gone() {
    let run = tempdir().expect("a directory");
    assert_eq!(RunStatus::read(run.path()).expect("no error"), None);
    let directory = RunDir::create(run.path(), &json!({})).expect("a new run");
    assert_eq!(status(run.path()).status, Status::Running);
    // A killed process releases its lock and leaves the file as it is.
    drop(directory);
    let text = fs::read_to_string(run.path().join("status.json")).expect("a status");
    assert!(text.contains(r#""status":"running""#), "{text}");
    assert_eq!(status(run.path()).status, Status::Stopped);
}

#[test]
fn the_status_follows_the_run() {
    let run = tempdir().expect("a directory");
    let mut during = Vec::new();
    let reason = train(run.path(), recipe(&[]), |event| {
        if let Event::Step(_) = event {
            during.push(status(run.path()).status);
        }
        stop_after(3)(event)
    });
    assert_eq!(reason.expect("no error"), StopReason::Stopped);
    assert_eq!(during, [Status::Running; 3]);
    let stopped = status(run.path());
    assert_eq!((stopped.status, stopped.step, stopped.steps), (Status::Stopped, 3, 4));
    assert_eq!(stopped.best.map(|best| best.step), Some(2));

    assert_eq!(resume(run.path(), go_on).expect("resumed"), StopReason::Completed);
    let done = status(run.path());
    assert_eq!((done.status, done.step, done.steps, done.error), (Status::Done, 4, 4, None));
}

#[test]
fn a_failed_run_has_its_error_in_the_status() {
    let run = tempdir().expect("a directory");
    let mut trainer = trainer(recipe(&[]));
    let mut file = TensorFile::from_parameters(trainer.parameters(), |parameter| parameter.name.clone());
    file.tensors.values_mut().for_each(|(_, values)| values.fill(3e38));
    file.load_into(trainer.parameters_mut(), |parameter| parameter.name.clone()).expect("finite parameters");
    let mut directory = RunDir::create(run.path(), &json!({})).expect("a new run");
    let error = trainer.run(&mut directory, &mut go_on).expect_err("the loss overflows");
    assert!(matches!(error, TrainError::NotFinite { step: 1, .. }), "{error}");
    let failed = status(run.path());
    assert_eq!((failed.status, failed.step, failed.error), (Status::Failed, 0, Some(error.to_string())));
}

#[test]
fn two_processes_cannot_train_in_one_directory() {
    let run = tempdir().expect("a directory");
    let _directory = RunDir::create(run.path(), &json!({})).expect("a new run");
    assert!(matches!(RunLock::acquire(run.path()).err(), Some(RunError::InUse(path)) if path == run.path()));
}

#[test]
fn a_stopped_run_ends_with_the_bits_of_an_uninterrupted_one() {
    for overrides in [&["teacher_forcing=0.5", "dropout=0.1"][..], &["chunk_length=3", "lstm=true"]] {
        let (_parent, [one, other]) = two_runs();
        assert_eq!(train(&one, recipe(overrides), go_on).expect("trained"), StopReason::Completed);
        assert_eq!(train(&other, recipe(overrides), stop_after(3)).expect("trained"), StopReason::Stopped);
        assert_eq!(resume(&other, go_on).expect("resumed"), StopReason::Completed);
        assert_same_end(&one, &other);
    }
}

#[test]
fn a_stopped_validation_is_repeated() {
    // The second validation is that of the last step.
    for number in [1, 2] {
        let (_parent, [one, other]) = two_runs();
        assert_eq!(train(&one, recipe(&[]), go_on).expect("trained"), StopReason::Completed);
        assert_eq!(train(&other, recipe(&[]), stop_in_validation(number)).expect("trained"), StopReason::Stopped);
        let state = CheckpointFile::read(&other.join(LAST)).expect("a checkpoint").state();
        assert_eq!((state.step, state.pending_validation), (2 * number, true));
        assert_eq!(resume(&other, go_on).expect("resumed"), StopReason::Completed, "validation {number}");
        assert_same_end(&one, &other);
    }
}

#[test]
fn a_repeated_validation_can_end_the_run_early() {
    // Without learning, the second validation is no better than the first.
    let recipe = || recipe(&["learning_rate=0", "patience=1", "steps=8"]);
    let (_parent, [one, other]) = two_runs();
    assert_eq!(train(&one, recipe(), go_on).expect("trained"), StopReason::EarlyStopping);
    assert_eq!(status(&one).step, 4);
    assert_eq!(train(&other, recipe(), stop_in_validation(2)).expect("trained"), StopReason::Stopped);
    assert_eq!(resume(&other, go_on).expect("resumed"), StopReason::EarlyStopping);
    assert_same_end(&one, &other);
}

#[test]
fn a_repeated_validation_can_be_stopped_again() {
    let (_parent, [one, other]) = two_runs();
    assert_eq!(train(&one, recipe(&[]), go_on).expect("trained"), StopReason::Completed);
    assert_eq!(train(&other, recipe(&[]), stop_in_validation(1)).expect("trained"), StopReason::Stopped);
    assert_eq!(resume(&other, stop_in_validation(1)).expect("resumed"), StopReason::Stopped);
    assert!(CheckpointFile::read(&other.join(LAST)).expect("a checkpoint").state().pending_validation);
    assert_eq!(resume(&other, go_on).expect("resumed"), StopReason::Completed);
    assert_same_end(&one, &other);
}

#[test]
fn a_checkpoint_of_format_1_opens() {
    for processor in ["gat", "memnet_full"] {
        let run = tempdir().expect("a directory");
        let recipe = recipe(&[&format!("processor={processor}"), "steps=1"]);
        train(run.path(), recipe, go_on).expect("trained");
        let open =
            || TrainedModel::open_with(run.path(), &Checkpoint::Last, &Registries::builtin(), &Device::flex()).expect("a model");
        let before = open();
        rewrite_as_format_1(&run.path().join(LAST));
        let names = TensorFile::read(&run.path().join(LAST)).expect("a checkpoint").tensors;
        let old = if processor == "gat" { "processor/asking/weight" } else { "processor/questions" };
        assert!(names.contains_key(old), "{processor}: {:?}", names.keys());
        let after = open();
        assert_eq!((after.step, after.parameters), (before.step, before.parameters), "{processor}");
        assert_eq!(after.network.tasks(), before.network.tasks(), "{processor}");
    }
}

#[test]
fn a_run_of_format_1_resumes_with_its_recurrent_state() {
    let recipe = || recipe(&["processor=gat", "chunk_length=3"]);
    let (_parent, [one, other]) = two_runs();
    train(&one, recipe(), go_on).expect("trained");
    train(&other, recipe(), stop_after(3)).expect("trained");
    rewrite_as_format_1(&other.join(LAST));
    assert!(tensors(&other, LAST).keys().any(|name| name.starts_with("carried/")));
    assert_eq!(resume(&other, go_on).expect("resumed"), StopReason::Completed);
    assert_same_end(&one, &other);
}

#[test]
fn a_flipped_bit_in_a_checkpoint_is_refused() {
    let run = tempdir().expect("a directory");
    train(run.path(), recipe(&[]), stop_after(3)).expect("trained");
    for (name, checkpoint) in [(LAST, Checkpoint::Last), (BEST, Checkpoint::Best)] {
        let path = run.path().join(name);
        let mut bytes = fs::read(&path).expect("a checkpoint");
        *bytes.last_mut().expect("tensors") ^= 1;
        fs::write(&path, bytes).expect("written");
        let opened = TrainedModel::open_with(run.path(), &checkpoint, &Registries::builtin(), &Device::flex());
        assert!(matches!(opened.err(), Some(OpenModelError::Run(RunError::Checksum(of))) if of == path));
    }
    assert!(matches!(resume_error(run.path()), RunError::Checksum(path) if path == run.path().join(LAST)));
}

#[test]
fn the_checkpoint_of_another_run_is_refused() {
    let (_parent, [one, other]) = two_runs();
    train(&one, recipe(&["seed=1"]), stop_after(3)).expect("trained");
    train(&other, recipe(&["seed=2"]), stop_after(3)).expect("trained");
    fs::copy(one.join(LAST), other.join(LAST)).expect("copied");
    assert!(matches!(resume_error(&other), RunError::OtherRecipe(path) if path == other.join(LAST)));
    let opened = TrainedModel::open_with(&other, &Checkpoint::Last, &Registries::builtin(), &Device::flex());
    assert!(matches!(opened.err(), Some(OpenModelError::Run(RunError::OtherRecipe(_)))));
}

#[test]
fn a_run_can_be_extended_but_not_continue_with_another_recipe() {
    let run = tempdir().expect("a directory");
    train(run.path(), recipe(&[]), go_on).expect("trained");
    let config = run.path().join("config.toml");
    let saved = read_recipe(run.path()).expect("a recipe");
    let edit = |recipe: Recipe| fs::write(&config, recipe.to_toml()).expect("written");

    edit(Recipe { learning_rate: 0.5, ..saved.clone() });
    assert!(matches!(resume_error(run.path()), RunError::OtherRecipe(_)));
    edit(Recipe { steps: 6, ..saved });
    assert_eq!(resume(run.path(), go_on).expect("resumed"), StopReason::Completed);
    assert_eq!((status(run.path()).step, status(run.path()).steps), (6, 6));
}

#[test]
fn parameters_that_are_not_finite_are_refused_by_name() {
    let run = tempdir().expect("a directory");
    train(run.path(), recipe(&[]), stop_after(3)).expect("trained");
    let path = run.path().join(LAST);
    // Format 1 has no checksum that would be refused first.
    rewrite_as_format_1(&path);
    let mut file = TensorFile::read(&path).expect("a checkpoint");
    let name = "bfs/decoder/reach_h/bias";
    file.tensors.get_mut(name).unwrap_or_else(|| panic!("no {name}")).1[0] = f32::NAN;
    fs::write(&path, file.to_bytes()).expect("written");
    let error = resume_error(run.path());
    let RunError::Checkpoint { source: TensorFileError::NotFinite { name: found, value }, .. } = error else { panic!("{error}") };
    assert_eq!(found, name);
    assert!(value.is_nan());
}

#[test]
fn a_run_without_its_best_checkpoint_does_not_resume() {
    let run = tempdir().expect("a directory");
    train(run.path(), recipe(&[]), stop_after(3)).expect("trained");
    fs::remove_file(run.path().join(BEST)).expect("a checkpoint");
    let before = tensors(run.path(), LAST);
    assert!(matches!(resume_error(run.path()), RunError::NoCheckpoint(path) if path == run.path().join(BEST)));
    assert_eq!(tensors(run.path(), LAST), before);
}

/// Names and contents of all files of a directory.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry"));
    let file = |entry: fs::DirEntry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file"));
    entries.map(file).collect()
}

#[test]
fn a_new_run_does_not_overwrite_files() {
    let names =
        [LAST, BEST, "metrics.jsonl", "provenance.json", "status.json", "events.out.tfevents.0000000000.clrs", "config.toml"];
    for name in names {
        let directory = tempdir().expect("a directory");
        fs::write(directory.path().join(name), "not a run").expect("written");
        fs::write(directory.path().join("notes.txt"), "of the user").expect("written");
        let before = contents(directory.path());
        let error = RunDir::create(directory.path(), &json!({})).err();
        assert!(matches!(error, Some(RunError::Occupied(_) | RunError::Exists(_))), "{name}: {error:?}");
        assert_eq!(contents(directory.path()), before, "{name}");
    }
}

#[test]
fn a_new_run_beside_other_files_leaves_them() {
    let directory = tempdir().expect("a directory");
    fs::write(directory.path().join("notes.txt"), "of the user").expect("written");
    fs::write(directory.path().join("lock"), "of another program").expect("written");
    train(directory.path(), recipe(&["steps=1"]), go_on).expect("trained");
    let after = contents(directory.path());
    assert_eq!((&after["notes.txt"][..], &after["lock"][..]), (&b"of the user"[..], &b"of another program"[..]));
}

#[test]
fn a_run_killed_before_its_first_checkpoint_can_be_started_again() {
    let run = tempdir().expect("a directory");
    drop(RunDir::create(run.path(), &json!({})).expect("a new run"));
    assert_eq!(train(run.path(), recipe(&["steps=1"]), go_on).expect("trained"), StopReason::Completed);
}

#[test]
fn a_completed_run_is_not_started_again() {
    let run = tempdir().expect("a directory");
    train(run.path(), recipe(&["steps=1"]), go_on).expect("trained");
    let before = contents(run.path());
    assert!(matches!(RunDir::create(run.path(), &json!({})).err(), Some(RunError::Exists(_))));
    assert_eq!(contents(run.path()), before);
}

fn find(algorithm: &str) -> &'static dyn AnyAlgorithm {
    Registry::builtin().find(algorithm).expect("a built-in algorithm")
}

/// The only test that depends on the working directory; all others use absolute paths.
#[test]
fn a_model_evaluates_without_its_training_data_and_from_any_working_directory() {
    let original = std::env::current_dir().expect("a working directory");
    let (data, elsewhere, run) =
        (tempdir().expect("a directory"), tempdir().expect("a directory"), tempdir().expect("a directory"));
    let algorithm = find("insertion_sort");
    // Another spec than the algorithm has by default, so that the model needs the one of its checkpoint.
    let spec = Version::V1_0_0.spec(algorithm);
    assert_ne!(spec, algorithm.spec().into());
    fs::create_dir(data.path().join("sets")).expect("created");
    for split in [Split::Train, Split::Val] {
        let sampler = Sampler::new(algorithm, 4, 7, &SamplerOptions::default()).expect("a sampler");
        let samples = FixedSet::new(sampler, 4).expect("samples").into_trajectories().with_spec(&spec);
        let provenance = Provenance { samples: 4, ..Provenance::default() };
        let name = format!("insertion_sort_{}", split.name());
        let header = Header { name, algorithm: "insertion_sort".into(), max_nodes: 4, provenance, spec: spec.clone() };
        let path = data.path().join("sets").join(format!("{}.arrow", header.name));
        let mut writer = SetWriter::create(&path, &header, OnExisting::Fail).expect("a new file");
        writer.write(&samples).expect("written");
        writer.finish().expect("finished");
    }

    std::env::set_current_dir(data.path()).expect("a directory");
    let recipe = Recipe { algorithms: vec!["insertion_sort".into()], ..recipe(&["data=sets", "permutations=pointers"]) };
    train(run.path(), recipe, go_on).expect("trained");
    let saved = read_recipe(run.path()).expect("a recipe").data;
    assert!(matches!(&saved, DataSource::Directory(path) if path.is_absolute()), "{saved}");

    std::env::set_current_dir(elsewhere.path()).expect("a directory");
    drop(data);
    let model = TrainedModel::open(run.path()).expect("a model");
    let task = &model.network.tasks()[0];
    assert!(task.spec.iter().all(|probe| spec.get(&probe.name).is_some()), "{:?}", task.spec);
    let report =
        model.evaluate("insertion_sort", &EvalSet::sampled(4), &EvalOptions::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(report.expect("a report").samples, 32 * algorithm.eval_multiplier());
    std::env::set_current_dir(original).expect("the original directory");
}

#[test]
fn a_sharded_data_directory_trains_as_a_single_file_does() {
    let (_parent, [one, other]) = two_runs();
    for (run, shards) in [(&one, 1), (&other, 3)] {
        let data = tempdir().expect("a directory");
        for (split, samples, seed) in [("train", 10, 1), ("val", 4, 2)] {
            let set = DatasetSpec::new(format!("bfs_{split}"), find("bfs"), 4, samples, seed);
            for index in 0..shards {
                let shard = set.clone().with_shard(Shard { index, count: shards });
                generate(&[shard], data.path(), GenerateOptions::default(), &()).expect("generated");
            }
        }
        let files = contents(data.path()).len();
        assert!(files >= 2 * shards as usize, "{files} files");
        let recipe = Recipe { data: DataSource::Directory(data.path().into()), ..recipe(&[]) };
        assert_eq!(train(run, recipe, go_on).expect("trained"), StopReason::Completed);
    }
    assert_eq!(tensors(&one, LAST), tensors(&other, LAST));
    let metrics = |run: &Path| fs::read_to_string(run.join("metrics.jsonl")).expect("metrics");
    assert_eq!(metrics(&one), metrics(&other));
}
