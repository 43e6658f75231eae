use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use clrs::digest::{Digests, Sha};
use clrs::sampling::{FixedSet, SampleError, Sampler, Stream};
use clrs::transform::{self, Chunks};
use clrs::{Array, ArrayData, Batch, RandomState, Spec};
use clrs_store::OnExisting;
use clrs_store::npz::write_npz;
use serde_json::{Map, Value};

use crate::arguments::{self, Drawing};

/// Write samples as dense numpy arrays, in the layout and number types of dm-clrs
///
/// The file holds what `clrs.build_sampler(ALGORITHM, COUNT, seed=SEED, length=SIZE)[0].next()` returns, as arrays named
/// `input/NAME`, `hint/NAME`, `output/NAME` and `lengths`. Batches asked for with `--next` stand beside it, under `next_0/`,
/// `next_1/` and so on.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    algorithm: String,
    #[command(flatten)]
    drawing: Drawing,
    /// Number of samples in the set
    #[arg(long, default_value_t = 1, conflicts_with = "stream")]
    count: usize,
    /// File to write, .npz
    #[arg(long, value_name = "FILE", required_unless_present = "digest")]
    out: Option<PathBuf>,
    /// Batches to draw after the set was made: their sizes, comma-separated
    #[arg(long, value_name = "B,..", value_delimiter = ',')]
    next: Vec<usize>,
    /// Make samples on the fly, as `num_samples=-1` does; `--next` says how many
    #[arg(long, requires = "next")]
    stream: bool,
    /// Draw a thousand samples first and throw them away, and pad every batch to the longest seen, as the reference does
    #[arg(long, requires = "stream")]
    track_max_steps: bool,
    /// Changes to every batch, comma-separated, in their order
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    transform: Vec<Transform>,
    /// Seed of random positions
    #[arg(long, default_value_t = 1)]
    position_seed: u32,
    /// Steps of a chunk
    #[arg(long, default_value_t = 16)]
    chunk_length: usize,
    /// Print SHA-256 digests of the whole set's arrays as JSON, and write nothing
    #[arg(long, conflicts_with_all = ["out", "next", "transform", "stream"])]
    digest: bool,
    /// Write over an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Transform {
    /// `pos` becomes sorted random numbers
    RandomPos,
    /// The hint `pred_h` becomes the input `pred`
    PredAsInput,
    /// Orders of the nodes become cycles and a mask of the first node
    Permutations,
    /// Orders of the nodes become plain pointers
    PlainPermutations,
    /// Trajectories end to end, cut into chunks; the last change, and only for batches asked for with `--next`
    Chunk,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    if let Some(path) = arguments.out.as_ref().filter(|path| path.exists() && !arguments.force) {
        bail!("{}: it exists already (--force replaces it)", path.display());
    }
    let sampler = Sampler::new(algorithm, arguments.drawing.size, arguments.drawing.seed, &arguments.drawing.settings()?)?;
    let mut source = if arguments.stream {
        let stream = if arguments.track_max_steps { Stream::track_max_steps(sampler)? } else { Stream::new(sampler) };
        Source::Stream(Box::new(stream))
    } else {
        ensure!(arguments.count > 0, "--count 0: there is nothing to write");
        Source::Fixed(Box::new(FixedSet::new(sampler, arguments.count)?))
    };
    if let (true, Source::Fixed(set)) = (arguments.digest, &source) {
        return print_digests(set);
    }
    let path = arguments.out.as_ref().context("--out FILE.npz says where to write")?;
    let arrays = arrays(arguments, &mut source)?;
    let on_existing = if arguments.force { OnExisting::Replace } else { OnExisting::Fail };
    write_npz(path, arrays.iter().map(|(name, array)| (name.as_str(), array)), on_existing)?;
    Ok(writeln!(std::io::stdout(), "{} arrays in {}", arrays.len(), path.display())?)
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

/// Every array of the file, under its name.
fn arrays(arguments: &Arguments, source: &mut Source) -> Result<Vec<(String, Array)>> {
    let chunked = arguments.transform.contains(&Transform::Chunk);
    let (changes, chunk) = match arguments.transform.split_last() {
        Some((Transform::Chunk, changes)) => (changes, true),
        _ => (&arguments.transform[..], false),
    };
    ensure!(chunk == chunked && !changes.contains(&Transform::Chunk), "chunk is the last transform, and comes once");
    let mut positions = RandomState::new(arguments.position_seed);
    let mut named = Vec::new();
    if chunk {
        let Some(&lanes) = arguments.next.first() else {
            bail!("chunks are cut from batches: --next says how many samples each")
        };
        ensure!(arguments.next.iter().all(|&count| count == lanes), "chunks are cut from batches of one size");
        let mut failed = None;
        let batches = std::iter::from_fn(|| {
            let batch = source.next(lanes).map_err(anyhow::Error::from);
            batch.and_then(|batch| change(batch, changes, &mut positions)).map_err(|error| failed = Some(error)).ok()
        });
        let mut chunks = Chunks::new(batches, arguments.chunk_length)?;
        for place in 0..arguments.next.len() {
            let Some(chunk) = chunks.next()? else { break };
            let prefix = format!("next_{place}/");
            name(&mut named, &prefix, &chunk.spec, chunk.arrays);
            named.extend([(format!("{prefix}is_first"), chunk.is_first), (format!("{prefix}is_last"), chunk.is_last)]);
        }
        return failed.map_or(Ok(named), Err);
    }
    if let Source::Fixed(set) = source {
        name_batch(&mut named, "", change(set.all()?, changes, &mut positions)?);
    }
    for (place, &count) in arguments.next.iter().enumerate() {
        ensure!(count > 0, "--next 0: there is nothing to draw");
        let batch = change(source.next(count)?, changes, &mut positions)?;
        name_batch(&mut named, &format!("next_{place}/"), batch);
    }
    Ok(named)
}

fn change(mut batch: Batch, changes: &[Transform], positions: &mut RandomState) -> Result<Batch> {
    for change in changes {
        batch = match change {
            Transform::RandomPos => transform::random_positions(batch, positions)?,
            Transform::PredAsInput => transform::predecessors_as_input(batch)?,
            Transform::Permutations => transform::cyclic_permutations(batch)?,
            Transform::PlainPermutations => transform::plain_permutations(batch),
            Transform::Chunk => unreachable!("it is the last, and was split off"),
        };
    }
    Ok(batch)
}

fn name_batch(named: &mut Vec<(String, Array)>, prefix: &str, batch: Batch) {
    name(named, prefix, &batch.spec, batch.arrays);
    let lengths = Array { shape: vec![batch.lengths.len()], data: ArrayData::F64(batch.lengths) };
    named.push((format!("{prefix}lengths"), lengths));
}

fn name(named: &mut Vec<(String, Array)>, prefix: &str, spec: &Spec, arrays: Vec<Array>) {
    let names = spec.iter().map(|probe| format!("{prefix}{}", probe.path()));
    named.extend(names.zip(arrays));
}

fn print_digests(set: &FixedSet) -> Result<()> {
    let digests = Digests::new(&set.trajectories().iter().collect::<Vec<_>>())?;
    let hex = |digest: &Sha| Value::from(digest.to_string());
    let mut map: Map<String, Value> = digests.arrays.iter().map(|(probe, digest)| (probe.path(), hex(digest))).collect();
    map.insert("lengths".into(), hex(&digests.lengths));
    map.insert("total".into(), hex(&digests.total()));
    Ok(writeln!(std::io::stdout(), "{}", Value::from(map))?)
}
