//! Generates files of questions and answers.
//!
//! Several files are generated at once, and the rows of each on all threads. A file is written in chunks of a few megabytes, so
//! it is never in memory completely. Its bytes do not depend on the number of threads.
//!
//! Next to each file is a hidden one with the settings that it was generated with, `.NAME.settings`: complete files with the
//! same settings are kept when the call is repeated.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clrs::AnyAlgorithm;
use clrs_store::{
    OnExisting, Progress, Shard, StoreError, create_directory, lossy_path, open_regular, read_regular, write_atomic,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::files::{FileError, FileFormat, RowWriter};
use crate::generator::{Block, Generator, TextError, TextOptions};

/// A file to generate: its name without extension, and its rows.
#[derive(Clone)]
pub struct TextFile {
    /// The name, without directory and extension.
    pub name: String,
    /// The rows.
    pub rows: RowSource,
}

/// Where the rows of a file come from.
#[derive(Clone)]
#[non_exhaustive]
pub enum RowSource {
    /// All samples of some blocks; see [`Generator::blocks`].
    Blocks(Vec<Block>),
    /// The first rows of a stream; see [`Generator::choices`].
    Choices {
        /// Algorithms and sizes to choose from.
        tasks: Vec<(&'static dyn AnyAlgorithm, usize)>,
        /// Seed of the choices and of all samplers.
        seed: u32,
        /// Number of rows.
        rows: u64,
    },
}

impl RowSource {
    /// Number of rows.
    pub fn count(&self) -> u64 {
        match self {
            RowSource::Blocks(blocks) => blocks.iter().map(|block| block.count).fold(0, u64::saturating_add),
            RowSource::Choices { rows, .. } => *rows,
        }
    }

    /// The generator of all rows, or of more.
    ///
    /// # Errors
    /// If a size or an option is invalid.
    pub fn generator(&self, options: &TextOptions) -> Result<Generator, TextError> {
        match self {
            RowSource::Blocks(blocks) => Generator::blocks(blocks, options),
            RowSource::Choices { tasks, seed, .. } => Generator::choices(tasks, *seed, options),
        }
    }

    /// The algorithm of all rows, if they have one.
    fn algorithm(&self) -> Option<&'static str> {
        let names: BTreeSet<&str> = match self {
            RowSource::Blocks(blocks) => blocks.iter().map(|block| block.algorithm.name()).collect(),
            RowSource::Choices { tasks, .. } => tasks.iter().map(|(algorithm, _)| algorithm.name()).collect(),
        };
        names.first().copied().filter(|_| names.len() == 1)
    }

    /// Upper bound of the memory of all recordings: an estimate of the work.
    fn work(&self) -> u128 {
        let bytes = |algorithm: &dyn AnyAlgorithm, size| algorithm.max_recording_bytes(size) as u128;
        match self {
            RowSource::Blocks(blocks) => {
                blocks.iter().map(|block| u128::from(block.count) * bytes(block.algorithm, block.size)).sum()
            }
            RowSource::Choices { tasks, rows, .. } => {
                let sum: u128 = tasks.iter().map(|&(algorithm, size)| bytes(algorithm, size)).sum();
                sum * u128::from(*rows) / tasks.len().max(1) as u128
            }
        }
    }

    fn to_json(&self) -> Value {
        match self {
            RowSource::Blocks(blocks) => json!({ "blocks": blocks }),
            RowSource::Choices { tasks, seed, rows } => {
                let tasks: Vec<_> = tasks.iter().map(|(algorithm, size)| json!([algorithm.name(), size])).collect();
                json!({ "choices": { "tasks": tasks, "seed": seed, "rows": rows } })
            }
        }
    }
}

/// Options of [`generate`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GenerateOptions {
    /// How trajectories are sampled and formatted.
    pub text: TextOptions,
    /// The format of the files.
    pub files: FileFormat,
    /// The part of each file to generate; all rows if `None`.
    pub shard: Option<Shard>,
    /// What to do with a file that has other settings. Complete files with the same settings are kept.
    pub on_existing: OnExisting,
    /// Number of threads; 0 for as many as cores.
    pub threads: usize,
}

impl GenerateOptions {
    /// Options with how to format trajectories and files.
    pub fn new(text: TextOptions, files: FileFormat) -> GenerateOptions {
        GenerateOptions { text, files, ..GenerateOptions::default() }
    }

    /// Sets the part of each file to generate.
    #[must_use]
    pub fn with_shard(self, shard: Option<Shard>) -> GenerateOptions {
        GenerateOptions { shard, ..self }
    }

    /// Sets what to do with files that have other settings.
    #[must_use]
    pub fn with_on_existing(self, on_existing: OnExisting) -> GenerateOptions {
        GenerateOptions { on_existing, ..self }
    }

    /// Sets the number of threads; 0 for as many as cores.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> GenerateOptions {
        GenerateOptions { threads, ..self }
    }

    /// Rows of a file that are generated: all, or those of the shard.
    pub fn row_range(&self, file: &TextFile) -> Range<u64> {
        self.shard.map_or(0..file.rows.count(), |shard| shard.range(file.rows.count()))
    }
}

/// A file that was generated, or existed already.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GeneratedFile {
    /// The path.
    #[serde(serialize_with = "lossy_path")]
    pub path: PathBuf,
    /// Number of rows.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether the same file existed already.
    pub cached: bool,
}

/// Why files could not be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum GenerateError {
    #[error(transparent)]
    Text(#[from] TextError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: exists, and {difference}", .path.display())]
    Conflict { path: PathBuf, difference: &'static str },
    #[error("two files have the name {0}")]
    DuplicateName(String),
    #[error("{algorithm} with size {size} and seed {seed} is listed twice; both would have the same samples")]
    DuplicateBlock { algorithm: &'static str, size: usize, seed: u32 },
    #[error("`{0}` cannot be the name of a file")]
    InvalidName(String),
    #[error("{0}: the JSON of dm-clrs has the samples of one algorithm; use another file format")]
    SeveralAlgorithms(String),
    #[error("cancelled")]
    Cancelled,
    #[error("cannot start threads: {0}")]
    Threads(String),
}

impl From<StoreError> for GenerateError {
    fn from(error: StoreError) -> GenerateError {
        GenerateError::File(error.into())
    }
}

impl GenerateError {
    /// Whether [`OnExisting::Replace`] resolves the error.
    pub fn is_resolved_by_replacing(&self) -> bool {
        match self {
            GenerateError::Conflict { .. } => true,
            GenerateError::File(FileError::Store(error)) => error.kind.is_resolved_by_replacing(),
            _ => false,
        }
    }
}

/// Generates files into a directory, which is created if necessary.
///
/// Files that were complete before an error or a cancellation stay, and are not generated again when the call is repeated.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_text::Block;
/// use clrs_text::generate::{GenerateOptions, RowSource, TextFile, generate};
///
/// let dir = tempfile::tempdir()?;
/// let block = Block { algorithm: Registry::builtin().find("bfs")?, size: 4, seed: 0, count: 10 };
/// let file = TextFile { name: "bfs".into(), rows: RowSource::Blocks(vec![block]) };
/// let files = generate(&[file.clone()], dir.path(), &GenerateOptions::default(), &())?;
/// assert_eq!((files[0].rows, files[0].cached), (10, false));
/// assert!(dir.path().join("bfs.parquet").exists());
/// assert!(generate(&[file], dir.path(), &GenerateOptions::default(), &())?[0].cached);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate(
    files: &[TextFile],
    dir: &Path,
    options: &GenerateOptions,
    progress: &dyn Progress,
) -> Result<Vec<GeneratedFile>, GenerateError> {
    validate(files, options)?;
    create_directory(dir)?;
    let targets: Vec<Target> = files.iter().map(|file| Target::new(file, dir, options)).collect();
    let cached: Vec<Option<u64>> =
        targets.iter().map(|target| target.cached_bytes(options.on_existing)).collect::<Result<_, GenerateError>>()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    let pool = pool.map_err(|error| GenerateError::Threads(error.to_string()))?;
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(files[index].rows.work()));
    let mut generated: Vec<(usize, GeneratedFile)> = pool.install(|| {
        // One at a time and the largest first, so that no thread is left with a large one at the end.
        let generate = |&index: &usize| {
            let (file, target) = (&files[index], &targets[index]);
            let bytes = match cached[index] {
                Some(bytes) => {
                    progress.add_samples(&file.name, usize::try_from(target.rows()).unwrap_or(usize::MAX));
                    bytes
                }
                None => target.generate(file, options, progress)?,
            };
            progress.finish_set(&file.name);
            let path = target.path.clone();
            Ok((index, GeneratedFile { path, rows: target.rows(), bytes, cached: cached[index].is_some() }))
        };
        order.iter().par_bridge().map(generate).collect::<Result<_, GenerateError>>()
    })?;
    generated.sort_by_key(|(index, _)| *index);
    Ok(generated.into_iter().map(|(_, file)| file).collect())
}

/// Checks what can be checked before any work.
fn validate(files: &[TextFile], options: &GenerateOptions) -> Result<(), GenerateError> {
    let mut names = BTreeSet::new();
    for TextFile { name, rows } in files {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
        if name.is_empty() || name.len() > 200 || !name.chars().all(is_allowed) || name.starts_with('.') {
            return Err(GenerateError::InvalidName(name.clone()));
        }
        if !names.insert(name) {
            return Err(GenerateError::DuplicateName(name.clone()));
        }
        if options.files == FileFormat::Json && rows.algorithm().is_none() {
            return Err(GenerateError::SeveralAlgorithms(name.clone()));
        }
        if let RowSource::Blocks(blocks) = rows {
            let mut identities = BTreeSet::new();
            let mut is_repeated = |block: &&Block| !identities.insert((block.algorithm.name(), block.size, block.seed));
            if let Some(&Block { algorithm, size, seed, .. }) = blocks.iter().find(|block| is_repeated(block)) {
                return Err(GenerateError::DuplicateBlock { algorithm: algorithm.name(), size, seed });
            }
        }
        rows.generator(&options.text)?;
    }
    Ok(())
}

/// Size of the texts of a chunk.
const CHUNK_BYTES: usize = 4 << 20;
/// Number of rows from which the size of one is estimated.
const FIRST_CHUNK: usize = 16;
/// Maximum number of rows of a chunk: problems are in memory until they are run.
const MAX_CHUNK_ROWS: usize = 4096;

/// Where the rows of a file go.
struct Target {
    path: PathBuf,
    settings_path: PathBuf,
    settings: Value,
    range: Range<u64>,
}

impl Target {
    fn new(file: &TextFile, dir: &Path, options: &GenerateOptions) -> Target {
        let suffix = options.shard.map(|Shard { index, count }| format!("-{index:05}-of-{count:05}")).unwrap_or_default();
        let file_name = format!("{}{suffix}.{}", file.name, options.files.extension());
        Target {
            path: dir.join(&file_name),
            settings_path: dir.join(format!(".{file_name}.settings")),
            settings: settings(file, options),
            range: options.row_range(file),
        }
    }

    fn rows(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Size of the file, if it is complete already; `None` if it is to be generated.
    fn cached_bytes(&self, on_existing: OnExisting) -> Result<Option<u64>, GenerateError> {
        if !self.path.exists() {
            return Ok(None);
        }
        open_regular(&self.path)?;
        match cached_bytes(&self.path, &self.settings_path, &self.settings) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) if on_existing == OnExisting::Replace => Ok(None),
            Err(difference) => Err(GenerateError::Conflict { path: self.path.clone(), difference }),
        }
    }

    /// Generates the file. Returns its size.
    fn generate(&self, file: &TextFile, options: &GenerateOptions, progress: &dyn Progress) -> Result<u64, GenerateError> {
        let mut generator = file.rows.generator(&options.text)?;
        generator.skip_rows(self.range.start)?;
        let name = file.rows.algorithm().unwrap_or_default();
        let settings = self.settings.to_string();
        let mut writer = RowWriter::create(&self.path, options.files, options.on_existing, name, options.text.hints, settings)?;
        let (mut left, mut chunk) = (self.rows(), FIRST_CHUNK);
        while left > 0 {
            if progress.is_cancelled() {
                return Err(GenerateError::Cancelled);
            }
            let rows = generator.next_rows(usize::try_from(left).map_or(chunk, |left| left.min(chunk)))?;
            writer.write(&rows)?;
            left -= rows.len() as u64;
            // The next chunk depends on the rows alone, so files do not depend on the number of threads.
            chunk = (CHUNK_BYTES * rows.len() / rows.bytes().max(1)).clamp(1, MAX_CHUNK_ROWS);
            progress.add_samples(&file.name, rows.len());
        }
        let (written, bytes) = writer.finish()?;
        // Another process may have generated the file in the meantime, or be about to name it.
        let _lock = self.lock_directory();
        if options.on_existing == OnExisting::Fail
            && let Some(bytes) = self.cached_bytes(OnExisting::Fail)?
        {
            return Ok(bytes);
        }
        let stored = StoredSettings { bytes, settings: self.settings.clone() };
        let stored = serde_json::to_vec(&stored).expect("settings are valid JSON");
        let store_settings = || write_atomic(&self.settings_path, OnExisting::Replace, &stored);
        // At any moment, a file has its own settings or none, in which case only its replacement is allowed.
        if self.path.exists() {
            remove_settings(&self.settings_path)?;
            written.commit()?;
            store_settings()?;
        } else {
            store_settings()?;
            if let Err(error) = written.commit() {
                remove_settings(&self.settings_path)?;
                return Err(error.into());
            }
        }
        Ok(bytes)
    }

    /// Waits until no other thread or process names a file of the directory. Some systems do not lock directories: there, two processes
    /// that generate one file with different settings at the same moment may confuse them.
    fn lock_directory(&self) -> Option<File> {
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = File::open(directory).ok()?;
        directory.lock().is_ok().then_some(directory)
    }
}

fn remove_settings(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(FileError::Io { path: path.into(), error }),
        _ => Ok(()),
    }
}

/// The settings of a file, as they are stored next to it.
#[derive(Serialize, Deserialize)]
struct StoredSettings {
    /// Size of the file.
    bytes: u64,
    settings: Value,
}

/// Everything that determines the contents of a file.
fn settings(file: &TextFile, options: &GenerateOptions) -> Value {
    json!({
        "version": 1,
        "text": options.text,
        "files": options.files,
        "shard": options.shard.map(|Shard { index, count }| [index, count]),
        "rows": file.rows.to_json(),
    })
}

/// Size of a file, if it is complete and has these settings; else what is wrong with it.
fn cached_bytes(path: &Path, settings_path: &Path, settings: &Value) -> Result<u64, &'static str> {
    const MAX_BYTES: u64 = 64 << 20;
    let bytes = read_regular(settings_path, MAX_BYTES).map_err(|_| "it is not known how it was generated")?;
    let stored: StoredSettings = serde_json::from_slice(&bytes).map_err(|_| "it is not known how it was generated")?;
    if stored.settings != *settings {
        return Err("was generated with other settings");
    }
    let length = path.metadata().map_err(|_| "cannot be read")?.len();
    if length == stored.bytes { Ok(length) } else { Err("has been changed since it was generated") }
}
