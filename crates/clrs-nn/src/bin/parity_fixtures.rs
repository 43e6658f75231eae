//! Compares our networks on a device with fixtures of dm-clrs: `parity_fixtures DEVICE FILE..`. `cargo xtask devices` runs it.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clrs_nn::exec::device;
use clrs_nn::parity::fixture::ParityFixture;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let device_name = arguments.next().ok_or("usage: parity_fixtures DEVICE FILE..")?;
    let device = device::open(&device_name)?;
    let started = Instant::now();
    let mut out = std::io::stdout();
    writeln!(out, "{:44}{:>9}{:>10}{:>10}{:>10}{:>9}", "fixture", "values", "loss", "gradients", "logits", "seconds")?;
    let (mut count, mut failed) = (0, 0);
    for path in arguments.map(PathBuf::from) {
        let now = Instant::now();
        let found = ParityFixture::read(&path)?.compare(&device)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (compared, loss, gradients, logits) = (found.compared, found.loss, found.gradients, found.logits);
        let seconds = now.elapsed().as_secs_f64();
        writeln!(out, "{name:44}{compared:>9}{loss:>10.1e}{gradients:>10.1e}{logits:>10.1e}{seconds:>9.1}")?;
        count += 1;
        if !found.are_small() {
            writeln!(out, "  beyond the tolerances: {found:?}")?;
            failed += 1;
        }
    }
    writeln!(
        out,
        "{count} fixtures on {device_name} in {:.0} s, {failed} beyond the tolerances",
        started.elapsed().as_secs_f64()
    )?;
    if failed > 0 { Err("networks differ from their fixtures".into()) } else { Ok(()) }
}
