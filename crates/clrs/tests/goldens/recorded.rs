//! Reading golden files.

use std::path::PathBuf;

use clrs::{Array, ArrayData, Batch, DType, Kind, Location, Probe, Spec, Stage};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Path of a file or folder in `golden/`.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(name)
}

/// Reads a JSON file in `golden/`.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = path(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A recorded `NumPy` array; NaN is `None`.
#[derive(Deserialize)]
pub(crate) struct RecordedArray {
    dtype: String,
    shape: Vec<usize>,
    values: Vec<Option<f64>>,
}

/// A data point of dm-clrs.
#[derive(Deserialize)]
pub(crate) struct RecordedPoint {
    pub(crate) name: String,
    stage: Stage,
    location: Location,
    #[serde(rename = "type")]
    kind: String,
    #[serde(flatten)]
    array: RecordedArray,
}

/// A recorded feedback of dm-clrs, complete or chunked.
#[derive(Deserialize)]
pub(crate) struct RecordedBatch {
    pub(crate) arrays: Vec<RecordedPoint>,
    pub(crate) lengths: Option<RecordedArray>,
    pub(crate) is_first: Option<RecordedArray>,
    pub(crate) is_last: Option<RecordedArray>,
}

impl RecordedArray {
    #[expect(clippy::cast_possible_truncation, reason = "the values had that type")]
    pub(crate) fn array(&self) -> Array {
        let values = self.values.iter().map(|value| value.unwrap_or(f64::NAN));
        let data = match self.dtype() {
            DType::F64 => ArrayData::F64(values.collect()),
            DType::F32 => ArrayData::F32(values.map(|x| x as f32).collect()),
            DType::I64 => ArrayData::I64(values.map(|x| x as i64).collect()),
        };
        Array { shape: self.shape.clone(), data }
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    }

    fn dtype(&self) -> DType {
        match &*self.dtype {
            "float64" => DType::F64,
            "float32" => DType::F32,
            "int64" => DType::I64,
            other => panic!("unexpected dtype {other}"),
        }
    }
}

impl RecordedPoint {
    pub(crate) fn array(&self) -> Array {
        self.array.array()
    }

    /// The probe in dm-clrs's spec, which has no descriptions and no masks.
    pub(crate) fn probe(&self) -> Probe {
        let classes = self.array.shape.last().copied().unwrap_or_default();
        let kind = Kind::from_dm_clrs_name(&self.kind, classes).unwrap_or_else(|| panic!("unexpected probe type {}", self.kind));
        Probe {
            name: self.name.clone().into(),
            stage: self.stage,
            location: self.location,
            kind,
            masked: false,
            dtype: self.array.dtype(),
            description: "".into(),
        }
    }
}

/// Data points of any stage as a batch.
pub(crate) fn batch(points: &[RecordedPoint], lengths: Vec<f64>) -> Batch {
    let spec = Spec::new(points.iter().map(RecordedPoint::probe).collect()).expect("unique names");
    Batch { spec, arrays: points.iter().map(RecordedPoint::array).collect(), lengths }
}

/// A probe without what dm-clrs's spec does not have.
pub(crate) fn known(probe: &Probe) -> Probe {
    Probe { masked: false, description: "".into(), ..probe.clone() }
}

/// Asserts that probes and arrays equal the recorded ones: order, names, types, shapes, and every value.
pub(crate) fn assert_same<'b>(ours: impl Iterator<Item = (&'b Probe, &'b Array)>, recorded: &[RecordedPoint], case: &str) {
    let ours: Vec<_> = ours.collect();
    assert_eq!(
        ours.iter().map(|(probe, _)| known(probe)).collect::<Vec<_>>(),
        recorded.iter().map(RecordedPoint::probe).collect::<Vec<_>>(),
        "{case}: probes"
    );
    for ((probe, ours), recorded) in ours.into_iter().zip(recorded) {
        assert_same_array(ours, &recorded.array, tolerance(case, &probe.name), &format!("{case}: {}", probe.name));
    }
}

/// Asserts that two arrays are equal, up to a tolerance.
pub(crate) fn assert_same_array(ours: &Array, recorded: &RecordedArray, tolerance: f64, what: &str) {
    let recorded = recorded.array();
    if let (true, ArrayData::F64(ours), ArrayData::F64(values)) =
        (tolerance > 0.0 && ours.shape == recorded.shape, &ours.data, &recorded.data)
    {
        let index = ours.iter().zip(values).position(|(ours, recorded)| (ours - recorded).abs() > tolerance);
        assert_eq!(index, None, "{what} differs by more than {tolerance} at this index");
    } else {
        assert_eq!(*ours, recorded, "{what}");
    }
}

/// Sine, cosine and arc tangent may differ from dm-clrs in the last bit, because they come from another library.
fn tolerance(algorithm: &str, probe: &str) -> f64 {
    if matches!((algorithm, probe), ("graham_scan" | "jarvis_march", "x" | "y" | "atans")) { 1e-12 } else { 0.0 }
}
