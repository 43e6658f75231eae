//! Products of rows that were rectified: half of their numbers are 0, and what these are multiplied with need not be read.
//!
//! A row becomes a list of its numbers that are not 0, and its product the sum of as many rows of the right matrix. That takes a
//! load for every multiply-add, where blocks of a dense product ([`Gemm`]) share theirs, so it is no more than a third faster
//! where half of the numbers are 0, and twice as fast where two thirds are. Rows that are fuller than that are multiplied as any
//! others ([`SPARSE`]). Networks get sparser while they learn: messages begin at one half, and came down to two fifths in some hundred steps.
//!
//! Sums are made of two, over every other number of the list, so that additions do not wait for one another: the same on every
//! instruction set. A NaN is not 0. A weight that is NaN or infinite does not show where all that it is multiplied with is 0.

use crate::gemm::{Accumulate, Epilogue, Gemm};
use crate::isa::{Isa, Kernel};
use crate::memory::has_rows;
use crate::simd::{LANES, Simd};

/// The share of numbers that are not 0 up to which compressed are faster.
const SPARSE: f64 = 0.65;

/// What is not 0 of some rows.
#[derive(Debug, Default)]
pub(crate) struct CompressedRows {
    values: Vec<f32>,
    /// Where the rows begin that each is multiplied with.
    offsets: Vec<u32>,
    /// The list of row `i` is `start[i]..start[i + 1]`.
    start: Vec<u32>,
    /// The shape that all offsets are inside of: how many rows the right matrix has, and how far they are apart.
    matrix: [usize; 2],
}

/// Computes a product whose left rows have many zeros.
pub(crate) fn sparse_matmul(isa: Isa, product: Gemm<'_>, compressed: &mut CompressedRows) {
    let Gemm { m, k, a, a_row, a_col, b_row, .. } = product;
    assert!(a_col == 1 && has_rows(a, m, a_row, k), "rows of numbers side by side");
    isa.run(Compress { rows: m, row_length: k, rows_apart: a_row, from: a, matrix_apart: b_row, compressed });
    if compressed.values_count() as f64 > SPARSE * (m * k) as f64 {
        isa.run(product);
    } else {
        isa.run(SparseMatmul { product, compressed });
    }
}

impl CompressedRows {
    fn values_count(&self) -> usize {
        self.start.last().map_or(0, |&end| end as usize)
    }
}

struct Compress<'a> {
    rows: usize,
    row_length: usize,
    rows_apart: usize,
    from: &'a [f32],
    matrix_apart: usize,
    compressed: &'a mut CompressedRows,
}

impl Kernel for Compress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let CompressedRows { values, offsets, start, matrix } = self.compressed;
        *matrix = [self.row_length, self.matrix_apart];
        // A register is written whole, whatever of it counts.
        let most = self.rows * self.row_length + LANES;
        assert!(u32::try_from(most.max(self.row_length * self.matrix_apart)).is_ok(), "offsets are 32 bits");
        if values.len() < most {
            values.resize(most, 0.0);
            offsets.resize(most, 0);
        }
        start.clear();
        let mut end = 0;
        for row in 0..self.rows {
            start.push(count(end));
            let row = &self.from[row * self.rows_apart..][..self.row_length];
            for at in (0..row.len()).step_by(LANES) {
                let (first, step) = (count(at * self.matrix_apart), count(self.matrix_apart));
                // SAFETY: `end` counts no more numbers than were gone through, and there is room for a register behind them all.
                end += unsafe {
                    s.compress(s.load_at(row, at), first, step, values.as_mut_ptr().add(end), offsets.as_mut_ptr().add(end))
                };
            }
        }
        start.push(count(end));
    }
}

/// Of what was found to fit.
#[expect(clippy::cast_possible_truncation, reason = "asserted for the largest")]
fn count(count: usize) -> u32 {
    count as u32
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
        // SAFETY: the asserts bound all accesses; compressed are made by `Compress` alone, so that offsets are inside of `matrix`.
        unsafe {
            // Columns outside: 64 of them, of 128 rows, are 32 KB, and stay in the first-level cache.
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
/// What [`SparseMatmul::run`] asserts has to hold, and columns `j` to `j + NC * LANES` have to be there.
#[inline(always)]
unsafe fn columns<S: Simd, const NC: usize>(s: S, p: &mut SparseMatmul<'_>, j: usize) {
    let CompressedRows { values, offsets, start: ends, .. } = p.compressed;
    let (c_row, accumulate, epilogue) = (p.product.c_row, p.product.accumulate, p.product.epilogue);
    // SAFETY: as the caller says.
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
            let (mut at, last) = (*ends.get_unchecked(row) as usize, *ends.get_unchecked(row + 1) as usize);
            while at + 2 <= last {
                let [x, y] = [at, at + 1].map(|at| *values.get_unchecked(at));
                let [to_x, to_y] = [at, at + 1].map(|at| b.add(*offsets.get_unchecked(at) as usize));
                for v in 0..NC {
                    even[v] = s.fma(s.splat(x), s.load_ptr(to_x.add(v * LANES)), even[v]);
                }
                for v in 0..NC {
                    odd[v] = s.fma(s.splat(y), s.load_ptr(to_y.add(v * LANES)), odd[v]);
                }
                at += 2;
            }
            if at < last {
                let (x, to_x) = (*values.get_unchecked(at), b.add(*offsets.get_unchecked(at) as usize));
                for v in 0..NC {
                    even[v] = s.fma(s.splat(x), s.load_ptr(to_x.add(v * LANES)), even[v]);
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

    /// Numbers of which about one in `every` is not 0.
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
    fn sparse_rows_have_the_product_of_dense_ones_and_the_same_bits_on_all_fused_sets() {
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
    fn nan_is_not_nothing() {
        for isa in Isa::available() {
            let mut numbers = vec![0.0; 40];
            numbers[33] = f32::NAN;
            let (a, b) = (Mat::copy(&numbers, 1, 40), Mat::copy(&[1.0; 80], 40, 2));
            let out = product(isa, &a, &b, Accumulate::Zero, Epilogue::Relu, Some(&mut CompressedRows::default()));
            assert!(out.iter().all(|x| x.is_nan()), "{isa}");
        }
    }
}
