//! Memory attention against its reference.

mod common;

use clrs_kernels::memory_attention::{Gradients, Inputs, backward, forward};
use clrs_kernels::reference::{MemoryAttention, ReferenceOp};
use clrs_kernels::{Isa, rowwise};
use common::{KernelResult, Random, compare, narrow, same_bits};

fn kernel(reference: &MemoryAttention) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        let [query, key, value, memory] = inputs else { panic!("four inputs") };
        let given = Inputs { dim: reference.dim, query, key, value, memory };
        let (mut out, mut weights) = (vec![f32::NAN; d_out.len()], vec![f32::NAN; given.weights_len()]);
        forward(isa, &given, &mut out, &mut weights);
        let mut d: Vec<Vec<f32>> = inputs.iter().map(|x| vec![f32::NAN; x.len()]).collect();
        let [query, key, value, memory] = &mut d[..] else { panic!("four inputs") };
        memory.fill(0.0);
        backward(isa, &given, &weights, d_out, Gradients { query, key, value, memory });
        (out, d)
    }
}

#[test]
fn equals_reference() {
    let shapes = [(1, 1, 1, 1), (3, 2, 5, 7), (4, 16, 17, 16), (20, 17, 128, 16), (2, 9, 9, 40), (5, 0, 3, 4)];
    for (seed, (queries, keys, slots, dim)) in (0..).zip(shapes) {
        let reference = MemoryAttention { queries, keys, slots, dim };
        compare(&format!("{reference:?}"), &reference, seed, |_| 0.6, kernel(&reference));
        same_bits(&reference, seed, kernel(&reference));
    }
}

/// Forward and backward of one query in plain `f32` loops, with sums in order: the output, then the gradients of query, key and value.
/// Adds to the gradient of the memory.
fn plain(isa: Isa, [query, key, value, memory]: [&[f32]; 4], d_out: &[f32], d_memory: &mut [f32]) -> (Vec<f32>, [Vec<f32>; 3]) {
    let (dim, slots, keys) = (query.len(), memory.len() / query.len(), key.len() / query.len());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let add = |sum: &mut [f32], row: &[f32], scale: f32| sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += scale * x);
    let mut weights: Vec<f32> = memory.chunks_exact(dim).map(|row| dot(row, query)).collect();
    weights.iter_mut().zip(key.chunks_exact(dim)).for_each(|(score, key)| *score += dot(key, query));
    rowwise::softmax(isa, &mut weights, slots);
    let mut out = vec![0.0; dim];
    weights.iter().zip(value.chunks_exact(dim)).for_each(|(weight, value)| add(&mut out, value, *weight));

    let [mut d_query, mut d_key, mut d_value] = [query, key, value].map(|x| vec![0.0; x.len()]);
    let mut d_scores = vec![0.0; slots];
    for slot in 0..keys {
        d_scores[slot] = dot(&value[slot * dim..][..dim], d_out);
        add(&mut d_value[slot * dim..][..dim], d_out, weights[slot]);
    }
    rowwise::softmax_backward(isa, &weights, &mut d_scores, slots);
    for slot in 0..slots {
        add(&mut d_query, &memory[slot * dim..][..dim], d_scores[slot]);
        add(&mut d_memory[slot * dim..][..dim], query, d_scores[slot]);
    }
    for slot in 0..keys {
        add(&mut d_query, &key[slot * dim..][..dim], d_scores[slot]);
        add(&mut d_key[slot * dim..][..dim], query, d_scores[slot]);
    }
    (out, [d_query, d_key, d_value])
}

#[test]
fn bits_are_those_of_sums_in_order_on_every_instruction_set() {
    let reference = MemoryAttention { queries: 6, keys: 17, slots: 20, dim: 16 };
    let mut random = Random::new(4);
    let inputs: Vec<Vec<f32>> = reference.inputs().iter().map(|&(_, len)| narrow(&random.values(len, 0.6))).collect();
    let (rows, d_out) = (reference.keys * reference.dim, narrow(&random.values(inputs[0].len(), 1.0)));
    for isa in Isa::available() {
        let (out, d) = kernel(&reference)(isa, &inputs, &d_out);
        let mut d_memory = vec![0.0; inputs[3].len()];
        for q in 0..reference.queries {
            let (one, own) = (q * reference.dim..(q + 1) * reference.dim, q * rows..(q + 1) * rows);
            let given = [&inputs[0][one.clone()], &inputs[1][own.clone()], &inputs[2][own.clone()], &inputs[3]];
            let (want, [d_query, d_key, d_value]) = plain(isa, given, &d_out[one.clone()], &mut d_memory);
            assert_eq!(out[one.clone()], want, "{isa}");
            assert_eq!(d[0][one], d_query, "{isa}");
            assert_eq!(d[1][own.clone()], d_key, "{isa}");
            assert_eq!(d[2][own], d_value, "{isa}");
        }
        assert_eq!(d[3], d_memory, "{isa}");
    }
}

#[test]
#[should_panic(expected = "more keys than the memory has slots")]
fn more_keys_than_slots_panics() {
    let inputs = Inputs { dim: 1, query: &[1.0], key: &[1.0; 2], value: &[1.0; 2], memory: &[1.0] };
    forward(Isa::best(), &inputs, &mut [0.0], &mut [0.0]);
}
