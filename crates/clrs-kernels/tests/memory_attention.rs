//! Memory attention against its reference.

mod common;

use clrs_kernels::Isa;
use clrs_kernels::memory_attention::{Gradients, Inputs, backward, forward};
use clrs_kernels::reference::MemoryAttention;
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

/// The loops that the kernel replaced, with sums in the same order.
#[test]
fn sums_run_in_order_on_every_instruction_set() {
    let (queries, keys, slots, dim) = (6, 17, 20, 16);
    let mut random = Random::new(4);
    let [query, key, value, memory] =
        [queries * dim, queries * keys * dim, queries * keys * dim, slots * dim].map(|len| narrow(&random.values(len, 0.6)));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    for isa in Isa::available() {
        let (mut out, mut weights) = (vec![f32::NAN; queries * dim], vec![f32::NAN; queries * slots]);
        let given = Inputs { dim, query: &query, key: &key, value: &value, memory: &memory };
        forward(isa, &given, &mut out, &mut weights);
        for q in 0..queries {
            let query = &query[q * dim..][..dim];
            let mut want: Vec<f32> = memory.chunks_exact(dim).map(|row| dot(row, query)).collect();
            for slot in 0..keys {
                want[slot] += dot(&key[(q * keys + slot) * dim..][..dim], query);
            }
            clrs_kernels::rowwise::softmax(isa, &mut want, slots);
            assert_eq!(weights[q * slots..][..slots], want, "{isa}");
            let mut sum = vec![0.0; dim];
            for slot in 0..keys {
                let value = &value[(q * keys + slot) * dim..][..dim];
                sum.iter_mut().zip(value).for_each(|(sum, x)| *sum += want[slot] * x);
            }
            assert_eq!(out[q * dim..][..dim], sum, "{isa}");
        }
    }
}

#[test]
#[should_panic(expected = "more keys than the memory has slots")]
fn more_keys_than_slots_panics() {
    let inputs = Inputs { dim: 1, query: &[1.0], key: &[1.0; 2], value: &[1.0; 2], memory: &[1.0] };
    forward(Isa::best(), &inputs, &mut [0.0], &mut [0.0]);
}
