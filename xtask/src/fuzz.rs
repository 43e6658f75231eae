//! `cargo xtask fuzz`: runs libFuzzer on the readers of untrusted input.
//!
//! The targets are in `fuzz/`, a separate workspace that is built with sanitizers. Small corpora are committed in
//! `fuzz/corpus/READER`; tests of the crates that own the readers replay them. Inputs found while fuzzing are collected in
//! `target/fuzz/corpus/READER`, and reach the committed corpus with `--update`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::command::{cache_folder, cargo, host, root, run};

/// Version of cargo-fuzz to install.
const CARGO_FUZZ: &str = "0.13.2";
/// Memory limit of a process in MiB.
const MEMORY: u32 = 2048;
/// Time limit of one input in seconds.
const TIMEOUT: u32 = 10;
/// Largest size of a committed corpus in bytes.
const CORPUS_BYTES: u64 = 100_000;

/// A reader of untrusted input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Reader {
    /// Sets in the native format
    NativeSet,
    /// Files of TFDS directories
    Tfds,
    /// Problems as JSON, for every algorithm
    JsonProblem,
    /// Questions and answers in text form, for every algorithm
    TextAnswer,
    /// Recipes and overrides of their fields
    Recipe,
    /// Checkpoints and other files of tensors
    Checkpoint,
}

impl Reader {
    fn name(self) -> String {
        self.to_possible_value().expect("no reader is hidden").get_name().to_owned()
    }

    /// Largest input in bytes.
    fn max_bytes(self) -> u32 {
        match self {
            Reader::NativeSet | Reader::Checkpoint => 16_384,
            Reader::Tfds => 8192,
            Reader::Recipe => 4096,
            // The recording of a problem is at most cubic in its size.
            Reader::JsonProblem => 256,
            Reader::TextAnswer => 512,
        }
    }

    /// Features of the fuzz crate: burn is built only for the readers that need it.
    fn features(self) -> &'static [&'static str] {
        match self {
            Reader::Recipe | Reader::Checkpoint => &["--features", "networks"],
            _ => &[],
        }
    }

    /// Committed files that fuzzing starts from.
    fn seeds(self) -> Vec<PathBuf> {
        let other = match self {
            Reader::NativeSet => Some("crates/clrs-store/tests/corpus/native"),
            Reader::Tfds => Some("crates/clrs-store/tests/corpus/tfds"),
            Reader::Recipe => Some("crates/clrs-nn/recipes"),
            Reader::JsonProblem | Reader::TextAnswer | Reader::Checkpoint => None,
        };
        let folders = [Some(self.corpus()), other.map(|folder| root().join(folder))];
        folders.into_iter().flatten().filter(|folder| folder.exists()).collect()
    }

    /// The committed corpus.
    fn corpus(self) -> PathBuf {
        root().join("fuzz/corpus").join(self.name())
    }
}

/// Fuzzes a reader; with `update`, then minimizes all known inputs into the committed corpus.
pub(crate) fn fuzz(reader: Reader, minutes: f64, update: bool) -> Result<()> {
    ensure!(minutes.is_finite() && minutes >= 0.0, "{minutes} minutes cannot be waited for");
    let fuzzer = Fuzzer::prepare(reader)?;
    let found = root().join("target/fuzz/corpus").join(reader.name());
    fs::create_dir_all(&found).with_context(|| format!("cannot create {}", found.display()))?;
    if minutes > 0.0 {
        let limit = [format!("-max_total_time={:.0}", minutes * 60.0), "-print_final_stats=1".to_owned()];
        run(fuzzer.command(&found, &reader.seeds()).args(limit)).with_context(|| {
            format!("fuzzing {} failed; the input is in fuzz/artifacts/{0}, add it to fuzz/corpus/{0} with a name", reader.name())
        })?;
    }
    if update { fuzzer.update_corpus(&found) } else { Ok(()) }
}

/// A reader and the cargo-fuzz that runs its target.
struct Fuzzer {
    reader: Reader,
    program: PathBuf,
    host: String,
}

impl Fuzzer {
    /// Installs cargo-fuzz into the cache folder if it is missing.
    fn prepare(reader: Reader) -> Result<Fuzzer> {
        let folder = cache_folder()?.join(format!("cargo-fuzz-{CARGO_FUZZ}"));
        let program = folder.join("bin").join(format!("cargo-fuzz{}", std::env::consts::EXE_SUFFIX));
        if !program.exists() {
            eprintln!("installing cargo-fuzz into {} (takes a minute the first time)", folder.display());
            run(cargo(&["install", "--quiet", "--locked", "cargo-fuzz", "--version", CARGO_FUZZ, "--root"]).arg(&folder))?;
        }
        // The same versions as in the workspace, without a second committed lock file. Cargo adds what only the targets need.
        fs::copy(root().join("Cargo.lock"), root().join("fuzz/Cargo.lock")).context("cannot copy Cargo.lock to fuzz/")?;
        Ok(Fuzzer { reader, program, host: host()? })
    }

    /// Runs the target on folders of inputs; new inputs are written to the first. Options of libFuzzer may follow.
    fn command(&self, first: &Path, others: &[PathBuf]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["run", "--fuzz-dir", "fuzz", "--target-dir", "target/fuzz", "--target", &self.host]);
        command.args(self.reader.features()).arg(self.reader.name()).arg(first).args(others).arg("--");
        command.args([format!("-rss_limit_mb={MEMORY}"), format!("-timeout={TIMEOUT}")]);
        command.arg(format!("-max_len={}", self.reader.max_bytes()));
        // cargo-fuzz needs unstable options of the compiler.
        command.current_dir(root()).env("RUSTC_BOOTSTRAP", "1");
        command
    }

    /// Replaces the generated files of the committed corpus by a minimal set of inputs with the same coverage. Inputs that were
    /// added by hand stay.
    fn update_corpus(&self, found: &Path) -> Result<()> {
        let merged = tempfile::tempdir()?;
        let sources = [self.reader.seeds(), vec![found.to_owned()]].concat();
        run(self.command(merged.path(), &sources).arg("-set_cover_merge=1"))?;
        let corpus = self.reader.corpus();
        fs::create_dir_all(&corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
        let mut total = 0;
        let mut known = BTreeSet::new();
        for (size, path) in files_by_size(&corpus)? {
            if is_generated(&path) {
                fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            } else {
                total += size;
                known.insert(fs::read(&path)?);
            }
        }
        let (mut kept, mut dropped) = (0, 0);
        for (size, path) in files_by_size(merged.path())? {
            if known.contains(&fs::read(&path)?) {
                continue;
            }
            if total + size > CORPUS_BYTES {
                dropped += 1;
                continue;
            }
            total += size;
            kept += 1;
            fs::copy(&path, corpus.join(path.file_name().context("a file has a name")?))?;
        }
        println!("{}: {kept} generated inputs, {dropped} dropped as too large; {total} bytes in total", corpus.display());
        Ok(())
    }
}

/// Whether libFuzzer wrote a file: it names them by their SHA-1.
fn is_generated(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn files_by_size(folder: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        files.push((entry.metadata()?.len(), entry.path()));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_has_a_target_and_a_corpus_of_limited_size() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("a manifest");
        for &reader in Reader::value_variants() {
            let name = reader.name();
            assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"targets/{name}.rs\"\n")), "{name}");
            assert!(root().join(format!("fuzz/targets/{name}.rs")).is_file(), "{name}");
            let files = files_by_size(&reader.corpus()).expect("a corpus");
            assert!(!files.is_empty(), "{name}");
            assert!(files.iter().map(|(size, _)| size).sum::<u64>() <= CORPUS_BYTES, "{name}");
            assert!(files.iter().all(|&(size, _)| size <= u64::from(reader.max_bytes())), "{name}");
        }
    }
}
