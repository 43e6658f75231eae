//! Verifies sets: values, probes, and every answer.

use std::path::Path;

use clrs::clrs30::Version;
use clrs::{CheckError, ContentHash, Probe, Registry, Spec, Stage};
use serde::Serialize;

use crate::error::StoreError;
use crate::native::{Header, SetReader};
use crate::set::ensure_named_like_its_file;

/// A set, or a shard of one, that passed verification.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VerifiedSet {
    /// Description of the set; in JSON its name.
    #[serde(rename = "name", serialize_with = "name_of")]
    pub header: Header,
    /// Number of samples in the file.
    pub samples: u64,
    /// Content hash of the samples.
    pub hash: ContentHash,
    /// Whether the hash is the published one of the benchmark's set.
    pub canonical: bool,
}

fn name_of<S: serde::Serializer>(header: &Header, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&header.name)
}

/// Why a set failed verification.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum VerifyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Algorithm(#[from] clrs::registry::UnknownAlgorithm),
    #[error("`{probe}` is not a probe of {algorithm}")]
    Probe { probe: String, algorithm: String },
    #[error("inputs or outputs of {0} are missing")]
    Missing(String),
    #[error("the answer of sample {sample} is wrong: {error}")]
    Answer {
        sample: u64,
        #[source]
        error: CheckError,
    },
    #[error("the hash of its values is {found}, but that of {name} in {version} is {pinned}")]
    Benchmark { name: String, version: Version, pinned: ContentHash, found: ContentHash },
}

/// Reads all samples of a file and verifies them.
///
/// The file contains what its name says, its values have the stored content hash, its probes are the algorithm's, every
/// answer is accepted by the algorithm's `check`, and a set of the benchmark has the published hash.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
/// use clrs_store::verify::verify;
///
/// let dir = tempfile::tempdir()?;
/// let registry = Registry::builtin();
/// let dataset = DatasetSpec::new("bfs_train", registry.find("bfs")?, 8, 10, 1);
/// let generated = generate(&[dataset], dir.path(), GenerateOptions::default(), &())?;
/// let verified = verify(&generated[0].path, &registry)?;
/// assert_eq!((verified.samples, verified.hash), (10, generated[0].summary.hash));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(path: &Path, registry: &Registry) -> Result<VerifiedSet, VerifyError> {
    let mut reader = SetReader::open(path)?;
    ensure_named_like_its_file(&reader)?;
    let header = reader.header().clone();
    let algorithm = registry.find(&header.algorithm)?;
    ensure_spec(&header.spec, algorithm.spec(), algorithm.name())?;

    let mut samples = 0;
    let mut wrong = None;
    for batch in reader.batches() {
        for sample in batch?.iter() {
            // Keep the first wrong answer until the hash is known: a hash mismatch is the better explanation.
            if wrong.is_none() {
                let checked = algorithm.check(sample.nodes(), &sample.stage(Stage::Input), &sample.stage(Stage::Output));
                wrong = checked.err().map(|error| VerifyError::Answer { sample: samples, error });
            }
            samples += 1;
        }
    }
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let hash = reader.hash();
    let canonical = is_canonical(&header, hash)?;
    Ok(VerifiedSet { header, samples, hash, canonical })
}

/// Every probe must be the algorithm's, or what a version of the benchmark turns it into; all inputs and outputs must be present.
fn ensure_spec(spec: &Spec, expected: &[Probe], algorithm: &str) -> Result<(), VerifyError> {
    if let Some(probe) = spec.iter().find(|probe| !expected.iter().any(|other| probe.same_layout(other))) {
        return Err(VerifyError::Probe { probe: probe.name.to_string(), algorithm: algorithm.into() });
    }
    let count = |spec: &[Probe]| spec.iter().filter(|probe| probe.stage != Stage::Hint).count();
    if count(spec) == count(expected) { Ok(()) } else { Err(VerifyError::Missing(algorithm.into())) }
}

/// Whether it is a complete set of the benchmark. One that only claims to be is rejected.
fn is_canonical(header: &Header, found: ContentHash) -> Result<bool, VerifyError> {
    let version = header.provenance.benchmark.as_ref().and_then(|name| name.parse::<Version>().ok());
    let (Some(version), None) = (version, &header.provenance.source) else { return Ok(false) };
    let set = version.sets().into_iter().find(|set| set.name() == header.name);
    match set.and_then(|set| set.pinned_hash(version)) {
        None => Ok(false),
        Some(pinned) if pinned == found => Ok(true),
        Some(pinned) => Err(VerifyError::Benchmark { name: header.name.clone(), version, pinned, found }),
    }
}
