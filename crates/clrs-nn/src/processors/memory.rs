//! End-to-end memory networks (Sukhbaatar et al., 2015), as dm-clrs applies them: node encodings are the questions, edge
//! encodings the stories, and the graph is one more question whose answer every node gets.
//!
//! Its oddities are kept, since its numbers are: encodings are cut to whole numbers and looked up as words in tables, whole
//! numbers outside a table give NaN, the tables start at 0, and neither the hidden state nor a layer norm takes part.

use std::sync::Arc;

use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::{Output, Processor};
use crate::features::{Input, Pass};
use crate::fused;
use crate::parameters::{Builder, Handle, Start};
use crate::settings::Settings;

/// Size of a word's embedding.
const EMBEDDING: usize = 16;
/// Sentences that the memory holds.
const MEMORY: usize = 128;

pub(super) struct Memory {
    full: bool,
    questions: Handle,
    stories: Handle,
    contents: Handle,
    outputs: Handle,
    inner: Handle,
    last: Handle,
}

impl Memory {
    pub(super) fn new(full: bool, settings: &Settings, builder: &mut Builder) -> Memory {
        let h = settings.hidden;
        let mut table = |name: &str, reference: &str, rows: usize| {
            builder.parameter(name, reference, &[rows, EMBEDDING], Start::Constant(0.0))
        };
        let questions = table("questions", "query_biases", h - 1);
        let stories = table("stories", "stories_biases", h - 1);
        let contents = table("contents", "memory_contents", MEMORY);
        let outputs = table("outputs", "output_biases", h - 1);
        let mut matrix = |name: &str, reference: &str, inputs: usize| {
            builder.parameter(name, reference, &[inputs, h], Start::Normal { deviation: 1.0 / (inputs as f64).sqrt() })
        };
        let inner = matrix("inner/weight", "~_apply/linear_1/w", EMBEDDING);
        let last = matrix("last/weight", "~_apply/linear_2/w", h);
        Memory { full, questions, stories, contents, outputs, inner, last }
    }

    /// The mean of answers, weighted by how well a question, `[questions, EMBEDDING]`, matches its stories.
    fn recall(&self, pass: &Pass, question: Tensor<2>, stories: Tensor<2>, answers: Tensor<2>) -> Tensor<2> {
        if pass.fused {
            return fused::memory_attention(pass, question, stories, answers, self.contents);
        }
        let (device, [count, _]) = (question.device(), question.dims());
        let own = stories.dims()[0] / count;
        let shape = [count, own, EMBEDDING];
        // The rest of the memory holds no story, but has its own contents.
        let rest = Tensor::zeros([count, MEMORY - own, EMBEDDING], &device);
        let memory = Tensor::cat(vec![stories.reshape(shape), rest.clone()], 1) + pass.get(self.contents).unsqueeze::<3>();
        let answers = Tensor::cat(vec![answers.reshape(shape), rest], 1);
        let match_ = softmax((memory * question.reshape([count, 1, EMBEDDING])).sum_dim(2), 1);
        (answers * match_).sum_dim(1).reshape([count, EMBEDDING])
    }
}

impl Processor for Memory {
    fn step(&self, pass: &Pass, input: &Input<'_>) -> Output {
        let (b, n, h) = (input.samples(), input.count(), pass.hidden);
        assert!(n < MEMORY, "callers heed `most_nodes`");
        let device = input.nodes.raw.device();
        let mut edges = input.edges.encoded();
        if !self.full {
            edges = edges * input.neighbours().float().reshape([b, n, n, 1]);
        }
        let graph = input.graph.encoded().reshape([b, 1, h]);
        let questions = Tensor::cat(vec![input.nodes.encoded().reshape([b, n, h]), graph], 1);
        // One more story per question, and one more question about stories: all zeros.
        let edges = Tensor::cat(vec![edges, Tensor::zeros([b, n, 1, h], &device)], 2);
        let edges = Tensor::cat(vec![edges, Tensor::zeros([b, 1, n + 1, h], &device)], 1);

        let questions = Sentences::new(questions.reshape([b * (n + 1), h]));
        let question = questions.embed(pass, self.questions);
        let stories = Sentences::new(edges.reshape([b * (n + 1) * (n + 1), h]));
        let [memory, answers] = [self.stories, self.outputs].map(|table| stories.embed(pass, table));
        let answer = self.recall(pass, question.clone(), memory, answers) + question;
        let rows = relu(answer.matmul(pass.get(self.inner)));
        let rows = rows.matmul(pass.get(self.last)).reshape([b, n + 1, h]);
        let hidden = rows.clone().slice([0..b, 0..n]) + rows.slice([0..b, n..n + 1]);
        Output { hidden: hidden.reshape([b * n, h]), edges: None }
    }

    fn reads_adjacency(&self) -> bool {
        !self.full
    }

    /// Every node has a story of every node, and one more.
    fn most_nodes(&self) -> Option<usize> {
        Some(MEMORY - 1)
    }
}

/// Sentences, as many words each as a row has numbers.
struct Sentences {
    words: Arc<Vec<u16>>,
    /// Words of each.
    length: usize,
    device: Device,
}

impl Sentences {
    /// Words are whole numbers: towards 0, negative ones from the end; the last word is nothing.
    fn new(rows: Tensor<2>) -> Sentences {
        let (device, [_, length]) = (rows.device(), rows.dims());
        let numbers: Vec<f32> = rows.try_into_vec_as().expect("f32");
        let size = i64::try_from(length).expect("a size");
        #[expect(clippy::cast_possible_truncation, reason = "cut on purpose")]
        let word = |number: f32| match number as i64 {
            word if (0..size).contains(&word) => word,
            word if (-size..0).contains(&word) => word + size,
            _ => size, // outside: NaN
        };
        let word = |number: f32| u16::try_from(word(number)).expect("fewer words than `hidden`");
        Sentences { words: Arc::new(numbers.into_iter().map(word).collect()), length, device }
    }

    /// The sum of their words' embeddings, each weighted by its position: `[sentences, EMBEDDING]`.
    fn embed(&self, pass: &Pass, table: Handle) -> Tensor<2> {
        let positions = positions(self.length);
        if pass.fused {
            return fused::embedding_bag(pass, Arc::clone(&self.words), table, Arc::new(positions));
        }
        let count = self.words.len() / self.length;
        let special = [vec![0.0f32; EMBEDDING], vec![f32::NAN; EMBEDDING]].concat();
        let special = Tensor::from_data(TensorData::new(special, [2, EMBEDDING]), &self.device);
        let table = Tensor::cat(vec![pass.get(table), special], 0);
        let words: Vec<i64> = self.words.iter().map(|&word| word.into()).collect();
        let words = Tensor::<1, Int>::from_data(TensorData::new(words, [count * self.length]), &self.device);
        let embedded = table.select(0, words).reshape([count, self.length, EMBEDDING]);
        let positions = Tensor::<3>::from_data(TensorData::new(positions, [1, self.length, EMBEDDING]), &self.device);
        (embedded * positions).sum_dim(1).reshape([count, EMBEDDING])
    }
}

/// How much a word counts at its position, `[h, EMBEDDING]`.
fn positions(h: usize) -> Vec<f32> {
    let (size, words) = (EMBEDDING as f64, h as f64);
    let weight = |word: usize, part: usize| (part as f64 + 1.0 - size / 2.0) * (word as f64 + 1.0 - words / 2.0);
    #[expect(clippy::cast_possible_truncation, reason = "the reference keeps f32")]
    let weights = (0..h).flat_map(|word| {
        (0..EMBEDDING).map(move |part| {
            let product = weight(word, part) as f32;
            1.0 + 4.0 * product / EMBEDDING as f32 / h as f32
        })
    });
    weights.collect()
}
