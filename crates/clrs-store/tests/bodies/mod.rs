//! What is done with bytes from anywhere: called by tests with mutated files, and by fuzzers with anything.

use std::io::Cursor;
use std::path::Path;

use clrs::{Registry, Trajectories};
use clrs_store::SetReader;
use clrs_store::tfds::Layout;

/// Reads bytes as a native set. `Some` samples if they are whole and have the hash that the file says.
pub(crate) fn native_set(data: &[u8]) -> Option<Trajectories> {
    let mut reader = SetReader::new(Cursor::new(data), Path::new("bytes")).ok()?;
    let runs = reader.read_all();
    let verified = reader.verify();
    runs.ok().filter(|_| verified.is_ok())
}

/// What records of breadth-first search among four nodes hold.
pub(crate) const FEATURES: &str = include_str!("../corpus/tfds/features.json");

/// Reads bytes as the three files of a TFDS folder would be read: as features, as a file of records, and as one record, which
/// no checksum guards. `Some` samples if the last is one.
pub(crate) fn tfds_files(data: &[u8]) -> Option<Trajectories> {
    let bfs = Registry::builtin().find("bfs").expect("a built-in algorithm");
    let layouts = [Layout::new(FEATURES, bfs).ok(), std::str::from_utf8(data).ok().and_then(|text| Layout::new(text, bfs).ok())];
    let [known, _] = layouts.each_ref().map(|layout| {
        let layout = layout.as_ref()?;
        let mut runs = layout.runs();
        let _ = layout.read(data, data.len() as u64, &mut runs);
        let mut runs = layout.runs();
        layout.push(data, &mut runs).ok().map(|()| runs)
    });
    known
}
