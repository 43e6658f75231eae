//! Writes traces of every algorithm for the tests of the page: `traces FOLDER`.

use std::path::Path;

use clrs::{Registry, SamplerOptions, Trace};
use clrs_web::presets::presets;

const SIZES: [usize; 3] = [4, 9, 16];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: traces FOLDER")?;
    let write = |name: String, trace: &Trace| std::fs::write(Path::new(&folder).join(name), serde_json::to_string(trace)?);
    let registry = Registry::builtin();
    for algorithm in registry.iter() {
        for size in SIZES {
            let trace = Trace::sample(algorithm, size, 1, &SamplerOptions::default())?;
            write(format!("{}_{size}.json", algorithm.name()), &trace)?;
        }
    }
    for preset in presets() {
        let trace = Trace::record(registry.find(&preset.algorithm)?, &preset.problem.to_string())?;
        write(format!("{}_preset.json", preset.algorithm), &trace)?;
    }
    Ok(())
}
