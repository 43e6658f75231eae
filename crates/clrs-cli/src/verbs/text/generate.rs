use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use clrs::AnyAlgorithm;
use clrs_store::Shard;
use clrs_text::benchmark::{Benchmark, Split};
use clrs_text::generate::{self, GenerateError, GenerateOptions, GeneratedFile, RowSource, TextFile};
use clrs_text::{Block, FileFormat, Format, TextOptions};
use serde::Serialize;

use super::formatting::Formatting;
use crate::arguments::{self, Name};
use crate::error::{Advise, Interrupted};
use crate::progress::SampleBar;
use crate::table::plural;
use crate::verbs::generate::shard;

/// Generate files of questions and answers: the sets of CLRS-Text, others, or a stream
///
/// `--benchmark clrs-text` generates the sets of dm-clrs's generate_clrs_text.py, one file per algorithm in DIR/train and DIR/val.
/// `--algorithms` with sizes, counts and seeds, or `--lengths`, generates other sets. `--stream` chooses an algorithm and size for
/// every row, as dm-clrs's clrs_generator does. Complete files with the same settings are skipped, so an interrupted command is
/// completed by repeating it.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Arguments {
    /// Directory to write to; created if necessary
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Generate the sets of a benchmark: `clrs-text` (same as `clrs-text@2.0.3`) or `clrs-text@2.0.1`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["size", "lengths", "format"])]
    benchmark: Option<String>,
    /// Generate this split of the benchmark, train or val, instead of both
    #[arg(long, requires = "benchmark")]
    split: Option<String>,
    /// Algorithms, comma-separated
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithms: Vec<String>,
    /// Problem sizes, comma-separated
    #[arg(short = 'n', long, value_name = "N,..", value_delimiter = ',', default_values_t = [16])]
    size: Vec<usize>,
    /// Sizes of one algorithm, such as bfs=4,5,6; can be repeated, and replaces --algorithms and --size
    #[arg(long, value_name = "NAME=N,..", conflicts_with_all = ["algorithms", "size"], value_parser = lengths)]
    lengths: Vec<(String, Vec<usize>)>,
    /// Samples per size and seed, or rows of a stream [default: 1000, or those of the benchmark]
    #[arg(long)]
    count: Option<u64>,
    /// Random seeds, comma-separated [default: 1, or those of the benchmark]
    #[arg(long, value_name = "SEED,..", value_delimiter = ',')]
    seed: Vec<u32>,
    /// Choose an algorithm and size for every row; decimals are 3 by default
    #[arg(long)]
    stream: bool,
    #[command(flatten)]
    formatting: Formatting,
    /// Set an option of the distribution for all algorithms; lists are comma-separated: `--set p=0.1,0.5`
    #[arg(long = "set", value_name = "OPTION=VALUE", conflicts_with = "benchmark")]
    options: Vec<String>,
    /// The format of the files
    #[arg(long, value_enum, default_value_t = FileFormatName::Parquet)]
    file_format: FileFormatName,
    /// Generate one shard of each file, such as 0/8 to 7/8
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Number of threads; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Replace existing files that have other settings
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Do not report progress
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FileFormatName {
    /// One row per sample, compressed
    Parquet,
    /// One JSON object per line
    Jsonl,
    /// The document that dm-clrs writes
    Json,
}

impl From<FileFormatName> for FileFormat {
    fn from(name: FileFormatName) -> FileFormat {
        match name {
            FileFormatName::Parquet => FileFormat::Parquet,
            FileFormatName::Jsonl => FileFormat::Jsonl,
            FileFormatName::Json => FileFormat::Json,
        }
    }
}

fn lengths(text: &str) -> Result<(String, Vec<usize>), String> {
    let error = || "expected an algorithm and sizes, such as bfs=4,5,6".to_owned();
    let (name, sizes) = text.split_once('=').ok_or_else(error)?;
    let sizes = sizes.split(',').map(|size| size.trim().parse().map_err(|_| error()));
    Ok((name.trim().into(), sizes.collect::<Result<_, _>>()?))
}

/// The files of one directory.
struct Folder {
    path: PathBuf,
    files: Vec<TextFile>,
}

#[derive(Serialize)]
struct Report {
    seconds: f64,
    files: Vec<GeneratedFile>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (folders, text) = plan(arguments)?;
    let options = GenerateOptions::new(text, arguments.file_format.into())
        .with_shard(arguments.shard)
        .with_on_existing(arguments::on_existing(arguments.force))
        .with_threads(arguments.threads.into());
    let started = Instant::now();
    let ranges = folders.iter().flat_map(|folder| &folder.files).map(|file| options.row_range(file));
    let rows: u64 = ranges.map(|range| range.end - range.start).fold(0, u64::saturating_add);
    let bar = SampleBar::new(usize::try_from(rows).ok(), arguments.quiet || arguments.json);
    let mut generated = Vec::new();
    for Folder { path, files } in &folders {
        let of_folder = generate::generate(files, path, &options, &bar);
        if matches!(of_folder, Err(GenerateError::Cancelled)) {
            bar.finish();
            let (complete, files) = (bar.sets(), plural(folders.iter().map(|folder| folder.files.len()).sum(), "file"));
            bail!(Interrupted(format!("stopped; {complete} of {files} complete. Repeat the command to generate the rest")));
        }
        generated.extend(of_folder.advise_force().inspect_err(|_| bar.finish())?);
    }
    clrs_store::sync(generated.iter().filter(|file| !file.cached).map(|file| file.path.as_path()))?;
    bar.finish();
    let seconds = started.elapsed().as_secs_f64();

    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &Report { seconds, files: generated })?;
        return Ok(writeln!(out)?);
    }
    let cached = generated.iter().filter(|file| file.cached).count();
    let cached = if cached > 0 { format!(" ({cached} existed already)") } else { String::new() };
    writeln!(
        out,
        "{}{cached} with {}, {} kB in {} ({seconds:.2} s)",
        plural(generated.len(), "file"),
        plural(usize::try_from(rows).unwrap_or(usize::MAX), "row"),
        generated.iter().map(|file| file.bytes).sum::<u64>() / 1000,
        arguments.out.display(),
    )?;
    Ok(())
}

/// What to generate, and how trajectories become text.
fn plan(arguments: &Arguments) -> Result<(Vec<Folder>, TextOptions)> {
    let benchmark: Option<Benchmark> = arguments.benchmark.as_deref().map(str::parse).transpose()?;
    let format = benchmark.map_or(Format::default(), Benchmark::format);
    // As in dm-clrs: version 2.0.1 has no decimals to set.
    let decimals = (arguments.stream && format != Format::V2_0_1).then_some(3);
    let text = arguments.formatting.options(format, decimals)?;
    let text = text.with_sampler(arguments::sampler_options(&arguments.options)?);
    ensure!(arguments.count != Some(0), "--count must be at least 1");

    let splits: Vec<Option<Split>> = match (benchmark, &arguments.split) {
        (None, _) => vec![None],
        (Some(_), None) => Split::ALL.map(Some).to_vec(),
        (Some(_), Some(split)) => vec![Some(split.parse()?)],
    };
    let mut folders = Vec::new();
    for split in splits {
        let tasks = tasks(arguments, split)?;
        let seeds = match (&arguments.seed[..], split) {
            ([], Some(split)) if !arguments.stream => split.seeds().to_vec(),
            ([], _) => vec![1],
            (seeds, _) => seeds.to_vec(),
        };
        let count = match (arguments.count, split) {
            (None, Some(split)) if !arguments.stream => split.samples(),
            (count, _) => count.unwrap_or(1000),
        };
        let path = split.map_or(arguments.out.clone(), |split| arguments.out.join(split.name()));
        let files = if arguments.stream {
            let &[seed] = &seeds[..] else { bail!("a stream has one seed") };
            let tasks = tasks.into_iter().flat_map(|(algorithm, sizes)| sizes.into_iter().map(move |size| (algorithm, size)));
            vec![TextFile { name: "stream".into(), rows: RowSource::Choices { tasks: tasks.collect(), seed, rows: count } }]
        } else {
            let file = |(algorithm, sizes): (&'static dyn AnyAlgorithm, Vec<usize>)| {
                let seeds = &seeds;
                let block = |&size: &usize| seeds.iter().map(move |&seed| Block { algorithm, size, seed, count });
                let blocks = sizes.iter().flat_map(block).collect();
                TextFile { name: algorithm.name().into(), rows: RowSource::Blocks(blocks) }
            };
            tasks.into_iter().map(file).collect()
        };
        folders.push(Folder { path, files });
    }
    Ok((folders, text))
}

/// Algorithms and their sizes, in the order of the arguments or of the benchmark.
fn tasks(arguments: &Arguments, split: Option<Split>) -> Result<Vec<(&'static dyn AnyAlgorithm, Vec<usize>)>> {
    let algorithms: Vec<&'static dyn AnyAlgorithm> =
        arguments.algorithms.iter().map(|name| arguments::algorithm(name)).collect::<Result<_>>()?;
    if let Some(split) = split {
        let mut tasks = split.sizes();
        let is_missing = |algorithm: &&&dyn AnyAlgorithm| !tasks.iter().any(|(of, _)| of.name() == algorithm.name());
        if let Some(missing) = algorithms.iter().find(is_missing) {
            bail!("{} is not part of clrs-text; omit --benchmark to generate texts of it", missing.name());
        }
        tasks.retain(|(of, _)| algorithms.is_empty() || algorithms.iter().any(|algorithm| algorithm.name() == of.name()));
        return Ok(tasks);
    }
    let tasks: Vec<_> = if arguments.lengths.is_empty() {
        algorithms.into_iter().map(|algorithm| (algorithm, arguments.size.clone())).collect()
    } else {
        let task = |(name, sizes): &(String, Vec<usize>)| Ok((arguments::algorithm(name)?, sizes.clone()));
        arguments.lengths.iter().map(task).collect::<Result<_>>().context("--lengths")?
    };
    ensure!(!tasks.is_empty(), "nothing to generate: use --benchmark clrs-text, or --algorithms with names from `clrs list`");
    let mut names = BTreeSet::new();
    if let Some((twice, _)) = tasks.iter().find(|(algorithm, _)| !names.insert(algorithm.name())) {
        bail!("{} is listed twice; list all of its sizes at once", twice.name());
    }
    Ok(tasks)
}
