//! `dataset_info.json`: the number of samples of every shard.

use serde_json::{Value, json};

use super::{DATASET, LayoutError, VERSION};

/// Text of the file. Shard `i` has the samples from `bounds[i]` to `bounds[i + 1]`.
pub(super) fn info(config: &str, split: &str, bytes: u64, bounds: &[usize]) -> String {
    let lengths: Vec<String> = bounds.windows(2).map(|bound| (bound[1] - bound[0]).to_string()).collect();
    let info = json!({
        "configName": config,
        "fileFormat": "tfrecord",
        "moduleName": "clrs._src.dataset",
        "name": DATASET,
        "releaseNotes": { "1.0.0": "Initial release." },
        "splits": [{
            "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
            "name": split,
            "numBytes": bytes.to_string(),
            "shardLengths": lengths,
        }],
        "version": VERSION,
    });
    format!("{info:#}")
}

/// Reads the number of samples of every shard of a split.
pub(super) fn shard_lengths(text: &str, split: &str) -> Result<Vec<u64>, LayoutError> {
    let info: Value = serde_json::from_str(text).map_err(|error| LayoutError::Json(error.to_string()))?;
    let splits = info.get("splits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let found = splits.iter().find(|info| info.get("name").and_then(Value::as_str) == Some(split));
    let lengths = found.and_then(|split| split.get("shardLengths")).and_then(Value::as_array);
    let length = |length: &Value| match length {
        Value::String(length) => length.parse().ok(),
        length => length.as_u64(),
    };
    let lengths: Option<Vec<u64>> = lengths.and_then(|lengths| lengths.iter().map(length).collect());
    lengths.filter(|lengths| !lengths.is_empty()).ok_or_else(|| LayoutError::NoShards(split.into()))
}
