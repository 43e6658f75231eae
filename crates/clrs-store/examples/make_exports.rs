//! Makes sets of the benchmark and exports them to every format: `make_exports FOLDER bfs_val bridges_test ...`.
//! `xtask/python/check_exports.py FOLDER` compares them with the reference.

use std::path::Path;

use clrs::clrs30::Version;
use clrs::sampling::Sampler;
use clrs::{Runs, Settings};
use clrs_store::{Existing, Header, Provenance, Set, SetWriter, npz, parquet, safetensors, tfds};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("make_exports FOLDER NAME...")?;
    let folder = Path::new(&folder);
    for format in ["native", "npz", "safetensors", "parquet"] {
        std::fs::create_dir_all(folder.join(format))?;
    }
    let sets = Version::V2_0_3.sets();
    for name in arguments {
        let set = sets.iter().find(|set| set.name() == name).ok_or_else(|| format!("no set is called {name}"))?;
        let mut sampler = Sampler::new(set.algorithm, set.size, set.seed, &Settings::default())?;
        let mut runs = Runs::new(set.spec.clone());
        sampler.record_parallel(set.samples)?.into_iter().for_each(|part| runs.append(&part.into_runs()));
        let header = Header {
            name: name.clone(),
            algorithm: set.algorithm.name().into(),
            max_nodes: runs.get(0).nodes(),
            provenance: Provenance {
                benchmark: Some(Version::V2_0_3.name().into()),
                size: set.size,
                samples: set.samples as u64,
                seed: set.seed,
                ..Provenance::default()
            },
            spec: set.spec.clone(),
        };
        let native = folder.join("native").join(format!("{name}.arrow"));
        let mut writer = SetWriter::create(&native, &header, Existing::Replace)?;
        writer.write(&runs)?;
        writer.finish()?;

        let mut set = Set::open(&[native])?.remove(0);
        let file = |format: &str| folder.join(format).join(format!("{name}.{format}"));
        npz::export(&mut set, &file("npz"), Existing::Replace)?;
        safetensors::export(&mut set, &file("safetensors"), Existing::Replace)?;
        parquet::export(&mut set, &file("parquet"), Existing::Replace)?;
        tfds::export(&mut set, &folder.join("CLRS30_v1.0.0"), None, Existing::Replace)?;
    }
    Ok(())
}
