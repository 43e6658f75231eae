//! Embedding bags against their reference.

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
fn equals_reference() {
    for (dim, count, length, rows) in [(16, 127, 128, 20), (16, 3, 4, 1), (5, 9, 7, 6), (40, 2, 3, 4), (1, 1, 1, 1)] {
        let mut random = Random::new(dim as u64);
        let positions = narrow(&random.values(length * dim, 1.0));
        // The first index past the table contributes nothing.
        let indices = (0..rows * length).map(|_| u16::try_from(random.below(count + 1)).expect("small indices")).collect();
        let reference = EmbeddingBag { embedding_dim: dim, num_embeddings: count, position_encoding: positions, indices };
        compare(&format!("{dim}, {count}, {length}, {rows}"), &reference, 1, |_| 1.0, kernel(&reference));
        same_bits(&reference, 1, kernel(&reference));
    }
}

#[test]
fn index_beyond_the_padding_index_gives_nan() {
    let table = [1.0, 2.0];
    for isa in Isa::available() {
        let given = Inputs { embedding_dim: 1, table: &table, position_encoding: &[1.0, 1.0], indices: &[0, 1, 0, 2, 0, 3] };
        let mut out = [0.0; 3];
        forward(isa, &given, &mut out);
        assert!(out[..2] == [3.0, 1.0] && out[2].is_nan(), "{isa}: {out:?}");
    }
}
