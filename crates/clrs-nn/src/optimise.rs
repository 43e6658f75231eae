//! Adam with clipping by the norm of all gradients, as optax has them.
//!
//! One pass over the numbers in the memory of the host: the same bits on every device and for any number of threads.

use crate::parameters::{Owner, Parameters};

/// What decides an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
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

const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;
const EPSILON: f32 = 1e-8;

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
    pub fn update(&mut self, parameters: &mut Parameters, gradients: &[Option<Vec<f32>>], task: usize, rule: Rule) -> f32 {
        assert_eq!(gradients.len(), parameters.values.len(), "a gradient for each parameter, or none");
        let norm = gradients.iter().flatten().flatten().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let norm = norm as f32;
        let scale = if rule.grad_clip > 0.0 && norm >= rule.grad_clip { rule.grad_clip / norm } else { 1.0 };

        self.updates += 1;
        #[expect(clippy::cast_possible_truncation, reason = "as optax computes it, and long before 2^31 updates it is 1")]
        let correction = |decay: f32| 1.0 - decay.powi(self.updates.min(i32::MAX as u64) as i32);
        let (first_part, second_part) = (correction(FIRST_DECAY), correction(SECOND_DECAY));
        for (place, gradient) in gradients.iter().enumerate() {
            let owner = parameters.list()[place].owner;
            if matches!(owner, Owner::Algorithm(of) if of != task) {
                continue;
            }
            let moves = owner != Owner::Processor || !rule.freeze_processor;
            let (first, second) = (&mut self.first[place], &mut self.second[place]);
            let (values, count) = (&mut parameters.values[place], first.len());
            let mut one = |at: usize, gradient: f32| {
                first[at] = FIRST_DECAY * first[at] + (1.0 - FIRST_DECAY) * gradient;
                second[at] = SECOND_DECAY * second[at] + (1.0 - SECOND_DECAY) * gradient * gradient;
                if moves {
                    let step = (first[at] / first_part) / ((second[at] / second_part).sqrt() + EPSILON);
                    values[at] -= rule.learning_rate * step;
                }
            };
            match gradient {
                Some(gradient) => gradient.iter().enumerate().for_each(|(at, &gradient)| one(at, gradient * scale)),
                None => (0..count).for_each(|at| one(at, 0.0)),
            }
        }
        norm
    }
}
