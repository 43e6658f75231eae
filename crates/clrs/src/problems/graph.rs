use serde::{Deserialize, Serialize};

use super::{InvalidProblem, Matrix, Problem, ensure_valid, finite};

/// A graph as its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// From row to column; 0 is "no edge".
    pub weights: Matrix,
}

impl Graph {
    /// From the inputs `A` and `adj`, which must agree.
    pub fn from_inputs(weights: &[f64], adj: &[bool]) -> Result<Graph, InvalidProblem> {
        let weights = Matrix::from_cells(weights.len().isqrt(), weights.to_vec())?;
        ensure_valid(weights.adjacency() == adj, || "`adj` is not where `A` has edges, and the diagonal".into())?;
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

/// A graph and the node to start from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcedGraph {
    /// From row to column; 0 is "no edge".
    pub weights: Matrix,
    /// The node to start from.
    pub source: usize,
}

impl Problem for SourcedGraph {
    fn nodes(&self) -> usize {
        self.weights.n()
    }

    fn validate(&self) -> Result<(), InvalidProblem> {
        let n = self.nodes();
        ensure_valid(self.source < n, || format!("`source` is {}, but there are {n} nodes", self.source))?;
        finite("weights", self.weights.cells())
    }

    fn truncate(&mut self, decimals: u32) {
        self.weights.truncate(decimals);
    }
}
