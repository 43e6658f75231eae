use serde::{Deserialize, Serialize};

use super::{InvalidProblem, Matrix, Problem, ensure_valid, finite};

/// A graph, given by its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Weights of the edges from row to column; 0 means no edge.
    pub weights: Matrix,
}

impl Graph {
    /// Creates a graph from the inputs `A` and `adj`, which must agree.
    pub fn from_inputs(weights: &[f64], adj: &[bool]) -> Result<Graph, InvalidProblem> {
        let weights = Matrix::from_cells(weights.len().isqrt(), weights.to_vec())?;
        ensure_valid(weights.adjacency() == adj, || "`adj` does not match the edges of `A` and the diagonal".into())?;
        Ok(Graph { weights })
    }
}

impl Problem for Graph {
    fn nodes(&self) -> usize {
        self.weights.n()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        finite("weights", self.weights.cells())
    }

    fn truncate(&mut self, decimals: u32) {
        self.weights.truncate(decimals);
    }
}

/// A graph and a source node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcedGraph {
    /// Weights of the edges from row to column; 0 means no edge.
    pub weights: Matrix,
    /// The source node.
    pub source: usize,
}

impl Problem for SourcedGraph {
    fn nodes(&self) -> usize {
        self.weights.n()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let n = self.nodes();
        ensure_valid(self.source < n, || format!("`source` is {}; it must be less than the number of nodes, {n}", self.source))?;
        finite("weights", self.weights.cells())
    }

    fn truncate(&mut self, decimals: u32) {
        self.weights.truncate(decimals);
    }
}
