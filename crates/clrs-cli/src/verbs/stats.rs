use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clrs_store::SetReader;
use clrs_store::stats::{ProbeStats, Range, Stats, StatsBuilder, Values};
use rayon::prelude::*;
use serde_json::json;

use crate::arguments;
use crate::table::Table;

/// Describe sets: lengths of trajectories, sizes, balance of classes
#[derive(Args)]
pub(crate) struct Arguments {
    /// Folder of sets, or one set
    path: PathBuf,
    /// Every probe too
    #[arg(long)]
    probes: bool,
    /// As JSON; it has every probe
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let files = arguments::sets(&arguments.path)?;
    let counted: Vec<(String, u64, Stats)> = files.par_iter().map(count).collect::<Result<_>>()?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let sets: Vec<_> =
            counted.iter().map(|(name, bytes, stats)| json!({ "name": name, "bytes": bytes, "stats": stats })).collect();
        return Ok(writeln!(out, "{:#}", json!({ "sets": sets }))?);
    }
    let mut table = Table::new(&["set", "samples", "nodes", "steps least", "mean", "most", "kB"]);
    for (name, bytes, stats) in &counted {
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
        for (name, _, stats) in &counted {
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

fn count(file: &PathBuf) -> Result<(String, u64, Stats)> {
    let mut reader = SetReader::open(file)?;
    let name = reader.header().name.clone();
    let mut counter = StatsBuilder::new(&reader.header().spec);
    for runs in reader.batches() {
        counter.add(&runs?);
    }
    Ok((name, std::fs::metadata(file)?.len(), counter.finish()))
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
            let shares: Vec<String> = frequencies.iter().map(|share| format!("{:.1}%", 100.0 * share)).collect();
            let not_asked = if *masked > 0.0 { format!(", {:.1}% not asked", 100.0 * masked) } else { String::new() };
            format!("{}{not_asked}", shares.join(" / "))
        }
    }
}
