use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clrs::AnyAlgorithm;
use clrs::clrs30::Split;
use clrs_nn::config::data_source::{DataSource, ON_THE_FLY};
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::eval::evaluate::{EvalOptions, EvalReport, Steps};
use clrs_nn::eval::metrics::EvalError;
use clrs_nn::eval::trained::{Checkpoint, TrainedModel};
use clrs_nn::exec::device::Device;
use clrs_store::Progress;
use clrs_store::memory::SampleMemory;

use crate::arguments::{self, Compute, Name, ensure_outside_run};
use crate::error::{Interrupted, advise_generate, one_line};
use crate::progress::SampleBar;
use crate::table::plural;

mod files;
mod json;
mod print;

use files::Files;

/// Evaluate trained networks: score, validity, exact match
///
/// Evaluates each run (a directory that `clrs train` created) on every algorithm that it was trained on: on the benchmark's test
/// set, on other sets (`--data DIR`), or on new samples (`--sizes 16,64,256`), drawn like those of the benchmark that it was
/// trained on. The score is that of dm-clrs: the mean over outputs of micro-F1 for masks and accuracy for others. Validity is the
/// fraction of samples with a correct answer, whether or not it is the algorithm's; exact match is the fraction whose answer
/// equals the algorithm's. All are percentages.
///
/// Runs whose recipes differ in nothing but seeds are also summarized: mean and standard deviation (n - 1) over seeds, and means
/// over families and algorithms, next to the paper's results where it has them. Those are for `clrs30@1.0.0`; later versions have
/// other samples, and some algorithms have other probes.
///
/// Results on the benchmark and on new samples are kept in the run directory (`evals/`) and reused until the checkpoint changes;
/// `--again` evaluates again.
///
/// A run that cannot be opened is reported and left out; the exit code is 2 then.
///
/// `--steps oracle` lets the network take as many steps as the algorithm did, as papers do, which reveals something about the
/// answer. `--steps max` takes the largest number of steps for the number of nodes, and `--steps fixpoint` stops when the predicted
/// outputs and hints (except scalars) repeat. Random positions are never used in evaluation.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Arguments {
    /// Run directories
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Checkpoint to evaluate: `best` (by validation), `last`, or a file
    #[arg(long, value_name = "best|last|FILE", default_value = "best")]
    checkpoint: Checkpoint,
    /// Evaluate only these algorithms, comma-separated
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithms: Vec<String>,
    /// Version of the benchmark (clrs30, clrs30@1.0.0), or directory of sets named `ALGORITHM_SPLIT.arrow` [default: the
    /// version that the run was trained on, or clrs30]
    #[arg(long, value_name = "NAME|DIR")]
    data: Option<DataSource>,
    /// Split of the data [default: test]
    #[arg(long, value_parser = PossibleValuesParser::new(Split::ALL.map(Split::name)).try_map(|name| name.parse::<Split>()))]
    split: Option<Split>,
    /// Evaluate on new samples of these sizes, comma-separated; with --data or --split, in addition to those
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Samples per size [default: as many as the benchmark's test set of the algorithm: 32, 1024 or 2048]
    #[arg(long, requires = "sizes")]
    count: Option<usize>,
    /// Seed of new samples; 1, 2 and 3 are those of the benchmark's sets
    #[arg(long, requires = "sizes", default_value_t = 4)]
    seed: u32,
    /// Set an option of the distribution of new samples (`clrs show ALGORITHM` lists them); lists are comma-separated: `--set
    /// p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE", requires = "sizes")]
    options: Vec<String>,
    /// Number of steps that the network takes
    #[arg(long, default_value = "oracle", value_parser = PossibleValuesParser::new(STEPS.map(step_choice)).try_map(|name| name.parse::<Steps>()))]
    steps: Steps,
    /// Samples per batch: memory against speed
    #[arg(long, default_value_t = 32)]
    batch_size: usize,
    /// Score hints too, at every step
    #[arg(long)]
    hints: bool,
    /// Write the predicted and the true outputs of every sample, one JSON line each
    #[arg(long, value_name = "FILE.jsonl")]
    examples: Option<PathBuf>,
    /// Write predicted trajectories next to the true ones, one JSON line per sample, as `clrs trace --json` prints them
    #[arg(long, value_name = "FILE.jsonl")]
    trajectories: Option<PathBuf>,
    /// Samples to write trajectories of, comma-separated, counted from 0 [default: the first 4]
    #[arg(long, value_name = "I,..", value_delimiter = ',', requires = "trajectories")]
    trajectory_samples: Vec<usize>,
    /// Write hidden states and logits of every step of the first batch (docs/json.md describes the tensors)
    #[arg(long, value_name = "FILE.safetensors")]
    dump: Option<PathBuf>,
    /// Evaluate again, even if the run directory has the result
    #[arg(long)]
    again: bool,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    compute: Compute,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

const STEPS: [(Steps, &str); 3] = [
    (Steps::Oracle, "As many as the algorithm took"),
    (Steps::Max, "The upper bound for the number of nodes"),
    (Steps::Fixpoint, "Until predictions repeat"),
];

fn step_choice((steps, help): (Steps, &'static str)) -> PossibleValue {
    PossibleValue::new(steps.name()).help(help)
}

/// One network, on one algorithm and set.
struct Task<'r> {
    run: &'r Run,
    algorithm: &'static dyn AnyAlgorithm,
    set: EvalSet,
    samples: usize,
}

/// A run under its name on the command line.
struct Run {
    path: PathBuf,
    model: TrainedModel,
}

type Evaluated<'t> = (&'t Task<'t>, EvalReport);

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.batch_size > 0, "--batch-size must be at least 1");
    ensure!(arguments.count != Some(0), "--count must be at least 1");
    for (path, run) in Files::paths(arguments).into_iter().flat_map(|path| arguments.runs.iter().map(move |run| (path, run))) {
        ensure_outside_run(path, run)?;
    }
    arguments::ensure_checkpoint_exists(&arguments.checkpoint)?;
    let mut files = Files::create(arguments)?;
    let device = arguments.compute.open()?;
    let runs = open_runs(arguments, &device)?;
    let tasks = tasks(arguments, &runs)?;
    ensure!(
        arguments.dump.is_none() || tasks.len() == 1,
        "--dump needs one run, one algorithm (--algorithms) and one set, not {} of them",
        tasks.len()
    );

    let bar = SampleBar::new(Some(tasks.iter().map(|task| task.samples).sum()), arguments.quiet);
    let (mut evaluated, mut failed) = (Vec::new(), None);
    for task in &tasks {
        match evaluate(task, arguments, &bar, &mut files) {
            Ok(report) => evaluated.push((task, report)),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    bar.finish();
    // What is done is printed, whatever happens later.
    let printed = if evaluated.is_empty() { Ok(()) } else { print(&evaluated, arguments) };
    match failed {
        Some(error) if error.downcast_ref::<EvalError>().is_some_and(|error| matches!(error, EvalError::Stopped)) => {
            bail!(Interrupted(format!("stopped after {} of {} evaluations", evaluated.len(), tasks.len())))
        }
        Some(error) => return Err(error),
        None => files.commit()?,
    }
    // The exit code does not depend on whether the table was read to its end.
    let given = arguments.runs.len();
    ensure!(runs.len() == given, "{} of {} not evaluated", given - runs.len(), plural(given, "run"));
    printed
}

fn print(evaluated: &[Evaluated<'_>], arguments: &Arguments) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &json::Report::new(evaluated, arguments))?;
        return Ok(writeln!(out)?);
    }
    Ok(print::tables(&mut out, evaluated)?)
}

/// Opens the runs. If there are several, one that cannot be opened is reported and left out.
fn open_runs(arguments: &Arguments, device: &Device) -> Result<Vec<Run>> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for path in &arguments.runs {
        if let Ok(canonical) = path.canonicalize() {
            ensure!(!seen.contains(&canonical), "{} is given twice", path.display());
            seen.push(canonical);
        }
    }
    let mut runs: Vec<Run> = Vec::new();
    for path in &arguments.runs {
        let model = match arguments::open_model(path, &arguments.checkpoint, device) {
            Err(error) if arguments.runs.len() > 1 => {
                let _ = writeln!(std::io::stderr(), "clrs: {}", one_line(&error));
                continue;
            }
            model => model?,
        };
        if let Some(other) = runs.iter().find(|run| run.model.recipe == model.recipe) {
            let (path, other) = (path.display(), other.path.display());
            let _ = writeln!(
                std::io::stderr(),
                "clrs: warning: {other} and {path} have the same recipe and seeds; they count as two runs"
            );
        }
        runs.push(Run { path: path.clone(), model });
    }
    ensure!(!runs.is_empty(), "none of {} can be evaluated", plural(arguments.runs.len(), "run"));
    Ok(runs)
}

/// Everything to evaluate.
fn tasks<'r>(arguments: &Arguments, runs: &'r [Run]) -> Result<Vec<Task<'r>>> {
    let is_trained = |name: &String| runs.iter().any(|run| run.model.algorithms.iter().any(|of| of.name() == name));
    if let Some(name) = arguments.algorithms.iter().find(|name| !is_trained(name)) {
        bail!("no run is trained on `{name}`");
    }
    let is_chosen = |algorithm: &dyn AnyAlgorithm| {
        arguments.algorithms.is_empty() || arguments.algorithms.iter().any(|name| name == algorithm.name())
    };
    let mut tasks = Vec::new();
    for run in runs {
        let sets = sets(arguments, run)?;
        for &algorithm in run.model.algorithms.iter().filter(|algorithm| is_chosen(**algorithm)) {
            for set in &sets {
                let set = set.clone().or_options(&run.model.recipe.data.sampler_options(algorithm));
                let samples = set.count(algorithm).map_err(advise_generate)?;
                if let EvalSet::Sampled { size, options, .. } = &set {
                    SampleMemory { algorithm, size: *size, options }.ensure_recordings_fit(samples as u128)?;
                }
                if let Some(sample) = arguments.trajectory_samples.iter().find(|sample| **sample >= samples) {
                    bail!("--trajectory-samples {sample}: {} on {set} has {samples} samples", algorithm.name());
                }
                tasks.push(Task { run, algorithm, set, samples });
            }
        }
    }
    Ok(tasks)
}

/// The sets to evaluate a run on.
fn sets(arguments: &Arguments, run: &Run) -> Result<Vec<EvalSet>> {
    let mut sets = Vec::new();
    if arguments.sizes.is_empty() || arguments.data.is_some() || arguments.split.is_some() {
        let data = arguments.data.clone().unwrap_or_else(|| run.model.benchmark());
        ensure!(data != DataSource::OnTheFly, "--data {ON_THE_FLY}: use --sizes to evaluate on new samples");
        sets.push(EvalSet::fixed(data, arguments.split.unwrap_or(Split::Test)));
    }
    let options = arguments::sampler_options(&arguments.options)?;
    sets.extend(arguments.sizes.iter().map(|&size| EvalSet::Sampled {
        size,
        count: arguments.count,
        seed: arguments.seed,
        options: options.clone(),
    }));
    Ok(sets)
}

/// Samples of a set whose trajectories are written by default.
const TRAJECTORY_SAMPLES: usize = 4;

fn evaluate(task: &Task<'_>, arguments: &Arguments, bar: &SampleBar, files: &mut Files) -> Result<EvalReport> {
    let Task { run: Run { path, model }, algorithm, set, samples } = task;
    let about = || format!("{}: {} on {set}", path.display(), algorithm.name());
    let trajectories: BTreeSet<usize> = match (&arguments.trajectories, arguments.trajectory_samples.as_slice()) {
        (None, _) => BTreeSet::new(),
        (Some(_), []) => (0..TRAJECTORY_SAMPLES.min(*samples)).collect(),
        (Some(_), chosen) => chosen.iter().copied().collect(),
    };
    let options = EvalOptions::default()
        .batch_size(arguments.batch_size)
        .steps(arguments.steps)
        .hints(arguments.hints)
        .dump(arguments.dump.is_some())
        .trajectories(trajectories);
    let needs_predictions = arguments.examples.is_some() || arguments.trajectories.is_some() || arguments.dump.is_some();
    if !arguments.again
        && !needs_predictions
        && let Some(report) = model.stored(algorithm.name(), set, &options)
    {
        bar.add(*samples);
        return Ok(report);
    }
    let truth = model.load(algorithm.name(), set).with_context(about)?;
    let report = model.evaluate_samples(algorithm.name(), &truth, &options, &mut |samples| {
        bar.add(samples);
        if bar.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let mut report = report.with_context(about)?;
    files.add(task, &truth, &report).with_context(about)?;
    if let Err(error) = model.store(algorithm.name(), set, &report) {
        let _ = writeln!(std::io::stderr(), "clrs: note: the result is not kept: {error}");
    }
    // What is in the files need not stay in memory.
    (report.predicted, report.results, report.trajectories, report.dump) = (Vec::new(), Vec::new(), Vec::new(), None);
    Ok(report)
}
