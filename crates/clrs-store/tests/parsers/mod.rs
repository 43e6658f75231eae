//! Parsers of untrusted bytes, called by tests with mutated files and by fuzzers with any bytes.

use std::io::Cursor;
use std::path::Path;

use clrs::{Registry, Trajectories};
use clrs_store::SetReader;
use clrs_store::tfds::Layout;

/// Reads bytes as a native set. Returns its samples if they are complete and have the stored hash.
pub(crate) fn native_set(data: &[u8]) -> Option<Trajectories> {
    let mut reader = SetReader::new(Cursor::new(data), Path::new("bytes")).ok()?;
    let extents = reader.extents();
    let trajectories = reader.read_all().ok()?;
    let extents = extents.expect("a set that can be read has extents");
    assert!(extents.iter().zip(trajectories.iter()).all(|(e, t)| (e.nodes, e.steps) == (t.nodes(), t.steps())));
    Some(trajectories)
}

/// Features of records of `bfs` with four nodes.
pub(crate) const FEATURES: &str = include_str!("../corpus/tfds/features.json");

/// Reads bytes as each of the files of a TFDS directory: as features, as a file of records, and as one record, which no
/// checksum protects. Returns the sample of the last.
pub(crate) fn tfds_files(data: &[u8]) -> Option<Trajectories> {
    let bfs = Registry::builtin().find("bfs").expect("a built-in algorithm");
    let layouts = [Layout::new(FEATURES, bfs).ok(), std::str::from_utf8(data).ok().and_then(|text| Layout::new(text, bfs).ok())];
    let [known, _] = layouts.each_ref().map(|layout| {
        let layout = layout.as_ref()?;
        let mut trajectories = layout.trajectories();
        let _ = layout.read(data, data.len() as u64, &mut trajectories);
        let mut trajectories = layout.trajectories();
        layout.push(data, &mut trajectories).ok().map(|()| trajectories)
    });
    known
}
