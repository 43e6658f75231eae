//! Errors as they are printed: one line that says what is wrong and how to fix it.

use std::error::Error;
use std::{fmt, io};

use anyhow::{Result, anyhow};
#[cfg(feature = "networks")]
use clrs_nn::data::error::DataError;
use clrs_store::generate::GenerateError;
use clrs_store::{StoreError, StoreErrorKind};

/// Adds the flag that resolves an error, if the verb has one. Library errors do not mention flags.
pub(crate) trait Advise<T> {
    /// Mentions `--force` if it would help.
    fn advise_force(self) -> Result<T>;
}

/// Errors of writing a file. Other errors that replacing a file resolves concern files that are read.
impl<T> Advise<T> for Result<T, StoreError> {
    fn advise_force(self) -> Result<T> {
        self.map_err(|error| advise(matches!(error.kind, StoreErrorKind::Exists), error))
    }
}

impl<T> Advise<T> for Result<T, GenerateError> {
    fn advise_force(self) -> Result<T> {
        self.map_err(|error| advise(error.is_resolved_by_replacing(), error))
    }
}

impl<T> Advise<T> for Result<T, clrs_text::generate::GenerateError> {
    fn advise_force(self) -> Result<T> {
        self.map_err(|error| advise(error.is_resolved_by_replacing(), error))
    }
}

fn advise(helps: bool, error: impl Error + Send + Sync + 'static) -> anyhow::Error {
    if helps { anyhow!("{error}; --force replaces it") } else { error.into() }
}

/// The work was stopped by Ctrl-C. The text says how to continue.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl Interrupted {
    /// The exit code, as shells have it: 128 and the number of the signal.
    pub(crate) const EXIT_CODE: u8 = 130;
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Interrupted {}

/// Runs were stopped, each with a checkpoint. The text says how to continue.
#[cfg(feature = "networks")]
#[derive(Debug)]
pub(crate) struct Stopped(pub(crate) String);

#[cfg(feature = "networks")]
impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "networks")]
impl Error for Stopped {}

/// The exit code for an error. That of a panic is [`INTERNAL_ERROR`](crate::INTERNAL_ERROR).
pub(crate) fn exit_code(error: &anyhow::Error) -> u8 {
    #[cfg(feature = "networks")]
    if error.is::<Stopped>() {
        return clrs_sweep::worker::STOPPED_EXIT_CODE;
    }
    if error.is::<Interrupted>() { Interrupted::EXIT_CODE } else { USER_ERROR }
}

/// Exit code for what the user or the environment can change: arguments, files, a full disk. Also clap's code.
const USER_ERROR: u8 = 2;

/// An error of loading samples, with the command that writes a missing set.
#[cfg(feature = "networks")]
pub(crate) fn advise_generate(error: DataError) -> anyhow::Error {
    if let DataError::Store(StoreError { path, kind: StoreErrorKind::MissingSet { name }, .. }) = &error
        && let Some((algorithm, split)) = name.rsplit_once('_')
    {
        // The splits of the benchmark have seeds of their own; with equal ones, they would share samples.
        let seed = match split {
            "val" => " --seed 2",
            "test" => " --seed 3",
            _ => "",
        };
        let out = path.display();
        return anyhow!("{error}; `clrs generate --algorithms {algorithm} --name {split}{seed} --out {out}` writes it");
    }
    error.into()
}

/// Whether the output could not be written because its reader has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| io_kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

/// The error and its causes, without causes that only repeat the text before.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    // Errors of files name their file: only those of standard output get here without a context.
    if error.chain().next().is_some_and(|error| io_kind(error).is_some()) {
        line += "cannot write to standard output";
    }
    for cause in error.chain().map(ToString::to_string) {
        let cause = if cause.contains('\n') { cause.split_whitespace().collect::<Vec<_>>().join(" ") } else { cause };
        if !line.contains(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
        }
    }
    line
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
    io.or_else(|| error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind))
}
