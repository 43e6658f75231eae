//! Networks of runs: their decisions beside the truth, and how they train.
//!
//! [`Runs`] finds run directories and gives each an index, by which everything else addresses it.

pub mod predict;
pub mod training;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use clrs_nn::eval::trained::{Checkpoint, OpenModelError, TrainedModel};
use clrs_nn::exec::device::Device;
use clrs_nn::model::registries::Registries;
use clrs_nn::run::directory;
use clrs_nn::run::metrics::MetricsReader;

/// Most runs of a directory that are listed.
const MAX_RUNS: usize = 1000;

/// Run directories, in the order in which they were found.
pub struct Runs {
    /// Run directories, and directories of runs.
    roots: Vec<PathBuf>,
    registries: Registries,
    device: Device,
    found: Mutex<Vec<Arc<Run>>>,
}

/// A run directory.
pub struct Run {
    /// Its path, shortened to what distinguishes it.
    pub name: String,
    path: PathBuf,
    metrics: Mutex<MetricsReader>,
    model: Mutex<Option<OpenModel>>,
}

/// A network, and when its file was written.
struct OpenModel {
    model: Arc<TrainedModel>,
    written: Option<SystemTime>,
}

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum NetworkError {
    #[error("{}: neither a run directory nor a directory of runs", .0.display())]
    NoRuns(PathBuf),
    #[error("there is no run number {0}")]
    NoRun(usize),
    #[error(transparent)]
    Open(#[from] OpenModelError),
    #[error(transparent)]
    Eval(#[from] clrs_nn::eval::metrics::EvalError),
    #[error("{0}")]
    TooLarge(String),
    #[error("nobody waits for the result any more")]
    Abandoned,
}

impl Runs {
    /// Runs in some directories: each is a run directory, or contains run directories.
    ///
    /// # Errors
    /// If a directory is neither.
    pub fn open(roots: Vec<PathBuf>) -> Result<Runs, NetworkError> {
        let runs = Runs { roots, registries: Registries::builtin(), device: Device::flex(), found: Mutex::default() };
        for root in &runs.roots {
            if find(root).is_empty() {
                return Err(NetworkError::NoRuns(root.clone()));
            }
        }
        Ok(runs)
    }

    /// No runs.
    pub fn none() -> Runs {
        Runs { roots: Vec::new(), registries: Registries::builtin(), device: Device::flex(), found: Mutex::default() }
    }

    /// All runs. Those that appeared since the last call come last: an index stays that of its run.
    pub fn list(&self) -> Vec<Arc<Run>> {
        let mut found = lock(&self.found);
        for root in &self.roots {
            for path in find(root) {
                if found.len() < MAX_RUNS && !found.iter().any(|run| run.path == path) {
                    found.push(Arc::new(Run::new(root, path)));
                }
            }
        }
        found.clone()
    }

    /// The run with an index.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, index: usize) -> Result<Arc<Run>, NetworkError> {
        self.list().get(index).cloned().ok_or(NetworkError::NoRun(index))
    }

    /// The network of a run: that of its best validation so far. Opened again if training has written a better one.
    ///
    /// # Errors
    /// If there is none yet, or it cannot be read.
    pub fn model(&self, run: &Run) -> Result<Arc<TrainedModel>, NetworkError> {
        let written = run.path.join(directory::BEST).metadata().and_then(|file| file.modified()).ok();
        let mut open = lock(&run.model);
        if let Some(OpenModel { model, written: of }) = &*open
            && *of == written
        {
            return Ok(Arc::clone(model));
        }
        let model = TrainedModel::open_with(&run.path, &Checkpoint::Best, &self.registries, &self.device)?;
        let model = Arc::new(model);
        *open = Some(OpenModel { model: Arc::clone(&model), written });
        Ok(model)
    }
}

impl Run {
    fn new(root: &Path, path: PathBuf) -> Run {
        let shown = if path == root { path.file_name().map(Path::new) } else { path.strip_prefix(root).ok() };
        let name = shown.unwrap_or(&path).display().to_string();
        Run { name, metrics: Mutex::new(MetricsReader::new(&path)), model: Mutex::default(), path }
    }
}

/// The run directory itself, or those in it (a directory of runs, or of a sweep).
fn find(root: &Path) -> Vec<PathBuf> {
    if directory::is_run(root) {
        return vec![root.to_owned()];
    }
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut runs: Vec<PathBuf> = entries.filter(|path| directory::is_run(path)).take(MAX_RUNS).collect();
        runs.sort();
        runs
    };
    let runs = inside(root);
    if runs.is_empty() { inside(&root.join("runs")) } else { runs }
}

/// A panic in one request does not spoil what others use.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
