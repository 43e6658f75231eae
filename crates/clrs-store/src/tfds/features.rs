//! `features.json`: names, types and shapes.

use std::collections::BTreeMap;

use clrs::batch::row_shape;
use clrs::{DType, Probe, Spec, Stage};
use serde_json::{Value, json};

use super::LayoutError;

/// A feature: its type, and its shape in one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
}

/// Features by name.
pub(super) type Tensors = BTreeMap<String, Tensor>;

/// Name of the feature with the number of steps of a sample.
pub(super) const LENGTHS: &str = "lengths";

/// Name of the feature of a probe.
pub(super) fn feature_name(probe: &Probe) -> String {
    format!("{}_{}", probe.stage.name(), probe.name)
}

/// Features of samples with `nodes` nodes, padded to `steps` steps.
pub(super) fn tensors(spec: &Spec, nodes: usize, steps: usize) -> Tensors {
    let probes = spec.iter().map(|probe| {
        let steps = (probe.stage == Stage::Hint).then_some(steps);
        let shape = steps.into_iter().chain(row_shape(probe, nodes)).collect();
        (feature_name(probe), Tensor { dtype: probe.dtype, shape })
    });
    let lengths = (LENGTHS.to_owned(), Tensor { dtype: DType::F64, shape: vec![] });
    probes.chain([lengths]).collect()
}

/// Text of the file.
pub(super) fn to_json(tensors: &Tensors) -> String {
    let features = tensors.iter().map(|(name, tensor)| {
        let dtype = match tensor.dtype {
            DType::F64 => "float64",
            DType::F32 => "float32",
            DType::I64 => "int64",
        };
        let dimensions: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
        let shape = if dimensions.is_empty() { json!({}) } else { json!({ "dimensions": dimensions }) };
        let feature = json!({
            "pythonClassName": "tensorflow_datasets.core.features.tensor_feature.Tensor",
            "tensor": { "dtype": dtype, "encoding": "none", "shape": shape },
        });
        (name.clone(), feature)
    });
    let features: serde_json::Map<String, Value> = features.collect();
    let file = json!({
        "featuresDict": { "features": features },
        "pythonClassName": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
    });
    format!("{file:#}")
}

/// Parses the text of the file, in its current form and in those of older datasets: a `type` with its `content`, which may be
/// JSON in a string.
pub(super) fn from_json(text: &str) -> Result<Tensors, LayoutError> {
    let file: Value = serde_json::from_str(text).map_err(|error| LayoutError::Json(error.to_string()))?;
    let content = file.get("featuresDict").cloned().or_else(|| content_of(&file)).ok_or(LayoutError::NoDictionary)?;
    let features = content.get("features").unwrap_or(&content);
    let features = features.as_object().ok_or(LayoutError::NoDictionary)?;
    let tensor = |(name, feature): (&String, &Value)| {
        let tensor = feature.get("tensor").cloned().or_else(|| content_of(feature));
        let tensor = tensor.as_ref().and_then(tensor_of).ok_or_else(|| LayoutError::NotNumeric(name.clone()))?;
        Ok((name.clone(), tensor))
    };
    features.iter().map(tensor).collect()
}

/// Content of a feature in an older file.
fn content_of(feature: &Value) -> Option<Value> {
    match feature.get("content")? {
        Value::String(text) => serde_json::from_str(text).ok(),
        content => Some(content.clone()),
    }
}

fn tensor_of(tensor: &Value) -> Option<Tensor> {
    let dtype = match tensor.get("dtype")?.as_str()? {
        "float64" => DType::F64,
        "float32" => DType::F32,
        "int64" => DType::I64,
        _ => return None,
    };
    if !matches!(tensor.get("encoding").and_then(Value::as_str), None | Some("none")) {
        return None;
    }
    let shape = match tensor.get("shape") {
        Some(Value::Array(axes)) => &axes[..],
        Some(shape) => shape.get("dimensions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice),
        None => &[],
    };
    let axis = |axis: &Value| match axis {
        Value::String(axis) => axis.parse().ok(),
        axis => axis.as_u64().and_then(|axis| usize::try_from(axis).ok()),
    };
    Some(Tensor { dtype, shape: shape.iter().map(axis).collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_round_trip_and_older_forms_are_equivalent() {
        let bfs = clrs::Registry::builtin().find("bfs").expect("a built-in algorithm");
        let tensors = tensors(&bfs.spec().into(), 16, 7);
        assert_eq!(tensors["hint_pi_h"], Tensor { dtype: DType::F64, shape: vec![7, 16] });
        assert_eq!(tensors["input_A"], Tensor { dtype: DType::I64, shape: vec![16, 16] });
        assert_eq!(tensors["lengths"], Tensor { dtype: DType::F64, shape: vec![] });
        assert_eq!(from_json(&to_json(&tensors)).as_ref(), Ok(&tensors));

        let lists = json!({
            "type": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
            "content": { "a": { "type": "Tensor", "content": { "shape": [7, 16], "dtype": "float64", "encoding": "none" } } },
        });
        let protos = json!({
            "type": "FeaturesDict",
            "proto_cls": "tensorflow_datasets.FeaturesDict",
            "content": r#"{"features": {"a": {"tensor": {"shape": {"dimensions": ["7", "16"]}, "dtype": "float64"}}}}"#,
        });
        for older in [lists, protos] {
            let tensor = Tensor { dtype: DType::F64, shape: vec![7, 16] };
            assert_eq!(from_json(&older.to_string()), Ok([("a".to_owned(), tensor)].into_iter().collect()));
        }
    }

    #[test]
    fn features_that_are_not_numeric_tensors_are_rejected() {
        for text in ["", "{}", "[]", r#"{"featuresDict": {"features": {"a": {"image": {}}}}}"#] {
            assert!(from_json(text).is_err(), "{text}");
        }
        let text = r#"{"featuresDict": {"features": {"a": {"tensor": {"dtype": "string"}}}}}"#;
        assert_eq!(from_json(text), Err(LayoutError::NotNumeric("a".into())));
    }
}
