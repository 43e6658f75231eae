//! What is done with bytes from anywhere: called by tests with mutated files, and by fuzzers with anything.

use std::io::Cursor;
use std::path::Path;

use clrs::Runs;
use clrs_store::SetReader;

/// Reads bytes as a native set. `Some` samples if they are whole and have the hash that the file says.
pub(crate) fn native_set(data: &[u8]) -> Option<Runs> {
    let mut reader = SetReader::new(Cursor::new(data), Path::new("bytes")).ok()?;
    let runs = reader.read_all();
    let verified = reader.verify();
    runs.ok().filter(|_| verified.is_ok())
}
