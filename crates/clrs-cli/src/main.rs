//! The binary `clrs`: one file per verb, no logic of its own.

mod arguments;
mod progress;
mod table;
mod verbs;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clrs_store::generate::GenerateError;
use clrs_store::{StoreError, StoreErrorKind};

use verbs::Verb;

/// The CLRS Algorithmic Reasoning Benchmark: thirty textbook algorithms that tell what they do, step by step.
#[derive(Parser)]
#[command(name = "clrs", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// The user's mistake, or the world's; a mistake of ours is a panic.
const USER_ERROR: u8 = 2;
const OUR_ERROR: i32 = 1;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "clrs: this is a mistake of ours, please report it: {panic}");
        std::process::exit(OUR_ERROR);
    }));
    match Cli::parse().verb.run() {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output may stop: `clrs list | head -1`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "clrs: {}{}", one_line(&error), way_out(&error));
            ExitCode::from(USER_ERROR)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        io.or_else(|| cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind))
    };
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

/// What the user can do about errors of the libraries, which know no flags.
fn way_out(error: &anyhow::Error) -> &'static str {
    let store = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>()).map(|error| &error.kind);
    let generate = error.chain().find_map(|cause| cause.downcast_ref::<GenerateError>());
    match (store, generate) {
        (Some(StoreErrorKind::Exists), _) | (_, Some(GenerateError::Conflict { .. })) => " (--force replaces it)",
        (_, Some(GenerateError::Store(error))) if matches!(error.kind, StoreErrorKind::Exists) => " (--force replaces it)",
        (_, Some(GenerateError::Store(_))) => "; --force makes a set anew",
        (Some(StoreErrorKind::NoSplit(_)), _) => " (--split)",
        _ => "",
    }
}

/// The error and its causes, those that only repeat the one before left out.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(|cause| cause.to_string().replace('\n', " ")) {
        if !line.contains(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
        }
    }
    line
}
