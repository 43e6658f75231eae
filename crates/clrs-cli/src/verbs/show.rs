use std::io::Write;

use anyhow::Result;
use clap::Args;
use clrs::{Kind, Probe, Stage};
use serde_json::json;

use crate::arguments;
use crate::table::Table;

/// Show an algorithm: documentation, probes, options of its distribution
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    algorithm: String,
    /// Its code too
    #[arg(long)]
    source: bool,
    /// As JSON
    #[arg(long, conflicts_with = "source")]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let shown = json!({
            "algorithm": algorithm.name(),
            "family": algorithm.family().name(),
            "documentation": algorithm.source().doc(),
            "probes": algorithm.spec(),
            "options": algorithm.options(),
            "source": algorithm.source().body(),
        });
        serde_json::to_writer_pretty(&mut out, &shown)?;
        return Ok(writeln!(out)?);
    }

    writeln!(out, "{} ({})\n", algorithm.name(), algorithm.family().name().replace('_', " "))?;
    for line in algorithm.source().doc().lines() {
        match line.strip_prefix("# ") {
            Some(heading) => writeln!(out, "{}", heading.to_uppercase())?,
            None if line.is_empty() => writeln!(out)?,
            None => writeln!(out, "  {line}")?,
        }
    }
    for (stage, title) in [(Stage::Input, "INPUTS"), (Stage::Output, "OUTPUTS"), (Stage::Hint, "HINTS")] {
        writeln!(out, "\n{title}")?;
        let mut table = Table::new(&["probe", "of each", "kind", "meaning"]);
        for probe in algorithm.spec().iter().filter(|probe| probe.stage == stage) {
            table.row([probe.name.to_string(), probe.location.name().into(), kind(probe), probe.description.to_string()]);
        }
        table.write(&mut out)?;
    }
    writeln!(out, "\nOPTIONS (--set option=value)")?;
    let mut table = Table::new(&["option", "default", "meaning"]);
    for option in algorithm.options() {
        table.row([option.name.to_owned(), option.value, option.description.to_owned()]);
    }
    table.write(&mut out)?;
    if arguments.source {
        writeln!(out, "\nSOURCE\n\n{}", algorithm.source().body())?;
    }
    Ok(())
}

fn kind(probe: &Probe) -> String {
    let kind = match probe.kind {
        Kind::Scalar => "scalar".to_owned(),
        Kind::Mask => "mask".to_owned(),
        Kind::MaskOne => "mask_one".to_owned(),
        Kind::Categorical { classes } => format!("categorical of {classes}"),
        Kind::Pointer => "pointer".to_owned(),
        Kind::Permutation => "permutation".to_owned(),
        Kind::CyclicPermutation => "cyclic permutation".to_owned(),
    };
    if probe.masked { format!("{kind}, or not asked") } else { kind }
}
