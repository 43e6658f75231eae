//! Running the program and reading its output.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

#[cfg(unix)]
pub(crate) use nix::sys::signal::Signal;

/// The program with arguments, without standard input.
pub(crate) fn clrs(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clrs"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs the program.
pub(crate) fn run(arguments: &[&str]) -> Output {
    clrs(arguments).output().expect("the program starts")
}

/// Runs the program in a directory.
pub(crate) fn run_in(dir: &Path, arguments: &[&str]) -> Output {
    clrs(arguments).current_dir(dir).output().expect("the program starts")
}

/// Standard output of a successful command.
pub(crate) fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error of a rejected command: one line, exit code 2.
pub(crate) fn rejection(output: &Output) -> String {
    let line = text(&output.stderr);
    assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    line
}

/// The error of a command that Ctrl-C stopped: one line, exit code 130.
pub(crate) fn interruption(output: &Output) -> String {
    let line = text(&output.stderr);
    assert_eq!((output.status.code(), line.lines().count()), (Some(130), 1), "{line}");
    line
}

/// Output as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path as an argument.
pub(crate) fn path(path: &Path) -> &str {
    path.to_str().expect("paths of temporary directories are UTF-8")
}

/// Waits until a condition holds, or the process has ended. Returns whether it is still running.
pub(crate) fn wait_until(child: &mut Child, condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !condition() {
        if child.try_wait().expect("the process can be queried").is_some() {
            return false;
        }
        assert!(Instant::now() < deadline, "the condition does not become true");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.try_wait().expect("the process can be queried").is_none()
}

/// Sends Ctrl-C to a process and waits for its end.
#[cfg(unix)]
pub(crate) fn interrupt(child: Child) -> Output {
    signal(child, Signal::SIGINT)
}

/// Sends a signal to a process and waits for its end.
#[cfg(unix)]
pub(crate) fn signal(child: Child, signal: Signal) -> Output {
    send(&child, signal);
    child.wait_with_output().expect("the process ends")
}

/// Sends a signal to a process.
#[cfg(unix)]
pub(crate) fn send(child: &Child, signal: Signal) {
    let id = i32::try_from(child.id()).expect("an id of a process");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal).expect("the process exists");
}

/// Number of temporary files and directories below a directory.
pub(crate) fn partial_files(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let count = |path: PathBuf| {
        let is_partial = path.extension().is_some_and(|extension| extension == "partial");
        usize::from(is_partial) + if path.is_dir() { partial_files(&path) } else { 0 }
    };
    entries.map(count).sum()
}

/// Trains a network for three steps in a directory.
pub(crate) fn train(dir: &Path, name: &str, overrides: &[&str]) {
    let mut arguments = vec!["train", "--quiet", "--out", name];
    let is_overridden = |field: &str| overrides.iter().any(|other| other.split('=').next() == field.split('=').next());
    let common = ["processor=mpnn", "hidden=8", "steps=3", "lengths=4", "val_samples=4", "batch_size=4"];
    for field in common.iter().filter(|field| !is_overridden(field)).chain(overrides) {
        arguments.extend(["--set", field]);
    }
    stdout(&run_in(dir, &arguments));
}
