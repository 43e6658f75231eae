//! Estimates of the memory of samples, so that a mistyped count is rejected before any work.

use std::path::Path;

use clrs::sampling::{SampleError, Sampler, SamplerOptions};
use clrs::{AnyAlgorithm, Probe, Spec, Trajectories, Trajectory};

/// Why samples are not held in memory.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the error messages document the variants")]
#[non_exhaustive]
pub enum MemoryError {
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error("{what} take about {} GB, more than the memory limit of {} GB", gigabytes(*.bytes), gigabytes((*.limit).into()))]
    TooLarge { what: String, bytes: u128, limit: u64 },
}

/// Bytes in units of 10^9.
fn gigabytes(bytes: u128) -> String {
    format!("{:.1}", bytes as f64 / 1e9)
}

/// Samples of an algorithm at one problem size.
///
/// ```
/// use clrs::{Registry, SamplerOptions};
/// use clrs_store::memory::SampleMemory;
///
/// let options = SamplerOptions::default();
/// let bfs = SampleMemory { algorithm: Registry::builtin().find("bfs")?, size: 16, options: &options };
/// assert!(bfs.ensure_arrays_fit(1000, 0).is_ok());
/// assert!(bfs.ensure_arrays_fit(1_000_000_000_000, 0).is_err());
/// # Ok::<(), clrs::registry::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Copy)]
pub struct SampleMemory<'a> {
    /// The algorithm.
    pub algorithm: &'static dyn AnyAlgorithm,
    /// Problem size.
    pub size: usize,
    /// Options of the sampler.
    pub options: &'a SamplerOptions,
}

/// Shape of several chunks.
#[derive(Clone, Copy, Debug)]
pub struct ChunkShape {
    /// Steps of a chunk.
    pub length: usize,
    /// Samples side by side in a chunk.
    pub lanes: usize,
    /// Number of chunks.
    pub count: usize,
}

impl SampleMemory<'_> {
    /// Rejects a number of samples that would not fit into memory as recorded.
    pub fn ensure_recordings_fit(&self, count: u128) -> Result<(), MemoryError> {
        let worst = (self.algorithm.max_recording_bytes(self.size) as u128).saturating_mul(count);
        if worst <= limit().into() {
            return Ok(());
        }
        // The worst case is far above ordinary problems: take one.
        let one = self.record_one()?;
        let what = format!("{count} samples of {} at size {}", self.algorithm.name(), self.size);
        ensure_fits(what, (one.bytes() as u128).saturating_mul(count))
    }

    /// Rejects a number of samples that would not fit into memory as dense arrays, padded to at least `min_steps` steps.
    pub fn ensure_arrays_fit(&self, count: u128, min_steps: usize) -> Result<(), MemoryError> {
        let bytes = |spec: &Spec, nodes, steps: usize| dense_bytes(spec, nodes, steps.max(min_steps)).saturating_mul(count);
        if bytes(&Spec::from(self.algorithm.spec()), self.size, self.algorithm.max_steps(self.size)) <= limit().into() {
            return Ok(());
        }
        let one = self.record_one()?;
        let what = format!("arrays of {count} samples of {} at size {}", self.algorithm.name(), self.size);
        ensure_fits(what, bytes(one.spec(), one.get(0).nodes(), one.get(0).steps()))
    }

    /// Rejects chunks that would not fit into memory.
    pub fn ensure_chunks_fit(&self, ChunkShape { length, lanes, count }: ChunkShape) -> Result<(), MemoryError> {
        let one = self.record_one()?;
        // Inputs and outputs are repeated at every step.
        let row = dense_bytes(one.spec(), one.get(0).nodes(), 1);
        let bytes = [length, lanes, count].into_iter().fold(row, |bytes, factor| bytes.saturating_mul(factor as u128));
        ensure_fits(format!("{count} chunks of {length} steps of {lanes} samples"), bytes)
    }

    fn record_one(&self) -> Result<Trajectories, SampleError> {
        let mut recorder = self.algorithm.recorder();
        Sampler::new(self.algorithm, self.size, 1, self.options)?.record(1, &mut recorder)?;
        Ok(recorder.into_trajectories())
    }
}

/// Rejects samples that would not fit into memory as one dense batch, padded to at least `min_steps` steps.
pub fn ensure_batch_fits(samples: &[Trajectory<'_>], min_steps: usize) -> Result<(), MemoryError> {
    let Some(first) = samples.first() else { return Ok(()) };
    let steps = samples.iter().map(Trajectory::steps).max().unwrap_or(0).max(min_steps);
    let bytes = dense_bytes(first.spec(), first.nodes(), steps).saturating_mul(samples.len() as u128);
    ensure_fits(format!("arrays of {} samples with {} nodes", samples.len(), first.nodes()), bytes)
}

/// Bytes of a cell of a dense array.
const CELL_BYTES: u128 = 8;

fn dense_bytes(spec: &Spec, nodes: usize, steps: usize) -> u128 {
    let cells = |probe: &Probe| {
        let row = clrs::batch::row_shape(probe, nodes).iter().map(|&axis| axis as u128).product::<u128>();
        row.saturating_mul(probe.rows(steps) as u128)
    };
    spec.iter().map(cells).sum::<u128>().saturating_mul(CELL_BYTES)
}

fn ensure_fits(what: String, bytes: u128) -> Result<(), MemoryError> {
    let limit = limit();
    if bytes <= limit.into() { Ok(()) } else { Err(MemoryError::TooLarge { what, bytes, limit }) }
}

/// The limit where the memory of the machine cannot be read: far above what the benchmark needs.
const DEFAULT_LIMIT: u64 = 16_000_000_000;

fn limit() -> u64 {
    machine_memory().unwrap_or(DEFAULT_LIMIT)
}

/// Memory of this machine in bytes or, if that is smaller, the limit of the container that the process runs in. `None` if the
/// operating system does not say (it does on Linux).
pub fn machine_memory() -> Option<u64> {
    let total = total_memory(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let cgroups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let container = container_limit(&cgroups, Path::new("/sys/fs/cgroup"));
    Some(container.map_or(total, |limit| limit.min(total)))
}

/// The total in the text of `/proc/meminfo`.
fn total_memory(text: &str) -> Option<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the process's control group and of those above it. `cgroups` is the text of `/proc/self/cgroup`.
fn container_limit(cgroups: &str, root: &Path) -> Option<u64> {
    let own = cgroups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let own = root.join(own);
    let groups = own.ancestors().take_while(|group| group.starts_with(root));
    groups.filter_map(|group| std::fs::read_to_string(group.join("memory.max")).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clrs::Registry;

    #[test]
    fn the_memory_of_a_machine_is_read_in_bytes() {
        assert_eq!(total_memory("MemTotal:       24676480 kB\nMemFree: 1 kB\n"), Some(24_676_480 * 1024));
        assert_eq!(total_memory("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn the_smallest_limit_of_the_control_groups_counts() {
        let root = tempfile::tempdir().expect("a directory");
        let group = root.path().join("user/job");
        std::fs::create_dir_all(&group).expect("created");
        let limit = || container_limit("0::/user/job\n", root.path());
        assert_eq!(limit(), None);
        std::fs::write(group.join("memory.max"), "max\n").expect("written");
        assert_eq!(limit(), None);
        std::fs::write(group.join("memory.max"), "2000\n").expect("written");
        std::fs::write(root.path().join("user/memory.max"), "1000\n").expect("written");
        assert_eq!(limit(), Some(1000));
    }

    #[test]
    fn estimates_are_in_gigabytes_and_do_not_overflow() {
        let options = SamplerOptions::default();
        let bfs = SampleMemory { algorithm: Registry::builtin().find("bfs").expect("bfs"), size: 16, options: &options };
        for count in [10u128.pow(15), u128::MAX] {
            for rejected in
                [bfs.ensure_arrays_fit(count, 0), bfs.ensure_arrays_fit(1, usize::MAX), bfs.ensure_recordings_fit(count)]
            {
                let error = rejected.expect_err("too many").to_string();
                assert!(error.contains(" samples of bfs at size 16 take about ") && error.ends_with(" GB"), "{error}");
            }
        }
        let shape = ChunkShape { length: usize::MAX, lanes: 2, count: 2 };
        assert!(matches!(bfs.ensure_chunks_fit(shape), Err(MemoryError::TooLarge { .. })));
        assert!(bfs.ensure_chunks_fit(ChunkShape { length: 16, ..shape }).is_ok());
    }
}
