//! Estimated work of a run, and the rate at which this machine does it.
//!
//! The estimate ranks runs (the longest start first) and predicts how long a sweep takes. It counts the products of a message-passing
//! network from shapes, and scales them by the measured cost of the processor; expect it to be right within a factor of two.

use std::collections::BTreeMap;
use std::time::Instant;

use clrs::sampling::{SampleError, Sampler, SamplerOptions, SizeProfile};
use clrs::{AnyAlgorithm, Kind, Location, Stage, training};
use clrs_nn::config::data_source::DataSource;
use clrs_nn::data::eval_set::EvalSet;
use clrs_nn::exec::device::Device;
use clrs_nn::train::plan::TrainPlan;
use clrs_nn::train::trainer::Trainer;
use clrs_nn::{Recipe, Registries};

use crate::eval_plan::EvalPlan;

/// Estimates the floating-point operations of runs. Remembers the shapes of algorithms.
#[derive(Default)]
pub struct CostModel {
    shapes: BTreeMap<(&'static str, usize), Shape>,
}

/// Shape of the samples of an algorithm at a size.
#[derive(Clone, Copy, Debug)]
struct Shape {
    nodes: f64,
    steps: f64,
    hints: f64,
    edge_hints: f64,
}

/// Size of the benchmark's training problems.
const BENCHMARK_SIZE: usize = 16;
/// Size of the benchmark's test problems.
const BENCHMARK_TEST_SIZE: usize = 64;
/// Validation and test samples of the benchmark, before the algorithm's multiplier.
const BENCHMARK_SAMPLES: usize = 32;
/// Samples of which the mean number of steps is taken.
const MEASURED: usize = 8;
/// Shapes of larger problems are extrapolated.
const LARGEST_MEASURED: usize = 256;
/// A training step relative to its forward pass: products in backward that are not skipped, and the optimizer.
const TRAINING: f64 = 2.4;

impl CostModel {
    /// Estimated floating-point operations of the evaluations of a run.
    ///
    /// # Errors
    /// If an algorithm does not accept a size.
    pub fn evaluation(&mut self, recipe: &Recipe, eval: &EvalPlan, registries: &Registries) -> Result<f64, SampleError> {
        let mut flops = 0.0;
        let processor = relative_cost(recipe, registries);
        for task in eval.tasks(recipe) {
            let Ok(algorithm) = registries.algorithms.find(&task.algorithm) else { continue };
            let (size, count) = match task.set {
                EvalSet::Sampled { size, count, .. } => (size, count),
                _ => (BENCHMARK_TEST_SIZE, None),
            };
            let samples = count.unwrap_or(BENCHMARK_SAMPLES * algorithm.eval_multiplier());
            flops += samples as f64 * self.shape(algorithm, size)?.forward(recipe.model.hidden as f64, processor);
        }
        Ok(flops)
    }

    /// Estimated floating-point operations of training with a recipe: its steps and validations.
    ///
    /// # Errors
    /// If an algorithm does not accept a size of the recipe.
    pub fn training(&mut self, recipe: &Recipe, registries: &Registries) -> Result<f64, SampleError> {
        let processor = relative_cost(recipe, registries);
        let mut flops = 0.0;
        for algorithm in recipe.algorithms.iter().filter_map(|name| registries.algorithms.find(name).ok()) {
            let (sizes, samples) = match recipe.data {
                DataSource::OnTheFly => (training::sizes(algorithm, &recipe.lengths), recipe.val_samples),
                _ => (vec![BENCHMARK_SIZE], BENCHMARK_SAMPLES),
            };
            let mut per_sample = Vec::with_capacity(sizes.len());
            for size in sizes {
                per_sample.push(self.shape(algorithm, size)?.forward(recipe.model.hidden as f64, processor));
            }
            let mean = per_sample.iter().sum::<f64>() / per_sample.len().max(1) as f64;
            let largest = per_sample.iter().copied().fold(0.0, f64::max);
            let validations = (recipe.steps / recipe.eval_every.max(1)) as f64;
            flops += TRAINING * recipe.steps as f64 * recipe.batch_size as f64 * mean;
            flops += validations * (samples * algorithm.eval_multiplier()) as f64 * largest;
        }
        Ok(flops)
    }

    fn shape(&mut self, algorithm: &'static dyn AnyAlgorithm, size: usize) -> Result<Shape, SampleError> {
        let key = (algorithm.name(), size);
        if let Some(shape) = self.shapes.get(&key) {
            return Ok(*shape);
        }
        Sampler::new(algorithm, size, 0, &SamplerOptions::default())?;
        let measured = size.min(LARGEST_MEASURED);
        let (profile, scale) = (SizeProfile::measure(algorithm, measured, MEASURED)?, size as f64 / measured as f64);
        let hints = || algorithm.spec().iter().filter(|probe| probe.stage == Stage::Hint);
        let is_on_edges = |location: Location, kind: Kind| location == Location::Edge && kind != Kind::Scalar;
        let shape = Shape {
            nodes: profile.nodes as f64 * scale,
            steps: (f64::midpoint(profile.steps.0 as f64, profile.steps.1 as f64) - 1.0).max(1.0) * scale,
            hints: hints().count() as f64,
            edge_hints: hints().filter(|probe| is_on_edges(probe.location, probe.kind)).count() as f64,
        };
        self.shapes.insert(key, shape);
        Ok(shape)
    }
}

fn relative_cost(recipe: &Recipe, registries: &Registries) -> f64 {
    registries.processors.find(&recipe.model.processor).map_or(1.0, |entry| entry.relative_cost)
}

impl Shape {
    /// Forward pass of one sample, in multiples of products of a hidden vector and a hidden-by-hidden matrix: two per pair of nodes for
    /// messages, several per node for encoders, readout and decoders, and a part of one per pair for hints on edges.
    fn forward(self, hidden: f64, processor: f64) -> f64 {
        let Shape { nodes, steps, hints, edge_hints } = self;
        let pairs = nodes * nodes;
        let products = (2.0 * pairs + 6.0 * nodes) * processor + 4.0 * nodes * hints + 0.75 * pairs * edge_hints;
        steps * products * 2.0 * hidden * hidden
    }
}

/// Measures the rate of one thread, in floating-point operations per second as [`CostModel`] counts them, with a few training steps of a
/// small batch. Takes about a tenth of a second.
pub fn measure_rate() -> Option<f64> {
    const STEPS: usize = 4;
    let overrides = ["algorithms=bfs", "lengths=16", "batch_size=8", "val_samples=1", "steps=1000000", "eval_every=1000000"];
    let recipe = Recipe::parse("", &overrides).ok()?;
    let registries = Registries::builtin();
    let per_step = CostModel::default().training(&recipe, &registries).ok()? / recipe.steps as f64;
    let plan = TrainPlan::new(recipe, &registries).ok()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
    let seconds = pool.install(|| {
        let mut trainer = Trainer::new(plan, &Device::flex()).ok()?;
        trainer.step().ok()?;
        let step = |_| {
            let start = Instant::now();
            trainer.step().ok()?;
            Some(start.elapsed().as_secs_f64())
        };
        let times: Option<Vec<f64>> = (0..STEPS).map(step).collect();
        times.map(|times| times.iter().sum::<f64>() / STEPS as f64)
    })?;
    Some(per_step / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_runs_cost_more() {
        let registries = Registries::builtin();
        let flops = |overrides: &[&str]| {
            let recipe = Recipe::parse("algorithms = ['bfs']\ndata = 'clrs30@1.0.0'", overrides).expect("a recipe");
            CostModel::default().training(&recipe, &registries).expect("an estimate")
        };
        let bfs = flops(&[]);
        assert!((1.9..2.1).contains(&(flops(&["steps=20000"]) / bfs)));
        assert!(flops(&["algorithms=heapsort"]) > 10.0 * bfs);
        assert!(flops(&["processor=gat"]) < bfs && flops(&["processor=triplet_gmpnn"]) > bfs);
        assert!(flops(&["eval_every=1"]) > bfs && flops(&["hidden=64"]) < bfs / 3.0);
    }
}
