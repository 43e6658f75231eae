use std::io::Write;

use anyhow::Result;
use clap::Args;
use clrs::sampling::OptionInfo;
use clrs::{Family, Kind, Probe, Stage};
use serde::Serialize;

use crate::arguments::{self, Name};
use crate::table::Table;

/// Show an algorithm: its documentation, probes and sampling options
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of the algorithm (`clrs list`)
    #[arg(value_parser = Name::algorithm(), hide_possible_values = true)]
    algorithm: String,
    /// Print the source code too
    #[arg(long)]
    source: bool,
    /// Print JSON, which includes the source code
    #[arg(long, conflicts_with = "source")]
    json: bool,
}

#[derive(Serialize)]
struct Description {
    algorithm: &'static str,
    family: Family,
    /// Markdown.
    documentation: String,
    probes: &'static [Probe],
    options: Vec<OptionInfo>,
    source: &'static str,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let algorithm = arguments::algorithm(&arguments.algorithm)?;
    let description = Description {
        algorithm: algorithm.name(),
        family: algorithm.family(),
        documentation: algorithm.source().doc(),
        probes: algorithm.spec(),
        options: algorithm.options(),
        source: algorithm.source().body(),
    };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &description)?;
        return Ok(writeln!(out)?);
    }

    writeln!(out, "{} ({})\n", description.algorithm, description.family.name().replace('_', " "))?;
    for line in description.documentation.lines() {
        match line.strip_prefix("# ") {
            Some(heading) => writeln!(out, "{}", heading.to_uppercase())?,
            None if line.is_empty() => writeln!(out)?,
            None => writeln!(out, "  {line}")?,
        }
    }
    for (stage, title) in [(Stage::Input, "INPUTS"), (Stage::Output, "OUTPUTS"), (Stage::Hint, "HINTS")] {
        writeln!(out, "\n{title}")?;
        let mut table = Table::new(&["probe", "location", "kind", "description"]);
        for probe in description.probes.iter().filter(|probe| probe.stage == stage) {
            table.row([probe.name.to_string(), probe.location.name().into(), kind(probe), probe.description.to_string()]);
        }
        table.write(&mut out)?;
    }
    writeln!(out, "\nOPTIONS (--set option=value)")?;
    let mut table = Table::new(&["option", "default", "description"]);
    for option in description.options {
        table.row([option.name.to_owned(), option.value, option.description.to_owned()]);
    }
    table.write(&mut out)?;
    if arguments.source {
        writeln!(out, "\nSOURCE\n\n{}", description.source)?;
    }
    Ok(())
}

fn kind(probe: &Probe) -> String {
    let kind = match probe.kind {
        Kind::Scalar => "scalar".to_owned(),
        Kind::Mask => "mask".to_owned(),
        Kind::MaskOne => "mask_one".to_owned(),
        Kind::Categorical { classes } => format!("categorical ({classes} classes)"),
        Kind::Pointer => "pointer".to_owned(),
        Kind::Permutation => "permutation".to_owned(),
        Kind::CyclicPermutation => "cyclic permutation".to_owned(),
    };
    if probe.masked { format!("{kind}, or masked out") } else { kind }
}
