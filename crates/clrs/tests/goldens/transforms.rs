use clrs::transform::{
    Chunk, Chunks, TransformError, cyclic_permutations, plain_permutations, predecessors_as_input, random_positions,
};
use clrs::{Batch, RandomState};
use serde::Deserialize;

use crate::recorded::{self, RecordedBatch, assert_same, assert_same_array};

#[derive(Deserialize)]
struct Recording {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    algorithm: String,
    #[serde(flatten)]
    transform: Transform,
    before: Vec<RecordedBatch>,
    /// `None` if dm-clrs raises an error.
    after: Option<Vec<RecordedBatch>>,
}

#[derive(Deserialize)]
#[serde(tag = "transform", rename_all = "snake_case")]
enum Transform {
    RandomPos { position_seed: u32 },
    PredAsInput,
    Permutations { enforce: bool },
    Chunk { chunk_length: usize },
}

#[test]
fn transformed_batches_equal_those_of_dm_clrs() {
    for case in recorded::read::<Recording>("transforms.json").cases {
        let name = &case.algorithm;
        let before = case.before.iter().map(|batch| {
            let lengths = batch.lengths.as_ref().expect("a complete batch").values();
            recorded::batch(&batch.arrays, lengths)
        });
        match case.transform {
            Transform::RandomPos { position_seed } => {
                let mut random = RandomState::new(position_seed);
                let after = before.map(|batch| random_positions(batch, &mut random));
                assert_all_same(after.collect(), case.after, name);
            }
            Transform::PredAsInput => assert_all_same(before.map(predecessors_as_input).collect(), case.after, name),
            Transform::Permutations { enforce: true } => {
                assert_all_same(before.map(cyclic_permutations).collect(), case.after, name);
            }
            Transform::Permutations { enforce: false } => {
                assert_all_same(before.map(plain_permutations).map(Ok).collect(), case.after, name);
            }
            Transform::Chunk { chunk_length } => {
                let mut chunks = Chunks::new(before, chunk_length).expect("a valid length");
                let chunks = std::iter::from_fn(|| chunks.next().expect("batches of one size"));
                assert_chunks_same(&chunks.collect::<Vec<_>>(), &case.after.expect("chunks"), name);
            }
        }
    }
}

fn assert_all_same(ours: Result<Vec<Batch>, TransformError>, recorded: Option<Vec<RecordedBatch>>, case: &str) {
    let (ours, recorded) = match (ours, recorded) {
        (Ok(ours), Some(recorded)) => (ours, recorded),
        (Err(_), None) => return,
        (ours, recorded) => {
            panic!("{case}: our error is {:?}, but dm-clrs succeeds: {}", ours.err(), recorded.is_some())
        }
    };
    assert_eq!(ours.len(), recorded.len(), "{case}");
    for (ours, recorded) in ours.iter().zip(recorded) {
        assert_same(ours.iter(), &recorded.arrays, case);
        assert_eq!(ours.lengths, recorded.lengths.expect("a complete batch").values(), "{case}: lengths");
    }
}

fn assert_chunks_same(ours: &[Chunk], recorded: &[RecordedBatch], case: &str) {
    assert_eq!(ours.len(), recorded.len(), "{case}");
    for (ours, recorded) in ours.iter().zip(recorded) {
        assert_same(ours.spec.iter().zip(&ours.arrays), &recorded.arrays, case);
        for (ours, recorded, name) in
            [(&ours.is_first, &recorded.is_first, "is_first"), (&ours.is_last, &recorded.is_last, "is_last")]
        {
            assert_same_array(ours, recorded.as_ref().expect("the flags of a chunk"), 0.0, &format!("{case}: {name}"));
        }
    }
}
