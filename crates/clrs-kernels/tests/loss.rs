//! Losses and the sigmoid against their references.
//!
//! These kernels take no instruction set; `compare` calls them once for each that the machine has.

mod common;

use clrs_kernels::reference::{BceWithLogits, Nll, ReferenceOp, Sigmoid, Softmax, SquaredError};
use clrs_kernels::{Isa, loss, rowwise, sigmoid};
use common::{KernelResult, Random, compare, narrow};

const LENGTHS: [usize; 5] = [1, 2, 15, 16, 200];

/// A loss of `f64` as the output of a kernel.
#[expect(clippy::cast_possible_truncation, reason = "a loss is f32")]
fn output(sum: f64) -> Vec<f32> {
    vec![sum as f32]
}

#[test]
fn squared_error_equals_reference() {
    for (seed, len) in (0..).zip(LENGTHS) {
        let reference = SquaredError { target: Random::new(seed).values(len, 1.0) };
        let target = narrow(&reference.target);
        compare(
            &format!("{len} cells"),
            &reference,
            seed,
            |_| 1.0,
            |_, inputs, d_loss| {
                let mut d_x = vec![f32::NAN; len];
                loss::squared_error_backward(&inputs[0], &target, d_loss[0], &mut d_x);
                (output(loss::squared_error(&inputs[0], &target)), vec![d_x])
            },
        );
    }
}

#[test]
fn binary_cross_entropy_equals_reference() {
    for (seed, len) in (0..).zip(LENGTHS) {
        for ignored in [None, Some(-1.0)] {
            // Targets of 0, 1 and -1, where -1 is ignored.
            let choices: &[f64] = if ignored.is_some() { &[0.0, 1.0, -1.0] } else { &[0.0, 1.0] };
            let mut random = Random::new(seed);
            let target: Vec<f64> = (0..len).map(|_| choices[random.below(choices.len())]).collect();
            let (of_kernel, reference) = (narrow(&target), BceWithLogits { target, ignored });
            let ignored = ignored.map(|_| -1.0f32);
            compare(
                &format!("{len} cells, {ignored:?}"),
                &reference,
                seed,
                |_| 3.0,
                |_, inputs, d_loss| {
                    let mut d_logits = vec![f32::NAN; len];
                    loss::bce_with_logits_backward(&inputs[0], &of_kernel, ignored, d_loss[0], &mut d_logits);
                    (output(loss::bce_with_logits(&inputs[0], &of_kernel, ignored)), vec![d_logits])
                },
            );
        }
    }
}

#[test]
fn binary_cross_entropy_of_large_logits_is_finite() {
    let (logits, target) = ([1e30, -1e30, 1e30, -1e30], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(loss::bce_with_logits(&logits[..2], &target[..2], None), 0.0);
    assert_eq!(loss::bce_with_logits(&logits[2..], &target[2..], None), 2.0 * f64::from(1e30f32));
    let mut d = [f32::NAN; 4];
    loss::bce_with_logits_backward(&logits, &target, None, 2.0, &mut d);
    assert_eq!(d, [0.0, 0.0, 2.0, -2.0]);
}

#[test]
fn log_likelihood_equals_reference() {
    for (seed, len) in (0..).zip(LENGTHS) {
        let mut random = Random::new(seed);
        let target: Vec<f64> = (0..len).map(|_| random.below(2) as f64).collect();
        let (of_kernel, reference) = (narrow(&target), Nll { target });
        compare(
            &format!("{len} cells"),
            &reference,
            seed,
            |_| 2.0,
            |_, inputs, d_loss| {
                let mut d = vec![f32::NAN; len];
                loss::nll_backward(&of_kernel, d_loss[0], &mut d);
                (output(loss::nll(&inputs[0], &of_kernel)), vec![d])
            },
        );
    }
}

/// Cross-entropy as `clrs-nn` computes it: log-softmax, then negative log-likelihood.
struct CrossEntropy {
    softmax: Softmax,
    nll: Nll,
}

impl ReferenceOp for CrossEntropy {
    fn inputs(&self) -> Vec<(&'static str, usize)> {
        self.softmax.inputs()
    }

    fn forward(&self, inputs: &[Vec<f64>]) -> (Vec<f64>, f64) {
        self.nll.forward(&[self.softmax.forward(inputs).0])
    }

    fn backward(&self, inputs: &[Vec<f64>], d_output: &[f64]) -> Vec<Vec<f64>> {
        let log_probabilities = self.softmax.forward(inputs).0;
        self.softmax.backward(inputs, &self.nll.backward(&[log_probabilities], d_output)[0])
    }
}

#[test]
fn cross_entropy_equals_reference() {
    for (seed, (rows, len)) in (0..).zip([(1, 2), (3, 15), (7, 16), (5, 33)]) {
        let mut random = Random::new(seed);
        let mut target = vec![0.0; rows * len];
        // The last row is masked out.
        (0..rows.max(2) - 1).for_each(|row| target[row * len + random.below(len)] = 1.0);
        let of_kernel = narrow(&target);
        let reference = CrossEntropy { softmax: Softmax { rows, len, log: true }, nll: Nll { target } };
        let kernel = |isa: Isa, inputs: &[Vec<f32>], d_loss: &[f32]| -> KernelResult {
            let mut log_probabilities = inputs[0].clone();
            rowwise::log_softmax(isa, &mut log_probabilities, len);
            let mut d = vec![f32::NAN; rows * len];
            loss::nll_backward(&of_kernel, d_loss[0], &mut d);
            rowwise::log_softmax_backward(isa, &log_probabilities, &mut d, len);
            (output(loss::nll(&log_probabilities, &of_kernel)), vec![d])
        };
        compare(&format!("{rows} rows of {len}"), &reference, seed, |_| 2.0, kernel);
    }
}

#[test]
fn sigmoid_equals_reference() {
    for (seed, len) in (0..).zip(LENGTHS) {
        compare(
            &format!("{len} elements"),
            &Sigmoid { len },
            seed,
            |_| 4.0,
            |_, inputs, d_out| {
                let (mut y, mut d) = (inputs[0].clone(), d_out.to_vec());
                sigmoid::forward(&mut y);
                sigmoid::backward(&y, &mut d);
                (y, vec![d])
            },
        );
    }
}

#[test]
fn sigmoid_of_extreme_values_is_exact_and_nan_stays_nan() {
    let mut x = [-1e30, -60.5, 100.0, f32::INFINITY, f32::NAN];
    sigmoid::forward(&mut x);
    assert_eq!(x[..4], [0.0, 0.0, 1.0, 1.0]);
    assert!(x[4].is_nan());
}

#[test]
#[should_panic(expected = "the same length")]
fn losses_of_other_lengths_panic() {
    loss::squared_error(&[0.0; 2], &[0.0; 3]);
}
