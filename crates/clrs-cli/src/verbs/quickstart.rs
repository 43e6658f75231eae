#[cfg(feature = "networks")]
mod learn;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clrs::{Registry, SamplerOptions, Trace};
use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
use clrs_store::verify::verify;

use crate::progress::SampleBar;
use crate::verbs::trace::render;

/// Take a tour: trace an algorithm, generate a small set, train a network for half a minute and evaluate it
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory to write to
    #[arg(long, value_name = "DIR", default_value = "clrs-quickstart")]
    out: PathBuf,
}

const ALGORITHM: &str = "bfs";
/// Size and seed of a small graph in which the search reaches every node in several steps.
const TRACED_SIZE: usize = 5;
const TRACED_SEED: u32 = 18;
const SIZE: usize = 16;
const SAMPLES: usize = 1000;
const SEED: u32 = 1;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let registry = Registry::builtin();
    let algorithm = registry.find(ALGORITHM)?;
    let mut out = std::io::stdout().lock();

    writeln!(out, "A trajectory of breadth-first search: its input, the state after every step, and its output.\n")?;
    let trace = Trace::sample(algorithm, TRACED_SIZE, TRACED_SEED, &SamplerOptions::default())?;
    render::trace(&mut out, &trace, algorithm.source(), false)?;

    let dataset = DatasetSpec::new(format!("{ALGORITHM}_quickstart"), algorithm, SIZE, SAMPLES, SEED);
    let bar = SampleBar::new(Some(SAMPLES), true);
    for set in generate(&[dataset], &arguments.out, GenerateOptions::default(), &bar)? {
        let verified = verify(&set.path, &registry)?;
        writeln!(
            out,
            "\n{} ({} kB) has {} samples of {SIZE} nodes. Its content hash is {}.\nEvery answer was checked: `check` accepts any \
             tree of shortest paths, not only the one that the algorithm finds.",
            set.path.display(),
            set.summary.bytes / 1000,
            verified.samples,
            verified.hash,
        )?;
    }
    drop(out);
    #[cfg(feature = "networks")]
    learn::learn(&arguments.out, ALGORITHM)?;
    writeln!(
        std::io::stdout(),
        "\nNext steps:\n  clrs list                                    list all algorithms\n  clrs show dijkstra                           \
         describe one\n  clrs trace heapsort -n 6                     run one step by step\n  clrs generate --benchmark clrs30 --out data  \
         generate the complete benchmark"
    )?;
    Ok(())
}
