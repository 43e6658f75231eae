//! Job arrays of Slurm.
//!
//! A submission is one array (or as many as the cluster's `MaxArraySize` demands) over the runs that are neither finished nor queued.
//! Everything about it is in `slurm/` of the sweep directory: a readable script, the runs of each array task, logs, and the job ids.

pub mod jobs;
pub mod queue;
pub mod script;
pub mod submit;

use std::path::PathBuf;
use std::process::Command;

use clrs_store::StoreError;

/// Why a command of Slurm cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum SlurmError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("`{0}` was not found: this machine has no Slurm client; submit from a login node of the cluster")]
    NotFound(&'static str),
    #[error("`{command}` failed: {message}")]
    Failed { command: &'static str, message: String },
    #[error("`sbatch` printed no job id: {0}")]
    NoJobId(String),
    #[error("{}, line {line}: damaged; remove the line and run `squeue` to see whether its job exists", .path.display())]
    Damaged { path: PathBuf, line: usize },
    #[error("{}: another `submit` is at work", .0.display())]
    InUse(PathBuf),
    #[error("{}: the path contains characters that a job script cannot have", .0.display())]
    Path(PathBuf),
    #[error("`{0}`: an argument of `sbatch` cannot contain quotation marks, backslashes or line breaks here")]
    Argument(String),
    #[error("{}: too many scripts; remove those of finished jobs", .0.display())]
    TooManySubmissions(PathBuf),
    #[error("invalid time limit `{0}`; expected at least four minutes as MINUTES, HH:MM:SS or D-HH:MM:SS")]
    TimeLimit(String),
}

/// Runs a command of Slurm and returns its standard output.
fn output(command: &'static str, arguments: &[String]) -> Result<String, SlurmError> {
    let output = Command::new(command).args(arguments).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SlurmError::NotFound(command),
        _ => SlurmError::Failed { command, message: error.to_string() },
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        let message = if message.is_empty() { output.status.to_string() } else { message };
        return Err(SlurmError::Failed { command, message });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
