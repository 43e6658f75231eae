use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use clrs::sampling::{Sampler, Settings};
use clrs::{Registry, Spec, Stage};
#[cfg(feature = "networks")]
use clrs_nn::tensors::NamedArrays;
use clrs_store::Existing;
use clrs_store::generate::{Manner, Plan, generate};
use clrs_store::verify::verify;

#[cfg(feature = "networks")]
use super::Verb;
use crate::progress::Bar;
use crate::verbs::trace::render;

/// See what this is: show a trajectory, make a small set, train a network for half a minute and judge it
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder to write to
    #[arg(long, value_name = "DIR", default_value = "clrs-quickstart")]
    out: PathBuf,
}

const ALGORITHM: &str = "bfs";
const SHOWN_SIZE: usize = 5;
const SIZE: usize = 16;
const SAMPLES: usize = 1000;
const SEED: u32 = 1;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let registry = Registry::builtin();
    let algorithm = registry.find(ALGORITHM)?;
    let mut out = std::io::stdout().lock();

    writeln!(out, "A trajectory of breadth-first search: what it is given, every step, what it answers.\n")?;
    let mut recorder = algorithm.recorder();
    Sampler::new(algorithm, SHOWN_SIZE, SEED, &Settings::default())?.record(1, &mut recorder)?;
    render::trajectory(&mut out, algorithm, &recorder, false)?;
    let run = recorder.runs().get(0);
    algorithm.check(run.nodes(), &run.stage(Stage::Input), &run.stage(Stage::Output))?;
    writeln!(out, "\nThe answer is right: `check` accepts every tree of fewest hops, and refuses everything else.")?;

    let plan = Plan {
        name: format!("{ALGORITHM}_quickstart"),
        algorithm,
        spec: Spec::from(algorithm.spec()),
        size: SIZE,
        samples: SAMPLES,
        seed: SEED,
        seeding: clrs::sampling::Seeding::Reference,
        settings: Settings::default(),
        shard: None,
        benchmark: None,
    };
    let bar = Bar::new(SAMPLES, true);
    let made = generate(&[plan], &arguments.out, Manner { existing: Existing::Keep, threads: 0 }, &bar)?;
    for made in &made {
        let verified = verify(&made.path, &registry)?;
        writeln!(
            out,
            "\nMade {} samples of {SIZE} nodes: {} ({} kB). Every answer in it was checked; its hash is {}.",
            verified.samples,
            made.path.display(),
            made.summary.bytes / 1000,
            verified.hash,
        )?;
    }
    drop(out);
    #[cfg(feature = "networks")]
    learn(&arguments.out)?;
    writeln!(
        std::io::stdout(),
        "\nGo on with:\n  clrs list                                    all algorithms\n  clrs show dijkstra                           \
         what one does\n  clrs trace heapsort -n 6                     a run of one\n  clrs generate --benchmark clrs30 --out data  \
         the whole benchmark"
    )?;
    Ok(())
}

/// Trains a network and judges it, as one would by hand.
#[cfg(feature = "networks")]
fn learn(folder: &Path) -> Result<()> {
    let run = folder.join("run");
    let run = run.to_str().context("the folder's name is no text")?;
    let mut train = vec!["train", "paper-2022", "--algorithms", ALGORITHM, "--set", "steps=300", "--set", "eval_every=50"];
    let is_begun = Path::new(run).join("config.toml").exists();
    if is_begun {
        train = vec!["train", "--resume"];
    }
    train.extend(["--out", run]);
    let is_done = || {
        let last = NamedArrays::read(&Path::new(run).join("last.safetensors")).ok()?;
        last.metadata.get("clrs.checkpoint")?.contains("\"step\":300").then_some(())
    };
    let show = |words: &[&str]| writeln!(std::io::stdout(), "\n$ clrs {}", words.join(" "));
    writeln!(std::io::stdout(), "\nNow a message-passing network learns it from a thousand samples of 16 nodes.")?;
    if is_begun && is_done().is_some() {
        writeln!(std::io::stdout(), "It has learnt it before: {run}")?;
    } else {
        show(&train)?;
        Verb::run_line(&train)?;
    }
    let eval = ["eval", run, "--sizes", "16,64"];
    show(&eval)?;
    Verb::run_line(&eval)?;
    writeln!(
        std::io::stdout(),
        "\nThe network saw 16 nodes and was asked about 64 too. Its recipe, metrics and checkpoints are in {run}."
    )?;
    Ok(())
}
