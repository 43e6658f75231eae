//! What runs of an algorithm leave behind: one set of columns for many runs, and a view of each.

use std::ops::Range;

use crate::column::{Cells, Column, MAX_NODES};
use crate::spec::{Kind, Probe, Spec, Stage};

/// Many runs, end to end in the same typed columns: recorded, read from a file, or rewritten.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    spec: Spec,
    columns: Vec<Column>,
    extents: Vec<Extent>,
    /// Where every column ends after each run, `spec.len()` numbers per run.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    nodes: usize,
    steps: usize,
}

/// Why columns are not those of runs.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RunsError {
    #[error("there are {found} columns, and {expected} probes")]
    Count { expected: usize, found: usize },
    #[error("`{probe}` holds values of another type")]
    Type { probe: String },
    #[error("run {run} has {nodes} nodes, not 1 to {MAX_NODES}")]
    Nodes { run: usize, nodes: usize },
    #[error("`{probe}` has {found} cells after run {run}, not {expected}")]
    Length { probe: String, run: usize, expected: usize, found: usize },
    #[error("`{probe}` has a value out of range in run {run}")]
    Value { probe: String, run: usize },
}

impl Runs {
    /// None yet.
    pub fn new(spec: Spec) -> Runs {
        let columns = spec.iter().map(|probe| Column::of(probe.kind)).collect();
        Runs { spec, columns, extents: Vec::new(), ends: Vec::new() }
    }

    /// Runs whose columns are at hand whole, as a file has them, with the nodes and steps of each.
    pub fn from_columns(
        spec: Spec,
        extents: impl IntoIterator<Item = (usize, usize)>,
        columns: Vec<Column>,
    ) -> Result<Runs, RunsError> {
        if columns.len() != spec.len() {
            return Err(RunsError::Count { expected: spec.len(), found: columns.len() });
        }
        for (probe, column) in spec.iter().zip(&columns) {
            if std::mem::discriminant(column) != std::mem::discriminant(&Column::of(probe.kind)) {
                return Err(RunsError::Type { probe: probe.name.to_string() });
            }
        }
        let mut runs = Runs { spec, columns, extents: Vec::new(), ends: Vec::new() };
        for (nodes, steps) in extents {
            runs.advance(nodes, steps)?;
        }
        runs.is_whole()?;
        Ok(runs)
    }

    /// The probes, one per column.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.extents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, run: usize) -> Trajectory<'_> {
        assert!(run < self.len(), "run {run} of {}", self.len());
        Trajectory { runs: self, run }
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Trajectory<'_>> {
        (0..self.len()).map(|run| Trajectory { runs: self, run })
    }

    /// All cells of every probe, in the order of the spec.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The cells that runs have in the column at a place, end to end.
    ///
    /// # Panics
    /// If there are not so many runs, or columns.
    pub fn cells(&self, place: usize, runs: Range<usize>) -> Cells<'_> {
        assert!(runs.end <= self.len(), "run {} of {}", runs.end, self.len());
        self.columns[place].cells().slice(self.start(runs.start, place)..self.start(runs.end, place))
    }

    /// The most hint rows of any run.
    pub fn longest(&self) -> usize {
        self.extents.iter().map(|run| run.steps).max().unwrap_or(0)
    }

    /// Memory of all cells.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// Adds a run whose cells are at hand. Nothing is kept if they are not as the spec says.
    pub fn push(&mut self, nodes: usize, steps: usize, cells: &[Cells<'_>]) -> Result<(), RunsError> {
        if cells.len() != self.spec.len() {
            return Err(RunsError::Count { expected: self.spec.len(), found: cells.len() });
        }
        for ((column, cells), probe) in self.columns.iter_mut().zip(cells).zip(self.spec.iter()) {
            if !column.extend(*cells) {
                let probe = probe.name.to_string();
                self.undo();
                return Err(RunsError::Type { probe });
            }
        }
        self.close(nodes, steps).inspect_err(|_| self.undo())
    }

    /// Adds all runs of another that has the same spec.
    ///
    /// # Panics
    /// If it has another.
    pub fn append(&mut self, other: &Runs) {
        assert_eq!(self.spec, other.spec, "runs of different specs");
        let before: Vec<usize> = (0..self.spec.len()).map(|place| self.start(self.len(), place)).collect();
        for (column, more) in self.columns.iter_mut().zip(&other.columns) {
            assert!(column.extend(more.cells()), "columns of one spec are of one type");
        }
        self.ends.extend(other.ends.iter().zip(before.iter().cycle()).map(|(end, before)| before + end));
        self.extents.extend(&other.extents);
    }

    /// The same runs under another spec: probes are found by name, those it does not name are left out.
    ///
    /// # Panics
    /// If it names a probe that is not there, or one that is kept in another type.
    #[must_use]
    pub fn with_spec(mut self, spec: &Spec) -> Runs {
        if self.spec == *spec {
            return self;
        }
        let place = |name: &str| self.spec.iter().position(|probe| probe.name == name).expect("a probe of these runs");
        let places: Vec<usize> = spec.iter().map(|probe| place(&probe.name)).collect();
        let ends = (0..self.len()).flat_map(|run| places.iter().map(move |place| (run, place)));
        let ends = ends.map(|(run, place)| self.ends[run * self.spec.len() + place]).collect();
        let columns =
            places.iter().map(|&place| std::mem::replace(&mut self.columns[place], Column::Class(Vec::new()))).collect();
        Runs { spec: spec.clone(), columns, extents: self.extents, ends }
    }

    /// Forgets the runs, keeps the memory.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
        self.extents.clear();
        self.ends.clear();
    }

    pub(crate) fn columns_mut(&mut self) -> &mut [Column] {
        &mut self.columns
    }

    /// Ends a run, once its rows are seen to be whole and its values in range: one sweep per run, none per row.
    pub(crate) fn close(&mut self, nodes: usize, steps: usize) -> Result<(), RunsError> {
        self.advance(nodes, steps)?;
        self.is_whole().inspect_err(|_| {
            self.extents.pop();
            self.ends.truncate(self.extents.len() * self.spec.len());
        })
    }

    /// Takes the cells that follow for those of one more run.
    fn advance(&mut self, nodes: usize, steps: usize) -> Result<(), RunsError> {
        let run = self.extents.len();
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(RunsError::Nodes { run, nodes });
        }
        for (place, probe) in self.spec.iter().enumerate() {
            let start = self.start(run, place);
            let end = start.saturating_add(probe.rows(steps).saturating_mul(probe.width(nodes)));
            let cells = self.columns[place].cells();
            let wrong = if cells.count() < end {
                Some(RunsError::Length { probe: probe.name.to_string(), run, expected: end, found: cells.count() })
            } else if !in_range(probe, cells.slice(start..end), nodes) {
                Some(RunsError::Value { probe: probe.name.to_string(), run })
            } else {
                None
            };
            if let Some(wrong) = wrong {
                self.ends.truncate(run * self.spec.len());
                return Err(wrong);
            }
            self.ends.push(end);
        }
        self.extents.push(Extent { nodes, steps });
        Ok(())
    }

    /// Whether every cell belongs to a run.
    fn is_whole(&self) -> Result<(), RunsError> {
        for (place, probe) in self.spec.iter().enumerate() {
            let (expected, found) = (self.start(self.len(), place), self.columns[place].cells().count());
            if found != expected {
                let run = self.len().saturating_sub(1);
                return Err(RunsError::Length { probe: probe.name.to_string(), run, expected, found });
            }
        }
        Ok(())
    }

    /// Takes back what was pushed after the last whole run.
    fn undo(&mut self) {
        for place in 0..self.columns.len() {
            let end = self.start(self.extents.len(), place);
            self.columns[place].truncate(end);
        }
    }

    fn start(&self, run: usize, place: usize) -> usize {
        run.checked_sub(1).map_or(0, |before| self.ends[before * self.spec.len() + place])
    }
}

/// Whether values mean something among `n` nodes.
fn in_range(probe: &Probe, cells: Cells<'_>, n: usize) -> bool {
    let classes = if let Kind::Categorical { classes } = probe.kind { classes } else { 2 };
    let classes = if probe.masked { -1 } else { 0 }..i8::try_from(classes).unwrap_or(i8::MAX);
    match cells {
        Cells::Scalar(_) => true,
        // Without a way out halfway, many cells are looked at a time.
        Cells::Node(cells) => cells.iter().max().is_none_or(|&most| (most as usize) < n),
        Cells::Class(cells) => cells.iter().fold(true, |right, class| right & classes.contains(class)),
    }
}

/// Inputs, outputs and hints over time of one run.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'r> {
    runs: &'r Runs,
    run: usize,
}

impl<'r> Trajectory<'r> {
    /// The probes.
    pub fn spec(&self) -> &'r Spec {
        &self.runs.spec
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.runs.extents[self.run].nodes
    }

    /// Number of hint rows.
    pub fn steps(&self) -> usize {
        self.runs.extents[self.run].steps
    }

    /// The cells of the probe at a place of the spec: all its rows.
    pub fn cells(&self, place: usize) -> Cells<'r> {
        let end = self.runs.ends[self.run * self.runs.spec.len() + place];
        self.runs.columns[place].cells().slice(self.runs.start(self.run, place)..end)
    }

    /// Every probe with its cells, in the order of the spec.
    pub fn iter(&self) -> impl Iterator<Item = (&'r Probe, Cells<'r>)> {
        let trajectory = *self;
        self.runs.spec.iter().enumerate().map(move |(place, probe)| (probe, trajectory.cells(place)))
    }

    /// The cells of one stage, in the order of the spec.
    pub fn stage(&self, stage: Stage) -> Vec<Cells<'r>> {
        self.iter().filter(|(probe, _)| probe.stage == stage).map(|(_, cells)| cells).collect()
    }

    /// The cells of the probe of that name.
    pub fn get(&self, name: &str) -> Option<Cells<'r>> {
        self.iter().find(|(probe, _)| probe.name == name).map(|(_, cells)| cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn bfs() -> Spec {
        Registry::builtin().find("bfs").expect("there").spec().into()
    }

    /// Two runs among one node: pos, s, A, adj; pi; `reach_h`, `pi_h`.
    fn columns() -> Vec<Column> {
        let scalars = |count| Column::Scalar(vec![0.0; count]);
        let (nodes, classes) = (|count| Column::Node(vec![0; count]), |count| Column::Class(vec![1; count]));
        vec![scalars(2), nodes(2), scalars(2), classes(2), nodes(2), classes(4), nodes(4)]
    }

    #[test]
    fn whole_columns_are_runs_if_every_cell_belongs_to_one() {
        let extents = [(1, 1), (1, 3)];
        let runs = Runs::from_columns(bfs(), extents, columns()).expect("two runs");
        assert_eq!(runs.iter().map(|run| (run.nodes(), run.steps())).collect::<Vec<_>>(), extents);
        assert_eq!(runs.get(1).get("pi_h"), Some(Cells::Node(&[0, 0, 0])));
        assert_eq!(runs.cells(6, 0..2), Cells::Node(&[0, 0, 0, 0]));

        let length = |probe: &str, run, expected, found| RunsError::Length { probe: probe.into(), run, expected, found };
        let wrong = |extents: &[(usize, usize)]| Runs::from_columns(bfs(), extents.to_vec(), columns());
        assert_eq!(wrong(&[(1, 1), (1, 2)]), Err(length("reach_h", 1, 3, 4)));
        assert_eq!(wrong(&[(1, 1), (2, 3)]), Err(length("pos", 1, 3, 2)));
        assert_eq!(wrong(&[]), Err(length("pos", 0, 0, 2)));
        assert_eq!(wrong(&[(0, 1)]), Err(RunsError::Nodes { run: 0, nodes: 0 }));
        assert_eq!(wrong(&[(1, usize::MAX)]), Err(length("reach_h", 0, usize::MAX, 4)));
    }

    #[test]
    fn whole_columns_have_the_types_and_values_of_their_probes() {
        let with = |place: usize, column: Column| {
            let mut columns = columns();
            columns[place] = column;
            Runs::from_columns(bfs(), [(1, 1), (1, 3)], columns)
        };
        assert_eq!(with(1, Column::Class(vec![0, 0])), Err(RunsError::Type { probe: "s".into() }));
        assert_eq!(with(1, Column::Node(vec![0, 1])), Err(RunsError::Value { probe: "s".into(), run: 1 }));
        assert_eq!(with(3, Column::Class(vec![2, 0])), Err(RunsError::Value { probe: "adj".into(), run: 0 }));
        assert_eq!(with(3, Column::Class(vec![1, -1])), Err(RunsError::Value { probe: "adj".into(), run: 1 }));
        let fewer = Runs::from_columns(bfs(), [], Vec::new());
        assert_eq!(fewer, Err(RunsError::Count { expected: 7, found: 0 }));
    }

    #[test]
    fn runs_follow_those_they_are_appended_to() {
        let one = Runs::from_columns(bfs(), [(1, 1), (1, 3)], columns()).expect("two runs");
        let mut both = one.clone();
        both.append(&one);
        let mut pushed = Runs::new(bfs());
        for run in one.iter().chain(one.iter()) {
            let cells: Vec<Cells<'_>> = run.iter().map(|(_, cells)| cells).collect();
            pushed.push(run.nodes(), run.steps(), &cells).expect("a run");
        }
        assert_eq!(both, pushed);
    }
}
