//! Starting the program, and reading what it says.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program with arguments, ready to start; nothing is typed into it.
pub(crate) fn clrs(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clrs"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Starts it, and waits for its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    clrs(arguments).output().expect("the program starts")
}

/// What it wrote.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder as an argument.
pub(crate) fn path(folder: &Path) -> &str {
    folder.to_str().expect("a temporary folder's name")
}
