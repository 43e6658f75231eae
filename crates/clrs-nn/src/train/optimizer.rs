//! Adam with clipping by the norm of all gradients, as optax has them.
//!
//! One pass over the numbers in the memory of the host: the same bits on every device and for any number of threads.

use clrs_kernels::{Isa, adam};
use rayon::prelude::*;

use crate::exec::parameters::{Owner, Parameter, Parameters};

/// What decides an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// Size of a step.
    pub learning_rate: f32,
    /// The longest that all gradients together may be; 0 for any length.
    pub grad_clip: f32,
    /// Whether the processor stays as it is.
    pub freeze_processor: bool,
}

/// Means of gradients and of their squares, one per number, and how many updates there were.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// Updates so far, of any algorithm.
    pub updates: u64,
    /// Means of gradients.
    pub first: Vec<Vec<f32>>,
    /// Means of their squares.
    pub second: Vec<Vec<f32>>,
}

impl Adam {
    /// Before the first update.
    pub fn new(parameters: &Parameters) -> Adam {
        let zeros: Vec<Vec<f32>> = parameters.values().iter().map(|values| vec![0.0; values.len()]).collect();
        Adam { updates: 0, first: zeros.clone(), second: zeros }
    }

    /// Moves the parameters of the processor and of one algorithm; those of others, and their means, stand still. A parameter
    /// without a gradient has the gradient 0. Returns the norm of all gradients.
    ///
    /// # Panics
    /// If there are not as many gradients as parameters.
    pub fn update(&mut self, parameters: &mut Parameters, gradients: &[Option<Vec<f32>>], task: usize, rule: AdamConfig) -> f32 {
        assert_eq!(gradients.len(), parameters.values.len(), "a gradient for each parameter, or none");
        let isa = Isa::best();
        let norm = gradients.iter().flatten().map(|gradient| adam::sum_of_squares(isa, gradient)).sum::<f64>().sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let norm = norm as f32;
        let scale = if rule.grad_clip > 0.0 && norm >= rule.grad_clip { rule.grad_clip / norm } else { 1.0 };

        self.updates += 1;
        #[expect(clippy::cast_possible_truncation, reason = "as optax computes it, and long before 2^31 updates it is 1")]
        let part = |decay: f32| 1.0 - decay.powi(self.updates.min(i32::MAX as u64) as i32);
        let parts = [part(adam::BETA1), part(adam::BETA2)];
        let Parameters { list, values } = parameters;
        let numbers = values.par_iter_mut().zip(&mut self.first).zip(&mut self.second);
        numbers.zip(gradients).zip(&*list).for_each(|((((values, first), second), gradient), Parameter { owner, .. })| {
            if matches!(owner, Owner::Algorithm(of) if *of != task) {
                return;
            }
            let moves = *owner != Owner::Processor || !rule.freeze_processor;
            let update = adam::Update {
                gradient_scale: scale,
                learning_rate: moves.then_some(rule.learning_rate),
                bias_corrections: parts,
            };
            adam::update(isa, update, gradient.as_deref(), values, first, second);
        });
        norm
    }
}
