#[cfg(feature = "networks")]
mod learn;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clrs::sampling::{Sampler, SamplerOptions};
use clrs::{Registry, Spec, Stage};
use clrs_store::OnExisting;
use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
use clrs_store::verify::verify;

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
    Sampler::new(algorithm, SHOWN_SIZE, SEED, &SamplerOptions::default())?.record(1, &mut recorder)?;
    render::trajectory(&mut out, algorithm, &recorder, false)?;
    let run = recorder.trajectories().get(0);
    algorithm.check(run.nodes(), &run.stage(Stage::Input), &run.stage(Stage::Output))?;
    writeln!(out, "\nThe answer is right: `check` accepts every tree of fewest hops, and refuses everything else.")?;

    let plan = DatasetSpec {
        name: format!("{ALGORITHM}_quickstart"),
        algorithm,
        spec: Spec::from(algorithm.spec()),
        size: SIZE,
        samples: SAMPLES,
        seed: SEED,
        seeding: clrs::sampling::Seeding::Reference,
        sampler_options: SamplerOptions::default(),
        shard: None,
        benchmark: None,
    };
    let bar = Bar::new(SAMPLES, true);
    let made = generate(&[plan], &arguments.out, GenerateOptions { on_existing: OnExisting::Fail, threads: 0 }, &bar)?;
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
    learn::learn(&arguments.out, ALGORITHM)?;
    writeln!(
        std::io::stdout(),
        "\nGo on with:\n  clrs list                                    all algorithms\n  clrs show dijkstra                           \
         what one does\n  clrs trace heapsort -n 6                     a run of one\n  clrs generate --benchmark clrs30 --out data  \
         the whole benchmark"
    )?;
    Ok(())
}
