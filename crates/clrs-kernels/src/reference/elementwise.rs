//! References of [`crate::elementwise`] and [`crate::mask_logits`].

use super::{ReferenceOp, max_with_gap, min_abs};
use crate::elementwise::Unary;

/// Reference of [`crate::elementwise::Unary`]. Input: `x`.
#[derive(Clone, Debug)]
pub struct Elementwise {
    /// The function.
    pub function: Unary,
    /// Number of elements.
    pub len: usize,
}

impl ReferenceOp for Elementwise {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.len)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let function = |x: &f64| match self.function {
            Unary::Relu => x.max(0.0),
            Unary::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Unary::Tanh => x.tanh(),
            Unary::Exp => x.exp(),
        };
        let margin = if self.function == Unary::Relu { min_abs(&inputs[0]) } else { f64::INFINITY };
        (inputs[0].iter().map(function).collect(), margin)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let (y, _) = self.forward(inputs);
        let derivative = |y: f64| match self.function {
            Unary::Relu => f64::from(y > 0.0),
            Unary::Sigmoid => y * (1.0 - y),
            Unary::Tanh => 1.0 - y * y,
            Unary::Exp => y,
        };
        vec![y.into_iter().zip(d_output).map(|(y, d)| derivative(y) * d).collect()]
    }
}

/// Reference of [`crate::elementwise::multiply`]. Inputs: both factors.
#[derive(Clone, Debug)]
pub struct Product {
    /// Number of elements.
    pub len: usize,
}

impl ReferenceOp for Product {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("a", self.len), ("b", self.len)]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        (inputs[0].iter().zip(&inputs[1]).map(|(a, b)| a * b).collect(), f64::INFINITY)
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let times = |factor: &[f64]| factor.iter().zip(d_output).map(|(x, d)| x * d).collect();
        vec![times(&inputs[1]), times(&inputs[0])]
    }
}

/// Reference of [`crate::mask_logits`]. Input: `x`.
#[derive(Clone, Debug)]
pub struct MaskLogits {
    /// Which elements may be chosen.
    pub allowed: Vec<bool>,
}

impl ReferenceOp for MaskLogits {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        vec![("x", self.allowed.len())]
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let (_, greatest, gap) = max_with_gap(inputs[0].iter().map(|x| -x));
        let below = (-greatest - 1.0).min(-1.0);
        let masked = inputs[0].iter().zip(&self.allowed).map(|(&x, &allowed)| if allowed { x } else { below });
        (masked.collect(), gap.min(greatest.abs()))
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let (least, greatest, _) = max_with_gap(inputs[0].iter().map(|x| -x));
        let mut d_x: Vec<f64> = d_output.iter().zip(&self.allowed).map(|(&d, &allowed)| if allowed { d } else { 0.0 }).collect();
        if greatest >= 0.0 {
            d_x[least] += d_output.iter().zip(&self.allowed).filter(|(_, allowed)| !**allowed).map(|(d, _)| d).sum::<f64>();
        }
        vec![d_x]
    }
}
