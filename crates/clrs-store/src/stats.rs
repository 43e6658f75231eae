//! What a set is like: how many nodes and steps its samples have, and how its values are spread.

use clrs::{Cells, Kind, Probe, Spec, Trajectories};
use serde::Serialize;

/// Numbers of one set.
#[derive(Clone, Debug, Serialize)]
pub struct Stats {
    /// How many samples.
    pub samples: u64,
    /// Nodes of a sample.
    pub nodes: Range,
    /// Hint steps of a sample.
    pub steps: Range,
    /// Every probe, in the order of the spec.
    pub probes: Vec<ProbeStats>,
}

/// The least, the mean and the most of something.
#[derive(Clone, Copy, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Range {
    pub min: f64,
    pub mean: f64,
    pub max: f64,
    #[serde(skip)]
    count: u64,
}

/// How the values of a probe are spread.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeStats {
    /// The probe's name.
    pub name: String,
    /// All cells of all samples.
    pub cells: u64,
    /// What is known of them.
    #[serde(flatten)]
    pub values: Values,
}

/// What is known of values, by their kind.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Real numbers.
    Scalar(Range),
    /// The one node of a one-hot mask.
    OneHot,
    /// Nodes.
    Pointers {
        /// The share that point to their own node, or along a row of edges to its column.
        to_self: f64,
    },
    /// The share of each class among the cells that are asked, and the share of cells that are not.
    Classes {
        /// For masks: no, yes.
        frequencies: Vec<f64>,
        /// Cells that are not asked.
        masked: f64,
    },
}

/// Counts what a set's samples are like.
pub struct StatsBuilder {
    spec: Spec,
    samples: u64,
    nodes: Range,
    steps: Range,
    probes: Vec<Tally>,
}

/// What was counted of one probe.
enum Tally {
    Scalar(Range),
    Marks { cells: u64 },
    Pointers { to_self: u64, cells: u64 },
    Classes { counts: Vec<u64>, masked: u64 },
}

impl StatsBuilder {
    /// No samples yet.
    pub fn new(spec: &Spec) -> StatsBuilder {
        let probes = spec.iter().map(Tally::new).collect();
        StatsBuilder { spec: spec.clone(), samples: 0, nodes: Range::NONE, steps: Range::NONE, probes }
    }

    /// More samples.
    pub fn add(&mut self, runs: &Trajectories) {
        for run in runs.iter() {
            self.samples += 1;
            self.nodes.add(run.nodes() as f64);
            self.steps.add(run.steps() as f64);
            for ((_, cells), tally) in run.iter().zip(&mut self.probes) {
                tally.add(cells, run.nodes());
            }
        }
    }

    /// What was counted.
    pub fn finish(self) -> Stats {
        let probes = self.spec.iter().zip(self.probes).map(|(probe, tally)| tally.stats(&probe.name)).collect();
        Stats { samples: self.samples, nodes: self.nodes, steps: self.steps, probes }
    }
}

impl Tally {
    fn new(probe: &Probe) -> Tally {
        match probe.kind {
            Kind::Scalar => Tally::Scalar(Range::NONE),
            Kind::MaskOne => Tally::Marks { cells: 0 },
            Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => Tally::Pointers { to_self: 0, cells: 0 },
            Kind::Mask => Tally::Classes { counts: vec![0; 2], masked: 0 },
            Kind::Categorical { classes } => Tally::Classes { counts: vec![0; classes], masked: 0 },
        }
    }

    fn add(&mut self, cells: Cells<'_>, nodes: usize) {
        match (self, cells) {
            (Tally::Scalar(spread), Cells::Scalar(values)) => values.iter().for_each(|&value| spread.add(value)),
            (Tally::Marks { cells }, Cells::Node(marks)) => *cells += marks.len() as u64,
            (Tally::Pointers { to_self, cells }, Cells::Node(pointers)) => {
                *cells += pointers.len() as u64;
                let itself = |place: usize| place % nodes;
                *to_self += pointers.iter().enumerate().filter(|(place, node)| itself(*place) == **node as usize).count() as u64;
            }
            (Tally::Classes { counts, masked }, Cells::Class(values)) => {
                for &value in values {
                    *usize::try_from(value).ok().and_then(|class| counts.get_mut(class)).unwrap_or(masked) += 1;
                }
            }
            _ => unreachable!("a reader gives the columns of its spec"),
        }
    }

    fn stats(self, name: &str) -> ProbeStats {
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        let (cells, values) = match self {
            Tally::Scalar(spread) => (spread.count, Values::Scalar(spread)),
            Tally::Marks { cells } => (cells, Values::OneHot),
            Tally::Pointers { to_self, cells } => (cells, Values::Pointers { to_self: share(to_self, cells) }),
            Tally::Classes { counts, masked } => {
                let asked: u64 = counts.iter().sum();
                let frequencies = counts.iter().map(|&count| share(count, asked)).collect();
                (asked + masked, Values::Classes { frequencies, masked: share(masked, asked + masked) })
            }
        };
        ProbeStats { name: name.into(), cells, values }
    }
}

impl Range {
    const NONE: Range = Range { min: f64::INFINITY, mean: 0.0, max: f64::NEG_INFINITY, count: 0 };

    fn add(&mut self, value: f64) {
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.mean += (value - self.mean) / self.count as f64;
    }
}
