//! Chunks from outside, such as those of dm-clrs's `chunkify`.
//!
//! There, a sample of `L` hint rows fills `L` rows of its lane, and a step of the network leads from a row to the next. The step from the
//! last row of a sample to the first of the next one predicts nothing and is not supervised. The last row of a chunk waits for the
//! next chunk.

use clrs::{Kind, Spec, Stage};

use super::batch::one_hot;
use super::chunk::{Chunk, ChunkStep};
use super::dense::{DenseArray, DenseChunk, DenseError, Layout, ensure_nodes};

/// Converts the chunks of one stream, in order.
#[derive(Clone, Debug, Default)]
pub struct ChunkRows {
    /// The last row of the previous chunk.
    last: Option<(Layout, Row)>,
}

/// One row of every lane.
#[derive(Clone, Debug)]
struct Row {
    /// Values of every probe, `[lanes, R, K]`.
    values: Vec<Vec<f32>>,
    is_first: Vec<bool>,
    is_last: Vec<bool>,
}

impl ChunkRows {
    /// Converts the next chunk of the stream. The first has one step less than rows, since no row precedes it.
    ///
    /// # Errors
    /// If an array is missing or has another shape, a pointer leads to no node, or the number of lanes or nodes is not that of the
    /// chunk before. The stream is unchanged then.
    pub fn next(&mut self, spec: &Spec, dense: &DenseChunk<'_>) -> Result<Chunk, DenseError> {
        let (layout, arrays) = dense.check(spec)?;
        let lanes_and_nodes = |layout: &Layout| [layout.samples, layout.nodes];
        if let Some((last, _)) = &self.last
            && lanes_and_nodes(last) != lanes_and_nodes(&layout)
        {
            return Err(DenseError::OtherLanes { found: lanes_and_nodes(&layout), expected: lanes_and_nodes(last) });
        }
        let rows = (0..layout.rows).map(|row| Row::new(spec, dense, &arrays, layout, row)).collect::<Result<Vec<_>, _>>()?;
        let before = self.last.take().map(|(_, row)| row);
        let all: Vec<&Row> = before.iter().chain(&rows).collect();
        let steps = all.windows(2).map(|pair| step(spec, pair[0], pair[1])).collect();
        self.last = rows.into_iter().next_back().map(|row| (layout, row));
        Ok(Chunk { spec: spec.clone(), nodes: layout.nodes, lanes: layout.samples, steps })
    }
}

impl Row {
    fn new(
        spec: &Spec,
        dense: &DenseChunk<'_>,
        arrays: &[&DenseArray<'_>],
        layout: Layout,
        row: usize,
    ) -> Result<Row, DenseError> {
        let values = spec.iter().zip(arrays).map(|(probe, array)| {
            let width = array.shape[1..].iter().product::<usize>();
            let mut values = Vec::with_capacity(width);
            array.values.append_to(row * width..(row + 1) * width, &mut values);
            ensure_nodes(probe, layout.nodes, &values)?;
            Ok(if matches!(probe.kind, Kind::Pointer | Kind::Permutation) { one_hot(&values, layout.nodes) } else { values })
        });
        let marks = |marks: &[bool]| marks[row * layout.samples..][..layout.samples].to_vec();
        let values = values.collect::<Result<_, DenseError>>()?;
        Ok(Row { values, is_first: marks(&dense.is_first), is_last: marks(&dense.is_last) })
    }
}

/// The step from a row to the next.
fn step(spec: &Spec, row: &Row, next: &Row) -> ChunkStep {
    let hint = |(index, values): (usize, &Vec<f32>)| {
        if spec[index].stage == Stage::Hint { values.clone() } else { Vec::new() }
    };
    let ends = |lane: usize| {
        let is_single = row.is_first[lane] && row.is_last[lane];
        is_single || next.is_last[lane] && !next.is_first[lane]
    };
    ChunkStep {
        now: row.values.clone(),
        next: next.values.iter().enumerate().map(hint).collect(),
        starts: row.is_first.clone(),
        supervised: next.is_first.iter().map(|is_first| !is_first).collect(),
        ends: (0..row.is_first.len()).map(ends).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::{DenseValues, SpecEntry, spec};

    const LANES: usize = 2;

    fn numbers() -> Spec {
        let entry = |name, stage, location| SpecEntry { name, stage, location, kind: "scalar", classes: 0 };
        let entries = [("x", "input", "node"), ("h", "hint", "graph"), ("y", "output", "graph")];
        spec(entries.map(|(name, stage, location)| entry(name, stage, location))).expect("a spec")
    }

    /// A chunk in which every probe has the number of its row as values, counted from `first`.
    fn chunk<'a>(values: &'a [f64], is_first: &[[u8; LANES]], is_last: &[[u8; LANES]]) -> DenseChunk<'a> {
        let array = |name, node: bool| {
            let shape = if node { vec![is_first.len(), LANES, 1] } else { vec![is_first.len(), LANES] };
            vec![DenseArray { name, shape: shape.into(), values: DenseValues::F64(values) }]
        };
        let marks = |marks: &[[u8; LANES]]| marks.iter().flatten().map(|mark| *mark == 1).collect();
        DenseChunk {
            inputs: array("x", true),
            hints: array("h", false),
            outputs: array("y", false),
            lanes: LANES,
            is_first: marks(is_first),
            is_last: marks(is_last),
        }
    }

    fn rows(rows: std::ops::Range<u8>) -> Vec<f64> {
        rows.flat_map(|row| [f64::from(row); LANES]).collect()
    }

    #[test]
    fn steps_lead_from_row_to_row_also_across_chunks() {
        // The first lane has samples of 3, 1 and 2 rows, the second one of 5.
        let is_first = [[1, 1], [0, 0], [0, 0], [1, 0], [1, 0], [0, 1]];
        let is_last = [[0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [1, 0]];
        let (spec, values) = (numbers(), rows(0..6));
        let complete = ChunkRows::default().next(&spec, &chunk(&values, &is_first, &is_last)).expect("a chunk");
        let marks = |of: fn(&ChunkStep) -> &Vec<bool>, lane: usize| -> Vec<u8> {
            complete.steps.iter().map(|step| u8::from(of(step)[lane])).collect()
        };
        assert_eq!(marks(|step| &step.starts, 0), [1, 0, 0, 1, 1]);
        // From a sample's last row to the first of the next nothing is predicted.
        assert_eq!(marks(|step| &step.supervised, 0), [1, 1, 0, 0, 1]);
        // A sample of a single row still takes a step.
        assert_eq!(marks(|step| &step.ends, 0), [0, 1, 0, 1, 1]);
        assert_eq!(marks(|step| &step.starts, 1), [1, 0, 0, 0, 0]);
        assert_eq!(marks(|step| &step.supervised, 1), [1, 1, 1, 1, 0]);
        assert_eq!(marks(|step| &step.ends, 1), [0, 0, 0, 1, 0]);

        let mut stream = ChunkRows::default();
        let (first, second) = (rows(0..2), rows(2..6));
        let mut steps = stream.next(&spec, &chunk(&first, &is_first[..2], &is_last[..2])).expect("a chunk").steps;
        assert_eq!(steps.len(), 1);
        steps.extend(stream.next(&spec, &chunk(&second, &is_first[2..], &is_last[2..])).expect("a chunk").steps);
        assert_eq!(steps.len(), 5);
        for (row, (step, expected)) in (0u8..).zip(steps.iter().zip(&complete.steps)) {
            assert_eq!((&step.starts, &step.supervised, &step.ends), (&expected.starts, &expected.supervised, &expected.ends));
            let (now, next) = (vec![f32::from(row); LANES], vec![f32::from(row + 1); LANES]);
            // Inputs, outputs, hints; only hints have a next value.
            assert_eq!(step.now, [now.clone(), now.clone(), now]);
            assert_eq!(step.next, [Vec::new(), Vec::new(), next]);
        }
    }

    #[test]
    fn chunks_of_other_sizes_are_refused_and_leave_the_stream_as_it_was() {
        let (spec, values) = (numbers(), rows(0..2));
        let (is_first, is_last) = ([[1, 1], [0, 0]], [[0, 0], [0, 0]]);
        let mut stream = ChunkRows::default();
        let single = chunk(&values[..LANES], &is_first[..1], &is_last[..1]);
        assert_eq!(stream.next(&spec, &single).expect_err("one row"), DenseError::Chunk);
        stream.next(&spec, &chunk(&values, &is_first, &is_last)).expect("a chunk");
        let narrow = DenseChunk {
            inputs: vec![DenseArray { name: "x", shape: vec![2, 1, 2].into(), values: DenseValues::F64(&values) }],
            hints: vec![DenseArray { name: "h", shape: vec![2, 1].into(), values: DenseValues::F64(&values[..2]) }],
            outputs: vec![DenseArray { name: "y", shape: vec![2, 1].into(), values: DenseValues::F64(&values[..2]) }],
            lanes: 1,
            is_first: vec![true, false],
            is_last: vec![false, false],
        };
        let error = stream.next(&spec, &narrow).expect_err("one lane of two nodes");
        assert_eq!(error.to_string(), "the chunk has [1, 2] lanes and nodes, the chunk before it had [2, 1]");
        assert_eq!(stream.next(&spec, &chunk(&values, &is_first, &is_last)).expect("a chunk").steps.len(), 2);
    }
}
