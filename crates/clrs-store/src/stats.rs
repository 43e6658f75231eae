//! Statistics of a set: nodes and steps of its samples, and the distribution of its values.

use clrs::{Cells, Kind, Probe, Spec, Trajectories};
use serde::Serialize;

use crate::error::StoreError;
use crate::set::Set;

/// Statistics of one set.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Number of samples.
    pub samples: u64,
    /// Nodes per sample.
    pub nodes: Range,
    /// Hint steps per sample.
    pub steps: Range,
    /// Every probe, in the order of the spec.
    pub probes: Vec<ProbeStats>,
}

/// Minimum, mean and maximum of values. Without values, the minimum is above the maximum, and JSON has `null` for both.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the struct")]
#[non_exhaustive]
pub struct Range {
    pub min: f64,
    pub mean: f64,
    pub max: f64,
    #[serde(skip)]
    count: u64,
}

/// Statistics of the values of one probe.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ProbeStats {
    /// Name of the probe.
    pub name: String,
    /// Number of cells of all samples.
    pub cells: u64,
    /// Distribution of the values.
    #[serde(flatten)]
    pub values: Values,
}

/// Distribution of values, by their kind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Scalars.
    Scalar(Range),
    /// One-hot masks.
    OneHot,
    /// Pointers.
    Pointers {
        /// Fraction that point to their own node.
        to_self: f64,
    },
    /// Masks and classes.
    Classes {
        /// Relative frequency of each class among the cells that are not masked out. For masks: 0, 1.
        frequencies: Vec<f64>,
        /// Fraction of cells that are masked out.
        masked: f64,
    },
}

/// Reads a set and computes its statistics.
///
/// # Examples
///
/// ```
/// use clrs::Registry;
/// use clrs_store::generate::{DatasetSpec, GenerateOptions, generate};
/// use clrs_store::{Set, stats};
///
/// let dir = tempfile::tempdir()?;
/// let dataset = DatasetSpec::new("bfs_train", Registry::builtin().find("bfs")?, 8, 10, 1);
/// generate(&[dataset], dir.path(), GenerateOptions::default(), &())?;
/// let stats = stats::of_set(&mut Set::open(dir.path(), "bfs", "train")?)?;
/// assert_eq!((stats.samples, stats.nodes.min, stats.nodes.max), (10, 8.0, 8.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_set(set: &mut Set) -> Result<Stats, StoreError> {
    let mut stats = StatsBuilder::new(&set.header().spec);
    for batch in set.batches() {
        stats.add(&batch?);
    }
    Ok(stats.finish())
}

/// Computes the statistics of trajectories, one batch at a time.
pub struct StatsBuilder {
    spec: Spec,
    samples: u64,
    nodes: Range,
    steps: Range,
    probes: Vec<Counts>,
}

/// Counts of one probe.
enum Counts {
    Scalar(Range),
    OneHot { cells: u64 },
    Pointers { to_self: u64, cells: u64 },
    Classes { counts: Vec<u64>, masked: u64 },
}

impl StatsBuilder {
    /// Starts without samples.
    pub fn new(spec: &Spec) -> StatsBuilder {
        let probes = spec.iter().map(Counts::new).collect();
        StatsBuilder { spec: spec.clone(), samples: 0, nodes: Range::EMPTY, steps: Range::EMPTY, probes }
    }

    /// Adds samples.
    ///
    /// # Panics
    ///
    /// If they do not have the spec.
    pub fn add(&mut self, trajectories: &Trajectories) {
        for sample in trajectories.iter() {
            self.samples += 1;
            self.nodes.add(sample.nodes() as f64);
            self.steps.add(sample.steps() as f64);
            for ((_, cells), counts) in sample.iter().zip(&mut self.probes) {
                counts.add(cells, sample.nodes());
            }
        }
    }

    /// Returns the statistics.
    pub fn finish(self) -> Stats {
        let probes = self.spec.iter().zip(self.probes).map(|(probe, counts)| counts.stats(&probe.name)).collect();
        Stats { samples: self.samples, nodes: self.nodes, steps: self.steps, probes }
    }
}

impl Counts {
    fn new(probe: &Probe) -> Counts {
        match probe.kind {
            Kind::Scalar => Counts::Scalar(Range::EMPTY),
            Kind::MaskOne => Counts::OneHot { cells: 0 },
            Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => Counts::Pointers { to_self: 0, cells: 0 },
            Kind::Mask => Counts::Classes { counts: vec![0; 2], masked: 0 },
            Kind::Categorical { classes } => Counts::Classes { counts: vec![0; classes], masked: 0 },
        }
    }

    fn add(&mut self, cells: Cells<'_>, nodes: usize) {
        match (self, cells) {
            (Counts::Scalar(range), Cells::Scalar(values)) => values.iter().for_each(|&value| range.add(value)),
            (Counts::OneHot { cells }, Cells::Node(values)) => *cells += values.len() as u64,
            (Counts::Pointers { to_self, cells }, Cells::Node(pointers)) => {
                *cells += pointers.len() as u64;
                // A pointer of an edge belongs to the edge's second node.
                let is_to_self = |(index, node): &(usize, &u32)| index % nodes == **node as usize;
                *to_self += pointers.iter().enumerate().filter(is_to_self).count() as u64;
            }
            (Counts::Classes { counts, masked }, Cells::Class(values)) => {
                for &value in values {
                    *usize::try_from(value).ok().and_then(|class| counts.get_mut(class)).unwrap_or(masked) += 1;
                }
            }
            _ => panic!("the trajectories do not have the spec"),
        }
    }

    fn stats(self, name: &str) -> ProbeStats {
        let fraction = |count: u64, total: u64| if total == 0 { 0.0 } else { count as f64 / total as f64 };
        let (cells, values) = match self {
            Counts::Scalar(range) => (range.count, Values::Scalar(range)),
            Counts::OneHot { cells } => (cells, Values::OneHot),
            Counts::Pointers { to_self, cells } => (cells, Values::Pointers { to_self: fraction(to_self, cells) }),
            Counts::Classes { counts, masked } => {
                let unmasked: u64 = counts.iter().sum();
                let frequencies = counts.iter().map(|&count| fraction(count, unmasked)).collect();
                (unmasked + masked, Values::Classes { frequencies, masked: fraction(masked, unmasked + masked) })
            }
        };
        ProbeStats { name: name.into(), cells, values }
    }
}

impl Range {
    const EMPTY: Range = Range { min: f64::INFINITY, mean: 0.0, max: f64::NEG_INFINITY, count: 0 };

    fn add(&mut self, value: f64) {
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.mean += (value - self.mean) / self.count as f64;
    }
}
