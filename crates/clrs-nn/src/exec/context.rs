//! One forward and backward pass of a micro-batch: the weights it reads and the gradients it accumulates.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use burn::tensor::{Device, Tensor as BurnTensor, TensorData};

use super::parameters::ParamId;
use super::tape::Tape;
use super::tensor::Tensor;
use super::weights::{self, FoldedGradients, FoldedWeight, GradAccumulator, TaskLayers, WeightMatrix, Weights};

/// One pass of a micro-batch through the network, for one task.
pub struct ForwardContext {
    /// Size of hidden vectors.
    pub hidden: usize,
    /// Whether tensors are in host memory and fused kernels are used. If not, all operations are burn's.
    pub(crate) fused: bool,
    task: usize,
    weights: Weights,
    layers: Arc<TaskLayers>,
    /// Operations in host memory, if gradients are tracked.
    tape: Option<Tape>,
    /// Weights in burn's graph.
    leaves: RefCell<BTreeMap<FoldedWeight, BurnTensor<2>>>,
    refs: RefCell<BTreeMap<FoldedWeight, WeightRef>>,
    deferred: RefCell<BTreeMap<ParamId, Rc<dyn DeferredGradients>>>,
    /// The pass of a processor that computes with burn, inside of one in host memory.
    unfused: OnceCell<Rc<ForwardContext>>,
    /// Gradients of the weights in burn's graph, summed over backward passes.
    leaf_gradients: RefCell<FoldedGradients>,
}

/// A weight that a fused operation reads, and the accumulator of its gradient.
#[derive(Clone)]
pub(crate) struct WeightRef {
    pub(crate) matrix: Arc<WeightMatrix>,
    pub(crate) grad: Rc<GradAccumulator>,
}

/// Gradients that an operation accumulates in its own layout over all steps.
pub(crate) trait DeferredGradients: Any {
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
            tape: (fused && weights.requires_grad()).then(Tape::default),
            leaves: RefCell::default(),
            refs: RefCell::default(),
            deferred: RefCell::default(),
            unfused: OnceCell::new(),
            leaf_gradients: RefCell::default(),
        }
    }

    /// A pass without weights, for tests.
    #[cfg(test)]
    pub(crate) fn host() -> ForwardContext {
        let weights = Weights::no_grad(&super::parameters::ParameterBuilder::new(0).finish(), &Device::flex());
        let layers = TaskLayers { hidden: 1, encoders: Vec::new(), node_hints: Vec::new() };
        ForwardContext::new(&weights, 0, Arc::new(layers), 1, true)
    }

    /// Index of the task among the network's.
    pub fn task(&self) -> usize {
        self.task
    }

    /// Device that the pass runs on.
    pub fn device(&self) -> Device {
        self.weights.device()
    }

    /// A tensor of given elements, row-major, without a gradient.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    pub fn tensor<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        assert_eq!(values.len(), shape.iter().product::<usize>(), "values of the shape {shape:?}");
        if self.fused {
            return Tensor::host(super::tape::View::constant(values), shape, self.tape.clone());
        }
        BurnTensor::from_data(TensorData::new(values, shape), &self.device()).into()
    }

    /// A tensor of zeros.
    pub fn zeros<const D: usize>(&self, shape: [usize; D]) -> Tensor<D> {
        self.tensor(vec![0.0; shape.iter().product()], shape)
    }

    /// Value of a parameter, for operations of burn.
    pub fn parameter(&self, id: ParamId) -> BurnTensor<2> {
        self.folded(FoldedWeight::Parameter(id))
    }

    /// The weights that the pass reads.
    pub(crate) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// A leaf of burn's graph.
    pub(crate) fn leaf(&self, data: TensorData) -> BurnTensor<1> {
        self.weights.leaf(BurnTensor::from_data(data, &self.weights.device().inner()))
    }

    /// Operations in host memory, if gradients are tracked.
    pub(crate) fn tape(&self) -> Option<&Tape> {
        self.tape.as_ref()
    }

    /// A folded weight in burn's graph.
    pub(crate) fn folded(&self, weight: FoldedWeight) -> BurnTensor<2> {
        let leaf = || self.weights.leaf(self.matrix(weight).tensor());
        self.leaves.borrow_mut().entry(weight).or_insert_with(leaf).clone()
    }

    /// A folded weight for fused operations.
    pub(crate) fn weight_ref(&self, weight: FoldedWeight) -> WeightRef {
        let create = || WeightRef { matrix: self.matrix(weight), grad: Rc::default() };
        self.refs.borrow_mut().entry(weight).or_insert_with(create).clone()
    }

    /// The deferred gradients of an operation, identified by one of its parameters and created on first use.
    pub(crate) fn deferred<T: DeferredGradients>(&self, key: ParamId, create: impl FnOnce() -> T) -> Rc<T> {
        let existing = self.deferred.borrow().get(&key).cloned();
        let deferred = existing.unwrap_or_else(|| {
            let created: Rc<dyn DeferredGradients> = Rc::new(create());
            self.deferred.borrow_mut().insert(key, Rc::clone(&created));
            created
        });
        let any: Rc<dyn Any> = deferred;
        any.downcast().expect("a key belongs to one type of operation")
    }

    /// The same pass with operations of burn, on the CPU.
    pub(crate) fn unfused(&self) -> Rc<ForwardContext> {
        let create = || ForwardContext::new(&self.weights, self.task, Arc::clone(&self.layers), self.hidden, false);
        Rc::clone(self.unfused.get_or_init(|| Rc::new(create())))
    }

    fn matrix(&self, weight: FoldedWeight) -> Arc<WeightMatrix> {
        self.weights.folded(self.task, &self.layers, weight)
    }

    /// The loss of no cells: 0, and backward reaches it.
    pub(crate) fn zero_loss(&self) -> Tensor<1> {
        if self.fused { self.zeros([1]) } else { self.leaf(TensorData::new(vec![0.0f32], [1])).into() }
    }

    /// Backward of a loss. Returns the gradients of all folded weights that it depends on.
    pub(crate) fn backward(&self, loss: Tensor<1>) -> FoldedGradients {
        let Some(tape) = &self.tape else {
            self.backward_burn(&loss.burn(), &[]);
            return self.leaf_gradients.take();
        };
        tape.backward(&loss.view());
        self.deferred.borrow().values().for_each(|deferred| deferred.flush());
        let mut gradients = self.unfused.get().map(|pass| pass.leaf_gradients.take()).unwrap_or_default();
        for (&weight, WeightRef { grad, .. }) in self.refs.borrow().iter() {
            let grad = grad.take();
            if !grad.is_empty() {
                accumulate(gradients.entry(weight).or_default(), grad);
            }
        }
        gradients
    }

    /// Backward of a value in burn's graph. Returns the gradients of some leaves, and adds those of weights to `leaf_gradients`.
    pub(crate) fn backward_burn(&self, value: &BurnTensor<1>, leaves: &[BurnTensor<1>]) -> Vec<Option<Vec<f32>>> {
        let mut graph = value.backward();
        let values = |gradient: BurnTensor<1>| gradient.try_into_vec_as().expect("f32");
        let found = leaves.iter().map(|leaf| leaf.grad_remove(&mut graph).map(values)).collect();
        let mut gradients = self.leaf_gradients.borrow_mut();
        for (&weight, leaf) in self.leaves.borrow().iter() {
            if let Some(gradient) = leaf.grad_remove(&mut graph) {
                accumulate(gradients.entry(weight).or_default(), gradient.try_into_vec_as().expect("f32"));
            }
        }
        found
    }
}

/// Adds a gradient to a sum, which is empty at first.
pub(crate) fn accumulate(sum: &mut Vec<f32>, gradient: Vec<f32>) {
    if sum.is_empty() {
        *sum = gradient;
    } else {
        weights::add(sum, &gradient);
    }
}
