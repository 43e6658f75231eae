//! Adam against plain loops.

mod common;

use clrs_kernels::{Isa, adam};
use common::{Random, narrow};

/// One parameter, as optax computes it.
fn plain(update: adam::Update, gradient: f32, parameter: &mut f32, first: &mut f32, second: &mut f32) {
    let gradient = gradient * update.gradient_scale;
    *first = 0.9 * *first + (1.0 - 0.9) * gradient;
    *second = 0.999 * *second + (1.0 - 0.999) * gradient * gradient;
    if let Some(rate) = update.learning_rate {
        let step = (*first / update.bias_corrections[0]) / ((*second / update.bias_corrections[1]).sqrt() + 1e-8);
        *parameter -= rate * step;
    }
}

#[test]
fn update_has_the_bits_of_the_plain_loop() {
    let mut random = Random::new(1);
    for isa in Isa::available() {
        for len in [0, 1, 15, 16, 17, 100] {
            for learning_rate in [Some(1e-3), None] {
                let mut state = [0; 3].map(|_| narrow(&random.values(len, 1.0)));
                state[2].iter_mut().for_each(|x| *x = x.abs());
                let mut want = state.clone();
                for step in 1..4 {
                    let gradient = (step != 2).then(|| narrow(&random.values(len, 1.0)));
                    let bias_corrections = [1.0 - 0.9f32.powi(step), 1.0 - 0.999f32.powi(step)];
                    let scalars = adam::Update { gradient_scale: 0.7, learning_rate, bias_corrections };
                    let [parameters, first, second] = &mut state;
                    adam::update(isa, scalars, gradient.as_deref(), parameters, first, second);
                    let [parameters, first, second] = &mut want;
                    for at in 0..len {
                        let gradient = gradient.as_ref().map_or(0.0, |gradient| gradient[at]);
                        plain(scalars, gradient, &mut parameters[at], &mut first[at], &mut second[at]);
                    }
                    assert_eq!(state, want, "{isa}, {len} parameters");
                }
            }
        }
    }
}

#[test]
fn sum_of_squares_has_the_same_bits_on_every_instruction_set() {
    let x = narrow(&Random::new(2).values(1003, 1.0));
    let want: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let sums: Vec<f64> = Isa::available().into_iter().map(|isa| adam::sum_of_squares(isa, &x)).collect();
    assert!(sums.iter().all(|&sum| sum == sums[0] && (sum - want).abs() < 1e-9 * want), "{sums:?}, {want}");
}
