//! Products whose left rows are `ReLU` outputs: about half of their elements are 0, and the rows of the right matrix that belong to
//! these need not be read.
//!
//! Rows are compressed to lists of nonzero elements, as in the CSR format, and a row of the product is the sum of as many rows of
//! the right matrix. Every multiply-add then takes a load, where the blocks of a dense product ([`Gemm`]) share theirs: the gain is
//! at capacity a third at 50% zeros, and a factor of two at 67%. Denser rows go through the dense product ([`MAX_DENSITY`]). Networks
//! get sparser during training: the density of messages started at 0.5 and fell to 0.4 within some hundred steps.
//!
//! Even and odd list entries have separate accumulators, so that additions are independent; the order is the same on every
//! instruction set. NaN counts as nonzero. A NaN or infinite weight has no effect if all elements it is multiplied with are 0.

use crate::gemm::{Accumulate, Epilogue, Gemm};
use crate::isa::{Isa, Kernel};
use crate::memory::has_rows;
use crate::simd::{LANES, Simd};

/// Maximum fraction of nonzero elements at which the compressed product is faster.
const MAX_DENSITY: f64 = 0.65;

/// The nonzero elements of rows.
#[derive(Debug, Default)]
pub(crate) struct CompressedRows {
    values: Vec<f32>,
    /// Offset of the row of the right matrix that each element is multiplied with.
    offsets: Vec<u32>,
    /// The elements of row `i` are `start[i]..start[i + 1]`.
    start: Vec<u32>,
    /// Number of rows and row stride of the right matrix: all offsets lie inside this shape.
    matrix: [usize; 2],
}

/// Computes a product whose left rows have many zeros.
pub(crate) fn sparse_matmul(isa: Isa, product: Gemm<'_>, compressed: &mut CompressedRows) {
    let Gemm { m, k, a, a_row, a_col, b_row, .. } = product;
    assert!(a_col == 1 && has_rows(a, m, a_row, k), "the left rows must be contiguous");
    isa.run(Compress { rows: m, row_length: k, row_stride: a_row, from: a, matrix_stride: b_row, compressed });
    if compressed.nonzeros() as f64 > MAX_DENSITY * (m * k) as f64 {
        isa.run(product);
    } else {
        isa.run(SparseMatmul { product, compressed });
    }
}

impl CompressedRows {
    fn nonzeros(&self) -> usize {
        self.start.last().map_or(0, |&end| end as usize)
    }
}

struct Compress<'a> {
    rows: usize,
    row_length: usize,
    row_stride: usize,
    from: &'a [f32],
    matrix_stride: usize,
    compressed: &'a mut CompressedRows,
}

impl Kernel for Compress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let CompressedRows { values, offsets, start, matrix } = self.compressed;
        *matrix = [self.row_length, self.matrix_stride];
        // `compress` writes complete vectors, whatever number of lanes is nonzero.
        let capacity = self.rows * self.row_length + LANES;
        assert!(u32::try_from(capacity.max(self.row_length * self.matrix_stride)).is_ok(), "offsets must fit into 32 bits");
        if values.len() < capacity {
            values.resize(capacity, 0.0);
            offsets.resize(capacity, 0);
        }
        start.clear();
        let mut end = 0;
        for row in 0..self.rows {
            start.push(narrow(end));
            let row = &self.from[row * self.row_stride..][..self.row_length];
            for at in (0..row.len()).step_by(LANES) {
                let (first, step) = (narrow(at * self.matrix_stride), narrow(self.matrix_stride));
                // SAFETY: `end` never exceeds the number of elements visited, and a complete vector fits after all of them.
                end += unsafe {
                    s.compress(s.load_at(row, at), first, step, values.as_mut_ptr().add(end), offsets.as_mut_ptr().add(end))
                };
            }
        }
        start.push(narrow(end));
    }
}

/// Narrows an offset that was checked to fit.
#[expect(clippy::cast_possible_truncation, reason = "the caller asserted that the largest offset fits")]
fn narrow(offset: usize) -> u32 {
    offset as u32
}

struct SparseMatmul<'a> {
    product: Gemm<'a>,
    compressed: &'a CompressedRows,
}

impl Kernel for SparseMatmul<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let Gemm { m, n, k, b, b_row, c_row, accumulate, .. } = self.product;
        if m == 0 || n == 0 {
            return;
        }
        assert!(n.is_multiple_of(LANES) && c_row >= n && has_rows(self.product.c, m, c_row, n));
        assert!(self.compressed.start.len() == m + 1 && self.compressed.matrix == [k, b_row]);
        assert!(has_rows(b, k, b_row, n));
        if let Accumulate::Bias(bias) = accumulate {
            assert!(bias.len() >= n);
        }
        let mut j = 0;
        // SAFETY: the asserts bound all accesses. Only `Compress` creates the lists, so all offsets lie inside `matrix`.
        unsafe {
            // Columns are the outer loop: 64 columns of 128 rows are 32 KB and stay in the first-level cache.
            while S::REGISTERS >= 32 && j + 4 * LANES <= n {
                columns::<S, 4>(s, &mut self, j);
                j += 4 * LANES;
            }
            while S::REGISTERS >= 8 && j + 2 * LANES <= n {
                columns::<S, 2>(s, &mut self, j);
                j += 2 * LANES;
            }
            while j < n {
                columns::<S, 1>(s, &mut self, j);
                j += LANES;
            }
        }
    }
}

/// # Safety
/// The asserts of [`SparseMatmul::run`] must hold, and columns `j` to `j + NC * LANES` must exist.
#[inline(always)]
unsafe fn columns<S: Simd, const NC: usize>(s: S, p: &mut SparseMatmul<'_>, j: usize) {
    let CompressedRows { values, offsets, start, .. } = p.compressed;
    let (c_row, accumulate, epilogue) = (p.product.c_row, p.product.accumulate, p.product.epilogue);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (b, c) = (p.product.b.as_ptr().add(j), p.product.c.as_mut_ptr().add(j));
        for row in 0..p.product.m {
            let c = c.add(row * c_row);
            let (mut even, mut odd) = ([s.splat(0.0); NC], [s.splat(0.0); NC]);
            for v in 0..NC {
                match accumulate {
                    Accumulate::Zero => {}
                    Accumulate::Output => even[v] = s.load_ptr(c.add(v * LANES)),
                    Accumulate::Bias(bias) => even[v] = s.load_ptr(bias.as_ptr().add(j + v * LANES)),
                }
            }
            let (mut at, last) = (*start.get_unchecked(row) as usize, *start.get_unchecked(row + 1) as usize);
            while at + 2 <= last {
                let [x, y] = [at, at + 1].map(|at| *values.get_unchecked(at));
                let [row_x, row_y] = [at, at + 1].map(|at| b.add(*offsets.get_unchecked(at) as usize));
                for v in 0..NC {
                    even[v] = s.fma(s.splat(x), s.load_ptr(row_x.add(v * LANES)), even[v]);
                }
                for v in 0..NC {
                    odd[v] = s.fma(s.splat(y), s.load_ptr(row_y.add(v * LANES)), odd[v]);
                }
                at += 2;
            }
            if at < last {
                let (x, row_x) = (*values.get_unchecked(at), b.add(*offsets.get_unchecked(at) as usize));
                for v in 0..NC {
                    even[v] = s.fma(s.splat(x), s.load_ptr(row_x.add(v * LANES)), even[v]);
                }
            }
            for v in 0..NC {
                let sum = s.add(even[v], odd[v]);
                s.store_ptr(c.add(v * LANES), if epilogue == Epilogue::Relu { s.max(s.splat(0.0), sum) } else { sum });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Mat;

    /// Random elements, about one in `every` of them nonzero.
    fn rows(rows: usize, columns: usize, every: u32, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        (0..rows * columns).map(|_| if next() % every == 0 { (next() % 2000) as f32 / 1000.0 - 1.0 } else { 0.0 }).collect()
    }

    fn product(
        isa: Isa,
        a: &Mat,
        b: &Mat,
        accumulate: Accumulate<'_>,
        epilogue: Epilogue,
        compressed: Option<&mut CompressedRows>,
    ) -> Vec<f32> {
        let mut c = Mat::zeros(a.rows, b.columns);
        c.data.fill(0.5);
        let stride = c.stride;
        let product = Gemm { accumulate, epilogue, ..Gemm::rows(a.rows, (&a.data, a.stride), b, (&mut c.data, stride)) };
        match compressed {
            None => isa.run(product),
            Some(compressed) => sparse_matmul(isa, product, compressed),
        }
        let mut dense = vec![0.0; a.rows * b.columns];
        c.copy_to(&mut dense);
        dense
    }

    #[test]
    fn sparse_product_is_close_to_the_dense_one_and_has_the_same_bits_on_every_isa_with_fma() {
        let mut compressed = CompressedRows::default();
        for (seed, &[m, k, n]) in (1..).zip(&[[1, 1, 1], [3, 24, 24], [128, 128, 128], [17, 200, 40], [5, 130, 200], [9, 7, 65]])
        {
            for every in [1, 2, 3, 1000] {
                let a = Mat::copy(&rows(m, k, every, seed), m, k);
                let b = Mat::copy(&rows(k, n, 1, seed + 100), k, n);
                let bias = Mat::copy(&rows(1, n, 1, seed + 200), 1, n);
                for (accumulate, epilogue) in [
                    (Accumulate::Zero, Epilogue::Identity),
                    (Accumulate::Output, Epilogue::Identity),
                    (Accumulate::Bias(&bias.data), Epilogue::Relu),
                ] {
                    let best = product(Isa::best(), &a, &b, accumulate, epilogue, Some(&mut compressed));
                    for isa in Isa::available() {
                        let dense = product(isa, &a, &b, accumulate, epilogue, None);
                        let sparse = product(isa, &a, &b, accumulate, epilogue, Some(&mut compressed));
                        let near = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-5 * (k as f32).sqrt();
                        assert!(dense.iter().zip(&sparse).all(near), "{isa}, {m} {k} {n}, one in {every}");
                        assert!(sparse == best || isa.has_fma() != Isa::best().has_fma(), "{isa}, {m} {k} {n}, one in {every}");
                    }
                }
            }
        }
    }

    #[test]
    fn nan_counts_as_nonzero() {
        for isa in Isa::available() {
            let mut row = vec![0.0; 40];
            row[33] = f32::NAN;
            let (a, b) = (Mat::copy(&row, 1, 40), Mat::copy(&[1.0; 80], 40, 2));
            let out = product(isa, &a, &b, Accumulate::Zero, Epilogue::Relu, Some(&mut CompressedRows::default()));
            assert!(out.iter().all(|x| x.is_nan()), "{isa}");
        }
    }
}
