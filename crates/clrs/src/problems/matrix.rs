use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::{InvalidProblem, ensure_valid};

/// A square matrix in row-major order; in JSON a list of rows. In weights of a graph, 0 means no edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>")]
pub struct Matrix {
    n: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// Creates a matrix of zeros.
    pub fn zeros(n: usize) -> Matrix {
        Matrix { n, cells: vec![0.0; n * n] }
    }

    /// Creates a matrix from a function of row and column.
    pub fn from_fn(n: usize, cell: impl Fn(usize, usize) -> f64) -> Matrix {
        let mut cells = Vec::with_capacity(n * n);
        for u in 0..n {
            cells.extend((0..n).map(|v| cell(u, v)));
        }
        Matrix { n, cells }
    }

    /// Creates a matrix from its cells in row-major order.
    pub fn from_cells(n: usize, cells: Vec<f64>) -> Result<Matrix, InvalidProblem> {
        ensure_valid(n.checked_mul(n) == Some(cells.len()), || format!("a {n} x {n} matrix cannot have {} cells", cells.len()))?;
        Ok(Matrix { n, cells })
    }

    /// Number of rows and columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// All cells in row-major order.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Truncates every cell to `decimals` decimals.
    pub fn truncate(&mut self, decimals: u32) {
        super::truncate(&mut self.cells, decimals);
    }

    /// Whether there is an edge from `u` to `v`.
    pub fn has_edge(&self, u: usize, v: usize) -> bool {
        self[(u, v)] != 0.0
    }

    /// Heads of the edges from `u`, in ascending order.
    pub fn neighbors(&self, u: usize) -> impl Iterator<Item = usize> {
        (0..self.n).filter(move |&v| self.has_edge(u, v))
    }

    /// The input `adj` of the benchmark: the edges, and a self-loop at every node.
    pub fn adjacency(&self) -> Vec<bool> {
        let mut adjacency: Vec<bool> = self.cells.iter().map(|&weight| weight != 0.0).collect();
        adjacency.iter_mut().step_by(self.n + 1).for_each(|on_diagonal| *on_diagonal = true);
        adjacency
    }

    /// Checks that every weight is a non-negative integer, for algorithms whose `A` is int64 in dense arrays.
    pub fn integer_weights(&self) -> Result<(), InvalidProblem> {
        #[expect(clippy::cast_possible_truncation, reason = "the comparison detects values that do not fit")]
        let is_integer = |&weight: &f64| (0.0..=2f64.powi(53)).contains(&weight) && (weight as i64) as f64 == weight;
        ensure_valid(self.cells.iter().all(is_integer), || "`weights` has a value that is not a non-negative integer".into())
    }

    /// Checks that no weight is negative, for algorithms that are incorrect or do not terminate otherwise.
    pub fn non_negative(&self) -> Result<(), InvalidProblem> {
        ensure_valid(self.cells.iter().all(|&weight| weight >= 0.0), || "`weights` has a negative value".into())
    }

    /// Checks that the graph is undirected.
    pub fn symmetric(&self) -> Result<(), InvalidProblem> {
        let mirrored = |u: usize| (0..u).all(|v| self[(u, v)] == self[(v, u)]);
        ensure_valid((0..self.n).all(mirrored), || "the graph is directed: `weights` is not symmetric".into())
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.cells[row * self.n + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.cells[row * self.n + column]
    }
}

impl TryFrom<Vec<Vec<f64>>> for Matrix {
    type Error = InvalidProblem;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Matrix, InvalidProblem> {
        let n = rows.len();
        ensure_valid(rows.iter().all(|row| row.len() == n), || format!("the matrix is not {n} x {n}"))?;
        Matrix::from_cells(n, rows.concat())
    }
}

impl From<Matrix> for Vec<Vec<f64>> {
    fn from(matrix: Matrix) -> Self {
        (0..matrix.n).map(|row| matrix.cells[row * matrix.n..][..matrix.n].to_vec()).collect()
    }
}
