//! Products of matrices.
//!
//! A block of the result is held in registers while a whole column block of the right matrix passes by; columns are outside and
//! rows inside, so that this column block stays in the first-level cache for all rows. There is no packing: [`PackedMatrix`] is a copy
//! with rows an odd number of cache lines apart (see `memory.rs`), made once for weights; other matrices are read as they lie.
//! Every element is a sum over the inner dimension in order, with one rounding per term where products are fused: the same bits
//! for any shape of blocks, any number of rows at once, and both of AVX2 and AVX-512. So it is where there is one column alone,
//! but for the order.
//!
//! Forward is [`matmul_packed`]; backward is [`matmul_packed`] with [`PackedMatrix::transposed`] for the gradient of the rows, and
//! [`add_matmul_tn`] for that of the weights.

use crate::Scratch;
use crate::isa::{Isa, Kernel};
use crate::memory::{Mat, elements, has_rows};
use crate::simd::{LANES, Simd};

/// A matrix, copied so that products with it are fast.
#[derive(Clone, Debug)]
pub struct PackedMatrix {
    mat: Mat,
    /// The one column, if there is but one.
    column: Vec<f32>,
}

impl PackedMatrix {
    /// Of a dense matrix `[rows, columns]`.
    pub fn new(dense: &[f32], rows: usize, columns: usize) -> PackedMatrix {
        PackedMatrix::of(dense, Mat::copy(dense, rows, columns))
    }

    /// The transpose of a dense matrix `[columns, rows]`.
    pub fn transposed(dense: &[f32], rows: usize, columns: usize) -> PackedMatrix {
        PackedMatrix::of(dense, Mat::transposed(dense, rows, columns))
    }

    /// A column lies the same way when it is transposed.
    fn of(dense: &[f32], mat: Mat) -> PackedMatrix {
        let column = if mat.columns == 1 { dense.to_vec() } else { Vec::new() };
        PackedMatrix { mat, column }
    }
}

/// What a product is added to.
#[derive(Clone, Copy, Debug)]
pub enum Accumulate<'a> {
    /// Nothing.
    Zero,
    /// What stands in the result.
    Output,
    /// A row, for all rows.
    Bias(&'a [f32]),
}

/// What becomes of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epilogue {
    /// It stays.
    Identity,
    /// Negative ones become 0; NaN stays.
    Relu,
}

/// `c = end(start + a b)`: rows of `a` `[rows, k]` times `b` `[k, n]`, to `c` `[rows, n]`.
///
/// # Panics
/// If lengths do not match.
pub fn matmul_packed(isa: Isa, a: &[f32], b: &PackedMatrix, accumulate: Accumulate<'_>, epilogue: Epilogue, c: &mut [f32]) {
    let (k, n) = (b.mat.rows, b.mat.columns);
    let rows = c.len().checked_div(n).unwrap_or(0);
    assert!(a.len() == elements([rows, k]) && c.len() == rows * n, "as many rows in as out");
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

/// `c = end(start + a b)` with a `b` `[k, n]` as it lies, for matrices that are used once.
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
    assert!(a.len() == elements([rows, k]) && b.len() == elements([k, n]), "lengths are those of the shapes");
    assert_eq!(c.len(), elements([rows, n]), "lengths are those of the shapes");
    isa.run(Gemm { m: rows, n, k, a, a_row: k, a_col: 1, b, b_row: n, c, c_row: n, accumulate, epilogue });
}

/// `c += aᵀ b`: of `a` `[rows, k]` and `b` `[rows, n]`, to `c` `[k, n]`. The gradient of weights, from what came in and the
/// gradient of what came out.
///
/// # Panics
/// If lengths do not match.
pub fn add_matmul_tn(isa: Isa, [rows, k, n]: [usize; 3], a: &[f32], b: &[f32], c: &mut [f32], scratch: &mut Scratch) {
    assert!(a.len() == elements([rows, k]) && b.len() == elements([rows, n]), "lengths are those of the shapes");
    assert_eq!(c.len(), elements([k, n]), "lengths are those of the shapes");
    let (accumulate, epilogue) = (Accumulate::Output, Epilogue::Identity);
    if n == 1 {
        // A column lies as a row does, and rows fill registers.
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
    // Every row block of `c` reads all of `b`: a copy that lies well pays for a few of them.
    let (b, b_row) = if k >= 4 * MAX_BLOCK_ROWS && n > 0 {
        scratch.gemm.fit(rows, n);
        scratch.gemm.fill_from(b);
        (&scratch.gemm.data[..], scratch.gemm.stride)
    } else {
        (b, n)
    };
    isa.run(Gemm { m: k, n, k: rows, a, a_row: 1, a_col: k, b, b_row, c, c_row: n, accumulate, epilogue });
}

/// `c[m] = end(start + a[m, k] column[k])`: a block would have but one lane of its registers to do, so registers lie along the rows.
/// Every lane has a sum of its own, and these are added up in halves.
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
        // Four rows at a time: their sums do not wait for one another.
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
                let start = match self.accumulate {
                    Accumulate::Zero => 0.0,
                    Accumulate::Output => c[r],
                    Accumulate::Bias(bias) => bias[0],
                };
                let sum = start + s.reduce_sum(sums[r]);
                c[r] = if self.epilogue == Epilogue::Relu && sum < 0.0 { 0.0 } else { sum };
            }
        }
    }
}

/// `c[m, n] = end(start + a[m, k] b[k, n])`. Element `i, k` of `a` lies at `i * a_row + k * a_col`, so that a transposed one
/// needs no copy.
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
    /// The first rows of `a` times all of `b`, padding included.
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

    /// `c += aᵀ b` over the first `rows` rows of both, padding of `b` included.
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

/// Of a block.
const MAX_BLOCK_ROWS: usize = 12;

/// Inner steps at once: as much of a column block as a cache holds near enough.
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
        let (a, b, end) = (g.a, g.b, g.epilogue);
        let mut from = 0;
        loop {
            g.k = (all - from).min(K_BLOCK);
            let last = from + g.k == all;
            g.epilogue = if last { end } else { Epilogue::Identity };
            // SAFETY: the asserts above bound all accesses of the whole product, of which this is a part.
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
/// The matrices have to be as large as `g` says.
#[inline(always)]
unsafe fn by_columns<S: Simd>(s: S, g: &mut Gemm<'_>) {
    // SAFETY: blocks are cut so that they lie inside.
    unsafe {
        let mut j = 0;
        // The fastest block differs with the number of registers. Of those with 24 sums 6 x 4 loads least: 10 times for 24
        // products, where 12 x 2 loads 14 times, and is 10% slower where other threads share the core.
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
/// As [`by_columns`]; columns `j` to `j + NC * LANES` have to be there, or with `TAIL`, some of them.
#[inline(always)]
unsafe fn by_rows<S: Simd, const NR: usize, const NC: usize, const TAIL: bool>(s: S, g: &mut Gemm<'_>, j: usize) {
    // SAFETY: as the caller says; rows are counted here.
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

/// `NR` rows of `NC` registers.
///
/// # Safety
/// Rows `i` to `i + NR` and columns as in [`by_rows`] have to be there.
#[inline(always)]
unsafe fn block<S: Simd, const NR: usize, const NC: usize, const TAIL: bool>(s: S, g: &mut Gemm<'_>, i: usize, j: usize) {
    let count = g.n - j;
    // SAFETY: all pointers stay in the block, which the caller says is there; with `TAIL` only `count` lanes are touched.
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
        // Nothing is read there if there are no inner steps.
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
