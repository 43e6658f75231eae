//! Recorded samples: [`Trajectories`] stores many in shared columns, [`Trajectory`] is a view of one.

use std::ops::Range;

use crate::column::{Cells, Column, MAX_NODES};
use crate::spec::{Kind, Probe, Spec, Stage};

/// Samples of one spec, stored back to back in typed columns. They may differ in nodes and steps.
///
/// ```
/// use clrs::{Cells, Registry};
///
/// let bfs = Registry::builtin().find("bfs")?;
/// let mut recorder = bfs.recorder();
/// bfs.record_json(r#"{"weights": [[0, 1], [1, 0]], "source": 0}"#, &mut recorder)?;
/// let trajectories = recorder.into_trajectories();
/// assert_eq!(trajectories.len(), 1);
/// let sample = trajectories.get(0);
/// assert_eq!((sample.nodes(), sample.steps()), (2, 2));
/// assert_eq!(sample.get("reach_h"), Some(Cells::Class(&[1, 0, 1, 1])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectories {
    spec: Spec,
    columns: Vec<Column>,
    extents: Vec<Extent>,
    /// End of every sample in every column: `ends[sample * spec.len() + index]`.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    nodes: usize,
    steps: usize,
}

/// Columns that do not match their spec.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum TrajectoriesError {
    #[error("expected {expected} columns, one per probe, found {found}")]
    Count { expected: usize, found: usize },
    #[error("`{probe}` has values of the wrong type")]
    Type { probe: String },
    #[error("sample {sample} has {nodes} nodes; the number of nodes must be from 1 to {MAX_NODES}")]
    Nodes { sample: usize, nodes: usize },
    #[error("`{probe}` has {found} cells up to sample {sample}, expected {expected}")]
    Length { probe: String, sample: usize, expected: usize, found: usize },
    #[error("`{probe}` has a value out of range in sample {sample}")]
    Value { probe: String, sample: usize },
}

impl Trajectories {
    /// Creates an empty collection.
    pub fn new(spec: Spec) -> Trajectories {
        let columns = spec.iter().map(|probe| Column::of(probe.kind)).collect();
        Trajectories { spec, columns, extents: Vec::new(), ends: Vec::new() }
    }

    /// Creates a collection from complete columns, with the nodes and steps of each sample.
    ///
    /// # Errors
    /// If the columns do not match the spec and the extents, or have a value out of range.
    pub fn from_columns(
        spec: Spec,
        extents: impl IntoIterator<Item = (usize, usize)>,
        columns: Vec<Column>,
    ) -> Result<Trajectories, TrajectoriesError> {
        if columns.len() != spec.len() {
            return Err(TrajectoriesError::Count { expected: spec.len(), found: columns.len() });
        }
        for (probe, column) in spec.iter().zip(&columns) {
            if std::mem::discriminant(column) != std::mem::discriminant(&Column::of(probe.kind)) {
                return Err(TrajectoriesError::Type { probe: probe.name.to_string() });
            }
        }
        let mut trajectories = Trajectories { spec, columns, extents: Vec::new(), ends: Vec::new() };
        for (nodes, steps) in extents {
            trajectories.advance(nodes, steps)?;
        }
        trajectories.check_ends()?;
        Ok(trajectories)
    }

    /// The probes, one per column.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.extents.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Returns one sample.
    ///
    /// # Panics
    /// If `sample` is out of range.
    pub fn get(&self, sample: usize) -> Trajectory<'_> {
        assert!(sample < self.len(), "sample {sample} of {}", self.len());
        Trajectory { trajectories: self, sample }
    }

    /// Iterates over the samples.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Trajectory<'_>> {
        (0..self.len()).map(|sample| Trajectory { trajectories: self, sample })
    }

    /// All cells of every probe, in spec order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The cells of a range of samples in the column at `index`, back to back.
    ///
    /// # Panics
    /// If the column or a sample is out of range.
    pub fn cells(&self, index: usize, samples: Range<usize>) -> Cells<'_> {
        assert!(samples.end <= self.len(), "sample {} of {}", samples.end, self.len());
        self.columns[index].cells().slice(self.start(samples.start, index)..self.start(samples.end, index))
    }

    /// Largest number of hint rows of any sample.
    pub fn max_steps(&self) -> usize {
        self.extents.iter().map(|extent| extent.steps).max().unwrap_or(0)
    }

    /// Size of all cells in bytes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// Appends a sample, given as the cells of every probe in spec order.
    ///
    /// # Errors
    /// If the cells do not match the spec. The collection is then unchanged.
    pub fn push(&mut self, nodes: usize, steps: usize, cells: &[Cells<'_>]) -> Result<(), TrajectoriesError> {
        if cells.len() != self.spec.len() {
            return Err(TrajectoriesError::Count { expected: self.spec.len(), found: cells.len() });
        }
        for ((column, cells), probe) in self.columns.iter_mut().zip(cells).zip(self.spec.iter()) {
            if !column.extend(*cells) {
                let probe = probe.name.to_string();
                self.undo();
                return Err(TrajectoriesError::Type { probe });
            }
        }
        self.close(nodes, steps).inspect_err(|_| self.undo())
    }

    /// All samples of several collections; `None` if there are none.
    ///
    /// # Panics
    /// If the specs differ.
    pub fn concatenate(shards: Vec<Trajectories>) -> Option<Trajectories> {
        let cells: Vec<usize> = (0..shards.first()?.spec.len())
            .map(|index| shards.iter().map(|shard| shard.columns[index].cells().count()).sum())
            .collect();
        let mut shards = shards.into_iter();
        let mut all = shards.next()?;
        for (column, cells) in all.columns.iter_mut().zip(cells) {
            column.reserve_exact(cells - column.cells().count());
        }
        shards.for_each(|shard| all.append(&shard));
        Some(all)
    }

    /// Reserves memory for `samples` more samples that have about as many cells as those so far.
    pub(crate) fn reserve_like(&mut self, samples: usize) {
        let recorded = self.len().max(1);
        self.columns.iter_mut().for_each(|column| column.reserve_exact(column.cells().count() * samples / recorded));
    }

    /// Appends all samples of another collection.
    ///
    /// # Panics
    /// If the specs differ.
    pub fn append(&mut self, other: &Trajectories) {
        assert_eq!(self.spec, other.spec, "trajectories of different specs");
        let offsets: Vec<usize> = (0..self.spec.len()).map(|index| self.start(self.len(), index)).collect();
        for (column, more) in self.columns.iter_mut().zip(&other.columns) {
            assert!(column.extend(more.cells()), "columns of one spec have the same types");
        }
        self.ends.extend(other.ends.iter().zip(offsets.iter().cycle()).map(|(end, offset)| offset + end));
        self.extents.extend(&other.extents);
    }

    /// Selects the probes of another spec by name. Probes that it does not list are dropped.
    ///
    /// # Panics
    /// If a probe of `spec` is missing here.
    #[must_use]
    pub fn with_spec(mut self, spec: &Spec) -> Trajectories {
        if self.spec == *spec {
            return self;
        }
        let index = |name: &str| self.spec.iter().position(|probe| probe.name == name).expect("a probe of these trajectories");
        let indices: Vec<usize> = spec.iter().map(|probe| index(&probe.name)).collect();
        let ends = (0..self.len()).flat_map(|sample| indices.iter().map(move |index| (sample, index)));
        let ends = ends.map(|(sample, index)| self.ends[sample * self.spec.len() + index]).collect();
        let columns =
            indices.iter().map(|&index| std::mem::replace(&mut self.columns[index], Column::Class(Vec::new()))).collect();
        Trajectories { spec: spec.clone(), columns, extents: self.extents, ends }
    }

    /// Removes all samples and keeps the allocations.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
        self.extents.clear();
        self.ends.clear();
    }

    pub(crate) fn columns_mut(&mut self) -> &mut [Column] {
        &mut self.columns
    }

    /// Ends a sample after checking that its rows are complete and its values in range: one sweep per sample, none per row.
    pub(crate) fn close(&mut self, nodes: usize, steps: usize) -> Result<(), TrajectoriesError> {
        self.advance(nodes, steps)?;
        self.check_ends().inspect_err(|_| {
            self.extents.pop();
            self.ends.truncate(self.extents.len() * self.spec.len());
        })
    }

    /// Assigns the cells that follow the last sample to a new one.
    fn advance(&mut self, nodes: usize, steps: usize) -> Result<(), TrajectoriesError> {
        let sample = self.extents.len();
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(TrajectoriesError::Nodes { sample, nodes });
        }
        for (index, probe) in self.spec.iter().enumerate() {
            let start = self.start(sample, index);
            let end = start.saturating_add(probe.rows(steps).saturating_mul(probe.width(nodes)));
            let cells = self.columns[index].cells();
            let error = if cells.count() < end {
                let (probe, found) = (probe.name.to_string(), cells.count());
                Some(TrajectoriesError::Length { probe, sample, expected: end, found })
            } else if !in_range(probe, cells.slice(start..end), nodes) {
                Some(TrajectoriesError::Value { probe: probe.name.to_string(), sample })
            } else {
                None
            };
            if let Some(error) = error {
                self.ends.truncate(sample * self.spec.len());
                return Err(error);
            }
            self.ends.push(end);
        }
        self.extents.push(Extent { nodes, steps });
        Ok(())
    }

    /// Checks that every cell belongs to a sample.
    fn check_ends(&self) -> Result<(), TrajectoriesError> {
        for (index, probe) in self.spec.iter().enumerate() {
            let (expected, found) = (self.start(self.len(), index), self.columns[index].cells().count());
            if found != expected {
                let sample = self.len().saturating_sub(1);
                return Err(TrajectoriesError::Length { probe: probe.name.to_string(), sample, expected, found });
            }
        }
        Ok(())
    }

    /// Removes the cells after the last complete sample.
    fn undo(&mut self) {
        for index in 0..self.columns.len() {
            let end = self.start(self.extents.len(), index);
            self.columns[index].truncate(end);
        }
    }

    fn start(&self, sample: usize, index: usize) -> usize {
        sample.checked_sub(1).map_or(0, |previous| self.ends[previous * self.spec.len() + index])
    }
}

/// Whether all values are in range for `n` nodes.
fn in_range(probe: &Probe, cells: Cells<'_>, n: usize) -> bool {
    let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 2 };
    let classes = if probe.masked { -1 } else { 0 }..i8::try_from(classes).unwrap_or(i8::MAX);
    match cells {
        Cells::Scalar(_) => true,
        // No early exit, so that both loops vectorize.
        Cells::Node(cells) => cells.iter().max().is_none_or(|&max| (max as usize) < n),
        Cells::Class(cells) => cells.iter().fold(true, |valid, class| valid & classes.contains(class)),
    }
}

/// One sample: its inputs, outputs, and hints over time.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'r> {
    trajectories: &'r Trajectories,
    sample: usize,
}

impl<'r> Trajectory<'r> {
    /// The probes.
    pub fn spec(&self) -> &'r Spec {
        &self.trajectories.spec
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.trajectories.extents[self.sample].nodes
    }

    /// Number of hint rows.
    pub fn steps(&self) -> usize {
        self.trajectories.extents[self.sample].steps
    }

    /// All rows of the probe at `index` of the spec.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn cells(&self, index: usize) -> Cells<'r> {
        let end = self.trajectories.ends[self.sample * self.trajectories.spec.len() + index];
        self.trajectories.columns[index].cells().slice(self.trajectories.start(self.sample, index)..end)
    }

    /// Iterates over the probes and their cells, in spec order.
    pub fn iter(&self) -> impl Iterator<Item = (&'r Probe, Cells<'r>)> {
        let trajectory = *self;
        self.trajectories.spec.iter().enumerate().map(move |(index, probe)| (probe, trajectory.cells(index)))
    }

    /// The cells of all probes of one stage, in spec order.
    pub fn stage(&self, stage: Stage) -> Vec<Cells<'r>> {
        self.iter().filter(|(probe, _)| probe.stage == stage).map(|(_, cells)| cells).collect()
    }

    /// The cells of the named probe.
    pub fn get(&self, name: &str) -> Option<Cells<'r>> {
        self.iter().find(|(probe, _)| probe.name == name).map(|(_, cells)| cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn bfs() -> Spec {
        Registry::builtin().find("bfs").expect("a built-in algorithm").spec().into()
    }

    /// Two samples with one node each: pos, s, A, adj; pi; `reach_h`, `pi_h`.
    fn columns() -> Vec<Column> {
        let scalars = |count| Column::Scalar(vec![0.0; count]);
        let (nodes, classes) = (|count| Column::Node(vec![0; count]), |count| Column::Class(vec![1; count]));
        vec![scalars(2), nodes(2), scalars(2), classes(2), nodes(2), classes(4), nodes(4)]
    }

    #[test]
    fn from_columns_requires_that_every_cell_belongs_to_a_sample() {
        let extents = [(1, 1), (1, 3)];
        let trajectories = Trajectories::from_columns(bfs(), extents, columns()).expect("two samples");
        assert_eq!(trajectories.iter().map(|sample| (sample.nodes(), sample.steps())).collect::<Vec<_>>(), extents);
        assert_eq!(trajectories.get(1).get("pi_h"), Some(Cells::Node(&[0, 0, 0])));
        assert_eq!(trajectories.cells(6, 0..2), Cells::Node(&[0, 0, 0, 0]));

        let length =
            |probe: &str, sample, expected, found| TrajectoriesError::Length { probe: probe.into(), sample, expected, found };
        let with = |extents: &[(usize, usize)]| Trajectories::from_columns(bfs(), extents.to_vec(), columns());
        assert_eq!(with(&[(1, 1), (1, 2)]), Err(length("reach_h", 1, 3, 4)));
        assert_eq!(with(&[(1, 1), (2, 3)]), Err(length("pos", 1, 3, 2)));
        assert_eq!(with(&[]), Err(length("pos", 0, 0, 2)));
        assert_eq!(with(&[(0, 1)]), Err(TrajectoriesError::Nodes { sample: 0, nodes: 0 }));
        assert_eq!(with(&[(1, usize::MAX)]), Err(length("reach_h", 0, usize::MAX, 4)));
    }

    #[test]
    fn from_columns_checks_types_and_values() {
        let with = |index: usize, column: Column| {
            let mut columns = columns();
            columns[index] = column;
            Trajectories::from_columns(bfs(), [(1, 1), (1, 3)], columns)
        };
        let value = |probe: &str, sample| TrajectoriesError::Value { probe: probe.into(), sample };
        assert_eq!(with(1, Column::Class(vec![0, 0])), Err(TrajectoriesError::Type { probe: "s".into() }));
        assert_eq!(with(1, Column::Node(vec![0, 1])), Err(value("s", 1)));
        assert_eq!(with(3, Column::Class(vec![2, 0])), Err(value("adj", 0)));
        assert_eq!(with(3, Column::Class(vec![1, -1])), Err(value("adj", 1)));
        let fewer = Trajectories::from_columns(bfs(), [], Vec::new());
        assert_eq!(fewer, Err(TrajectoriesError::Count { expected: 7, found: 0 }));
    }

    #[test]
    fn append_equals_pushing_every_sample() {
        let one = Trajectories::from_columns(bfs(), [(1, 1), (1, 3)], columns()).expect("two samples");
        let mut appended = one.clone();
        appended.append(&one);
        let mut pushed = Trajectories::new(bfs());
        for sample in one.iter().chain(one.iter()) {
            let cells: Vec<Cells<'_>> = sample.iter().map(|(_, cells)| cells).collect();
            pushed.push(sample.nodes(), sample.steps(), &cells).expect("a sample");
        }
        assert_eq!(appended, pushed);
    }
}
