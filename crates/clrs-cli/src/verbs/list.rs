use std::io::Write;

use anyhow::Result;
use clap::Args;
use clrs::sampling::{Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Family, Registry, Stage};
use serde::Serialize;

use crate::table::Table;

/// List all algorithms: families, nodes, steps
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this family, such as `sorting` or `divide_and_conquer`
    #[arg(long)]
    family: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// What is said of one algorithm.
#[derive(Serialize)]
struct Entry {
    algorithm: &'static str,
    family: &'static str,
    title: String,
    inputs: usize,
    outputs: usize,
    hints: usize,
    sizes: Vec<AtSize>,
}

/// What a size means for it.
#[derive(Serialize)]
struct AtSize {
    size: usize,
    nodes: usize,
    /// Fewest and most steps of a few samples.
    steps: (usize, usize),
    /// No problem of so many nodes takes more.
    max_steps: usize,
}

/// Sizes of the benchmark, and how many samples show what runs are like.
const SIZES: [usize; 2] = [16, 64];
const SAMPLES: usize = 10;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let family = arguments.family.as_deref().map(family).transpose()?;
    let registry = Registry::builtin();
    let chosen = |of: Family| family.is_none_or(|family| family == of);
    let mut out = std::io::stdout().lock();
    let entries = |of: Family| registry.iter().filter(move |algorithm| algorithm.family() == of).map(entry);
    if arguments.json {
        let all: Vec<Entry> = Family::ALL.into_iter().filter(|of| chosen(*of)).flat_map(entries).collect::<Result<_>>()?;
        serde_json::to_writer_pretty(&mut out, &all)?;
        return Ok(writeln!(out)?);
    }
    for of in Family::ALL.into_iter().filter(|of| chosen(*of)) {
        writeln!(out, "{}", of.name().replace('_', " "))?;
        let mut table =
            Table::new(&["algorithm", "nodes 16", "nodes 64", "steps at 16", "at most", "steps at 64", "at most", "probes"]);
        for entry in entries(of) {
            let entry = entry?;
            let [small, large] = &entry.sizes[..] else { unreachable!("an entry has both sizes") };
            let steps = |at: &AtSize| {
                if at.steps.0 == at.steps.1 { at.steps.0.to_string() } else { format!("{}-{}", at.steps.0, at.steps.1) }
            };
            table.row([
                entry.algorithm.to_owned(),
                small.nodes.to_string(),
                large.nodes.to_string(),
                steps(small),
                small.max_steps.to_string(),
                steps(large),
                large.max_steps.to_string(),
                format!("{} in, {} out, {} hints", entry.inputs, entry.outputs, entry.hints),
            ]);
        }
        table.write(&mut out)?;
        writeln!(out)?;
    }
    writeln!(out, "Steps are those of {SAMPLES} samples. `clrs show ALGORITHM` tells more of one.")?;
    Ok(())
}

fn family(name: &str) -> Result<Family> {
    let names = || Family::ALL.map(Family::name);
    Family::ALL.into_iter().find(|family| family.name() == name).ok_or_else(|| {
        let near = clrs::suggest::nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| format!("there are: {}", names().join(", ")));
        anyhow::anyhow!("no family is called `{name}`; {near}")
    })
}

fn entry(algorithm: &'static dyn AnyAlgorithm) -> Result<Entry> {
    let count = |stage| algorithm.spec().iter().filter(|probe| probe.stage == stage).count();
    Ok(Entry {
        algorithm: algorithm.name(),
        family: algorithm.family().name(),
        title: algorithm.source().title(),
        inputs: count(Stage::Input),
        outputs: count(Stage::Output),
        hints: count(Stage::Hint),
        sizes: SIZES.into_iter().map(|size| at_size(algorithm, size)).collect::<Result<_>>()?,
    })
}

fn at_size(algorithm: &'static dyn AnyAlgorithm, size: usize) -> Result<AtSize> {
    let mut sampler = Sampler::new(algorithm, size, 0, &SamplerOptions::default())?;
    let mut recorder = algorithm.recorder();
    let (mut nodes, mut fewest, mut most) = (0, usize::MAX, 0);
    for _ in 0..SAMPLES {
        // One at a time, in the same memory: fresh memory would cost more than the runs.
        recorder.clear();
        sampler.record(1, &mut recorder)?;
        let run = recorder.trajectories().get(0);
        nodes = run.nodes();
        (fewest, most) = (fewest.min(run.steps()), most.max(run.steps()));
    }
    Ok(AtSize { size, nodes, steps: (fewest, most), max_steps: algorithm.max_steps(nodes) })
}
