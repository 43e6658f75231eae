use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use clap::Args;
use clrs::AnyAlgorithm;
use clrs::clrs30::Version;
use clrs::sampling::{Sampler, Seeding};
use clrs_store::generate::{self, DatasetSpec, GenerateError, GenerateOptions, GeneratedSet, Shard};
use serde::Serialize;

use crate::arguments::{self, Name};
use crate::error::{Advise, Interrupted};
use crate::progress::SampleBar;
use crate::table::plural;

/// Generate sets of trajectories: the benchmark's, or others
///
/// `clrs generate --benchmark clrs30 --out DIR` generates the ninety sets of the benchmark. `--algorithms` with sizes, counts,
/// seeds and options generates other sets. Complete sets with the same settings are skipped, so an interrupted command is
/// completed by repeating it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory to write to; created if necessary
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Generate the sets of a benchmark: `clrs30` (same as `clrs30@2.0.3`), `clrs30@1.0.0` or `clrs30@1.0.0-unsorted`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["size", "count", "seed", "options", "name", "seeding", "shard"])]
    benchmark: Option<String>,
    /// Algorithms, comma-separated
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithms: Vec<String>,
    /// Problem sizes, comma-separated
    #[arg(short = 'n', long, value_name = "N,..", value_delimiter = ',', default_values_t = [16])]
    size: Vec<usize>,
    /// Samples per set
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Random seed of each set
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Set an option of the distribution for all algorithms; lists are comma-separated: `--set p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE")]
    options: Vec<String>,
    /// Name the sets `ALGORITHM_NAME`; by default they are named after size and seed (`bfs_n16_s1`)
    #[arg(long, requires = "algorithms")]
    name: Option<String>,
    /// How samples get their random numbers
    #[arg(long, value_enum, default_value_t = SeedingName::DmClrs)]
    seeding: SeedingName,
    /// Generate one shard of each set, such as 0/8 to 7/8; needs `--seeding parallel`
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Number of threads; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Replace existing sets that differ or are corrupt
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum SeedingName {
    /// From one stream, as in dm-clrs
    #[value(alias = "reference")]
    DmClrs,
    /// From one stream per sample, so that shards can be generated independently
    Parallel,
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    match numbers {
        Some((index, count)) if index < count => Ok(Shard { index, count }),
        _ => Err("expected I/N with I from 0 to N-1, such as 0/8".into()),
    }
}

#[derive(Serialize)]
struct Report<'r> {
    seconds: f64,
    sets: Vec<SetReport<'r>>,
}

#[derive(Serialize)]
struct SetReport<'r> {
    name: &'r str,
    #[serde(flatten)]
    set: &'r GeneratedSet,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let datasets = datasets(arguments)?;
    let started = Instant::now();
    let samples = datasets.iter().map(|dataset| dataset.sample_range().len()).sum();
    let bar = SampleBar::new(Some(samples), arguments.quiet || arguments.json);
    let options = GenerateOptions { on_existing: arguments::on_existing(arguments.force), threads: arguments.threads.into() };
    let generated = generate::generate(&datasets, &arguments.out, options, &bar);
    if matches!(generated, Err(GenerateError::Cancelled)) {
        bar.finish();
        let (complete, sets) = (bar.sets(), plural(datasets.len(), "set"));
        bail!(Interrupted(format!("stopped; {complete} of {sets} complete. Repeat the command to generate the rest")));
    }
    let generated = generated.advise_force().inspect_err(|_| bar.finish())?;
    clrs_store::sync(generated.iter().filter(|set| !set.cached).map(|set| set.path.as_path()))?;
    bar.finish();
    let seconds = started.elapsed().as_secs_f64();

    let mut out = std::io::stdout().lock();
    if arguments.json {
        let sets = datasets.iter().zip(&generated).map(|(dataset, set)| SetReport { name: &dataset.name, set });
        serde_json::to_writer_pretty(&mut out, &Report { seconds, sets: sets.collect() })?;
        return Ok(writeln!(out)?);
    }
    let total = |value: fn(&GeneratedSet) -> u64| generated.iter().map(value).sum::<u64>();
    let cached = generated.iter().filter(|set| set.cached).count();
    let cached = if cached > 0 { format!(" ({cached} existed already)") } else { String::new() };
    writeln!(
        out,
        "{}{cached} with {} samples, {} kB in {} ({seconds:.2} s)",
        plural(generated.len(), "set"),
        total(|set| set.summary.samples),
        total(|set| set.summary.bytes) / 1000,
        arguments.out.display(),
    )?;
    Ok(())
}

fn datasets(arguments: &Arguments) -> Result<Vec<DatasetSpec>> {
    let algorithms: Vec<&'static dyn AnyAlgorithm> =
        arguments.algorithms.iter().map(|name| arguments::algorithm(name)).collect::<Result<_>>()?;
    if let Some(benchmark) = &arguments.benchmark {
        let version: Version = benchmark.parse()?;
        let mut sets = version.sets();
        let is_missing = |algorithm: &&&dyn AnyAlgorithm| !sets.iter().any(|set| set.algorithm.name() == algorithm.name());
        if let Some(missing) = algorithms.iter().find(is_missing) {
            bail!("{} is not part of {version}; omit --benchmark to generate sets of it", missing.name());
        }
        sets.retain(|set| algorithms.is_empty() || algorithms.iter().any(|algorithm| algorithm.name() == set.algorithm.name()));
        return Ok(sets.into_iter().map(|set| DatasetSpec::of_benchmark(version, set)).collect());
    }
    ensure!(!algorithms.is_empty(), "nothing to generate: use --benchmark clrs30, or --algorithms with names from `clrs list`");
    ensure!(arguments.count > 0, "--count must be at least 1");
    let seeding = match (arguments.seeding, arguments.shard) {
        (SeedingName::Parallel, _) => Seeding::Parallel,
        (SeedingName::DmClrs, None) => Seeding::DmClrs,
        (SeedingName::DmClrs, Some(_)) => bail!("--shard needs --seeding parallel"),
    };
    let options = arguments::sampler_options(&arguments.options)?;
    let mut datasets = Vec::new();
    for algorithm in algorithms {
        for &size in &arguments.size {
            // Invalid options are rejected before any work.
            Sampler::new(algorithm, size, arguments.seed, &options)?;
            let name = match (&arguments.name, arguments.size.len()) {
                (Some(name), 1) => name.clone(),
                (Some(name), _) => format!("{name}_n{size}"),
                (None, _) => format!("n{size}_s{}", arguments.seed),
            };
            let name = format!("{}_{name}", algorithm.name());
            datasets.push(DatasetSpec {
                seeding,
                sampler_options: options.clone(),
                shard: arguments.shard,
                ..DatasetSpec::new(name, algorithm, size, arguments.count, arguments.seed)
            });
        }
    }
    Ok(datasets)
}
