//! One pass of a part of a batch through the network: what it reads of the weights, and what it owes them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::{Device, Gradients, Tensor};

use crate::exec::features::Affine;
use crate::exec::fused::{Layers, MessageLayerRefs};
use crate::model::task_modules::TaskModules;
use crate::exec::parameters::{ParamId, Linear};
use crate::exec::weights::{self, Matrix, FoldedWeight, FoldedGradients, Sum, Weights};

/// One pass of a part of a batch through the network.
pub struct ForwardContext {
    /// Size of hidden vectors.
    pub hidden: usize,
    /// Whether fused kernels are used where there are some.
    pub(crate) fused: bool,
    /// The place of the algorithm among the network's.
    pub(crate) task: usize,
    pub(crate) weights: Weights,
    heads: Arc<TaskModules>,
    leaves: RefCell<BTreeMap<FoldedWeight, Tensor<2>>>,
    weight_ref: RefCell<BTreeMap<FoldedWeight, WeightRef>>,
    messages: RefCell<BTreeMap<ParamId, Arc<MessageLayerRefs>>>,
    /// Fused operations add to gradients of pieces themselves. What they return depends on this number, so that their turn comes
    /// even where nothing else that they read has a gradient.
    pub(crate) grad_anchor: Tensor<1>,
}

/// A piece that a fused operation reads, and where it adds its gradient.
#[derive(Clone)]
pub(crate) struct WeightRef {
    pub(crate) matrix: Arc<Matrix>,
    pub(crate) sum: Arc<Sum>,
}

impl ForwardContext {
    pub(crate) fn new(weights: &Weights, task: usize, heads: &Arc<TaskModules>, hidden: usize, fused: bool) -> ForwardContext {
        ForwardContext {
            hidden,
            fused,
            task,
            weights: weights.clone(),
            heads: Arc::clone(heads),
            leaves: RefCell::default(),
            weight_ref: RefCell::default(),
            messages: RefCell::default(),
            grad_anchor: weights.leaf(Tensor::zeros([1], &weights.device())),
        }
    }

    /// Where it is computed.
    pub(crate) fn device(&self) -> Device {
        self.weights.device()
    }

    /// The value of a parameter.
    pub fn get(&self, handle: ParamId) -> Tensor<2> {
        self.piece(FoldedWeight::Whole(handle))
    }

    /// `x W + b` over rows of hidden vectors.
    pub fn linear(&self, layer: Linear, x: Tensor<2>) -> Tensor<2> {
        let rows = x.dims()[0];
        Affine::new(self, rows, 1).over(layer, x).rows()
    }

    /// A piece for ordinary operations.
    pub(crate) fn piece(&self, piece: FoldedWeight) -> Tensor<2> {
        let leaf = || self.weights.leaf(self.shared(piece).tensor());
        self.leaves.borrow_mut().entry(piece).or_insert_with(leaf).clone()
    }

    /// A piece for fused operations.
    pub(crate) fn weight_ref(&self, piece: FoldedWeight) -> WeightRef {
        let make = || WeightRef { matrix: self.shared(piece), sum: Arc::default() };
        self.weight_ref.borrow_mut().entry(piece).or_insert_with(make).clone()
    }

    /// The layers of messages, made when they are first asked for.
    pub(crate) fn messages(&self, layers: Layers) -> Arc<MessageLayerRefs> {
        let make = || Arc::new(MessageLayerRefs::new(self, layers));
        Arc::clone(self.messages.borrow_mut().entry(layers.middle.weight).or_insert_with(make))
    }

    fn shared(&self, piece: FoldedWeight) -> Arc<Matrix> {
        self.weights.piece(self.task, &self.heads, piece)
    }

    /// What was found of the gradients of pieces.
    pub(crate) fn gradients(&self, found: &mut Gradients) -> FoldedGradients {
        self.messages.borrow().values().for_each(|layers| layers.hand_on());
        let mut gradients = FoldedGradients::new();
        for (&piece, leaf) in self.leaves.borrow().iter() {
            if let Some(gradient) = leaf.grad_remove(found) {
                gradients.insert(piece, gradient.try_into_vec_as().expect("f32"));
            }
        }
        for (&piece, WeightRef { sum, .. }) in self.weight_ref.borrow().iter() {
            let sum = sum.take();
            if !sum.is_empty() {
                add(gradients.entry(piece).or_default(), sum);
            }
        }
        gradients
    }
}

/// Adds a gradient to others.
pub(crate) fn add(sum: &mut Vec<f32>, more: Vec<f32>) {
    if sum.is_empty() {
        *sum = more;
    } else {
        weights::add(sum, &more);
    }
}
