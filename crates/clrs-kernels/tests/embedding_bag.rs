//! Sums of words against plain loops.

mod common;

use clrs_kernels::Isa;
use clrs_kernels::embedding_bag::{Inputs, backward, forward};
use clrs_kernels::reference::EmbeddingBag;
use common::{KernelResult, Random, compare, narrow, same_bits};

fn kernel(reference: &EmbeddingBag) -> impl Fn(Isa, &[Vec<f32>], &[f32]) -> KernelResult {
    move |isa, inputs, d_out| {
        let given = Inputs {
            embedding_dim: reference.embedding_dim,
            table: &inputs[0],
            position_encoding: &reference.position_encoding,
            indices: &reference.indices,
        };
        let (mut out, mut d_table) = (vec![f32::NAN; d_out.len()], vec![0.0; inputs[0].len()]);
        forward(isa, &given, &mut out);
        backward(isa, &given, d_out, &mut d_table);
        (out, vec![d_table])
    }
}

#[test]
fn equal_their_twin() {
    for (size, count, length, rows) in [(16, 127, 128, 20), (16, 3, 4, 1), (5, 9, 7, 6), (40, 2, 3, 4), (1, 1, 1, 1)] {
        let mut random = Random::new(size as u64);
        let positions = narrow(&random.values(length * size, 1.0));
        // One more word than there are: nothing.
        let words = (0..rows * length).map(|_| u16::try_from(random.below(count + 1)).expect("few")).collect();
        let reference = EmbeddingBag { embedding_dim: size, num_embeddings: count, position_encoding: positions, indices: words };
        compare(&format!("{size}, {count}, {length}, {rows}"), &reference, 1, |_| 1.0, kernel(&reference));
        same_bits(&reference, 1, kernel(&reference));
    }
}

#[test]
fn words_that_do_not_exist_are_nan() {
    let table = [1.0, 2.0];
    for isa in Isa::available() {
        let given = Inputs { embedding_dim: 1, table: &table, position_encoding: &[1.0, 1.0], indices: &[0, 1, 0, 2, 0, 3] };
        let mut out = [0.0; 3];
        forward(isa, &given, &mut out);
        assert!(out[..2] == [3.0, 1.0] && out[2].is_nan(), "{isa}: {out:?}");
    }
}
