//! Layout of matrices while kernels work on them.
//!
//! Callers pass and receive dense rows. Internally, rows are padded twice. First, the columns are rounded up to a cache line, and
//! the padding is zero, so that inner loops have no tails. Second, the row stride is an odd number of cache lines. With an even
//! number (128 columns are 8 lines), the same columns of successive rows map to few sets of the first-level cache and evict one
//! another; an odd number visits all sets. A plain copy with this stride is as fast as any packed layout, and serves blocks of
//! every shape.

use std::ops::{Deref, DerefMut};

use crate::simd::LANES;

/// Number of columns with padding.
pub(crate) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

/// Number of elements of a shape. A length check against a product that wrapped around would bound nothing.
///
/// # Panics
/// If the number overflows.
pub(crate) fn elements<const D: usize>(shape: [usize; D]) -> usize {
    shape.into_iter().try_fold(1, usize::checked_mul).expect("a shape that fits into memory")
}

/// Elements that start at a cache line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer(Vec<Line>);

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

impl Buffer {
    pub(crate) fn zeros(len: usize) -> Buffer {
        Buffer(vec![Line([0.0; LANES]); len.div_ceil(LANES)])
    }

    /// Grows to at least `len` elements. The contents are unspecified.
    pub(crate) fn fit(&mut self, len: usize) {
        if self.len() < len {
            *self = Buffer::zeros(len);
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: a `Line` is `LANES` elements without padding.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * LANES) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * LANES) }
    }
}

/// A matrix in the layout that the module documentation describes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mat {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Distance between the starts of successive rows.
    pub(crate) stride: usize,
    pub(crate) data: Buffer,
}

impl Mat {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Mat {
        let mut mat = Mat::default();
        mat.fit(rows, columns);
        mat
    }

    /// Copies a dense matrix `[rows, columns]`.
    pub(crate) fn copy(dense: &[f32], rows: usize, columns: usize) -> Mat {
        let mut mat = Mat::zeros(rows, columns);
        mat.fill_from(dense);
        mat
    }

    /// Changes the shape, and allocates only if the memory does not suffice. The contents are unspecified, padding included.
    pub(crate) fn fit(&mut self, rows: usize, columns: usize) {
        let stride = elements([columns.div_ceil(LANES) | 1, LANES]);
        self.data.fit(elements([rows, stride]));
        (self.rows, self.columns, self.stride) = (rows, columns, stride);
    }

    /// Fills the matrix and its padding with zeros.
    pub(crate) fn clear(&mut self) {
        let used = self.rows * self.stride;
        self.data[..used].fill(0.0);
    }

    /// Number of columns with padding.
    pub(crate) fn width(&self) -> usize {
        padded(self.columns)
    }

    /// A row without padding.
    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.data[row * self.stride..][..self.columns]
    }

    /// A row with padding.
    pub(crate) fn padded_row_mut(&mut self, row: usize) -> &mut [f32] {
        let (stride, width) = (self.stride, self.width());
        &mut self.data[row * stride..][..width]
    }

    /// Copies a dense matrix of the same shape, and clears the padding.
    pub(crate) fn fill_from(&mut self, dense: &[f32]) {
        let columns = self.columns;
        assert_eq!(dense.len(), elements([self.rows, columns]), "a dense matrix must have rows * columns elements");
        for (row, from) in dense.chunks_exact(columns.max(1)).enumerate() {
            let to = self.padded_row_mut(row);
            to[..columns].copy_from_slice(from);
            to[columns..].fill(0.0);
        }
    }

    /// Copies to a dense matrix of the same shape.
    pub(crate) fn copy_to(&self, dense: &mut [f32]) {
        assert_eq!(dense.len(), elements([self.rows, self.columns]), "a dense matrix must have rows * columns elements");
        for (row, to) in dense.chunks_exact_mut(self.columns.max(1)).enumerate() {
            to.copy_from_slice(self.row(row));
        }
    }

    /// Adds to a dense matrix of the same shape.
    pub(crate) fn add_to(&self, dense: &mut [f32]) {
        assert_eq!(dense.len(), elements([self.rows, self.columns]), "a dense matrix must have rows * columns elements");
        for (row, to) in dense.chunks_exact_mut(self.columns.max(1)).enumerate() {
            to.iter_mut().zip(self.row(row)).for_each(|(to, x)| *to += x);
        }
    }

    /// Adds the transpose to a dense matrix of the transposed shape.
    pub(crate) fn add_transposed_to(&self, dense: &mut [f32]) {
        assert_eq!(dense.len(), elements([self.rows, self.columns]), "a dense matrix must have rows * columns elements");
        for_each_blocked(self.columns, self.rows, |i, j| dense[i * self.rows + j] += self.data[j * self.stride + i]);
    }

    /// Transposes a dense matrix `[columns, rows]`.
    pub(crate) fn transposed(dense: &[f32], rows: usize, columns: usize) -> Mat {
        assert_eq!(dense.len(), elements([rows, columns]), "a dense matrix must have rows * columns elements");
        let mut mat = Mat::zeros(rows, columns);
        mat.transpose_from(dense, rows);
        mat
    }

    pub(crate) fn transpose(&self) -> Mat {
        let mut mat = Mat::zeros(self.columns, self.rows);
        mat.transpose_from(&self.data, self.stride);
        mat
    }

    /// Becomes the transpose of a dense matrix `[columns, rows]`.
    pub(crate) fn fill_transposed(&mut self, dense: &[f32], rows: usize, columns: usize) {
        assert_eq!(dense.len(), elements([rows, columns]), "a dense matrix must have rows * columns elements");
        self.fit(rows, columns);
        self.clear();
        self.transpose_from(dense, rows);
    }

    /// Writes the transpose of a matrix with the given row stride.
    fn transpose_from(&mut self, from: &[f32], from_stride: usize) {
        let stride = self.stride;
        assert!(has_rows(&self.data, self.rows, stride, self.columns) && has_rows(from, self.columns, from_stride, self.rows));
        let to = &mut self.data[..];
        for_each_blocked(self.rows, self.columns, |i, j| {
            // SAFETY: `i` is less than the number of rows and `j` than that of columns, so the asserts bound both indices. Checks
            // of every element would take longer than the copy.
            unsafe { *to.get_unchecked_mut(i * stride + j) = *from.get_unchecked(j * from_stride + i) };
        });
    }
}

/// A dense matrix of the given number of columns as rows without tails, and their stride: the matrix itself if its rows are
/// complete cache lines, otherwise a padded copy.
pub(crate) fn padded_rows<'a>(dense: &'a [f32], columns: usize, copy: &'a mut Mat) -> (&'a [f32], usize) {
    if columns.is_multiple_of(LANES) {
        return (dense, columns);
    }
    copy.fit(dense.len() / columns, columns);
    copy.fill_from(dense);
    (&copy.data, copy.stride)
}

/// Whether a slice is long enough for `rows` rows of `width` elements at the given stride.
pub(crate) fn has_rows(slice: &[f32], rows: usize, stride: usize, width: usize) -> bool {
    rows == 0 || elements([rows - 1, stride]).checked_add(width).is_some_and(|needed| slice.len() >= needed)
}

/// Visits all elements of a matrix in square blocks, so that accesses by rows and accesses by columns both stay in cache.
fn for_each_blocked(rows: usize, columns: usize, mut each: impl FnMut(usize, usize)) {
    for top in (0..rows).step_by(LANES) {
        for left in (0..columns).step_by(LANES) {
            for i in top..rows.min(top + LANES) {
                for j in left..columns.min(left + LANES) {
                    each(i, j);
                }
            }
        }
    }
}
