//! What a memory answers to questions.

use std::sync::Arc;

use burn::tensor::Tensor;
use clrs_kernels::rows::{softmax, softmax_backward};
use clrs_kernels::{Isa, Scratch};

use super::{BackwardInput, InputGradients, SavedState, FusedOp, Slices, compute, input};
use crate::exec::features::ForwardContext;
use crate::exec::parameters::ParamId;
use crate::exec::context::WeightRef;
use crate::exec::weights::FoldedWeight;

/// The mean of the answers of stories, weighted by how well a question matches each story and the contents of its place in the
/// memory: `[questions, size]`, of questions `[questions, size]`, and stories and answers `[questions * stories, size]`. Places
/// behind the stories have contents alone, and no answer.
pub(crate) fn memory_attention(pass: &ForwardContext, questions: Tensor<2>, stories: Tensor<2>, answers: Tensor<2>, contents: ParamId) -> Tensor<2> {
    let ([questions_count, size], [stories_count, _]) = (questions.dims(), stories.dims());
    let contents = pass.weight_ref(FoldedWeight::Whole(contents));
    let operation = MemoryAttention { questions: questions_count, stories: stories_count / questions_count, size, contents };
    compute(pass, operation, vec![input(questions), input(stories), input(answers)])
}

struct MemoryAttention {
    questions: usize,
    /// Of a question.
    stories: usize,
    size: usize,
    contents: WeightRef,
}

impl FusedOp for MemoryAttention {
    fn shape(&self) -> Vec<usize> {
        vec![self.questions, self.size]
    }

    /// Keeps how much each place counts.
    fn forward(&self, &[questions, stories, answers, ..]: &Slices<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> SavedState {
        let (size, contents) = (self.size, self.contents.matrix.values());
        let places = contents.len() / size;
        let mut shares = vec![0.0; self.questions * places];
        for (number, question) in questions.chunks_exact(size).enumerate() {
            let shares = &mut shares[number * places..][..places];
            let stories = stories[number * self.stories * size..].chunks_exact(size).take(self.stories);
            for (share, content) in shares.iter_mut().zip(contents.chunks_exact(size)) {
                *share = dot(content, question);
            }
            for (share, story) in shares.iter_mut().zip(stories) {
                *share += dot(story, question);
            }
            softmax(Isa::best(), shares, places);
            let answers = answers[number * self.stories * size..].chunks_exact(size).take(self.stories);
            for (share, answer) in shares.iter().zip(answers) {
                add(&mut out[number * size..][..size], answer, *share);
            }
        }
        Arc::new(shares)
    }

    fn backward(&self, back: BackwardInput<'_>, _: &mut Scratch) -> InputGradients {
        let shares = back.kept::<Vec<f32>>();
        let BackwardInput { inputs: [questions, stories, answers, ..], d_out, .. } = back;
        let (size, contents) = (self.size, self.contents.matrix.values());
        let places = contents.len() / size;
        let [mut d_questions, mut d_stories, mut d_answers] = [questions, stories, answers].map(|input| vec![0.0; input.len()]);
        let mut d_scores = vec![0.0; places];
        self.contents.sum.add(contents.len(), |d_contents| {
            for (number, (question, d_out)) in questions.chunks_exact(size).zip(d_out.chunks_exact(size)).enumerate() {
                let shares = &shares[number * places..][..places];
                let first = number * self.stories;
                d_scores.fill(0.0);
                for place in 0..self.stories {
                    let at = (first + place) * size;
                    d_scores[place] = dot(&answers[at..][..size], d_out);
                    add(&mut d_answers[at..][..size], d_out, shares[place]);
                }
                softmax_backward(Isa::best(), shares, &mut d_scores, places);
                let d_question = &mut d_questions[number * size..][..size];
                for (place, &d) in d_scores.iter().enumerate() {
                    add(d_question, &contents[place * size..][..size], d);
                    add(&mut d_contents[place * size..][..size], question, d);
                }
                for (place, &d) in d_scores[..self.stories].iter().enumerate() {
                    let at = (first + place) * size;
                    add(d_question, &stories[at..][..size], d);
                    add(&mut d_stories[at..][..size], question, d);
                }
            }
        });
        [Some(d_questions), Some(d_stories), Some(d_answers), None, None, None, None]
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f32], more: &[f32], times: f32) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += times * more);
}
