use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use clrs::digest::Digests;
use clrs::sampling::{FixedSet, SampleError, Sampler, Stream};
use clrs::transform::{self, Chunks};
use clrs::{AnyAlgorithm, Array, ArrayData, Batch, RandomState, Spec};
use clrs_store::memory::{ChunkShape, SampleMemory};
use clrs_store::npz::write_npz;
use clrs_store::{AtomicFile, OnExisting};

use crate::arguments::{self, Name, Sampling};
use crate::error::Advise;
use crate::table::plural;

/// Write samples as dense NumPy arrays with the layout and dtypes of dm-clrs
///
/// The file contains what `clrs.build_sampler(ALGORITHM, COUNT, seed=SEED, length=SIZE)[0].next()` returns, as arrays named
/// `input/NAME`, `hint/NAME`, `output/NAME` and `lengths`. Batches requested with `--next` are stored under `next_0/`, `next_1/`
/// and so on.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    #[arg(value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithm: String,
    #[command(flatten)]
    sampling: Sampling,
    /// Number of samples of the set
    #[arg(long, default_value_t = 1, conflicts_with = "stream")]
    count: usize,
    /// File to write (.npz)
    #[arg(long, value_name = "FILE", required_unless_present = "digest")]
    out: Option<PathBuf>,
    /// Draw batches of these sizes after the set, comma-separated
    #[arg(long, value_name = "B,..", value_delimiter = ',')]
    next: Vec<usize>,
    /// Sample on the fly, as with `num_samples=-1`; `--next` sets the batch sizes
    #[arg(long, requires = "next")]
    stream: bool,
    /// Draw and discard 1000 samples first, and pad every batch to the longest sample so far, as dm-clrs does
    #[arg(long, requires = "stream")]
    track_max_steps: bool,
    /// Transform every batch, comma-separated, in order
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    transform: Vec<Transform>,
    /// Seed of random positions
    #[arg(long, default_value_t = 1)]
    position_seed: u32,
    /// Steps per chunk
    #[arg(long, default_value_t = 16)]
    chunk_length: usize,
    /// Print SHA-256 digests of all arrays of the set as JSON instead of writing a file
    #[arg(long, conflicts_with_all = ["out", "next", "transform", "stream"])]
    digest: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Transform {
    /// Replace `pos` by sorted random numbers
    RandomPos,
    /// Turn the hint `pred_h` into the input `pred`
    PredAsInput,
    /// Turn permutations into cyclic permutations and a mask of the first node
    Permutations,
    /// Turn permutations into plain pointers
    PlainPermutations,
    /// Concatenate the samples of `--next` batches and cut them into chunks; must be the last transform
    Chunk,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    ensure!(arguments.stream || arguments.count > 0, "--count must be at least 1");
    ensure!(arguments.next.iter().all(|&count| count > 0), "the sizes of --next must be at least 1");
    if let Some(path) = &arguments.out {
        ensure_writable(path, arguments.force)?;
    }
    let options = arguments.sampling.options()?;
    let sampler = Sampler::new(algorithm, arguments.sampling.size, arguments.sampling.seed, &options)?;
    ensure_fits(arguments, algorithm)?;
    if arguments.digest {
        return print_digests(&FixedSet::new(sampler, arguments.count)?);
    }
    let mut source = if arguments.stream {
        let stream = if arguments.track_max_steps { Stream::track_max_steps(sampler)? } else { Stream::new(sampler) };
        Source::Stream(Box::new(stream))
    } else {
        Source::Fixed(Box::new(FixedSet::new(sampler, arguments.count)?))
    };
    let path = arguments.out.as_ref().context("--out FILE.npz is missing")?;
    let arrays = arrays(arguments, &mut source)?;
    let named = arrays.iter().map(|(name, array)| (name.as_str(), array));
    write_npz(path, named, arguments::on_existing(arguments.force)).advise_force()?;
    Ok(writeln!(std::io::stdout(), "Wrote {} to {}", plural(arrays.len(), "array"), path.display())?)
}

/// Checks that a file can be written, before the work.
fn ensure_writable(path: &std::path::Path, force: bool) -> Result<()> {
    let on_existing = if force { OnExisting::Replace } else { OnExisting::Fail };
    AtomicFile::create(path, on_existing).advise_force().map(drop)
}

/// Rejects more samples than fit into memory.
fn ensure_fits(arguments: &Arguments, algorithm: &'static dyn AnyAlgorithm) -> Result<()> {
    let options = arguments.sampling.options()?;
    let memory = SampleMemory { algorithm, size: arguments.sampling.size, options: &options };
    let count = if arguments.stream { 0 } else { arguments.count as u128 };
    if arguments.digest {
        return Ok(memory.ensure_recordings_fit(count)?);
    }
    let next = || arguments.next.iter().map(|&count| count as u128);
    if arguments.transform.contains(&Transform::Chunk) {
        let lanes = arguments.next.first().copied().unwrap_or(0);
        memory.ensure_recordings_fit(count)?;
        let (length, count) = (arguments.chunk_length, arguments.next.len());
        return Ok(memory.ensure_chunks_fit(ChunkShape { length, lanes, count })?);
    }
    Ok(memory.ensure_arrays_fit(count + next().sum::<u128>(), 0)?)
}

/// Where batches come from.
enum Source {
    Fixed(Box<FixedSet>),
    Stream(Box<Stream>),
}

impl Source {
    fn next(&mut self, count: usize) -> Result<Batch, SampleError> {
        match self {
            Source::Fixed(set) => set.next(count),
            Source::Stream(stream) => stream.next(count),
        }
    }
}

/// All arrays of the file, with their names.
fn arrays(arguments: &Arguments, source: &mut Source) -> Result<Vec<(String, Array)>> {
    let (transforms, is_chunked) = match arguments.transform.split_last() {
        Some((Transform::Chunk, transforms)) => (transforms, true),
        _ => (&arguments.transform[..], false),
    };
    ensure!(!transforms.contains(&Transform::Chunk), "chunk must be the last transform, and occur once");
    let mut positions = RandomState::new(arguments.position_seed);
    let mut named = Vec::new();
    if is_chunked {
        let Some(&lanes) = arguments.next.first() else { bail!("chunks are cut from batches: set their sizes with --next") };
        ensure!(arguments.next.iter().all(|&count| count == lanes), "chunks need batches of one size: --next B,B,..");
        let mut failed = None;
        let batches = std::iter::from_fn(|| {
            let batch = source.next(lanes).map_err(anyhow::Error::from);
            batch.and_then(|batch| apply(batch, transforms, &mut positions)).map_err(|error| failed = Some(error)).ok()
        });
        let mut chunks = Chunks::new(batches, arguments.chunk_length)?;
        for index in 0..arguments.next.len() {
            let Some(chunk) = chunks.next()? else { break };
            let prefix = format!("next_{index}/");
            add_arrays(&mut named, &prefix, &chunk.spec, chunk.arrays);
            named.extend([(format!("{prefix}is_first"), chunk.is_first), (format!("{prefix}is_last"), chunk.is_last)]);
        }
        return failed.map_or(Ok(named), Err);
    }
    if let Source::Fixed(set) = source {
        add_batch(&mut named, "", apply(set.all()?, transforms, &mut positions)?);
    }
    for (index, &count) in arguments.next.iter().enumerate() {
        let batch = apply(source.next(count)?, transforms, &mut positions)?;
        add_batch(&mut named, &format!("next_{index}/"), batch);
    }
    Ok(named)
}

fn apply(mut batch: Batch, transforms: &[Transform], positions: &mut RandomState) -> Result<Batch> {
    for transform in transforms {
        batch = match transform {
            Transform::RandomPos => transform::random_positions(batch, positions)?,
            Transform::PredAsInput => transform::predecessors_as_input(batch)?,
            Transform::Permutations => transform::cyclic_permutations(batch)?,
            Transform::PlainPermutations => transform::plain_permutations(batch),
            Transform::Chunk => unreachable!("chunks are cut after the other transforms"),
        };
    }
    Ok(batch)
}

fn add_batch(named: &mut Vec<(String, Array)>, prefix: &str, batch: Batch) {
    add_arrays(named, prefix, &batch.spec, batch.arrays);
    let lengths = Array { shape: vec![batch.lengths.len()], data: ArrayData::F64(batch.lengths) };
    named.push((format!("{prefix}lengths"), lengths));
}

fn add_arrays(named: &mut Vec<(String, Array)>, prefix: &str, spec: &Spec, arrays: Vec<Array>) {
    let names = spec.iter().map(|probe| format!("{prefix}{}", probe.path()));
    named.extend(names.zip(arrays));
}

fn print_digests(set: &FixedSet) -> Result<()> {
    let digests = Digests::new(&set.samples())?;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &digests)?;
    Ok(writeln!(out)?)
}
