use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use super::{InvalidProblem, ensure_valid};

/// A square matrix, row by row in one piece; in JSON a list of rows. As weights of a graph, 0 is "no edge".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>")]
pub struct Matrix {
    n: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// All zero.
    pub fn zeros(n: usize) -> Matrix {
        Matrix { n, cells: vec![0.0; n * n] }
    }

    /// A cell at a time.
    pub fn from_fn(n: usize, cell: impl Fn(usize, usize) -> f64) -> Matrix {
        let mut cells = Vec::with_capacity(n * n);
        for u in 0..n {
            cells.extend((0..n).map(|v| cell(u, v)));
        }
        Matrix { n, cells }
    }

    /// From its cells, row by row.
    pub fn from_cells(n: usize, cells: Vec<f64>) -> Result<Matrix, InvalidProblem> {
        ensure_valid(n.checked_mul(n) == Some(cells.len()), || format!("{} cells are no {n} x {n} matrix", cells.len()))?;
        Ok(Matrix { n, cells })
    }

    /// Rows, and columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// Cuts every cell to so many decimals.
    pub fn truncate(&mut self, decimals: u32) {
        super::truncate(&mut self.cells, decimals);
    }

    /// Whether there is an edge from `u` to `v`.
    pub fn has_edge(&self, u: usize, v: usize) -> bool {
        self[(u, v)] != 0.0
    }

    /// Where the edges of `u` go, in ascending order.
    pub fn neighbours(&self, u: usize) -> impl Iterator<Item = usize> {
        (0..self.n).filter(move |&v| self.has_edge(u, v))
    }

    /// The adjacency input of the benchmark: edges, and every node's loop to itself.
    pub fn adjacency(&self) -> Vec<bool> {
        let mut adjacency: Vec<bool> = self.cells.iter().map(|&weight| weight != 0.0).collect();
        adjacency.iter_mut().step_by(self.n + 1).for_each(|on_diagonal| *on_diagonal = true);
        adjacency
    }

    /// For algorithms whose `A` is int64 outside: every weight is 0, 1, 2, .. and leaves unchanged.
    pub fn whole_weights(&self) -> Result<(), InvalidProblem> {
        #[expect(clippy::cast_possible_truncation, reason = "what does not fit is not whole")]
        let whole = |&weight: &f64| (0.0..=2f64.powi(53)).contains(&weight) && (weight as i64) as f64 == weight;
        ensure_valid(self.cells.iter().all(whole), || "`weights` holds a number that is not 0, 1, 2, ..".into())
    }

    /// For algorithms that lie, or never end, on negative weights.
    pub fn non_negative(&self) -> Result<(), InvalidProblem> {
        ensure_valid(self.cells.iter().all(|&weight| weight >= 0.0), || "`weights` holds a negative number".into())
    }

    /// For algorithms on undirected graphs.
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
