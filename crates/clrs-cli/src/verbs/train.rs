use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clrs::Registry;
use clrs::clrs30;
use clrs::suggest::nearest;
use clrs_nn::config::recipe::{Recipe, SHIPPED};
use clrs_nn::data::tasks::TaskError;
use clrs_nn::exec::parameters::Owner;
use clrs_nn::run::directory::{self, RunDir, RunLock};
use clrs_nn::run::error::RunError;
use clrs_nn::run::status::{RunStatus, Status};
use clrs_nn::run::tensor_file::TensorFile;
use clrs_nn::train::plan::{PlanError, TrainPlan};
use clrs_nn::train::trainer::{Event, StopReason, Trainer};
use clrs_nn::{Parameters, Registries};
use clrs_store::{lossy_path, read_regular};
use serde::Serialize;

use crate::arguments::{Compute, Name};
use crate::error::{Interrupted, advise_generate};
use crate::progress::{StepBar, is_stopped};
use crate::table::plural;

/// Train a network to execute algorithms
///
/// A recipe determines the run: `clrs train paper-2022 --algorithms bfs --out runs/bfs`. It is one of the shipped recipes
/// (`paper-2022`, `generalist-2022`) or a TOML file; without one, the defaults apply. `--set` overrides any field, and `--show`
/// prints all of them. The run directory contains the complete recipe, metrics, and the last and the best checkpoint. `clrs
/// eval` evaluates it. `--resume` resumes it, with the same bits as if it had never stopped.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Recipe: a shipped name or a TOML file
    recipe: Option<String>,
    /// Run directory
    #[arg(long, value_name = "DIR", required_unless_present = "show")]
    out: Option<PathBuf>,
    /// Algorithms to train on with one shared processor, comma-separated; the field `algorithms` of the recipe
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithms: Vec<String>,
    /// Override a field of the recipe; lists are comma-separated: `--set lengths=4,8`
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    overrides: Vec<String>,
    /// Resume the run in DIR with its saved recipe
    #[arg(long, conflicts_with_all = ["recipe", "algorithms", "overrides", "weights", "processor_weights", "show"])]
    resume: bool,
    /// Start from these parameters: a checkpoint, or parameters exported from dm-clrs (docs/weights.md)
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Start from the processor of these parameters only
    #[arg(long, value_name = "FILE", conflicts_with = "weights")]
    processor_weights: Option<PathBuf>,
    #[command(flatten)]
    compute: Compute,
    /// Check the recipe and print all of its fields, without training
    #[arg(long)]
    show: bool,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.show {
        return show(arguments);
    }
    let out = arguments.out.as_deref().context("--out DIR is missing")?;
    if arguments.resume { resume(arguments, out) } else { start(arguments, out) }
}

/// Prints the recipe if it can be trained, or if only the algorithms are missing.
fn show(arguments: &Arguments) -> Result<()> {
    let recipe = recipe(arguments)?;
    let registries = Registries::builtin();
    match TrainPlan::new(recipe.clone(), &registries) {
        Err(PlanError::Task(TaskError::None)) => {
            registries.processors.find(&recipe.model.processor)?;
            let _ = writeln!(std::io::stderr(), "clrs: note: training also needs --algorithms");
        }
        Err(PlanError::Data(error)) => return Err(advise_generate(error)),
        plan => drop(plan?),
    }
    Ok(std::io::stdout().write_all(recipe.to_toml().as_bytes())?)
}

fn start(arguments: &Arguments, out: &Path) -> Result<()> {
    let plan = plan(recipe(arguments)?)?;
    let steps = plan.recipe.steps;
    ensure!(!out.exists() || out.is_dir(), "{}: exists and is not a directory", out.display());
    match RunDir::ensure_free(out) {
        Err(error @ RunError::Exists(_)) => bail!("{error}; add --resume to resume it, or choose another directory"),
        result => result?,
    }
    let weights = InitialWeights::read(arguments)?;
    let device = arguments.compute.open()?;
    let mut trainer = Trainer::new(plan, &device)?;
    if let Some(weights) = weights {
        weights.load_into(trainer.parameters_mut())?;
    }
    let directory = RunDir::create(out, &serde_json::to_value(Provenance::new(arguments))?)?;
    train(trainer, directory, steps, arguments.quiet)
}

fn resume(arguments: &Arguments, out: &Path) -> Result<()> {
    let plan = plan(directory::read_recipe(out)?)?;
    let steps = plan.recipe.steps;
    let lock = RunLock::acquire(out)?;
    // A run that was stopped in its last validation still has to repeat it.
    if RunStatus::read(out)?.is_some_and(|status| status.status == Status::Done && status.step >= steps) {
        bail!("{}: all {steps} steps are done; `clrs eval {0}` evaluates it", out.display());
    }
    let device = arguments.compute.open()?;
    let mut trainer = Trainer::new(plan, &device)?;
    trainer.resume(out)?;
    let directory = RunDir::open(lock, trainer.state().step)?;
    train(trainer, directory, steps, arguments.quiet)
}

fn train(trainer: Trainer, mut directory: RunDir, steps: usize, quiet: bool) -> Result<()> {
    let state = trainer.state();
    let has_test_set = |name: &str| clrs30::algorithms().any(|algorithm| algorithm.name() == name);
    let evaluation = if trainer.network().tasks().iter().all(|task| has_test_set(&task.name)) {
        ["", "on the test set"]
    } else {
        [" --sizes 16,64", "on samples of these sizes"]
    };
    let (mut last, mut best) = (state.step, state.best);
    let mut bar = StepBar::new(state.step, steps, quiet);
    let reason = trainer.run(&mut directory, &mut |event| {
        match event {
            Event::Step(report) => {
                last = report.step;
                bar.step(report.step, report.loss());
            }
            Event::Validating(_) => bar.validating(),
            Event::Validation { report, is_best } => {
                bar.validated(report.score);
                if *is_best {
                    best = Some((report.step, report.score));
                }
            }
            _ => {}
        }
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish();
    let out = directory.path().display();
    let (at, score) = match reason? {
        StopReason::Stopped => {
            bail!(Interrupted(format!("stopped after step {last} of {steps}; `clrs train --resume --out {out}` resumes the run")))
        }
        _ => best.context("a complete run has a validation")?,
    };
    let score = 100.0 * score;
    Ok(writeln!(
        std::io::stdout(),
        "{out}: best validation score {score:.2}% at step {at}; `clrs eval {out}{}` evaluates it {}",
        evaluation[0],
        evaluation[1]
    )?)
}

/// No recipe is longer.
const MAX_RECIPE_BYTES: u64 = 1 << 20;

/// The recipe with its overrides.
fn recipe(arguments: &Arguments) -> Result<Recipe> {
    let text = match arguments.recipe.as_deref() {
        None => String::new(),
        Some(name) => match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            Some((_, text)) => (*text).to_string(),
            None if Path::new(name).exists() => {
                let bytes = read_regular(Path::new(name), MAX_RECIPE_BYTES)?;
                String::from_utf8(bytes).with_context(|| format!("{name}: not UTF-8"))?
            }
            None => bail!(unknown_recipe(name)),
        },
    };
    let algorithms = (!arguments.algorithms.is_empty()).then(|| format!("algorithms={}", arguments.algorithms.join(",")));
    let overrides: Vec<&str> = arguments.overrides.iter().chain(&algorithms).map(String::as_str).collect();
    let recipe = Recipe::parse(&text, &overrides);
    match &arguments.recipe {
        Some(name) => recipe.with_context(|| name.clone()),
        None => Ok(recipe?),
    }
}

/// Says what a word may be that is neither a shipped recipe nor a file.
fn unknown_recipe(name: &str) -> String {
    let algorithms = Registry::builtin();
    if name.split(',').all(|word| algorithms.find(word).is_ok()) {
        let are = if name.contains(',') { "are algorithms, not recipes" } else { "is an algorithm, not a recipe" };
        return format!("`{name}` {are}; use `--algorithms {name}`");
    }
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("unknown recipe `{name}`; did you mean `{near}`?"),
        None => format!("unknown recipe `{name}`: neither a file nor one of {}", names.join(", ")),
    }
}

/// Checks everything about a recipe that can be checked without data.
fn plan(recipe: Recipe) -> Result<TrainPlan> {
    match TrainPlan::new(recipe, &Registries::builtin()) {
        Err(error @ PlanError::Task(TaskError::None)) => bail!("{error} with --algorithms"),
        Err(PlanError::Data(error)) => Err(advise_generate(error)),
        plan => Ok(plan?),
    }
}

/// Parameters to start from.
struct InitialWeights<'a> {
    path: &'a Path,
    file: TensorFile,
    only_processor: bool,
}

impl InitialWeights<'_> {
    fn read(arguments: &Arguments) -> Result<Option<InitialWeights<'_>>> {
        let (path, only_processor) = match (&arguments.weights, &arguments.processor_weights) {
            (Some(path), _) => (path, false),
            (None, Some(path)) => (path, true),
            (None, None) => return Ok(None),
        };
        Ok(Some(InitialWeights { path, file: TensorFile::read(path)?, only_processor }))
    }

    fn load_into(&self, parameters: &mut Parameters) -> Result<()> {
        let is_wanted = |owner: Owner| !self.only_processor || owner == Owner::Processor;
        let loaded = self.file.load_some(parameters, |parameter| is_wanted(parameter.owner));
        loaded.with_context(|| self.path.display().to_string())?;
        let ignored = self.ignored(parameters);
        if let (false, Some(first)) = (self.only_processor, ignored.first()) {
            let more = if ignored.len() > 1 { ", .." } else { "" };
            let (path, count) = (self.path.display(), plural(ignored.len(), "parameter"));
            let _ = writeln!(std::io::stderr(), "clrs: note: {path}: ignored {count} that the network lacks: {first}{more}");
        }
        Ok(())
    }

    /// Parameters of the file that the network lacks. Checkpoints also contain the state of the optimizer and of the network.
    fn ignored(&self, parameters: &Parameters) -> Vec<&str> {
        let is_state = |name: &str| STATE_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let is_known =
            |name: &str| parameters.list().iter().any(|known| known.name == name || known.dm_clrs_name.as_deref() == Some(name));
        self.file.tensors.keys().map(String::as_str).filter(|name| !is_state(name) && !is_known(name)).collect()
    }
}

/// First words of the tensors of a checkpoint that are not parameters.
const STATE_PREFIXES: [&str; 2] = ["adam/", "recurrent/"];

/// Contents of `provenance.json`.
#[derive(Serialize)]
struct Provenance<'a> {
    program: &'static str,
    recipe: Option<&'a str>,
    algorithms: &'a [String],
    set: &'a [String],
    weights: Option<LossyPath<'a>>,
    processor_weights: Option<LossyPath<'a>>,
    device: &'a str,
    /// Seconds since 1970.
    started_at: u64,
}

#[derive(Serialize)]
struct LossyPath<'a>(#[serde(serialize_with = "lossy_path")] &'a Path);

impl Provenance<'_> {
    fn new(arguments: &Arguments) -> Provenance<'_> {
        Provenance {
            program: concat!("clrs ", env!("CARGO_PKG_VERSION")),
            recipe: arguments.recipe.as_deref(),
            algorithms: &arguments.algorithms,
            set: &arguments.overrides,
            weights: arguments.weights.as_deref().map(LossyPath),
            processor_weights: arguments.processor_weights.as_deref().map(LossyPath),
            device: &arguments.compute.device,
            started_at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }
}
