//! Where values are kept: typed columns, and what can go wrong when one comes from outside.

use std::ops::Range;

use serde::Serialize;

use crate::spec::Kind;

/// The most nodes a problem may have: every node fits in 32 bits, and so does every pair of nodes.
pub const MAX_NODES: usize = 1 << 16;

/// All rows of one probe, end to end: a mask costs a byte, a pointer four, a one-hot mask a single node.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers.
    Scalar(Vec<f64>),
    /// Nodes: pointers, and the one node of a one-hot mask.
    Node(Vec<u32>),
    /// Masks (0, 1) and classes; -1 where the question is not asked.
    Class(Vec<i8>),
}

/// Some rows of a column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "as in `Column`")]
pub enum Cells<'a> {
    Scalar(&'a [f64]),
    Node(&'a [u32]),
    Class(&'a [i8]),
}

impl Column {
    /// An empty one for values of a kind.
    pub fn of(kind: Kind) -> Column {
        match kind {
            Kind::Scalar => Column::Scalar(Vec::new()),
            Kind::MaskOne | Kind::Pointer | Kind::Permutation | Kind::CyclicPermutation => Column::Node(Vec::new()),
            Kind::Mask | Kind::Categorical { .. } => Column::Class(Vec::new()),
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

    /// Memory of the cells.
    pub fn bytes(&self) -> usize {
        match self {
            Column::Scalar(cells) => size_of_val(&cells[..]),
            Column::Node(cells) => size_of_val(&cells[..]),
            Column::Class(cells) => size_of_val(&cells[..]),
        }
    }

    /// Adds cells; `false` if they are of another type.
    pub(crate) fn extend(&mut self, cells: Cells<'_>) -> bool {
        match (self, cells) {
            (Column::Scalar(column), Cells::Scalar(cells)) => column.extend_from_slice(cells),
            (Column::Node(column), Cells::Node(cells)) => column.extend_from_slice(cells),
            (Column::Class(column), Cells::Class(cells)) => column.extend_from_slice(cells),
            _ => return false,
        }
        true
    }

    /// Forgets the cells from `end` on, keeps the memory.
    pub(crate) fn truncate(&mut self, end: usize) {
        match self {
            Column::Scalar(cells) => cells.truncate(end),
            Column::Node(cells) => cells.truncate(end),
            Column::Class(cells) => cells.truncate(end),
        }
    }

    /// Forgets the cells, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }
}

impl<'a> Cells<'a> {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Cells::Scalar(cells) => cells.len(),
            Cells::Node(cells) => cells.len(),
            Cells::Class(cells) => cells.len(),
        }
    }

    /// Some of them.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Cells<'a> {
        match self {
            Cells::Scalar(cells) => Cells::Scalar(&cells[range]),
            Cells::Node(cells) => Cells::Node(&cells[range]),
            Cells::Class(cells) => Cells::Class(&cells[range]),
        }
    }
}

/// A type that cells are stored in.
pub trait Stored: Copy + 'static {
    /// An empty column of it.
    fn column() -> Column;
    /// The cells, where the column holds this type.
    fn cells_mut(column: &mut Column) -> Option<&mut Vec<Self>>;
    /// The cells, where they are of this type.
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

/// Why columns from outside are not rows of an algorithm.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ColumnError {
    #[error("{0} nodes are more than {MAX_NODES}")]
    Nodes(usize),
    #[error("{expected} columns were expected, not {found}")]
    Count { expected: usize, found: usize },
    #[error("`{probe}` holds values of another type")]
    Type { probe: &'static str },
    #[error("`{probe}` has {found} cells, not {expected}")]
    Length { probe: &'static str, expected: usize, found: usize },
    #[error("`{probe}` has a value out of range in cell {cell}")]
    Value { probe: &'static str, cell: usize },
}
