//! Matrix products: `c = epilogue(initial + a b)`.
//!
//! A block of `c` stays in registers while a column block of `b` streams by. Columns are the outer loop and rows the inner one, so
//! that the column block stays in the first-level cache for all rows. [`PackedMatrix`] is not packed into panels: it is a copy with
//! a row stride of an odd number of cache lines (see `memory.rs`), created once for weights. Other matrices are read in place.
//!
//! Forward is [`matmul_packed`]. Backward is [`matmul_packed`] with [`PackedMatrix::transposed`] for the gradient of the rows, and
//! [`add_matmul_tn`] for the gradient of the weights, after [`relu_backward`] where the epilogue is a `ReLU`.
//!
//! # Bits
//! Every element is a sum over the inner dimension in order, with one rounding per term where multiply-add is fused: the bits do
//! not depend on the block shape or on the number of rows, and AVX2 and AVX-512 agree. A `b` of one column is summed in sixteen
//! lanes instead, in the same order everywhere. Without fused multiply-add, results differ by at most `k` roundings.

use crate::Scratch;
use crate::isa::{Isa, Kernel};
use crate::memory::{Mat, elements, has_rows};
use crate::simd::{LANES, Simd};

/// A matrix copied into the layout that products read fastest.
#[derive(Clone, Debug)]
pub struct PackedMatrix {
    mat: Mat,
    /// The dense column of a matrix of one column, otherwise empty.
    column: Vec<f32>,
}

impl PackedMatrix {
    /// Copies a dense matrix `[rows, columns]`.
    ///
    /// # Panics
    /// If the length does not match.
    pub fn new(dense: &[f32], rows: usize, columns: usize) -> PackedMatrix {
        PackedMatrix::of(dense, Mat::copy(dense, rows, columns))
    }

    /// Copies the transpose, `[rows, columns]`, of a dense matrix `[columns, rows]`.
    ///
    /// # Panics
    /// If the length does not match.
    pub fn transposed(dense: &[f32], rows: usize, columns: usize) -> PackedMatrix {
        PackedMatrix::of(dense, Mat::transposed(dense, rows, columns))
    }

    /// A single column has the same dense layout as its transpose.
    fn of(dense: &[f32], mat: Mat) -> PackedMatrix {
        let column = if mat.columns == 1 { dense.to_vec() } else { Vec::new() };
        PackedMatrix { mat, column }
    }
}

/// Initial value of the accumulators.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Accumulate<'a> {
    /// 0.
    Zero,
    /// The contents of the output, which the product is added to.
    Output,
    /// A bias, `[n]`, added to every row.
    Bias(&'a [f32]),
}

/// Function applied to the accumulators before they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Epilogue {
    /// None.
    Identity,
    /// Rectified linear unit: negative values become 0; NaN stays.
    Relu,
}

/// `c = epilogue(initial + a b)`, for `a` `[rows, k]`, `b` `[k, n]` and `c` `[rows, n]`.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// use clrs_kernels::Isa;
/// use clrs_kernels::gemm::{Accumulate, Epilogue, PackedMatrix, matmul_packed};
///
/// let weight = PackedMatrix::new(&[1.0, -1.0, 2.0, -2.0], 2, 2);
/// let mut c = [0.0; 2];
/// matmul_packed(Isa::best(), &[3.0, 4.0], &weight, Accumulate::Bias(&[0.5, 0.5]), Epilogue::Relu, &mut c);
/// assert_eq!(c, [11.5, 0.0]);
/// ```
pub fn matmul_packed(isa: Isa, a: &[f32], b: &PackedMatrix, accumulate: Accumulate<'_>, epilogue: Epilogue, c: &mut [f32]) {
    let (k, n) = (b.mat.rows, b.mat.columns);
    let rows = c.len().checked_div(n).unwrap_or(0);
    assert!(a.len() == elements([rows, k]) && c.len() == rows * n, "a must be [rows, k], c [rows, n]");
    if n == 1 {
        return isa.run(MatVec { a, column: &b.column, accumulate, epilogue, c });
    }
    isa.run(Gemm {
        m: rows,
        n,
        k,
        a,
        a_row: k,
        a_col: 1,
        b: &b.mat.data,
        b_row: b.mat.stride,
        c,
        c_row: n,
        accumulate,
        epilogue,
    });
}

/// `c = epilogue(initial + a b)`, for `a` `[rows, k]`, a dense `b` `[k, n]` that is used once, and `c` `[rows, n]`.
///
/// # Panics
/// If lengths do not match.
pub fn matmul(
    isa: Isa,
    [rows, k, n]: [usize; 3],
    a: &[f32],
    b: &[f32],
    accumulate: Accumulate<'_>,
    epilogue: Epilogue,
    c: &mut [f32],
) {
    assert!(a.len() == elements([rows, k]) && b.len() == elements([k, n]), "a must be [rows, k], b [k, n]");
    assert_eq!(c.len(), elements([rows, n]), "c must be [rows, n]");
    isa.run(Gemm { m: rows, n, k, a, a_row: k, a_col: 1, b, b_row: n, c, c_row: n, accumulate, epilogue });
}

/// `c += aᵀ b`, for `a` `[rows, k]`, `b` `[rows, n]` and `c` `[k, n]`: the gradient of weights, from the input and the gradient of
/// the output. `tn` are BLAS' flags: `a` is transposed, `b` is not.
///
/// # Panics
/// If lengths do not match.
pub fn add_matmul_tn(isa: Isa, [rows, k, n]: [usize; 3], a: &[f32], b: &[f32], c: &mut [f32], scratch: &mut Scratch) {
    assert!(a.len() == elements([rows, k]) && b.len() == elements([rows, n]), "a must be [rows, k], b [rows, n]");
    assert_eq!(c.len(), elements([k, n]), "c must be [k, n]");
    let (accumulate, epilogue) = (Accumulate::Output, Epilogue::Identity);
    if n == 1 {
        // A single column has the layout of a row, and rows fill registers.
        return isa.run(Gemm {
            m: 1,
            n: k,
            k: rows,
            a: b,
            a_row: rows,
            a_col: 1,
            b: a,
            b_row: k,
            c,
            c_row: k,
            accumulate,
            epilogue,
        });
    }
    // Every row block of `c` reads all of `b`, so a copy with a good stride pays off after a few of them.
    let (b, b_row) = if k >= 4 * MAX_BLOCK_ROWS && n > 0 {
        scratch.gemm.fit(rows, n);
        scratch.gemm.fill_from(b);
        (&scratch.gemm.data[..], scratch.gemm.stride)
    } else {
        (b, n)
    };
    isa.run(Gemm { m: k, n, k: rows, a, a_row: 1, a_col: k, b, b_row, c, c_row: n, accumulate, epilogue });
}

/// Gradient of [`Epilogue::Relu`]: writes the gradient of its input to `d_x`, given its result `y` and the gradient `d_y` of that.
///
/// # Panics
/// If lengths do not match.
pub fn relu_backward(y: &[f32], d_y: &[f32], d_x: &mut [f32]) {
    assert!(y.len() == d_y.len() && y.len() == d_x.len(), "y, d_y and d_x must have the same length");
    d_x.iter_mut().zip(y).zip(d_y).for_each(|((d_x, y), d_y)| *d_x = if *y > 0.0 { *d_y } else { 0.0 });
}

/// Adds `a x` to `y`, for `a` of shape `[y.len(), x.len()]`. Sums run in sixteen lanes.
///
/// # Panics
/// If lengths do not match.
pub fn add_matvec(isa: Isa, a: &[f32], x: &[f32], y: &mut [f32]) {
    assert_eq!(a.len(), elements([y.len(), x.len()]), "a must be [y.len(), x.len()]");
    isa.run(MatVec { a, column: x, accumulate: Accumulate::Output, epilogue: Epilogue::Identity, c: y });
}

/// `c[m] = epilogue(initial + a[m, k] column[k])`. A block of one column would use one lane of its registers, so lanes run along
/// `k` here: every lane has its own sum, and [`Simd::reduce_sum`] adds them.
struct MatVec<'a> {
    a: &'a [f32],
    column: &'a [f32],
    accumulate: Accumulate<'a>,
    epilogue: Epilogue,
    c: &'a mut [f32],
}

impl Kernel for MatVec<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let k = self.column.len();
        // Four rows at a time: their sums are independent.
        for (chunk, c) in self.c.chunks_mut(4).enumerate() {
            let mut sums = [s.splat(0.0); 4];
            for at in (0..k).step_by(LANES) {
                let right = s.load_at(self.column, at);
                for r in 0..c.len() {
                    let row = &self.a[(4 * chunk + r) * k..][..k];
                    sums[r] = s.fma(s.load_at(row, at), right, sums[r]);
                }
            }
            for r in 0..c.len() {
                let initial = match self.accumulate {
                    Accumulate::Zero => 0.0,
                    Accumulate::Output => c[r],
                    Accumulate::Bias(bias) => bias[0],
                };
                let sum = initial + s.reduce_sum(sums[r]);
                c[r] = if self.epilogue == Epilogue::Relu && sum < 0.0 { 0.0 } else { sum };
            }
        }
    }
}

/// `c[m, n] = epilogue(initial + a[m, k] b[k, n])`. Element `(i, k)` of `a` is at `i * a_row + k * a_col`, so that a transposed
/// `a` needs no copy.
pub(crate) struct Gemm<'a> {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a: &'a [f32],
    pub(crate) a_row: usize,
    pub(crate) a_col: usize,
    pub(crate) b: &'a [f32],
    pub(crate) b_row: usize,
    pub(crate) c: &'a mut [f32],
    pub(crate) c_row: usize,
    pub(crate) accumulate: Accumulate<'a>,
    pub(crate) epilogue: Epilogue,
}

impl<'a> Gemm<'a> {
    /// The product of the first `m` rows of `a` with all of `b`, padding included.
    pub(crate) fn rows(m: usize, a: (&'a [f32], usize), b: &'a Mat, (c, c_row): (&'a mut [f32], usize)) -> Gemm<'a> {
        Gemm {
            m,
            n: b.width(),
            k: b.rows,
            a: a.0,
            a_row: a.1,
            a_col: 1,
            b: &b.data,
            b_row: b.stride,
            c,
            c_row,
            accumulate: Accumulate::Zero,
            epilogue: Epilogue::Identity,
        }
    }

    /// `c += aᵀ b` over the first `rows` rows of both, including the padding of `b`.
    pub(crate) fn weight_gradient(rows: usize, a: (&'a [f32], usize), b: (&'a [f32], usize), c: &'a mut Mat) -> Gemm<'a> {
        Gemm {
            m: c.rows,
            n: c.width(),
            k: rows,
            a: a.0,
            a_row: 1,
            a_col: a.1,
            b: b.0,
            b_row: b.1,
            c_row: c.stride,
            c: &mut c.data,
            accumulate: Accumulate::Output,
            epilogue: Epilogue::Identity,
        }
    }
}

/// Maximum number of rows of a block.
const MAX_BLOCK_ROWS: usize = 12;

/// Length of a block of the inner dimension: a column block of this height fits roughly into the first-level cache.
const K_BLOCK: usize = 256;

impl Kernel for Gemm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        let g = &mut self;
        if g.m == 0 || g.n == 0 {
            return;
        }
        assert!(g.c_row >= g.n && has_rows(g.c, g.m, g.c_row, g.n));
        if g.k > 0 {
            assert!(g.b_row >= g.n && has_rows(g.b, g.k, g.b_row, g.n));
            assert!(has_rows(g.a, g.m, g.a_row, elements([g.k - 1, g.a_col]) + 1));
        }
        if let Accumulate::Bias(bias) = g.accumulate {
            assert!(bias.len() >= g.n);
        }
        let all = g.k;
        let (a, b, epilogue) = (g.a, g.b, g.epilogue);
        let mut from = 0;
        loop {
            g.k = (all - from).min(K_BLOCK);
            let last = from + g.k == all;
            g.epilogue = if last { epilogue } else { Epilogue::Identity };
            // SAFETY: the asserts above bound all accesses of the complete product, and this is a slice of it along `k`.
            unsafe { by_columns(s, g) };
            from += g.k;
            if last {
                return;
            }
            (g.a, g.b, g.accumulate) = (&a[from * g.a_col..], &b[from * g.b_row..], Accumulate::Output);
        }
    }
}

/// # Safety
/// The matrices must be as large as `g` states.
#[inline(always)]
unsafe fn by_columns<S: Simd>(s: S, g: &mut Gemm<'_>) {
    // SAFETY: the blocks lie inside the matrices.
    unsafe {
        let mut j = 0;
        // The fastest block depends on the number of registers. Of the shapes with 24 accumulators, 6 x 4 loads least: 10 loads
        // for 24 products, where 12 x 2 takes 14 and is 10% slower when other threads share the core.
        if S::REGISTERS >= 32 {
            while j + 4 * LANES <= g.n {
                by_rows::<S, 6, 4, false>(s, g, j);
                j += 4 * LANES;
            }
            while j + 2 * LANES <= g.n {
                by_rows::<S, 12, 2, false>(s, g, j);
                j += 2 * LANES;
            }
        }
        while j + LANES <= g.n {
            match S::REGISTERS {
                32.. => by_rows::<S, 12, 1, false>(s, g, j),
                8.. => by_rows::<S, 6, 1, false>(s, g, j),
                _ => by_rows::<S, 4, 1, false>(s, g, j),
            }
            j += LANES;
        }
        if j < g.n {
            match S::REGISTERS {
                32.. => by_rows::<S, 12, 1, true>(s, g, j),
                8.. => by_rows::<S, 6, 1, true>(s, g, j),
                _ => by_rows::<S, 4, 1, true>(s, g, j),
            }
        }
    }
}

/// # Safety
/// As [`by_columns`]. Columns `j` to `j + NC * LANES` must exist, or with `TAIL`, at least one of them.
#[inline(always)]
unsafe fn by_rows<S: Simd, const NR: usize, const NC: usize, const TAIL: bool>(s: S, g: &mut Gemm<'_>, j: usize) {
    // SAFETY: guaranteed by the caller; the loops bound the rows.
    unsafe {
        let mut i = 0;
        while i + NR <= g.m {
            block::<S, NR, NC, TAIL>(s, g, i, j);
            i += NR;
        }
        while NR > 8 && i + 8 <= g.m {
            block::<S, 8, NC, TAIL>(s, g, i, j);
            i += 8;
        }
        while NR > 4 && i + 4 <= g.m {
            block::<S, 4, NC, TAIL>(s, g, i, j);
            i += 4;
        }
        while NR > 2 && i + 2 <= g.m {
            block::<S, 2, NC, TAIL>(s, g, i, j);
            i += 2;
        }
        while i < g.m {
            block::<S, 1, NC, TAIL>(s, g, i, j);
            i += 1;
        }
    }
}

/// `NR` rows of `NC` vectors.
///
/// # Safety
/// Rows `i` to `i + NR` must exist, and columns as in [`by_rows`].
#[inline(always)]
unsafe fn block<S: Simd, const NR: usize, const NC: usize, const TAIL: bool>(s: S, g: &mut Gemm<'_>, i: usize, j: usize) {
    let count = g.n - j;
    // SAFETY: all pointers stay inside the block, which the caller guarantees to exist; with `TAIL` only `count` lanes are accessed.
    unsafe {
        let read = |p: *const f32| if TAIL { s.load_partial_ptr(p, count) } else { s.load_ptr(p) };
        let c = g.c.as_mut_ptr().add(i * g.c_row + j);
        let mut sums = [[s.splat(0.0); NC]; NR];
        for r in 0..NR {
            for v in 0..NC {
                match g.accumulate {
                    Accumulate::Zero => {}
                    Accumulate::Output => sums[r][v] = read(c.add(r * g.c_row + v * LANES)),
                    Accumulate::Bias(bias) => sums[r][v] = read(bias.as_ptr().add(j + v * LANES)),
                }
            }
        }
        // `wrapping_add`: with an inner dimension of 0 the pointers may lie outside, and nothing is read.
        let mut a = g.a.as_ptr().wrapping_add(i * g.a_row);
        let mut b = g.b.as_ptr().wrapping_add(j);
        for _ in 0..g.k {
            let mut right = [s.splat(0.0); NC];
            for v in 0..NC {
                right[v] = read(b.add(v * LANES));
            }
            for r in 0..NR {
                let left = s.splat(*a.add(r * g.a_row));
                for v in 0..NC {
                    sums[r][v] = s.fma(left, right[v], sums[r][v]);
                }
            }
            a = a.wrapping_add(g.a_col);
            b = b.wrapping_add(g.b_row);
        }
        for r in 0..NR {
            for v in 0..NC {
                let sum = if g.epilogue == Epilogue::Relu { s.max(s.splat(0.0), sums[r][v]) } else { sums[r][v] };
                let to = c.add(r * g.c_row + v * LANES);
                if TAIL { s.store_partial_ptr(to, count, sum) } else { s.store_ptr(to, sum) }
            }
        }
    }
}
