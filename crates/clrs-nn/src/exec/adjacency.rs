//! Adjacency matrices.

use std::rc::Rc;

use burn::tensor::{Bool, Int, Tensor as BurnTensor, TensorData};

use super::context::ForwardContext;
use super::tensor::Tensor;

/// Connected pairs of nodes, `[B, N, N]`, symmetric and with self-loops.
#[derive(Clone)]
pub struct Adjacency {
    samples: usize,
    nodes: usize,
    repr: Repr,
}

#[derive(Clone)]
enum Repr {
    Host(Rc<Vec<bool>>),
    Burn(Box<BurnTensor<3, Bool>>),
}

impl Repr {
    fn burn(connected: BurnTensor<3, Bool>) -> Repr {
        Repr::Burn(Box::new(connected))
    }
}

impl Adjacency {
    /// Every node connected to itself alone.
    pub(crate) fn self_loops(ctx: &ForwardContext, samples: usize, nodes: usize) -> Adjacency {
        let pairs = samples * nodes * nodes;
        let connected: Vec<bool> = (0..pairs).map(|pair| pair / nodes % nodes == pair % nodes).collect();
        let host = Adjacency { samples, nodes, repr: Repr::Host(Rc::new(connected)) };
        if ctx.fused { host } else { Adjacency { repr: Repr::burn(host.to_burn(ctx)), ..host } }
    }

    /// Connects the pairs for which `value[i, j] + value[j, i]` exceeds a threshold. `value` has `N * N` elements per sample.
    #[must_use]
    pub(crate) fn connect<const D: usize>(self, value: Tensor<D>, threshold: f32) -> Adjacency {
        let Adjacency { samples, nodes, repr } = self;
        let value = value.detach();
        let repr = match repr {
            Repr::Host(connected) => {
                let (value, mut connected) = (value.into_vec(), Rc::unwrap_or_clone(connected));
                for (connected, value) in connected.chunks_exact_mut(nodes * nodes).zip(value.chunks_exact(nodes * nodes)) {
                    for (pair, connected) in connected.iter_mut().enumerate() {
                        *connected |= value[pair] + value[pair % nodes * nodes + pair / nodes] > threshold;
                    }
                }
                Repr::Host(Rc::new(connected))
            }
            Repr::Burn(connected) => {
                let pairs = value.burn().reshape([samples, nodes, nodes]);
                Repr::burn(connected.bool_or((pairs.clone() + pairs.swap_dims(1, 2)).greater_scalar(threshold)))
            }
        };
        Adjacency { samples, nodes, repr }
    }

    /// A range of samples.
    #[must_use]
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Adjacency {
        if range == (0..self.samples) {
            return self.clone();
        }
        let pairs = self.nodes * self.nodes;
        let repr = match &self.repr {
            Repr::Host(connected) => Repr::Host(Rc::new(connected[range.start * pairs..range.end * pairs].to_vec())),
            Repr::Burn(connected) => Repr::burn(connected.clone().slice([range.clone()])),
        };
        Adjacency { samples: range.len(), repr, ..*self }
    }

    /// Samples by index.
    #[must_use]
    pub(crate) fn index_select(&self, samples: &[usize]) -> Adjacency {
        let pairs = self.nodes * self.nodes;
        let repr = match &self.repr {
            Repr::Host(connected) => {
                Repr::Host(Rc::new(samples.iter().flat_map(|sample| &connected[sample * pairs..][..pairs]).copied().collect()))
            }
            Repr::Burn(connected) => {
                let indices: Vec<i64> = samples.iter().map(|&sample| i64::try_from(sample).expect("an index")).collect();
                let indices = TensorData::new(indices, [samples.len()]);
                Repr::burn(connected.clone().select(0, BurnTensor::<1, Int>::from_data(indices, &connected.device())))
            }
        };
        Adjacency { samples: samples.len(), repr, ..*self }
    }

    /// Concatenates samples.
    pub(crate) fn cat(parts: &[Adjacency]) -> Adjacency {
        let samples = parts.iter().map(|part| part.samples).sum();
        let repr = match &parts[0].repr {
            Repr::Host(_) => Repr::Host(Rc::new(parts.iter().flat_map(|part| part.host().to_vec()).collect())),
            Repr::Burn(_) => Repr::burn(BurnTensor::cat(parts.iter().map(Adjacency::burn).collect(), 0)),
        };
        Adjacency { samples, repr, ..parts[0] }
    }

    /// As fused operations read it.
    pub(crate) fn host(&self) -> Rc<Vec<bool>> {
        match &self.repr {
            Repr::Host(connected) => Rc::clone(connected),
            Repr::Burn(connected) => Rc::new(connected.clone().into_data().iter::<bool>().collect()),
        }
    }

    /// The tensor of burn.
    ///
    /// # Panics
    /// As [`Tensor::burn`].
    pub fn burn(&self) -> BurnTensor<3, Bool> {
        match &self.repr {
            Repr::Burn(connected) => (**connected).clone(),
            Repr::Host(_) => panic!("an adjacency matrix in host memory"),
        }
    }

    /// The matrix in a pass with operations of burn.
    pub(crate) fn unfused(&self, ctx: &ForwardContext) -> Adjacency {
        Adjacency { repr: Repr::burn(self.to_burn(ctx)), ..*self }
    }

    fn to_burn(&self, ctx: &ForwardContext) -> BurnTensor<3, Bool> {
        let connected = TensorData::new(self.host().to_vec(), [self.samples, self.nodes, self.nodes]);
        BurnTensor::from_data(connected, &ctx.device())
    }
}
