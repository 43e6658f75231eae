use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clrs::Registry;
use clrs_nn::tensors::NamedArrays;
use clrs_nn::trained::{Checkpoint, Trained};
use clrs_store::{OnExisting, write_atomic};
use serde_json::json;

/// List the parameters of a trained network, or write them to a file
///
/// With `--names dm-clrs` they are called as dm-clrs calls them, so that its models can take them over (docs/weights.md). `clrs
/// train --weights` reads both.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of a run
    run: PathBuf,
    /// Checkpoint: `best`, `last`, or a file
    #[arg(long, default_value = "best")]
    checkpoint: String,
    /// Safetensors file to write; without it, parameters are listed
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How parameters are called in the file
    #[arg(long, value_enum, default_value_t = Names::Clrs)]
    names: Names,
    /// Write over a file that is there
    #[arg(long, requires = "out")]
    force: bool,
    /// As JSON
    #[arg(long, conflicts_with = "out")]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Names {
    /// By our names
    Clrs,
    /// By those of dm-clrs
    DmClrs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let checkpoint = match &arguments.checkpoint[..] {
        "best" => Checkpoint::Best,
        "last" => Checkpoint::Last,
        file => Checkpoint::File(file.into()),
    };
    let trained = Trained::open(&arguments.run, &checkpoint, &Registry::builtin())?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let parameters = trained.parameters.list().iter();
        let parameters = parameters.map(|of| json!({ "name": of.name, "shape": of.shape, "reference": of.reference }));
        let parameters: Vec<_> = parameters.collect();
        return Ok(writeln!(out, "{:#}", json!({ "parameters": parameters, "numbers": trained.parameters.count() }))?);
    }
    let Some(path) = &arguments.out else {
        let mut table = crate::table::Table::new(&["parameter", "shape", "in dm-clrs"]);
        for parameter in trained.parameters.list() {
            table.row([parameter.name.clone(), format!("{:?}", parameter.shape), parameter.reference.clone()]);
        }
        table.write(&mut out)?;
        writeln!(out, "{} numbers", trained.parameters.count())?;
        return Ok(());
    };
    let file = NamedArrays::of(&trained.parameters, |parameter| match arguments.names {
        Names::Clrs => parameter.name.clone(),
        Names::DmClrs => parameter.reference.clone(),
    });
    let on_existing = if arguments.force { OnExisting::Replace } else { OnExisting::Fail };
    write_atomic(path, on_existing, &file.to_bytes())?;
    writeln!(out, "{} parameters, {} numbers: {}", file.arrays.len(), trained.parameters.count(), path.display())?;
    Ok(())
}
