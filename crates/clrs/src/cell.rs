//! Which Rust type a probe is written as.
//!
//! `Node<Pointer>` is written as `&[usize]`, `Graph<Scalar>` as `f64`, `Node<MaskOne>` as one `usize`, `Edge<Masked<Mask>>` as
//! `&[Option<bool>]`. The table of pairs below has the benchmark's thirteen; any other pair does not compile:
//!
//! ```compile_fail
//! fn is_a_cell<C: clrs::cell::Cell>() {}
//! is_a_cell::<clrs::cell::Edge<clrs::cell::Permutation>>();
//! ```

use std::marker::PhantomData;

use crate::column::{Cells, Column, ColumnError, Stored};
use crate::spec::{Kind, Location};

/// One value per node.
pub struct Node<V>(PhantomData<V>);
/// One value per ordered pair of nodes, row by row.
pub struct Edge<V>(PhantomData<V>);
/// One value.
pub struct Graph<V>(PhantomData<V>);

/// A real number, as `f64`.
pub struct Scalar;
/// Yes or no, as `bool`.
pub struct Mask;
/// The one node that is meant, as `usize`.
pub struct MaskOne;
/// A node, as `usize`.
pub struct Pointer;
/// A predecessor in a linear order, as `usize`.
pub struct Permutation;
/// One of `CLASSES`, as `usize`.
pub struct Categorical<const CLASSES: usize>;
/// A value, or `None` where the question is not asked. For a class the last one is the blank: dense arrays have the -1 there.
pub struct Masked<V>(PhantomData<V>);

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// What a single cell holds, wherever it is.
pub trait Value: Sealed + 'static {
    /// The kind in the spec.
    const KIND: Kind;
    /// Whether a cell can be "not asked".
    const MASKED: bool = false;
    /// The value as algorithms write it.
    type Item: Copy + std::fmt::Debug + PartialEq;
    /// The value as columns keep it.
    type Stored: Stored;

    /// Nodes are not range-checked here: a recorder does that once per run.
    fn store(item: Self::Item) -> Self::Stored;
    /// `None` for what means nothing among `n` nodes.
    fn load(stored: Self::Stored, n: usize) -> Option<Self::Item>;
}

/// A line per value: its kind, the type that algorithms write `as` the type that columns keep, how to store and how to load.
macro_rules! values {
    ($($(const $classes:ident =>)? $value:ty: $kind:expr, $item:ty as $stored:ty, $store:expr, $load:expr;)*) => {$(
        impl$(<const $classes: usize>)? Sealed for $value {}
        impl$(<const $classes: usize>)? Value for $value {
            const KIND: Kind = $kind;
            type Item = $item;
            type Stored = $stored;

            fn store(item: $item) -> $stored {
                ($store)(item)
            }
            fn load(stored: $stored, n: usize) -> Option<$item> {
                ($load)(stored, n)
            }
        }
    )*};
}

values! {
    Scalar: Kind::Scalar, f64 as f64, |x| x, |x, _| Some(x);
    Mask: Kind::Mask, bool as i8, i8::from, |x, _| (x == 0 || x == 1).then_some(x == 1);
    Pointer: Kind::Pointer, usize as u32, store_node, load_node;
    MaskOne: Kind::MaskOne, usize as u32, store_node, load_node;
    Permutation: Kind::Permutation, usize as u32, store_node, load_node;
    const K => Categorical<K>: Kind::Categorical { classes: few_enough(K) }, usize as i8, store_class,
        |class, _| usize::try_from(class).ok().filter(|&class| class < K);
}

#[expect(clippy::cast_possible_truncation, reason = "a recorder refuses problems above `MAX_NODES`")]
fn store_node(node: usize) -> u32 {
    node as u32
}

fn load_node(node: u32, n: usize) -> Option<usize> {
    Some(node as usize).filter(|&node| node < n)
}

#[expect(clippy::cast_possible_truncation, reason = "there are at most 127")]
fn store_class(class: usize) -> i8 {
    class as i8
}

/// A compile-time check: classes are kept in a byte, beside -1.
const fn few_enough(classes: usize) -> usize {
    assert!(classes <= 127, "too many classes");
    classes
}

impl<V: Value<Stored = i8>> Sealed for Masked<V> {}
impl<V: Value<Stored = i8>> Value for Masked<V> {
    const KIND: Kind = V::KIND;
    const MASKED: bool = true;
    type Item = Option<V::Item>;
    type Stored = i8;

    fn store(item: Self::Item) -> i8 {
        item.map_or(-1, V::store)
    }
    fn load(stored: i8, n: usize) -> Option<Self::Item> {
        if stored == -1 { Some(None) } else { V::load(stored, n).map(Some) }
    }
}

/// Values the benchmark has one of per node.
pub trait PerNode: Value {}
/// Values the benchmark has one of per pair of nodes.
pub trait PerEdge: Value {}
/// Values the benchmark has one of per graph.
pub trait PerGraph: Value {}

macro_rules! pairs {
    ($($place:ident: $($(const $classes:ident =>)? $value:ty),*;)*) => {
        $($(impl$(<const $classes: usize>)? $place for $value {})*)*
    };
}

// `Node<MaskOne>` is the thirteenth, below; `Masked` goes where its value goes.
pairs! {
    PerNode: Scalar, Mask, Pointer, Permutation, const K => Categorical<K>;
    PerEdge: Scalar, Mask, Pointer, const K => Categorical<K>;
    PerGraph: Scalar, Mask, const K => Categorical<K>;
}
impl<V: PerNode + Value<Stored = i8>> PerNode for Masked<V> {}
impl<V: PerEdge + Value<Stored = i8>> PerEdge for Masked<V> {}

/// A (location, kind) pair and the type of one row of it.
pub trait Cell: Sealed {
    /// What it is attached to.
    const LOCATION: Location;
    /// How it is encoded.
    const KIND: Kind;
    /// Whether a cell can be "not asked".
    const MASKED: bool;
    /// A row as an algorithm hands it over.
    type Row<'a>;
    /// A row that stands for itself: inputs and outputs.
    type Owned: Clone + std::fmt::Debug + PartialEq;

    /// An empty column for it.
    fn column() -> Column;
    /// An owned row, to hand over.
    fn borrow(owned: &Self::Owned) -> Self::Row<'_>;
    /// Appends a row.
    fn push(column: &mut Column, row: Self::Row<'_>);
    /// Reads cells from outside as one row.
    fn read(probe: &'static str, cells: Cells<'_>, n: usize) -> Result<Self::Owned, ColumnError>;
}

/// Rows of one value per node or per pair: slices.
macro_rules! slices {
    ($cell:ident of $value:ident) => {
        impl<V: $value> Sealed for $cell<V> {}
        impl<V: $value> Cell for $cell<V> {
            const LOCATION: Location = Location::$cell;
            const KIND: Kind = V::KIND;
            const MASKED: bool = V::MASKED;
            type Row<'a> = &'a [V::Item];
            type Owned = Vec<V::Item>;

            fn column() -> Column {
                V::Stored::column()
            }
            fn borrow(owned: &Self::Owned) -> Self::Row<'_> {
                owned
            }
            fn push(column: &mut Column, row: Self::Row<'_>) {
                extend::<V>(column, row);
            }
            fn read(probe: &'static str, cells: Cells<'_>, n: usize) -> Result<Self::Owned, ColumnError> {
                load::<V>(probe, cells, n, Self::LOCATION.count(n))
            }
        }
    };
}
slices!(Node of PerNode);
slices!(Edge of PerEdge);

/// Rows of a single value.
macro_rules! singles {
    ($($(<$v:ident: $bound:ident>)? $location:ident of $value:ty;)*) => {$(
        impl$(<$v: $bound>)? Sealed for $location<$value> {}
        impl$(<$v: $bound>)? Cell for $location<$value> {
            const LOCATION: Location = Location::$location;
            const KIND: Kind = <$value>::KIND;
            const MASKED: bool = <$value>::MASKED;
            type Row<'a> = <$value as Value>::Item;
            type Owned = <$value as Value>::Item;

            fn column() -> Column {
                <$value as Value>::Stored::column()
            }
            fn borrow(owned: &Self::Owned) -> Self::Row<'_> {
                *owned
            }
            fn push(column: &mut Column, row: Self::Row<'_>) {
                extend::<$value>(column, &[row]);
            }
            fn read(probe: &'static str, cells: Cells<'_>, n: usize) -> Result<Self::Owned, ColumnError> {
                load::<$value>(probe, cells, n, 1).map(|row| row[0])
            }
        }
    )*};
}
singles! {
    <V: PerGraph> Graph of V;
    Node of MaskOne;
}

fn extend<V: Value>(column: &mut Column, row: &[V::Item]) {
    let Some(cells) = V::Stored::cells_mut(column) else {
        unreachable!("a recorder makes its columns from the same declaration")
    };
    cells.extend(row.iter().map(|&item| V::store(item)));
}

fn load<V: Value>(probe: &'static str, cells: Cells<'_>, n: usize, expected: usize) -> Result<Vec<V::Item>, ColumnError> {
    let cells = V::Stored::cells(cells).ok_or(ColumnError::Type { probe })?;
    if cells.len() != expected {
        return Err(ColumnError::Length { probe, expected, found: cells.len() });
    }
    let load = |(cell, &stored)| V::load(stored, n).ok_or(ColumnError::Value { probe, cell });
    cells.iter().enumerate().map(load).collect()
}
