use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use clrs::Registry;
use clrs_store::verify::{VerifiedSet, VerifyError, verify};
use rayon::prelude::*;
use serde_json::json;

use crate::arguments;
use crate::table::Table;

/// Check sets: hashes, specs, and every answer
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of sets, or one set
    path: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let files = arguments::sets(&arguments.path)?;
    let registry = Registry::builtin();
    let verdicts: Vec<_> = files.par_iter().map(|file| (file, verify(file, &registry))).collect();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let sets: Vec<_> = verdicts.iter().map(|(file, verdict)| as_json(file, verdict)).collect();
        writeln!(out, "{:#}", json!({ "sets": sets }))?;
    } else {
        let mut table = Table::new(&["set", "samples", "hash", ""]);
        for verified in verdicts.iter().filter_map(|(_, verdict)| verdict.as_ref().ok()) {
            let standing = if verified.canonical { "as published" } else { "right" };
            let hash = verified.hash.to_string()[..16].to_owned();
            table.row([verified.header.name.clone(), verified.samples.to_string(), hash, standing.to_owned()]);
        }
        table.write(&mut out)?;
        for (file, verdict) in &verdicts {
            if let Err(error) = verdict {
                writeln!(out, "  {}", about(file, error))?;
            }
        }
    }
    let wrong = verdicts.iter().filter(|(_, verdict)| verdict.is_err()).count();
    if wrong > 0 {
        bail!("{wrong} of {} files are not sets as they should be: `clrs generate --force` makes sets anew", verdicts.len());
    }
    if !arguments.json {
        writeln!(out, "{} sets are what they say, and every answer is right", verdicts.len())?;
    }
    Ok(())
}

/// Errors of the store name the file themselves.
fn about(file: &Path, error: &VerifyError) -> String {
    match error {
        VerifyError::Store(error) => error.to_string(),
        error => format!("{}: {error}", file.display()),
    }
}

fn as_json(file: &Path, verdict: &Result<VerifiedSet, VerifyError>) -> serde_json::Value {
    match verdict {
        Ok(verified) => json!({
            "file": file, "name": verified.header.name, "samples": verified.samples, "hash": verified.hash,
            "canonical": verified.canonical, "right": true,
        }),
        Err(error) => json!({ "file": file, "right": false, "error": error.to_string() }),
    }
}
