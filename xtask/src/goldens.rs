//! `cargo xtask goldens`: what the reference does, written down in `golden/` for tests that run without it.

use anyhow::Result;
use clap::ValueEnum;

use crate::command::run;
use crate::reference::Reference;

/// A kind of golden file.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Golden {
    /// `NumPy`'s random numbers
    Random,
    /// Scores of predictions
    Scores,
    /// Changes to batches
    Transforms,
    /// A small set of every algorithm, every probe
    Trajectories,
    /// The network on small batches: every processor, every kind of probe; takes ten minutes
    Networks,
    /// Digests of the benchmark's ninety sets; takes ten minutes and 5 GB of memory
    Clrs30,
}

impl Golden {
    /// All that take seconds.
    pub(crate) const QUICK: [Golden; 4] = [Golden::Random, Golden::Scores, Golden::Transforms, Golden::Trajectories];
}

/// Rewrites goldens, or fails where one would change.
pub(crate) fn record(kinds: &[Golden], check: bool) -> Result<()> {
    let reference = Reference::prepare()?;
    let mut script = reference.script("goldens.py");
    if check {
        script.arg("--check");
    }
    script.arg("golden");
    let kinds = if kinds.is_empty() { Golden::value_variants() } else { kinds };
    script.args(kinds.iter().map(|kind| kind.to_possible_value().expect("no kind is hidden").get_name().to_owned()));
    run(&mut script)
}
