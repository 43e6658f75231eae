//! Randomness of training: dropout, Gumbel noise, teacher forcing.

use clrs::random::RandomState;

use crate::exec::context::ForwardContext;
use crate::exec::tensor::Tensor;

/// Inverted dropout: zeroes each value with a probability and scales the others so that the expected value stays.
pub(super) fn dropout(ctx: &ForwardContext, rows: Tensor<2>, probability: f64, random: &mut RandomState) -> Tensor<2> {
    let shape = rows.dims();
    #[expect(clippy::cast_possible_truncation, reason = "the network computes in f32")]
    let scale = (1.0 / (1.0 - probability)) as f32;
    let mask = (0..shape[0] * shape[1]).map(|_| if random.double() < probability { 0.0 } else { scale }).collect();
    rows * ctx.tensor(mask, shape)
}

/// Standard Gumbel noise, `-ln(-ln u)` of a uniform `u`: the argmax of noisy logits is a sample of their softmax.
pub(super) fn gumbel(ctx: &ForwardContext, shape: [usize; 3], random: &mut RandomState) -> Tensor<3> {
    // The reference's guard against ln 0.
    const EPSILON: f64 = 1e-12;
    #[expect(clippy::cast_possible_truncation, reason = "the network computes in f32")]
    let sample = |()| -libm::log(-libm::log(random.double() + EPSILON) + EPSILON) as f32;
    ctx.tensor(std::iter::repeat_n((), shape.iter().product()).map(sample).collect(), shape)
}

/// Which samples read the true hints in this step; `None` if no sample can.
pub(super) fn teacher_forcing(probability: f64, samples: usize, random: Option<&mut RandomState>) -> Option<Vec<bool>> {
    match random {
        _ if probability >= 1.0 => Some(vec![true; samples]),
        Some(random) if probability > 0.0 => Some((0..samples).map(|_| random.double() < probability).collect()),
        _ => None,
    }
}

/// The true values for forced samples, the predicted ones for the others.
pub(super) fn force(ctx: &ForwardContext, forced: &[bool], predicted: Tensor<3>, truth: impl Fn() -> Tensor<3>) -> Tensor<3> {
    if forced.iter().all(|forced| *forced) {
        return truth();
    }
    if !forced.contains(&true) {
        return predicted;
    }
    let mask = |of: bool| {
        let mask = forced.iter().map(|&forced| f32::from(forced == of)).collect();
        ctx.tensor(mask, [forced.len(), 1, 1])
    };
    predicted * mask(false) + truth() * mask(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first uniform values of a stream.
    fn uniform(seed: u32, count: usize) -> Vec<f64> {
        let mut random = RandomState::new(seed);
        (0..count).map(|_| random.double()).collect()
    }

    #[test]
    fn dropout_zeroes_where_the_draw_is_below_the_probability_and_scales_the_rest() {
        let ctx = ForwardContext::host();
        let rows = ctx.tensor(vec![1.0, -2.0, 3.0, 4.0, 5.0, -6.0], [2, 3]);
        let found = dropout(&ctx, rows.clone(), 0.5, &mut RandomState::new(3)).into_vec();
        let keep = |value: f32, draw: f64| if draw < 0.5 { 0.0 } else { value * 2.0 };
        let expected: Vec<f32> = rows.into_vec().into_iter().zip(uniform(3, 6)).map(|(value, draw)| keep(value, draw)).collect();
        assert_eq!(found, expected);
        assert!(found.contains(&0.0) && found.iter().any(|value| *value != 0.0), "both cases occur: {found:?}");
    }

    #[test]
    fn dropout_keeps_the_expected_value() {
        let ctx = ForwardContext::host();
        let ones = ctx.tensor(vec![1.0; 20_000], [200, 100]);
        let mean = dropout(&ctx, ones, 0.3, &mut RandomState::new(1)).into_vec().iter().sum::<f32>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn gumbel_noise_is_the_inverse_distribution_function_of_uniform_draws() {
        let found = gumbel(&ForwardContext::host(), [1, 2, 2], &mut RandomState::new(5)).into_vec();
        for (found, draw) in found.into_iter().zip(uniform(5, 4)) {
            let expected = -(-draw.ln()).ln();
            assert!((f64::from(found) - expected).abs() < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn gumbel_noise_samples_from_the_softmax() {
        // softmax([0, ln 3]) = [1/4, 3/4]
        let noise = gumbel(&ForwardContext::host(), [20_000, 1, 2], &mut RandomState::new(2)).into_vec();
        let second = noise.chunks_exact(2).filter(|pair| pair[1] + 3f32.ln() > pair[0]).count();
        assert!((second as f64 / 20_000.0 - 0.75).abs() < 0.01, "{second}");
    }

    #[test]
    fn teacher_forcing_draws_once_per_sample_between_0_and_1_and_not_at_all_at_the_ends() {
        let mut random = RandomState::new(7);
        let found = teacher_forcing(0.4, 50, Some(&mut random)).expect("some samples may be forced");
        let expected: Vec<bool> = uniform(7, 50).into_iter().map(|draw| draw < 0.4).collect();
        assert_eq!(found, expected);
        assert!(found.contains(&true) && found.contains(&false));

        let mut untouched = RandomState::new(7);
        assert_eq!(teacher_forcing(0.0, 3, Some(&mut untouched)), None);
        assert_eq!(teacher_forcing(1.0, 3, Some(&mut untouched)), Some(vec![true; 3]));
        assert_eq!(teacher_forcing(0.4, 3, None), None);
        assert_eq!(untouched.double().to_bits(), uniform(7, 1)[0].to_bits());
    }

    #[test]
    fn forced_samples_read_the_truth_and_the_others_their_prediction() {
        let ctx = ForwardContext::host();
        let truth = || ctx.tensor(vec![1.0; 6], [3, 1, 2]);
        let forced = |forced: &[bool]| force(&ctx, forced, ctx.zeros([3, 1, 2]), truth).into_vec();
        assert_eq!(forced(&[true, false, true]), [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(forced(&[false; 3]), [0.0; 6]);
        assert_eq!(forced(&[true; 3]), [1.0; 6]);
    }
}
