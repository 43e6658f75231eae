//! Cell types: the Rust types of probes by location and kind.
//!
//! A row of `Node<Pointer>` is a `&[usize]`, of `Graph<Scalar>` an `f64`, of `Node<MaskOne>` a `usize`, of `Edge<Masked<Mask>>`
//! a `&[Option<bool>]`. Thirteen combinations of location and kind exist, those of the benchmark; any other does not compile:
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
/// 0 or 1, as `bool`.
pub struct Mask;
/// A mask that is 1 for a single node, as the node (`usize`).
pub struct MaskOne;
/// A node, as `usize`.
pub struct Pointer;
/// A predecessor in a linear order, as `usize`.
pub struct Permutation;
/// One of `CLASSES` classes, as `usize`.
pub struct Categorical<const CLASSES: usize>;
/// A value, or `None` where masked out. The last class of a masked categorical is the blank class, which is -1 in dense arrays
/// where masked out.
pub struct Masked<V>(PhantomData<V>);

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// The value of a single cell, at any location.
pub trait Value: Sealed + 'static {
    /// The kind in the spec.
    const KIND: Kind;
    /// Whether cells can be masked out.
    const MASKED: bool = false;
    /// The type in algorithms.
    type Item: Copy + std::fmt::Debug + PartialEq;
    /// The type in columns.
    type Stored: Stored;

    /// Converts to the column type. Nodes are not checked here; a recorder checks them once per sample.
    fn store(item: Self::Item) -> Self::Stored;
    /// Converts from the column type. Returns `None` if the value is out of range for `n` nodes.
    fn load(stored: Self::Stored, n: usize) -> Option<Self::Item>;
}

/// One line per value: kind, type in algorithms `as` type in columns, conversion to and from the column type.
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

#[expect(clippy::cast_possible_truncation, reason = "a recorder rejects problems above `MAX_NODES`")]
fn store_node(node: usize) -> u32 {
    node as u32
}

fn load_node(node: u32, n: usize) -> Option<usize> {
    Some(node as usize).filter(|&node| node < n)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 127 classes")]
fn store_class(class: usize) -> i8 {
    class as i8
}

/// Checks at compile time that the classes and -1 fit into a byte.
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

/// Values that the benchmark attaches to nodes.
pub trait PerNode: Value {}
/// Values that the benchmark attaches to pairs of nodes.
pub trait PerEdge: Value {}
/// Values that the benchmark attaches to graphs.
pub trait PerGraph: Value {}

macro_rules! pairs {
    ($($location:ident: $($(const $classes:ident =>)? $value:ty),*;)*) => {
        $($(impl$(<const $classes: usize>)? $location for $value {})*)*
    };
}

// `Node<MaskOne>` is the thirteenth, below. `Masked` applies wherever its value does.
pairs! {
    PerNode: Scalar, Mask, Pointer, Permutation, const K => Categorical<K>;
    PerEdge: Scalar, Mask, Pointer, const K => Categorical<K>;
    PerGraph: Scalar, Mask, const K => Categorical<K>;
}
impl<V: PerNode + Value<Stored = i8>> PerNode for Masked<V> {}
impl<V: PerEdge + Value<Stored = i8>> PerEdge for Masked<V> {}

/// A combination of location and kind, and the type of its rows.
pub trait Cell: Sealed {
    /// The location in the spec.
    const LOCATION: Location;
    /// The kind in the spec.
    const KIND: Kind;
    /// Whether cells can be masked out.
    const MASKED: bool;
    /// A borrowed row, as algorithms record it.
    type Row<'a>;
    /// An owned row, for inputs and outputs.
    type Owned: Clone + std::fmt::Debug + PartialEq;

    /// Creates an empty column.
    fn column() -> Column;
    /// Borrows an owned row.
    fn borrow(owned: &Self::Owned) -> Self::Row<'_>;
    /// Appends a row.
    fn push(column: &mut Column, row: Self::Row<'_>);
    /// Reads untrusted cells as one row.
    fn read(probe: &'static str, cells: Cells<'_>, n: usize) -> Result<Self::Owned, ColumnError>;
}

/// Rows with one value per node or pair of nodes: slices.
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

/// Rows with a single value.
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
        unreachable!("a recorder creates its columns from the same declaration")
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
