use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use clrs::Registry;
use clrs_store::verify::{VerifiedSet, VerifyError, verify};
use clrs_store::{Set, lossy_path};
use rayon::prelude::*;
use serde::Serialize;

use crate::table::{Table, plural};

/// Verify sets: content hashes, probes, and every answer
///
/// Exits with 2 if a file fails.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory of sets, or one set
    path: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    sets: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    #[serde(serialize_with = "lossy_path")]
    path: PathBuf,
    valid: bool,
    #[serde(flatten)]
    verified: Option<VerifiedSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let files = Set::files(&arguments.path)?;
    let registry = Registry::builtin();
    let report = Report { sets: files.into_par_iter().map(|file| verify_file(file, &registry)).collect() };
    let printed = print(&report, arguments.json);
    // The exit code does not depend on whether the report was read to its end.
    let failed = report.sets.iter().filter(|file| !file.valid).count();
    if failed > 0 {
        bail!("{failed} of {} failed verification", plural(report.sets.len(), "file"));
    }
    Ok(printed?)
}

fn verify_file(path: PathBuf, registry: &Registry) -> FileReport {
    match verify(&path, registry) {
        Ok(verified) => FileReport { path, valid: true, verified: Some(verified), error: None },
        Err(error) => {
            let error = message(&path, &error);
            FileReport { path, valid: false, verified: None, error: Some(error) }
        }
    }
}

/// Errors of the store name the file already.
fn message(path: &Path, error: &VerifyError) -> String {
    match error {
        VerifyError::Store(error) => error.to_string(),
        error => format!("{}: {error}", path.display()),
    }
}

fn print(report: &Report, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, report)?;
        return writeln!(out);
    }
    let mut table = Table::new(&["set", "samples", "hash", "status"]);
    for verified in report.sets.iter().filter_map(|file| file.verified.as_ref()) {
        let status = if verified.canonical { "canonical" } else { "valid" };
        let hash = verified.hash.to_string()[..16].to_owned();
        table.row([verified.header.name.clone(), verified.samples.to_string(), hash, status.to_owned()]);
    }
    table.write(&mut out)?;
    for error in report.sets.iter().filter_map(|file| file.error.as_ref()) {
        writeln!(out, "  {error}")?;
    }
    if report.sets.iter().all(|file| file.valid) {
        writeln!(out, "{} verified", plural(report.sets.len(), "file"))?;
    }
    Ok(())
}
