//! References of [`crate::loss`] and [`crate::sigmoid`].

use super::ReferenceOp;

/// Reference of [`crate::loss::squared_error`]. Input: predictions.
#[derive(Clone, Debug)]
pub struct SquaredError {
    /// Targets.
    pub target: Vec<f64>,
}

impl ReferenceOp for SquaredError {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.target.len())]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let sum = inputs[0].iter().zip(&self.target).map(|(x, target)| (x - target).powi(2)).sum();
        (vec![sum], f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        vec![inputs[0].iter().zip(&self.target).map(|(x, target)| 2.0 * (x - target) * d_output[0]).collect()]
    }
}

/// Reference of [`crate::loss::bce_with_logits`]. Input: logits.
#[derive(Clone, Debug)]
pub struct BceWithLogits {
    /// Targets.
    pub target: Vec<f64>,
    /// Target of cells that do not count.
    pub ignored: Option<f64>,
}

impl ReferenceOp for BceWithLogits {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("logits", self.target.len())]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let cell = |(x, target): (&f64, &f64)| {
            let p = sigmoid(*x);
            if Some(*target) == self.ignored { 0.0 } else { -target * p.ln() - (1.0 - target) * (1.0 - p).ln() }
        };
        (vec![inputs[0].iter().zip(&self.target).map(cell).sum()], f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let cell = |(x, target): (&f64, &f64)| {
            if Some(*target) == self.ignored { 0.0 } else { (sigmoid(*x) - target) * d_output[0] }
        };
        vec![inputs[0].iter().zip(&self.target).map(cell).collect()]
    }
}

/// Reference of [`crate::loss::nll`]. Input: log-probabilities.
#[derive(Clone, Debug)]
pub struct Nll {
    /// Targets.
    pub target: Vec<f64>,
}

impl ReferenceOp for Nll {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("log_probabilities", self.target.len())]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        (vec![inputs[0].iter().zip(&self.target).map(|(x, target)| -x * target).sum()], f64::INFINITY)
    }

    fn backward(&self, _: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        vec![self.target.iter().map(|target| -target * d_output[0]).collect()]
    }
}

/// Reference of [`crate::sigmoid`]. Input: `x`.
#[derive(Clone, Debug)]
pub struct Sigmoid {
    /// Number of elements.
    pub len: usize,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl ReferenceOp for Sigmoid {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.len)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        (inputs[0].iter().map(|&x| sigmoid(x)).collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let slope = |x: f64| sigmoid(x) * (1.0 - sigmoid(x));
        vec![inputs[0].iter().zip(d_output).map(|(&x, d)| slope(x) * d).collect()]
    }
}
