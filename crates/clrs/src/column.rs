//! Typed columns, which store the values of probes.

use std::ops::Range;

use serde::Serialize;

use crate::spec::Kind;

/// Largest number of nodes of a problem. Every node and every pair of nodes can be indexed with 32 bits.
pub const MAX_NODES: usize = 1 << 16;

/// All rows of one probe, back to back. A mask takes one byte per cell, a pointer four, a one-hot mask one node per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers.
    Scalar(Vec<f64>),
    /// Nodes: pointers, and the node of a one-hot mask.
    Node(Vec<u32>),
    /// Masks (0, 1) and classes; -1 where masked out.
    Class(Vec<i8>),
}

/// A borrowed range of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the variants are those of `Column`")]
pub enum Cells<'a> {
    Scalar(&'a [f64]),
    Node(&'a [u32]),
    Class(&'a [i8]),
}

impl Column {
    /// Creates an empty column for values of a kind.
    pub fn of(kind: Kind) -> Column {
        match kind {
            Kind::Scalar => Column::Scalar(Vec::new()),
            Kind::MaskOne | Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => Column::Node(Vec::new()),
            Kind::Mask | Kind::Categorical { .. } => Column::Class(Vec::new()),
        }
    }

    /// Size of one cell of a kind in bytes.
    pub(crate) fn cell_bytes(kind: Kind) -> usize {
        match Column::of(kind) {
            Column::Scalar(_) => size_of::<f64>(),
            Column::Node(_) => size_of::<u32>(),
            Column::Class(_) => size_of::<i8>(),
        }
    }

    /// All cells.
    pub fn cells(&self) -> Cells<'_> {
        match self {
            Column::Scalar(cells) => Cells::Scalar(cells),
            Column::Node(cells) => Cells::Node(cells),
            Column::Class(cells) => Cells::Class(cells),
        }
    }

    /// Size of the cells in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Column::Scalar(cells) => size_of_val(&cells[..]),
            Column::Node(cells) => size_of_val(&cells[..]),
            Column::Class(cells) => size_of_val(&cells[..]),
        }
    }

    /// Appends cells. Returns `false` if their type differs.
    pub(crate) fn extend(&mut self, cells: Cells<'_>) -> bool {
        match (self, cells) {
            (Column::Scalar(column), Cells::Scalar(cells)) => column.extend_from_slice(cells),
            (Column::Node(column), Cells::Node(cells)) => column.extend_from_slice(cells),
            (Column::Class(column), Cells::Class(cells)) => column.extend_from_slice(cells),
            _ => return false,
        }
        true
    }

    /// Reserves memory for more cells.
    pub(crate) fn reserve_exact(&mut self, cells: usize) {
        match self {
            Column::Scalar(column) => column.reserve_exact(cells),
            Column::Node(column) => column.reserve_exact(cells),
            Column::Class(column) => column.reserve_exact(cells),
        }
    }

    /// Removes the cells from `end` on and keeps the allocation.
    pub(crate) fn truncate(&mut self, end: usize) {
        match self {
            Column::Scalar(cells) => cells.truncate(end),
            Column::Node(cells) => cells.truncate(end),
            Column::Class(cells) => cells.truncate(end),
        }
    }

    /// Removes all cells and keeps the allocation.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }
}

impl<'a> Cells<'a> {
    /// Number of cells.
    pub fn count(self) -> usize {
        match self {
            Cells::Scalar(cells) => cells.len(),
            Cells::Node(cells) => cells.len(),
            Cells::Class(cells) => cells.len(),
        }
    }

    /// Copies the cells to a column.
    pub fn to_column(self) -> Column {
        match self {
            Cells::Scalar(cells) => Column::Scalar(cells.to_vec()),
            Cells::Node(cells) => Column::Node(cells.to_vec()),
            Cells::Class(cells) => Column::Class(cells.to_vec()),
        }
    }

    /// Returns a subrange.
    ///
    /// # Panics
    /// If the range is out of bounds.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Cells<'a> {
        match self {
            Cells::Scalar(cells) => Cells::Scalar(&cells[range]),
            Cells::Node(cells) => Cells::Node(&cells[range]),
            Cells::Class(cells) => Cells::Class(&cells[range]),
        }
    }
}

/// Element type of a column.
pub trait Stored: Copy + 'static {
    /// Creates an empty column of this type.
    fn column() -> Column;
    /// The cells, if the column has this type.
    fn cells_mut(column: &mut Column) -> Option<&mut Vec<Self>>;
    /// The cells, if they have this type.
    fn cells(cells: Cells<'_>) -> Option<&[Self]>;
}

macro_rules! stored {
    ($($variant:ident of $element:ty),*) => {$(
        impl Stored for $element {
            fn column() -> Column {
                Column::$variant(Vec::new())
            }
            fn cells_mut(column: &mut Column) -> Option<&mut Vec<Self>> {
                if let Column::$variant(cells) = column { Some(cells) } else { None }
            }
            fn cells(cells: Cells<'_>) -> Option<&[Self]> {
                if let Cells::$variant(cells) = cells { Some(cells) } else { None }
            }
        }
    )*};
}
stored!(Scalar of f64, Node of u32, Class of i8);

/// Columns that are not rows of an algorithm.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the error messages document the variants")]
pub enum ColumnError {
    #[error("{0} nodes are too many; the limit is {MAX_NODES}")]
    Nodes(usize),
    #[error("expected {expected} columns, found {found}")]
    Count { expected: usize, found: usize },
    #[error("`{probe}` has values of the wrong type")]
    Type { probe: &'static str },
    #[error("`{probe}` has {found} cells, expected {expected}")]
    Length { probe: &'static str, expected: usize, found: usize },
    #[error("`{probe}` has a value out of range in cell {cell}")]
    Value { probe: &'static str, cell: usize },
}
