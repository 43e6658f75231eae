//! Whether a set is what it says: its values have the hash it names, its probes are the algorithm's, every answer is right.

use std::path::Path;

use clrs::clrs30::Version;
use clrs::{CheckError, ContentHash, ContentHasher, Kind, Probe, Registry, Spec, Stage};

use crate::error::StoreError;
use crate::native::{Header, SetReader};

/// What was found of a set that is what it says.
#[derive(Clone, Debug)]
pub struct VerifiedSet {
    /// What the set is.
    pub header: Header,
    /// How many samples it holds.
    pub samples: u64,
    /// The hash of its values.
    pub hash: ContentHash,
    /// Whether its hash is the one that this program knows for the benchmark's set.
    pub canonical: bool,
}

/// Why a set is not what it says.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum VerifyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Algorithm(#[from] clrs::registry::UnknownAlgorithm),
    #[error("`{probe}` is no probe of {algorithm}")]
    Probe { probe: String, algorithm: String },
    #[error("it has not all inputs and outputs of {0}")]
    Missing(String),
    #[error("the answer of sample {sample} is wrong: {error}")]
    Answer { sample: u64, error: CheckError },
    #[error("its values have the hash {found}, and it says {expected}: they are not what was written")]
    Hash { expected: ContentHash, found: ContentHash },
    #[error("its values have the hash {found}, but {name} of {version} has {pinned}")]
    Benchmark { name: String, version: Version, pinned: ContentHash, found: ContentHash },
}

/// Reads a whole set and checks everything about it.
pub fn verify(path: &Path, registry: &Registry) -> Result<VerifiedSet, VerifyError> {
    let mut reader = SetReader::open(path)?;
    let header = reader.header().clone();
    let algorithm = registry.find(&header.algorithm)?;
    is_spec_of(&header.spec, algorithm.spec(), algorithm.name())?;

    let mut hasher = ContentHasher::new(&header.spec);
    let mut samples = 0;
    for runs in reader.batches() {
        for run in runs?.iter() {
            hasher.update(&run);
            let verdict = algorithm.check(run.nodes(), &run.stage(Stage::Input), &run.stage(Stage::Output));
            verdict.map_err(|error| VerifyError::Answer { sample: samples, error })?;
            samples += 1;
        }
    }
    let (expected, found) = (reader.hash(), hasher.finish());
    if found != expected {
        return Err(VerifyError::Hash { expected, found });
    }
    let canonical = is_canonical(&header, found)?;
    Ok(VerifiedSet { header, samples, hash: found, canonical })
}

/// Every probe must be the algorithm's, or what a version of the benchmark makes of it; inputs and outputs are all there.
fn is_spec_of(spec: &Spec, of: &[Probe], algorithm: &str) -> Result<(), VerifyError> {
    let same = |probe: &Probe, other: &Probe| {
        let plain = |kind| if kind == Kind::Permutation { Kind::Pointer } else { kind };
        (&probe.name, probe.stage, probe.location, plain(probe.kind))
            == (&other.name, other.stage, other.location, plain(other.kind))
    };
    if let Some(probe) = spec.iter().find(|probe| !of.iter().any(|other| same(probe, other))) {
        return Err(VerifyError::Probe { probe: probe.name.to_string(), algorithm: algorithm.into() });
    }
    let answers = |spec: &[Probe]| spec.iter().filter(|probe| probe.stage != Stage::Hint).count();
    if answers(spec) == answers(of) { Ok(()) } else { Err(VerifyError::Missing(algorithm.into())) }
}

/// Whether it is a set of the benchmark, whole; one that only says so is refused.
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
