//! How matrices lie in memory while kernels work on them.
//!
//! Callers give and take dense rows. Inside, rows are padded twice. Columns are rounded up to a cache line, and the padding is
//! zero, so that inner loops have no tails. And rows lie an odd number of cache lines apart: with an even number (128 columns
//! are 8 lines) the same columns of successive rows fall into few sets of the first-level cache and evict one another, while
//! an odd number walks through all of them. A plain copy with such rows is as fast as any packed layout, and serves blocks of
//! every shape.

use std::ops::{Deref, DerefMut};

use crate::simd::LANES;

/// The number of columns, padding included.
pub(crate) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

/// How many numbers a shape has. What is checked against a product that wrapped around would bound nothing.
///
/// # Panics
/// If there are more than memory could ever have.
pub(crate) fn elements<const D: usize>(shape: [usize; D]) -> usize {
    shape.into_iter().try_fold(1, usize::checked_mul).expect("a shape that fits into memory")
}

/// Numbers from the start of a cache line on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer(Vec<Line>);

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

impl Buffer {
    pub(crate) fn zeros(len: usize) -> Buffer {
        Buffer(vec![Line([0.0; LANES]); len.div_ceil(LANES)])
    }

    /// At least so long. What it holds is unspecified.
    pub(crate) fn fit(&mut self, len: usize) {
        if self.len() < len {
            *self = Buffer::zeros(len);
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: a `Line` is `LANES` numbers and nothing else.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * LANES) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * LANES) }
    }
}

/// Rows that lie apart as told above.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mat {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// From the start of a row to that of the next.
    pub(crate) stride: usize,
    pub(crate) data: Buffer,
}

impl Mat {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Mat {
        let mut mat = Mat::default();
        mat.fit(rows, columns);
        mat
    }

    /// The same shape as a dense matrix, and its numbers.
    pub(crate) fn copy(dense: &[f32], rows: usize, columns: usize) -> Mat {
        let mut mat = Mat::zeros(rows, columns);
        mat.fill_from(dense);
        mat
    }

    /// Takes a shape, in the memory that is there if it is enough. What it holds is unspecified, padding included.
    pub(crate) fn fit(&mut self, rows: usize, columns: usize) {
        let stride = elements([columns.div_ceil(LANES) | 1, LANES]);
        self.data.fit(elements([rows, stride]));
        (self.rows, self.columns, self.stride) = (rows, columns, stride);
    }

    pub(crate) fn clear(&mut self) {
        let used = self.rows * self.stride;
        self.data[..used].fill(0.0);
    }

    /// Columns with their padding.
    pub(crate) fn width(&self) -> usize {
        padded(self.columns)
    }

    /// A row without its padding.
    pub(crate) fn row(&self, row: usize) -> &[f32] {
        &self.data[row * self.stride..][..self.columns]
    }

    /// A row with its padding.
    pub(crate) fn padded_row_mut(&mut self, row: usize) -> &mut [f32] {
        let (stride, width) = (self.stride, self.width());
        &mut self.data[row * stride..][..width]
    }

    /// Copies a dense matrix of the same shape, and clears the padding.
    pub(crate) fn fill_from(&mut self, dense: &[f32]) {
        let columns = self.columns;
        assert_eq!(dense.len(), elements([self.rows, columns]), "a matrix has rows times columns numbers");
        for (row, from) in dense.chunks_exact(columns.max(1)).enumerate() {
            let to = self.padded_row_mut(row);
            to[..columns].copy_from_slice(from);
            to[columns..].fill(0.0);
        }
    }

    /// Copies to a dense matrix of the same shape.
    pub(crate) fn copy_to(&self, dense: &mut [f32]) {
        assert_eq!(dense.len(), elements([self.rows, self.columns]), "a matrix has rows times columns numbers");
        for (row, to) in dense.chunks_exact_mut(self.columns.max(1)).enumerate() {
            to.copy_from_slice(self.row(row));
        }
    }

    /// Adds to a dense matrix of the same shape.
    pub(crate) fn add_to(&self, dense: &mut [f32]) {
        assert_eq!(dense.len(), elements([self.rows, self.columns]), "a matrix has rows times columns numbers");
        for (row, to) in dense.chunks_exact_mut(self.columns.max(1)).enumerate() {
            to.iter_mut().zip(self.row(row)).for_each(|(to, x)| *to += x);
        }
    }

    /// Adds the transpose to a dense matrix of the transposed shape.
    pub(crate) fn add_transposed_to(&self, dense: &mut [f32]) {
        assert_eq!(dense.len(), elements([self.rows, self.columns]), "a matrix has rows times columns numbers");
        by_blocks(self.columns, self.rows, |i, j| dense[i * self.rows + j] += self.data[j * self.stride + i]);
    }

    /// The transpose of a dense matrix of `columns` rows and `rows` columns.
    pub(crate) fn transposed(dense: &[f32], rows: usize, columns: usize) -> Mat {
        assert_eq!(dense.len(), elements([rows, columns]), "a matrix has rows times columns numbers");
        Mat::turned(dense, rows, rows, columns)
    }

    pub(crate) fn transpose(&self) -> Mat {
        Mat::turned(&self.data, self.stride, self.columns, self.rows)
    }

    /// Becomes the transpose of a dense matrix of `columns` rows and `rows` columns.
    pub(crate) fn fill_transposed(&mut self, dense: &[f32], rows: usize, columns: usize) {
        assert_eq!(dense.len(), elements([rows, columns]), "a matrix has rows times columns numbers");
        self.fit(rows, columns);
        self.clear();
        self.turn(dense, rows);
    }

    fn turned(from: &[f32], from_stride: usize, rows: usize, columns: usize) -> Mat {
        let mut to = Mat::zeros(rows, columns);
        to.turn(from, from_stride);
        to
    }

    fn turn(&mut self, from: &[f32], from_stride: usize) {
        let stride = self.stride;
        by_blocks(self.rows, self.columns, |i, j| self.data[i * stride + j] = from[j * from_stride + i]);
    }
}

/// A dense matrix `[rows, columns]` as rows without tails: itself if its columns are whole cache lines, or else a padded copy.
/// Also the distance between rows.
pub(crate) fn padded_rows<'a>(dense: &'a [f32], columns: usize, copy: &'a mut Mat) -> (&'a [f32], usize) {
    if columns.is_multiple_of(LANES) {
        return (dense, columns);
    }
    copy.fit(dense.len() / columns, columns);
    copy.fill_from(dense);
    (&copy.data, copy.stride)
}

/// Whether so many rows of such a width are there.
pub(crate) fn has_rows(slice: &[f32], rows: usize, stride: usize, width: usize) -> bool {
    rows == 0 || elements([rows - 1, stride]).checked_add(width).is_some_and(|needed| slice.len() >= needed)
}

/// Walks over a matrix in squares: both what is read by rows and what is read by columns stays in cache.
fn by_blocks(rows: usize, columns: usize, mut each: impl FnMut(usize, usize)) {
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
