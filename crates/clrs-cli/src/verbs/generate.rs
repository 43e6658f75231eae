use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use clap::Args;
use clrs::clrs30::Version;
use clrs::sampling::{Sampler, SamplerOptions, Seeding};
use clrs::{AnyAlgorithm, Spec};
use clrs_store::OnExisting;
use clrs_store::generate::{self, DatasetSpec, GenerateError, GenerateOptions, Shard};
use serde_json::json;

use crate::arguments;
use crate::progress::Bar;

/// Make sets of trajectories: the benchmark's own, or any others
///
/// `clrs generate --benchmark clrs30 --out DIR` makes the ninety sets of the benchmark. Other sets are named by algorithms,
/// sizes, counts, seeds and options: every algorithm at every size. Sets that are there already, whole and made with the same
/// settings, are kept; so a run that was stopped is finished by running it again.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder to write to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Sets of a benchmark: `clrs30` (the same as `clrs30@2.0.3`) or `clrs30@1.0.0`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["size", "count", "seed", "settings", "name", "seeding", "shard"])]
    benchmark: Option<String>,
    /// Only these algorithms, comma-separated
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Sizes, comma-separated
    #[arg(short = 'n', long, value_name = "N,..", value_delimiter = ',', default_values_t = [16])]
    size: Vec<usize>,
    /// Samples of each set
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Seed of each set
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Option of the distribution, for all algorithms named; lists are comma-separated: `--set p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE")]
    settings: Vec<String>,
    /// Sets are called `ALGORITHM_NAME`; without a name, after their size and seed (`bfs_n16_s1`)
    #[arg(long, requires = "algorithms")]
    name: Option<String>,
    /// How samples get their random numbers: one stream for all, as dm-clrs has it, or one of its own for each
    #[arg(long, value_enum, default_value_t = SeedingArgument::Reference)]
    seeding: SeedingArgument,
    /// Only one part of each set, such as 0/8 to 7/8; needs `--seeding parallel`
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Threads to work on; 0 for all cores
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Write over sets that are there
    #[arg(long)]
    force: bool,
    /// Print what was made as JSON
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum SeedingArgument {
    Reference,
    Parallel,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((index, of)) if index < of => Ok(Shard { index, count: of }),
        _ => Err(format!("`{text}` is no part: parts of 8 are 0/8 to 7/8")),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let plans = plans(arguments)?;
    let started = Instant::now();
    let bar = Bar::new(plans.iter().map(|plan| plan.sample_range().len()).sum(), arguments.quiet || arguments.json);
    let options = GenerateOptions {
        on_existing: if arguments.force { OnExisting::Replace } else { OnExisting::Fail },
        threads: arguments.threads.into(),
    };
    let made = match generate::generate(&plans, &arguments.out, options, &bar) {
        Ok(made) => made,
        Err(GenerateError::Cancelled) => {
            bar.finish();
            bail!("stopped; {} of {} sets are whole. Run the same command again to make the rest", bar.whole(), plans.len());
        }
        Err(error) => {
            bar.finish();
            return Err(error.into());
        }
    };
    clrs_store::sync(made.iter().filter(|made| !made.cached).map(|made| made.path.as_path()))?;
    bar.finish();
    let seconds = started.elapsed().as_secs_f64();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let sets = plans.iter().zip(&made).map(|(plan, made)| {
            json!({
                "name": plan.name, "file": made.path, "samples": made.summary.samples, "bytes": made.summary.bytes,
                "hash": made.summary.hash, "was_there": made.cached,
            })
        });
        writeln!(out, "{:#}", json!({ "seconds": seconds, "sets": sets.collect::<Vec<_>>() }))?;
        return Ok(());
    }
    let total = |value: fn(&generate::GeneratedSet) -> u64| made.iter().map(value).sum::<u64>();
    let there = made.iter().filter(|made| made.cached).count();
    let kept = if there > 0 { format!(", {there} of them there before") } else { String::new() };
    writeln!(
        out,
        "{} sets{kept}, {} samples, {} kB in {} ({seconds:.2} s)",
        made.len(),
        total(|made| made.summary.samples),
        total(|made| made.summary.bytes) / 1000,
        arguments.out.display(),
    )?;
    Ok(())
}

fn plans(arguments: &Arguments) -> Result<Vec<DatasetSpec>> {
    let chosen: Vec<&'static dyn AnyAlgorithm> =
        arguments.algorithms.iter().map(|name| arguments::algorithm(name)).collect::<Result<_>>()?;
    if let Some(benchmark) = &arguments.benchmark {
        let version: Version = benchmark.parse()?;
        let mut sets = version.sets();
        if let Some(missing) = chosen.iter().find(|algorithm| !sets.iter().any(|set| set.algorithm.name() == algorithm.name())) {
            bail!("{} is not in {version}: leave --benchmark out to make sets of it", missing.name());
        }
        sets.retain(|set| chosen.is_empty() || chosen.iter().any(|algorithm| algorithm.name() == set.algorithm.name()));
        return Ok(sets.into_iter().map(|set| DatasetSpec::of_benchmark(version, set)).collect());
    }
    ensure!(!chosen.is_empty(), "say what to make: --benchmark clrs30, or --algorithms with names from `clrs list`");
    ensure!(arguments.count > 0, "--count 0: there is nothing to make");
    let seeding = match (arguments.seeding, arguments.shard) {
        (SeedingArgument::Parallel, _) => Seeding::Parallel,
        (SeedingArgument::Reference, None) => Seeding::Reference,
        (SeedingArgument::Reference, Some(_)) => {
            bail!("one stream of random numbers cannot be made in parts: add --seeding parallel")
        }
    };
    let settings = SamplerOptions::parse(arguments.settings.iter().map(String::as_str))?;
    let mut plans = Vec::new();
    for algorithm in chosen {
        for &size in &arguments.size {
            // Options are refused before any work.
            Sampler::new(algorithm, size, arguments.seed, &settings)?;
            let name = match (&arguments.name, arguments.size.len()) {
                (Some(name), 1) => name.clone(),
                (Some(name), _) => format!("{name}_n{size}"),
                (None, _) => format!("n{size}_s{}", arguments.seed),
            };
            plans.push(DatasetSpec {
                name: format!("{}_{name}", algorithm.name()),
                algorithm,
                spec: Spec::from(algorithm.spec()),
                size,
                samples: arguments.count,
                seed: arguments.seed,
                seeding,
                sampler_options: settings.clone(),
                shard: arguments.shard,
                benchmark: None,
            });
        }
    }
    Ok(plans)
}
