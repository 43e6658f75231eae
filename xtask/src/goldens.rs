//! `cargo xtask goldens`: records results of dm-clrs in `golden/`, for tests that run without it.

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
    /// Transforms of batches
    Transforms,
    /// A small set of every algorithm with all probes
    Trajectories,
    /// Questions and answers of every algorithm
    Text,
    /// Networks on small batches, for every processor and kind of probe; takes ten minutes
    Networks,
    /// Digests of the benchmark's 90 sets; takes ten minutes and 5 GB of memory
    Clrs30,
}

impl Golden {
    /// The kinds that take seconds.
    pub(crate) const QUICK: [Golden; 5] =
        [Golden::Random, Golden::Scores, Golden::Transforms, Golden::Trajectories, Golden::Text];
}

/// Rewrites goldens; with `check`, fails if one would change.
pub(crate) fn record(kinds: &[Golden], check: bool) -> Result<()> {
    let reference = Reference::prepare()?;
    let mut script = reference.script("goldens.py");
    if check {
        script.arg("--check");
    }
    script.arg("golden");
    let kinds = if kinds.is_empty() { Golden::value_variants() } else { kinds };
    if kinds.contains(&Golden::Text) {
        script.env("DM_CLRS_2_0_1", reference.version_2_0_1()?);
    }
    script.args(kinds.iter().map(|kind| kind.to_possible_value().expect("no kind is hidden").get_name().to_owned()));
    run(&mut script)
}
