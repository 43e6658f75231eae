//! The binary `clrs`: one file per verb, which translates between the command line and the libraries.
#![expect(clippy::doc_markdown, reason = "doc comments of arguments are help texts")]

mod arguments;
mod error;
mod progress;
mod table;
mod verbs;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;

use verbs::Verb;

#[cfg(feature = "networks")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        HAS_PANICKED.store(true, Ordering::Relaxed);
        let _ = writeln!(io::stderr(), "clrs: internal error (please report it): {panic}");
    }));
    // A panic in one run of a sweep does not end the others, so it unwinds instead of ending the program.
    let result = std::panic::catch_unwind(|| Cli::parse().verb.run());
    match result {
        Ok(Ok(())) => ExitCode::SUCCESS,
        // The reader of the output has seen enough: `clrs list | head -1`.
        Ok(Err(error)) if error::is_broken_pipe(&error) => ExitCode::SUCCESS,
        // The error that follows from a panic is of no use to the user.
        _ if HAS_PANICKED.load(Ordering::Relaxed) => ExitCode::from(INTERNAL_ERROR),
        Ok(Err(error)) => {
            let _ = writeln!(io::stderr(), "clrs: {}", error::one_line(&error));
            ExitCode::from(error::exit_code(&error))
        }
        Err(_) => ExitCode::from(INTERNAL_ERROR),
    }
}
