use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use clrs_nn::Parameters;
use clrs_nn::eval::trained::Checkpoint;
use clrs_nn::exec::device;
use clrs_nn::exec::parameters::Parameter;
use clrs_nn::run::tensor_file::TensorFile;
use clrs_store::write_atomic;
use serde::Serialize;

use crate::arguments::{self, ensure_outside_run};
use crate::error::Advise;
use crate::table::Table;

/// List the parameters of a trained network, or write them to a file
///
/// `--names dm-clrs` names them as dm-clrs does, whose models can then load them (docs/weights.md). `clrs train --weights` reads
/// both.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Run directory
    run: PathBuf,
    /// Checkpoint to read: `best`, `last`, or a file
    #[arg(long, value_name = "best|last|FILE", default_value = "best")]
    checkpoint: Checkpoint,
    /// Write the parameters to this safetensors file instead of listing them
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Names of the parameters in the file
    #[arg(long, value_enum, default_value_t = Names::Clrs)]
    names: Names,
    /// Replace an existing file
    #[arg(long, requires = "out")]
    force: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "out")]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Names {
    /// The names that are listed
    Clrs,
    /// The names of dm-clrs
    DmClrs,
}

#[derive(Serialize)]
struct Report<'r> {
    /// Number of scalar parameters.
    count: usize,
    parameters: &'r [Parameter],
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(out) = &arguments.out {
        ensure_outside_run(out, &arguments.run)?;
        if let Checkpoint::File(checkpoint) = &arguments.checkpoint {
            let is_same = out.canonicalize().is_ok_and(|out| checkpoint.canonicalize().is_ok_and(|checkpoint| out == checkpoint));
            ensure!(!is_same, "{}: is the checkpoint to read; write to another file", out.display());
        }
    }
    arguments::ensure_checkpoint_exists(&arguments.checkpoint)?;
    let device = device::open("cpu")?;
    let model = arguments::open_model(&arguments.run, &arguments.checkpoint, &device)?;
    match &arguments.out {
        Some(out) => write(&model.parameters, out, arguments),
        None => list(&model.parameters, arguments.json),
    }
}

fn list(parameters: &Parameters, json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        let report = Report { count: parameters.count(), parameters: parameters.list() };
        serde_json::to_writer_pretty(&mut out, &report)?;
        return Ok(writeln!(out)?);
    }
    let mut table = Table::new(&["parameter", "shape", "name in dm-clrs"]);
    for Parameter { name, shape, dm_clrs_name, .. } in parameters.list() {
        table.row([name.clone(), format!("{shape:?}"), dm_clrs_name.clone().unwrap_or_else(|| "-".into())]);
    }
    table.write(&mut out)?;
    Ok(writeln!(out, "{} parameters in {} tensors", parameters.count(), parameters.list().len())?)
}

fn write(parameters: &Parameters, out: &std::path::Path, arguments: &Arguments) -> Result<()> {
    let file = match arguments.names {
        Names::Clrs => TensorFile::from_parameters(parameters, |parameter| parameter.name.clone()),
        Names::DmClrs => TensorFile::with_dm_clrs_names(parameters)?,
    };
    write_atomic(out, arguments::on_existing(arguments.force), &file.to_bytes()).advise_force()?;
    let (count, tensors) = (parameters.count(), file.tensors.len());
    Ok(writeln!(std::io::stdout(), "Wrote {count} parameters in {tensors} tensors to {}", out.display())?)
}
