//! One forward and backward pass of a micro-batch: the weights it reads and the gradients it accumulates.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Device, Gradients, Tensor};

use super::parameters::ParamId;
use super::weights::{self, FoldedGradients, FoldedWeight, GradAccumulator, TaskLayers, WeightMatrix, Weights};

/// One pass of a micro-batch through the network, for one task.
pub struct ForwardContext {
    /// Size of hidden vectors.
    pub hidden: usize,
    /// Whether fused kernels are used.
    pub(crate) fused: bool,
    task: usize,
    weights: Weights,
    layers: Arc<TaskLayers>,
    leaves: RefCell<BTreeMap<FoldedWeight, Tensor<2>>>,
    refs: RefCell<BTreeMap<FoldedWeight, WeightRef>>,
    deferred: RefCell<BTreeMap<ParamId, Arc<dyn DeferredGradients>>>,
    /// A zero with a gradient. Fused operations accumulate gradients of weights themselves; their results depend on this tensor,
    /// so that backward reaches them even where no other input has a gradient.
    pub(crate) grad_anchor: Tensor<1>,
}

/// A weight that a fused operation reads, and the accumulator of its gradient.
#[derive(Clone)]
pub(crate) struct WeightRef {
    pub(crate) matrix: Arc<WeightMatrix>,
    pub(crate) grad: Arc<GradAccumulator>,
}

/// Gradients that an operation accumulates in its own layout over all steps.
pub(crate) trait DeferredGradients: Any + Send + Sync {
    /// Adds them to the gradients of folded weights.
    fn flush(&self);
}

impl ForwardContext {
    pub(crate) fn new(weights: &Weights, task: usize, layers: Arc<TaskLayers>, hidden: usize, fused: bool) -> ForwardContext {
        ForwardContext {
            hidden,
            fused,
            task,
            weights: weights.clone(),
            layers,
            leaves: RefCell::default(),
            refs: RefCell::default(),
            deferred: RefCell::default(),
            grad_anchor: weights.leaf(Tensor::zeros([1], &weights.device())),
        }
    }

    /// Index of the task among the network's.
    pub fn task(&self) -> usize {
        self.task
    }

    /// Device that the pass runs on.
    pub fn device(&self) -> Device {
        self.weights.device()
    }

    /// Value of a parameter.
    pub fn parameter(&self, id: ParamId) -> Tensor<2> {
        self.folded(FoldedWeight::Parameter(id))
    }

    /// The weights that the pass reads.
    pub(crate) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// A folded weight as a tensor.
    pub(crate) fn folded(&self, weight: FoldedWeight) -> Tensor<2> {
        let leaf = || self.weights.leaf(self.matrix(weight).tensor());
        self.leaves.borrow_mut().entry(weight).or_insert_with(leaf).clone()
    }

    /// A folded weight for fused operations.
    pub(crate) fn weight_ref(&self, weight: FoldedWeight) -> WeightRef {
        let create = || WeightRef { matrix: self.matrix(weight), grad: Arc::default() };
        self.refs.borrow_mut().entry(weight).or_insert_with(create).clone()
    }

    /// The deferred gradients of an operation, identified by one of its parameters and created on first use.
    pub(crate) fn deferred<T: DeferredGradients>(&self, key: ParamId, create: impl FnOnce() -> T) -> Arc<T> {
        let existing = self.deferred.borrow().get(&key).cloned();
        let deferred = existing.unwrap_or_else(|| {
            let created: Arc<dyn DeferredGradients> = Arc::new(create());
            self.deferred.borrow_mut().insert(key, Arc::clone(&created));
            created
        });
        let any: Arc<dyn Any + Send + Sync> = deferred;
        any.downcast().expect("a key belongs to one type of operation")
    }

    fn matrix(&self, weight: FoldedWeight) -> Arc<WeightMatrix> {
        self.weights.folded(self.task, &self.layers, weight)
    }

    /// Gradients of folded weights: those of burn's graph and those that fused operations accumulated.
    pub(crate) fn gradients(&self, graph: &mut Gradients) -> FoldedGradients {
        self.deferred.borrow().values().for_each(|deferred| deferred.flush());
        let mut gradients = FoldedGradients::new();
        for (&weight, leaf) in self.leaves.borrow().iter() {
            if let Some(gradient) = leaf.grad_remove(graph) {
                gradients.insert(weight, gradient.try_into_vec_as().expect("f32"));
            }
        }
        for (&weight, WeightRef { grad, .. }) in self.refs.borrow().iter() {
            let grad = grad.take();
            if !grad.is_empty() {
                add(gradients.entry(weight).or_default(), grad);
            }
        }
        gradients
    }
}

/// Adds a gradient to a sum, which is empty at first.
pub(crate) fn add(sum: &mut Vec<f32>, gradient: Vec<f32>) {
    if sum.is_empty() {
        *sum = gradient;
    } else {
        weights::add(sum, &gradient);
    }
}
