//! `TensorBoard` event files: records of protobuf messages.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clrs_store::tfds::write_record;
use prost::Message;

/// An event file, open for appending.
pub(super) struct EventFile {
    path: PathBuf,
    file: File,
}

#[derive(Message)]
struct Event {
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, tag = "3")]
    file_version: String,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<SummaryValue>,
}

#[derive(Message)]
struct SummaryValue {
    #[prost(string, tag = "1")]
    tag: String,
    /// Always present: `TensorBoard` ignores a value without it, and a plain field of 0 is not written.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

impl EventFile {
    /// Creates a file with its version record.
    pub(super) fn create(path: &Path) -> io::Result<EventFile> {
        let mut events = EventFile { path: path.into(), file: File::create(path)? };
        events.write_event(&Event { wall_time: now(), file_version: "brain.Event:2".into(), ..Event::default() })?;
        Ok(events)
    }

    /// Path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends scalars of a step, by tag.
    pub(super) fn write(&mut self, step: usize, scalars: impl Iterator<Item = (String, f64)>) -> io::Result<()> {
        #[expect(clippy::cast_possible_truncation, reason = "TensorBoard stores f32")]
        let value = scalars.map(|(tag, value)| SummaryValue { tag, simple_value: Some(value as f32) }).collect();
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        self.write_event(&Event { wall_time: now(), step, summary: Some(Summary { value }), ..Event::default() })
    }

    fn write_event(&mut self, event: &Event) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_record(&mut bytes, &event.encode_to_vec())?;
        self.file.write_all(&bytes)
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_zero_is_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("events");
        let mut events = EventFile::create(&path).expect("created");
        let version = std::fs::read(&path).expect("read").len();
        events.write(1, [("bfs/validity".to_string(), 0.0)].into_iter()).expect("written");
        let bytes = std::fs::read(&path).expect("read");
        // A record has 12 bytes before its data and 4 after it.
        let event = Event::decode(&bytes[version + 12..bytes.len() - 4]).expect("an event");
        let value = &event.summary.expect("a summary").value[0];
        assert_eq!((&*value.tag, value.simple_value), ("bfs/validity", Some(0.0)));
    }
}
