//! The program `clrs`: one file per verb, which translates between the command line and the libraries.
//!
//! A library, so that the Python package can install the program without a second copy of everything it is built from.
#![expect(clippy::doc_markdown, reason = "doc comments of arguments are help texts")]

mod arguments;
mod error;
#[cfg(feature = "networks")]
mod program;
mod progress;
mod table;
mod verbs;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;

use verbs::Verb;

/// The CLRS Algorithmic Reasoning Benchmark: run textbook algorithms step by step, generate data, train and evaluate networks
#[derive(Parser)]
#[command(name = "clrs", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// Exit code for a defect of this program: a panic.
const INTERNAL_ERROR: u8 = 1;

/// Whether a thread has panicked.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Runs the program and returns its exit code. The first argument is the name of the program, as in `std::env::args_os`;
/// `program` is the path that starts it.
pub fn run(program: Option<PathBuf>, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    #[cfg(feature = "networks")]
    if let Some(path) = program {
        program::set_path(path);
    }
    #[cfg(not(feature = "networks"))]
    drop(program);
    std::panic::set_hook(Box::new(|panic| {
        HAS_PANICKED.store(true, Ordering::Relaxed);
        let _ = writeln!(io::stderr(), "clrs: internal error (please report it): {panic}");
    }));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Also the help text, which has the exit code 0.
        Err(message) => {
            let _ = message.print();
            return u8::try_from(message.exit_code()).unwrap_or(INTERNAL_ERROR);
        }
    };
    // A panic in one run of a sweep does not end the others, so it unwinds instead of ending the program.
    let result = std::panic::catch_unwind(|| cli.verb.run());
    match result {
        Ok(Ok(())) => 0,
        // The reader of the output has seen enough: `clrs list | head -1`.
        Ok(Err(error)) if error::is_broken_pipe(&error) => 0,
        // The error that follows from a panic is of no use to the user.
        _ if HAS_PANICKED.load(Ordering::Relaxed) => INTERNAL_ERROR,
        Ok(Err(error)) => {
            let _ = writeln!(io::stderr(), "clrs: {}", error::one_line(&error));
            error::exit_code(&error)
        }
        Err(_) => INTERNAL_ERROR,
    }
}
