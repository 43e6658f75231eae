//! Adam with clipping by the global gradient norm, as in optax.
//!
//! One pass over host memory: the same bits on every device and for any number of threads.

use clrs_kernels::{Isa, adam};

use crate::exec::parallel;
use crate::exec::parameters::{Owner, Parameter, Parameters};
use crate::run::checkpoint::OptimizerState;

/// Hyperparameters of an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// Learning rate.
    pub learning_rate: f32,
    /// Maximum global gradient norm; 0 disables clipping.
    pub grad_clip: f32,
    /// Whether the parameters of the processor are frozen.
    pub freeze_processor: bool,
}

/// The optimizer and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam(OptimizerState);

impl Adam {
    /// The state before the first update.
    pub fn new(parameters: &Parameters) -> Adam {
        let zeros: Vec<Vec<f32>> = parameters.values().iter().map(|values| vec![0.0; values.len()]).collect();
        Adam(OptimizerState { updates: 0, first: zeros.clone(), second: zeros })
    }

    /// Continues from a state.
    pub fn from_state(state: OptimizerState) -> Adam {
        Adam(state)
    }

    /// The state.
    pub fn state(&self) -> &OptimizerState {
        &self.0
    }

    /// Updates the parameters that all tasks share and those of one task, and returns the global gradient norm. Parameters of other
    /// tasks and their moments do not change; with `None`, all are updated. A parameter without a gradient has the gradient 0. If
    /// the norm is not finite, nothing changes.
    ///
    /// # Panics
    /// If the numbers of gradients and parameters differ.
    pub fn update(
        &mut self,
        parameters: &mut Parameters,
        gradients: &[Option<Vec<f32>>],
        task: impl Into<Option<usize>>,
        config: AdamConfig,
    ) -> f32 {
        assert_eq!(gradients.len(), parameters.list().len(), "one gradient, or none, per parameter");
        let (isa, task) = (Isa::best(), task.into());
        let count = parameters.count();
        let with_gradient = gradients.iter().flatten().collect();
        let squares = parallel::map_elements(count, with_gradient, |gradient| adam::sum_of_squares(isa, gradient));
        let norm = squares.iter().sum::<f64>().sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let norm = norm as f32;
        if !norm.is_finite() {
            return norm;
        }
        let scale = if config.grad_clip > 0.0 && norm >= config.grad_clip { config.grad_clip / norm } else { 1.0 };

        let OptimizerState { updates, first, second } = &mut self.0;
        *updates += 1;
        let updates = *updates;
        #[expect(clippy::cast_possible_truncation, reason = "as optax computes it; it is 1 long before 2^31 updates")]
        let bias_correction = |decay: f32| 1.0 - decay.powi(updates.min(i32::MAX as u64) as i32);
        let bias_corrections = [bias_correction(adam::BETA1), bias_correction(adam::BETA2)];
        let (list, values) = parameters.parts_mut();
        let all = values.iter_mut().zip(first).zip(second).zip(gradients).zip(list).collect();
        parallel::map_elements(count, all, |((((values, first), second), gradient), Parameter { owner, .. })| {
            if matches!((owner, task), (Owner::Algorithm(of), Some(task)) if *of != task) {
                return;
            }
            let is_frozen = *owner == Owner::Processor && config.freeze_processor;
            let update = adam::Update {
                gradient_scale: scale,
                learning_rate: (!is_frozen).then_some(config.learning_rate),
                bias_corrections,
            };
            adam::update(isa, update, gradient.as_deref(), values, first, second);
        });
        norm
    }
}
