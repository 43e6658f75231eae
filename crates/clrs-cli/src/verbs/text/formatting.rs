//! How texts are written, as flags.

use anyhow::Result;
use clap::Args;
use clrs_text::{Format, TextOptions};

/// How trajectories become text.
#[derive(Args)]
pub(super) struct Formatting {
    /// Trace the steps of the algorithm: the first in the question, the others in the answer
    #[arg(long)]
    hints: bool,
    /// Truncate numbers to this many decimals before the algorithm runs on them; 0 for all decimals
    #[arg(long, value_name = "D")]
    decimals: Option<u32>,
    /// The format: text@2.0.3 [default], text@2.0.1 (numbers with three significant digits) or text@1 (names and numbered steps)
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
}

impl Formatting {
    /// Options with a format and decimals for those that are not set.
    pub(super) fn options(&self, format: Format, decimals: Option<u32>) -> Result<TextOptions> {
        let format = self.format.as_deref().map_or(Ok(format), str::parse)?;
        let decimals = self.decimals.or(decimals).filter(|&decimals| decimals > 0);
        Ok(TextOptions::new(format, self.hints, decimals))
    }
}
