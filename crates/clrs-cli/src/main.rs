//! The binary `clrs`: one file per verb, which translates between the command line and the libraries.
#![expect(clippy::doc_markdown, reason = "doc comments of arguments are help texts")]

mod arguments;
mod error;
mod progress;
mod table;
mod verbs;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use error::Interrupted;
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

/// Exit code for what the user or the environment can change: arguments, files, a full disk. Also clap's code.
const USER_ERROR: u8 = 2;
/// Exit code for a defect of this program: a panic.
const INTERNAL_ERROR: i32 = 1;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "clrs: internal error (please report it): {panic}");
        std::process::exit(INTERNAL_ERROR);
    }));
    match Cli::parse().verb.run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has seen enough: `clrs list | head -1`.
        Err(error) if error::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "clrs: {}", error::one_line(&error));
            ExitCode::from(if error.is::<Interrupted>() { Interrupted::EXIT_CODE } else { USER_ERROR })
        }
    }
}
