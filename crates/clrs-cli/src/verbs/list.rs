use std::io::Write;

use anyhow::Result;
use clap::Args;
use clrs::sampling::SizeProfile;
use clrs::{AnyAlgorithm, Family, Registry, Stage};
use serde::Serialize;

use crate::arguments::Name;
use crate::table::Table;

/// List all algorithms by family, with their numbers of nodes, steps and probes
#[derive(Args)]
pub(crate) struct Arguments {
    /// List only this family, such as `sorting` or `divide_and_conquer`
    #[arg(long, value_parser = Name::family(), hide_possible_values = true)]
    family: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// An algorithm in the list.
#[derive(Serialize)]
struct Entry {
    algorithm: &'static str,
    family: Family,
    title: String,
    inputs: usize,
    outputs: usize,
    hints: usize,
    sizes: Vec<SizeProfile>,
}

/// Sizes of the benchmark.
const SIZES: [usize; 2] = [16, 64];
/// Samples per size.
const SAMPLES: usize = 10;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let family = arguments.family.as_deref().map(family).transpose()?;
    let registry = Registry::builtin();
    let families: Vec<Family> = Family::ALL.into_iter().filter(|of| family.is_none_or(|family| family == *of)).collect();
    let entries = |of: Family| registry.iter().filter(move |algorithm| algorithm.family() == of).map(entry);
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let all: Vec<Entry> = families.into_iter().flat_map(entries).collect::<Result<_>>()?;
        serde_json::to_writer_pretty(&mut out, &all)?;
        return Ok(writeln!(out)?);
    }
    for of in families {
        writeln!(out, "{}", of.name().replace('_', " "))?;
        let header = ["algorithm", "nodes n=16", "n=64", "steps n=16", "max", "steps n=64", "max", "probes"];
        let mut table = Table::new(&header);
        for entry in entries(of) {
            let entry = entry?;
            let [small, large] = &entry.sizes[..] else { unreachable!("an entry has both sizes") };
            let steps = |at: &SizeProfile| {
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
    writeln!(out, "Steps are those of {SAMPLES} samples; max is the upper bound. `clrs show ALGORITHM` describes an algorithm.")?;
    Ok(())
}

fn family(name: &str) -> Result<Family> {
    let names = || Family::ALL.map(Family::name);
    Family::ALL.into_iter().find(|family| family.name() == name).ok_or_else(|| {
        let near = clrs::suggest::nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| format!("expected one of {}", names().join(", ")));
        anyhow::anyhow!("unknown family `{name}`; {near}")
    })
}

fn entry(algorithm: &'static dyn AnyAlgorithm) -> Result<Entry> {
    let count = |stage| algorithm.spec().iter().filter(|probe| probe.stage == stage).count();
    Ok(Entry {
        algorithm: algorithm.name(),
        family: algorithm.family(),
        title: algorithm.source().title(),
        inputs: count(Stage::Input),
        outputs: count(Stage::Output),
        hints: count(Stage::Hint),
        sizes: SIZES.into_iter().map(|size| SizeProfile::measure(algorithm, size, SAMPLES)).collect::<Result<_, _>>()?,
    })
}
