use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clrs::Registry;
use clrs_nn::parameters::Owner;
use clrs_nn::recipe::{Recipe, SHIPPED};
use clrs_nn::run::{self, Lock, RunFolder};
use clrs_nn::tensors::NamedArrays;
use clrs_nn::train::{Ending, Event, Flow, Trainer};
use serde_json::json;

use crate::arguments::Computing;
use crate::progress::{Steps, is_stopped};

/// Train a network to execute algorithms
///
/// A recipe says how: `clrs train paper-2022 --algorithms bfs --out runs/bfs`. It is the name of one that comes with the program
/// (`paper-2022`, `generalist-2022`) or a TOML file; without one, the defaults hold (`--show` prints them). Any field can be set
/// here: `--set processor=pgn --set steps=2000`. The folder gets the whole recipe, metrics, and the last and the best
/// checkpoint; `clrs eval` judges it, and `--resume` goes on with it, to the same bits as if it had never stopped.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Recipe: a name or a file
    recipe: Option<String>,
    /// Folder of the run
    #[arg(long, value_name = "DIR", required_unless_present = "show")]
    out: Option<PathBuf>,
    /// Algorithms to learn on one processor, comma-separated: `algorithms` of the recipe
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Field of the recipe; lists are comma-separated: `--set lengths=4,8`
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    settings: Vec<String>,
    /// Go on with the run in the folder, whose recipe holds
    #[arg(long, conflicts_with_all = ["recipe", "algorithms", "settings", "weights", "processor_weights", "show"])]
    resume: bool,
    /// Begin with these parameters: a checkpoint, or parameters exported from dm-clrs (docs/weights.md)
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Begin with the processor of these parameters alone
    #[arg(long, value_name = "FILE", conflicts_with = "weights")]
    processor_weights: Option<PathBuf>,
    #[command(flatten)]
    computing: Computing,
    /// Print the recipe, every field of it, and train nothing
    #[arg(long)]
    show: bool,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.show {
        std::io::stdout().write_all(recipe(arguments)?.to_toml().as_bytes())?;
        return Ok(());
    }
    let out = arguments.out.as_deref().context("say where the run goes: --out DIR")?;
    let device = arguments.computing.open()?;
    let recipe = if arguments.resume { run::read_recipe(out)? } else { recipe(arguments)? };
    let steps = recipe.steps;
    let mut trainer = Trainer::new(recipe.clone(), &Registry::builtin(), &device)?;
    let mut folder = if arguments.resume {
        let lock = Lock::take(out)?;
        trainer.resume(out)?;
        ensure!(trainer.state().step < steps, "{}: all {steps} steps are taken; `clrs eval {0}` judges it", out.display());
        RunFolder::open(lock, trainer.state().step)?
    } else {
        begin_with(&mut trainer, arguments)?;
        RunFolder::create(out, &provenance(arguments))?
    };
    let first = trainer.state().step;

    let mut progress = Steps::new(first, steps, arguments.quiet);
    let mut best = trainer.state().best;
    let ending = trainer.run(&mut folder, &mut |event| {
        match event {
            Event::Step { step, losses } => {
                let loss = losses.iter().map(|(_, loss)| f64::from(*loss)).sum::<f64>() / losses.len() as f64;
                progress.step(*step, loss);
            }
            Event::Validation { step, score, is_best, .. } => {
                progress.validation(*score);
                if *is_best {
                    best = Some((*step, *score));
                }
            }
        }
        if is_stopped() { Flow::Stop } else { Flow::Continue }
    });
    progress.finish();
    let (at, score) = match ending? {
        Ending::Stopped => bail!("stopped; `clrs train --resume --out {}` goes on", out.display()),
        Ending::Done | Ending::Patience => best.context("a run that ends was validated")?,
    };
    writeln!(
        std::io::stdout(),
        "{}: best validation score {:.2}% at step {at}; `clrs eval {0}` judges it on the test set",
        out.display(),
        100.0 * score,
    )?;
    Ok(())
}

/// The recipe as the arguments have it.
fn recipe(arguments: &Arguments) -> Result<Recipe> {
    let text = match arguments.recipe.as_deref() {
        None => String::new(),
        Some(name) => match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            Some((_, text)) => (*text).to_string(),
            None if Path::new(name).exists() => std::fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?,
            None => {
                let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
                bail!("no recipe is called `{name}`, and no file; there are: {}", names.join(", "))
            }
        },
    };
    let mut settings = arguments.settings.clone();
    if !arguments.algorithms.is_empty() {
        settings.push(format!("algorithms={}", arguments.algorithms.join(",")));
    }
    Recipe::parse(&text, &settings).with_context(|| arguments.recipe.clone().unwrap_or_else(|| "--set".into()))
}

/// Parameters that are not drawn, but read.
fn begin_with(trainer: &mut Trainer, arguments: &Arguments) -> Result<()> {
    let (path, only_processor) = match (&arguments.weights, &arguments.processor_weights) {
        (Some(path), _) => (path, false),
        (None, Some(path)) => (path, true),
        (None, None) => return Ok(()),
    };
    let file = NamedArrays::read(path)?;
    let wanted = |owner: Owner| !only_processor || owner == Owner::Processor;
    file.fill_some(trainer.parameters_mut(), |parameter| wanted(parameter.owner)).with_context(|| path.display().to_string())
}

fn provenance(arguments: &Arguments) -> serde_json::Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "program": concat!("clrs ", env!("CARGO_PKG_VERSION")),
        "recipe": arguments.recipe,
        "algorithms": arguments.algorithms,
        "set": arguments.settings,
        "weights": arguments.weights,
        "processor_weights": arguments.processor_weights,
        "device": arguments.computing.device,
        "begun": now,
    })
}
