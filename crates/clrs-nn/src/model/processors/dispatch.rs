//! Chooses how the step of a processor runs. A built-in one has fused operations. One of another crate computes with burn's operations;
//! in a pass in host memory, its step is one operation of the tape.

use std::rc::Rc;

use burn::tensor::{Tensor as BurnTensor, TensorData};
use clrs_kernels::Scratch;

use super::{Processor, ProcessorInput, ProcessorOutput};
use crate::exec::context::ForwardContext;
use crate::exec::features::{EdgeFeatures, GraphFeatures, NodeFeatures};
use crate::exec::tape::{self, Backward, Inputs, Op, Saved};
use crate::exec::tensor::Tensor;

/// One step of a processor, with the operations that it has.
pub(in crate::model) fn step(processor: &dyn Processor, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
    if ctx.fused && !processor.has_fused_step() { burn_step(processor, ctx, input) } else { processor.step(ctx, input) }
}

/// Computes a step in burn's graph, and records it as one operation.
fn burn_step(processor: &dyn Processor, ctx: &ForwardContext, input: &ProcessorInput<'_>) -> ProcessorOutput {
    let unfused = ctx.unfused();
    let mut leaves = Leaves { ctx: &unfused, inputs: Vec::new(), in_graph: Vec::new() };
    let NodeFeatures { samples, nodes, .. } = input.nodes;
    let burn_input = ProcessorInput {
        nodes: NodeFeatures {
            ctx: &unfused,
            samples,
            nodes,
            raw: leaves.add(&input.nodes.raw),
            hidden: input.nodes.hidden.as_ref().map(|hidden| leaves.add(hidden)),
        },
        edges: EdgeFeatures { ctx: &unfused, raw: leaves.add(&input.edges.raw) },
        graph: GraphFeatures { ctx: &unfused, raw: leaves.add(&input.graph.raw) },
        adjacency: input.adjacency.as_ref().map(|adjacency| adjacency.unfused(&unfused)),
    };
    let Leaves { inputs, in_graph: leaves, .. } = leaves;
    let ProcessorOutput { hidden, edges } = processor.step(&unfused, &burn_input);
    let (shape, edge_shape) = (hidden.dims(), edges.as_ref().map(Tensor::dims));
    let hidden_len: usize = shape.iter().product();
    // Both results are ranges of one.
    let mut result = hidden.burn().reshape([hidden_len]);
    if let Some(edges) = edges {
        let len: usize = edges.dims().iter().product();
        result = BurnTensor::cat(vec![result, edges.burn().reshape([len])], 0);
    }
    let [len] = result.dims();
    let op = UnfusedStep { ctx: Rc::clone(&unfused), leaves, result };
    let view = tape::apply(ctx.tape(), op, inputs, len);
    let tape = ctx.tape().cloned();
    ProcessorOutput {
        hidden: Tensor::host(view.clone().narrow(0, hidden_len), shape, tape.clone()),
        edges: edge_shape.map(|shape| Tensor::host(view.narrow(hidden_len, shape.iter().product()), shape, tape)),
    }
}

/// Inputs of the step, on the tape and as leaves of burn's graph.
struct Leaves<'c> {
    ctx: &'c ForwardContext,
    inputs: Vec<tape::View>,
    in_graph: Vec<BurnTensor<1>>,
}

impl Leaves<'_> {
    fn add<const D: usize>(&mut self, tensor: &Tensor<D>) -> Tensor<D> {
        let (shape, view) = (tensor.dims(), tensor.clone().view());
        let values = view.values().to_vec();
        let data = TensorData::new(values, [view.values().len()]);
        let leaf = self.ctx.leaf(data);
        self.inputs.push(view);
        self.in_graph.push(leaf.clone());
        leaf.reshape(shape).into()
    }
}

struct UnfusedStep {
    ctx: Rc<ForwardContext>,
    leaves: Vec<BurnTensor<1>>,
    /// All results, side by side.
    result: BurnTensor<1>,
}

impl Op for UnfusedStep {
    fn forward(&self, _: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        let values: Vec<f32> = self.result.clone().try_into_vec_as().expect("f32");
        out.copy_from_slice(&values);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let d_out = TensorData::new(std::mem::take(&mut back.d_out), self.result.dims());
        let product = (self.result.clone() * BurnTensor::from_data(d_out, &self.ctx.device())).sum();
        for (index, gradient) in self.ctx.backward_burn(&product, &self.leaves).into_iter().enumerate() {
            if let Some(gradient) = gradient {
                back.add(index, gradient);
            }
        }
    }
}
