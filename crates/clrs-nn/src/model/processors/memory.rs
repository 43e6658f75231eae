//! End-to-end memory networks (Sukhbaatar et al., 2015), as dm-clrs applies them: node encodings are the queries, edge encodings the
//! stories, and the graph is one more query whose answer is added to every node.
//!
//! To give the same results, its peculiarities are reproduced: encodings are truncated to integers and looked up as words in embedding
//! tables, integers outside a table give NaN, the tables start at 0, and neither the hidden state nor layer norm is used.

use std::collections::HashMap;
use std::rc::Rc;

use burn::tensor::activation::softmax;
use burn::tensor::{Int, Tensor as BurnTensor, TensorData};

use super::{Processor, ProcessorInput, ProcessorOutput};
use crate::config::model::ModelConfig;
use crate::exec::context::ForwardContext;
use crate::exec::features::Affine;
use crate::exec::fused;
use crate::exec::parameters::{Init, ParamId, ParameterBuilder};
use crate::exec::tensor::Tensor;
use crate::exec::weights::FoldedWeight;

/// Size of word embeddings.
const EMBEDDING: usize = 16;
/// Number of sentences in the memory.
const MEMORY: usize = 128;

pub(super) struct MemoryNetwork {
    full: bool,
    queries: ParamId,
    stories: ParamId,
    contents: ParamId,
    outputs: ParamId,
    inner: ParamId,
    last: ParamId,
}

impl MemoryNetwork {
    pub(super) fn new(full: bool, config: &ModelConfig, builder: &mut ParameterBuilder) -> MemoryNetwork {
        let h = config.hidden;
        let mut table = |name: &str, dm_clrs_name: &str, rows: usize| {
            builder.parameter((name, dm_clrs_name), &[rows, EMBEDDING], Init::Constant(0.0))
        };
        let queries = table("queries", "query_biases", h - 1);
        let stories = table("stories", "stories_biases", h - 1);
        let contents = table("contents", "memory_contents", MEMORY);
        let outputs = table("outputs", "output_biases", h - 1);
        let mut matrix = |name: &str, dm_clrs_name: &str, inputs: usize| {
            builder.parameter((name, dm_clrs_name), &[inputs, h], Init::TruncatedNormal { stddev: 1.0 / (inputs as f64).sqrt() })
        };
        let inner = matrix("inner/weight", "~_apply/linear_1/w", EMBEDDING);
        let last = matrix("last/weight", "~_apply/linear_2/w", h);
        MemoryNetwork { full, queries, stories, contents, outputs, inner, last }
    }

    /// The distinct stories, and which of them each pair of nodes has, `[B, N + 1, N + 1]`: the last of each row, and the last row, are
    /// empty. Most channels of edges are pointers and masks, so few stories are distinct; words have no gradient.
    fn stories(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> (Sentences, Vec<usize>) {
        let (b, n) = (input.samples(), input.node_count());
        let raw = input.edges.raw_rows().into_vec();
        let channels = raw.len() / (b * n * n);
        let bits: Vec<u32> = raw.iter().map(|value| value.to_bits()).collect();
        let adjacency = (!self.full).then(|| input.adjacency().host());
        // Story 0 is the empty one.
        let (mut ids, mut rows) = (HashMap::new(), Vec::new());
        let mut story_id = |pair: usize| {
            if adjacency.as_ref().is_some_and(|connected| !connected[pair]) {
                return 0;
            }
            let next = ids.len() + 1;
            let range = pair * channels..(pair + 1) * channels;
            *ids.entry(&bits[range.clone()]).or_insert_with(|| {
                rows.extend_from_slice(&raw[range]);
                next
            })
        };
        let mut index = Vec::with_capacity(b * (n + 1) * (n + 1));
        for sample in 0..b {
            for row in sample * n..(sample + 1) * n {
                index.extend((row * n..(row + 1) * n).map(&mut story_id));
                index.push(0);
            }
            index.resize(index.len() + n + 1, 0);
        }
        let encoded = input.edges.encode(ctx.tensor(rows, [ids.len(), channels]));
        (Sentences::new(Tensor::cat(vec![ctx.zeros([1, ctx.hidden]), encoded], 0)), index)
    }

    /// Mean of the answers, weighted by the match of each query, `[queries, EMBEDDING]`, with its stories.
    fn memory_attention(&self, ctx: &ForwardContext, query: Tensor<2>, stories: Tensor<2>, answers: Tensor<2>) -> Tensor<2> {
        if ctx.fused {
            return fused::memory_attention(ctx, query, stories, answers, self.contents);
        }
        let (query, stories, answers) = (query.burn(), stories.burn(), answers.burn());
        let (device, [count, _]) = (query.device(), query.dims());
        let own = stories.dims()[0] / count;
        let shape = [count, own, EMBEDDING];
        // Slots without a story still have their learned contents.
        let rest = BurnTensor::zeros([count, MEMORY - own, EMBEDDING], &device);
        let memory =
            BurnTensor::cat(vec![stories.reshape(shape), rest.clone()], 1) + ctx.parameter(self.contents).unsqueeze::<3>();
        let answers = BurnTensor::cat(vec![answers.reshape(shape), rest], 1);
        let weights = softmax((memory * query.reshape([count, 1, EMBEDDING])).sum_dim(2), 1);
        (answers * weights).sum_dim(1).reshape([count, EMBEDDING]).into()
    }
}

impl Processor for MemoryNetwork {
    fn step(&self, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
        let (b, n, h) = (input.samples(), input.node_count(), ctx.hidden);
        assert!(n < MEMORY, "callers respect `max_nodes`");
        let graph = input.graph.encoded().reshape([b, 1, h]);
        let queries = Tensor::cat(vec![input.nodes.encoded().reshape([b, n, h]), graph], 1);
        let query = Sentences::new(queries.reshape([b * (n + 1), h])).embed(ctx, self.queries);
        let (stories, index) = self.stories(ctx, input);
        let [memory, answers] = [self.stories, self.outputs].map(|table| stories.embed(ctx, table).index_select(&index));
        let answer = self.memory_attention(ctx, query.clone(), memory, answers) + query;
        let layer = |rows, weight| Affine::new(ctx, b * (n + 1), 1).product(rows, FoldedWeight::Parameter(weight));
        let rows = layer(layer(answer, self.inner).relu(), self.last).rows().reshape([b, n + 1, h]);
        let hidden = rows.clone().narrow(1, 0..n) + rows.narrow(1, n..n + 1);
        ProcessorOutput { hidden: hidden.reshape([b * n, h]), edges: None }
    }

    fn reads_adjacency(&self) -> bool {
        !self.full
    }

    fn has_fused_step(&self) -> bool {
        true
    }

    /// Every node has a story per node, and one more.
    fn max_nodes(&self) -> Option<usize> {
        Some(MEMORY - 1)
    }
}

/// Sentences with a word per value of a row.
struct Sentences {
    words: Rc<Vec<u16>>,
    /// Words per sentence.
    length: usize,
}

impl Sentences {
    /// Truncates values to integers, which index words; negative ones count from the end. The last word is the empty one.
    fn new(rows: Tensor<2>) -> Sentences {
        let [_, length] = rows.dims();
        let size = i64::try_from(length).expect("a size");
        #[expect(clippy::cast_possible_truncation, reason = "truncated on purpose")]
        let index = |value: f32| match value as i64 {
            word if (0..size).contains(&word) => word,
            word if (-size..0).contains(&word) => word + size,
            _ => size, // out of range: NaN
        };
        let word = |value: f32| u16::try_from(index(value)).expect("fewer words than `hidden`");
        Sentences { words: Rc::new(rows.into_vec().into_iter().map(word).collect()), length }
    }

    /// Sum of word embeddings weighted by position, `[sentences, EMBEDDING]`.
    fn embed(&self, ctx: &ForwardContext, table: ParamId) -> Tensor<2> {
        let positions = positions(self.length);
        if ctx.fused {
            return fused::embedding_bag(ctx, Rc::clone(&self.words), table, Rc::new(positions));
        }
        let (count, device) = (self.words.len() / self.length, ctx.device());
        let special = [vec![0.0f32; EMBEDDING], vec![f32::NAN; EMBEDDING]].concat();
        let special = BurnTensor::from_data(TensorData::new(special, [2, EMBEDDING]), &device);
        let table = BurnTensor::cat(vec![ctx.parameter(table), special], 0);
        let words: Vec<i64> = self.words.iter().map(|&word| word.into()).collect();
        let words = BurnTensor::<1, Int>::from_data(TensorData::new(words, [count * self.length]), &device);
        let embedded = table.select(0, words).reshape([count, self.length, EMBEDDING]);
        let positions = BurnTensor::<3>::from_data(TensorData::new(positions, [1, self.length, EMBEDDING]), &device);
        (embedded * positions).sum_dim(1).reshape([count, EMBEDDING]).into()
    }
}

/// Position encoding of words, `[h, EMBEDDING]`.
fn positions(h: usize) -> Vec<f32> {
    let (size, words) = (EMBEDDING as f64, h as f64);
    let weight = |word: usize, dimension: usize| (dimension as f64 + 1.0 - size / 2.0) * (word as f64 + 1.0 - words / 2.0);
    #[expect(clippy::cast_possible_truncation, reason = "dm-clrs computes in f32")]
    let weights = (0..h).flat_map(|word| {
        (0..EMBEDDING).map(move |dimension| {
            let product = weight(word, dimension) as f32;
            1.0 + 4.0 * product / EMBEDDING as f32 / h as f32
        })
    });
    weights.collect()
}
