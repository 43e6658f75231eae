use serde::Deserialize;

use super::RandomState;

/// Recorded from `NumPy`: `cargo xtask goldens random`.
const RECORDED: &str = include_str!("../../../../golden/random.json");

#[derive(Deserialize)]
struct Recording {
    streams: Vec<Stream>,
    samples: Vec<OneSample>,
}

#[derive(Deserialize)]
struct Stream {
    seed: u32,
    draws: Vec<Draw>,
    next: u32,
}

#[derive(Deserialize)]
struct OneSample {
    seed: u32,
    sample: u64,
    words: Vec<u32>,
}

#[derive(Deserialize)]
struct Draw {
    method: String,
    arguments: Vec<f64>,
    values: serde_json::Value,
}

#[test]
fn every_method_draws_what_numpy_draws_and_leaves_the_stream_where_numpy_leaves_it() {
    let recording: Recording = serde_json::from_str(RECORDED).expect("recorded JSON");
    for Stream { seed, draws, next } in recording.streams {
        let mut random = RandomState::new(seed);
        for Draw { method, arguments, values } in draws {
            assert_eq!(draw(&mut random, &method, &arguments), values, "seed {seed}: {method}{arguments:?}");
        }
        assert_eq!(random.word(), next, "seed {seed}: the stream afterwards");
    }
}

#[test]
fn the_stream_of_one_sample_is_numpys_for_the_list_of_seed_and_number() {
    let recording: Recording = serde_json::from_str(RECORDED).expect("recorded JSON");
    for OneSample { seed, sample, words } in recording.samples {
        let mut random = RandomState::of_sample(seed, sample);
        let drawn: Vec<u32> = words.iter().map(|_| random.word()).collect();
        assert_eq!(drawn, words, "seed {seed}, sample {sample}");
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the recording's sizes and bounds are small whole numbers"
)]
fn draw(random: &mut RandomState, method: &str, arguments: &[f64]) -> serde_json::Value {
    match (method, arguments) {
        ("uniform", &[low, high, count]) => random.uniforms(low, high, count as usize).into_iter().map(hex).collect(),
        ("randint", &[low, high, count]) => random.integers(low as i64, high as i64, count as usize).into(),
        ("binomial", &[p, 1.0]) => vec![i64::from(random.bernoulli(p))].into(),
        ("binomial", &[p, count]) => random.bernoullis(p, count as usize).into_iter().map(i64::from).collect(),
        ("permutation", &[count]) => random.permutation(count as usize).into(),
        ("choice", &[count, 1.0]) => vec![random.choice(count as usize)].into(),
        ("choice", &[count, draws]) => random.choices(count as usize, draws as usize).into(),
        other => panic!("the recording has {other:?}"),
    }
}

/// Python's `float.hex`, for doubles that are 0 or normal.
fn hex(x: f64) -> String {
    let (sign, bits) = (if x.is_sign_negative() { "-" } else { "" }, x.to_bits());
    let exponent = i64::try_from(bits >> 52 & 0x7ff).expect("eleven bits") - 1023;
    format!("{sign}0x1.{:013x}p{exponent:+}", bits & ((1 << 52) - 1))
}
