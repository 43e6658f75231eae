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
    #[prost(float, tag = "2")]
    simple_value: f32,
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
        let value = scalars.map(|(tag, value)| SummaryValue { tag, simple_value: value as f32 }).collect();
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
