use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use clrs_store::Set;
use clrs_store::stats::{self, ProbeStats, Range, Stats, Values};
use rayon::prelude::*;
use serde::Serialize;

use crate::table::Table;

/// Describe sets: numbers of samples, nodes and steps, distributions of values
#[derive(Args)]
pub(crate) struct Arguments {
    /// Directory of sets, or one set
    path: PathBuf,
    /// Describe every probe too
    #[arg(long)]
    probes: bool,
    /// Print JSON, which includes every probe
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    sets: Vec<SetStats>,
}

#[derive(Serialize)]
struct SetStats {
    name: String,
    /// Size of its files.
    bytes: u64,
    stats: Stats,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut sets = Set::open_all(&Set::files(&arguments.path)?)?;
    let report = Report { sets: sets.par_iter_mut().map(describe).collect::<Result<_>>()? };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        return Ok(writeln!(out)?);
    }
    let mut table = Table::new(&["set", "samples", "nodes", "steps min", "mean", "max", "kB"]);
    for SetStats { name, bytes, stats } in &report.sets {
        let Range { min, mean, max, .. } = stats.steps;
        table.row([
            name.clone(),
            stats.samples.to_string(),
            range(stats.nodes),
            min.to_string(),
            format!("{mean:.1}"),
            max.to_string(),
            (bytes / 1000).to_string(),
        ]);
    }
    table.write(&mut out)?;
    if arguments.probes {
        for SetStats { name, stats, .. } in &report.sets {
            writeln!(out, "\n{name}")?;
            let mut table = Table::new(&["probe", "cells", "values"]);
            for probe in &stats.probes {
                table.row([probe.name.clone(), probe.cells.to_string(), values(probe)]);
            }
            table.write(&mut out)?;
        }
    }
    Ok(())
}

fn describe(set: &mut Set) -> Result<SetStats> {
    let stats = stats::of_set(set)?;
    let mut bytes = 0;
    for shard in set.shards() {
        let path = shard.path();
        bytes += path.metadata().with_context(|| path.display().to_string())?.len();
    }
    Ok(SetStats { name: set.header().name.clone(), bytes, stats })
}

fn range(Range { min, max, .. }: Range) -> String {
    if min == max { min.to_string() } else { format!("{min}-{max}") }
}

fn values(probe: &ProbeStats) -> String {
    match &probe.values {
        Values::Scalar(Range { min, mean, max, .. }) => format!("{min:.4} to {max:.4}, mean {mean:.4}"),
        Values::OneHot => "one node".into(),
        Values::Pointers { to_self } => format!("{:.1}% point to themselves", 100.0 * to_self),
        Values::Classes { frequencies, masked } => {
            let percentages: Vec<String> = frequencies.iter().map(|frequency| format!("{:.1}%", 100.0 * frequency)).collect();
            let masked = if *masked > 0.0 { format!(", {:.1}% masked out", 100.0 * masked) } else { String::new() };
            format!("{}{masked}", percentages.join(" / "))
        }
    }
}
