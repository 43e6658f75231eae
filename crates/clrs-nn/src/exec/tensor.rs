//! Tensors of a forward pass.
//!
//! On the CPU, a tensor is a view of host memory, and operations are recorded on a tape. On other devices, and with
//! `fused = false`, it is a tensor of burn. The operations here are those that both have; they have the names and the meaning of those of `PyTorch`.
//! Fused operations exist on the CPU only, and what a processor computes with burn's operations
//! ([`Tensor::burn`]) runs on every device.

use std::ops::{Add, Mul, Range};

use burn::tensor::{Int, Tensor as BurnTensor, TensorData, activation};
use clrs_kernels::elementwise::{self, Unary};
use clrs_kernels::{Scratch, expand, narrow};

use super::tape::{Backward, Inputs, Op, Saved, Tape, View, apply};

/// A tensor with `D` axes.
#[derive(Clone)]
pub struct Tensor<const D: usize>(Repr<D>);

#[derive(Clone)]
enum Repr<const D: usize> {
    Host(Host<D>),
    /// Boxed: it is large, and most tensors are in host memory.
    Burn(Box<BurnTensor<D>>),
}

/// A tensor in host memory, row-major.
#[derive(Clone)]
struct Host<const D: usize> {
    view: View,
    shape: [usize; D],
    tape: Option<Tape>,
}

impl<const D: usize> From<BurnTensor<D>> for Tensor<D> {
    fn from(tensor: BurnTensor<D>) -> Tensor<D> {
        Tensor(Repr::Burn(Box::new(tensor)))
    }
}

impl<const D: usize> Host<D> {
    fn apply<const E: usize>(self, op: impl Op + 'static, shape: [usize; E]) -> Tensor<E> {
        let view = apply(self.tape.as_ref(), op, vec![self.view], shape.iter().product());
        Tensor(Repr::Host(Host { view, shape, tape: self.tape }))
    }

    /// Number of elements of all axes behind one.
    fn inner(&self, axis: usize) -> usize {
        self.shape[axis + 1..].iter().product()
    }
}

impl<const D: usize> Tensor<D> {
    pub(crate) fn host(view: View, shape: [usize; D], tape: Option<Tape>) -> Tensor<D> {
        Tensor(Repr::Host(Host { view, shape, tape }))
    }

    /// Size of each axis.
    pub fn dims(&self) -> [usize; D] {
        match &self.0 {
            Repr::Host(host) => host.shape,
            Repr::Burn(tensor) => tensor.dims(),
        }
    }

    /// The tensor of burn.
    ///
    /// # Panics
    /// If the tensor is in host memory, as all are in a fused pass. A processor of another crate is always given tensors of burn.
    pub fn burn(self) -> BurnTensor<D> {
        match self.0 {
            Repr::Burn(tensor) => *tensor,
            Repr::Host(_) => panic!("a tensor in host memory is not part of burn's graph"),
        }
    }

    /// The values in host memory.
    ///
    /// # Panics
    /// If the tensor is not in host memory.
    pub(crate) fn view(self) -> View {
        match self.0 {
            Repr::Host(host) => host.view,
            Repr::Burn(_) => panic!("fused operations run in host memory"),
        }
    }

    /// The elements, row-major.
    pub fn into_vec(self) -> Vec<f32> {
        match self.0 {
            Repr::Host(host) => host.view.into_vec(),
            Repr::Burn(tensor) => tensor.try_into_vec_as().expect("f32"),
        }
    }

    /// The same elements without a gradient.
    #[must_use]
    pub fn detach(self) -> Tensor<D> {
        match self.0 {
            Repr::Host(host) => Tensor(Repr::Host(Host { view: host.view.detach(), ..host })),
            Repr::Burn(tensor) => tensor.detach().into(),
        }
    }

    /// The same elements in another shape.
    pub fn reshape<const E: usize>(self, shape: [usize; E]) -> Tensor<E> {
        match self.0 {
            Repr::Host(Host { view, tape, .. }) => {
                assert_eq!(view.values().len(), shape.iter().product::<usize>(), "a shape with as many elements");
                Tensor::host(view, shape, tape)
            }
            Repr::Burn(tensor) => tensor.reshape(shape).into(),
        }
    }

    /// A range of the first axis.
    #[must_use]
    pub fn rows(self, range: Range<usize>) -> Tensor<D> {
        match self.0 {
            Repr::Host(host) => {
                let (inner, mut shape) = (host.inner(0), host.shape);
                shape[0] = range.len();
                Tensor::host(host.view.narrow(range.start * inner, range.len() * inner), shape, host.tape)
            }
            Repr::Burn(tensor) => tensor.slice([range]).into(),
        }
    }

    /// A range of any axis.
    #[must_use]
    pub fn narrow(self, axis: usize, range: Range<usize>) -> Tensor<D> {
        let mut shape = self.dims();
        match self.0 {
            Repr::Host(host) => {
                let (inner, width) = (host.inner(axis), shape[axis]);
                shape[axis] = range.len();
                host.apply(Narrow { width: width * inner, range: range.start * inner..range.end * inner }, shape)
            }
            Repr::Burn(tensor) => {
                let mut ranges = shape.map(|size| 0..size);
                ranges[axis] = range;
                tensor.slice(ranges).into()
            }
        }
    }

    /// Rows of the first axis by index.
    #[must_use]
    pub fn index_select(self, rows: &[usize]) -> Tensor<D> {
        let mut shape = self.dims();
        shape[0] = rows.len();
        match self.0 {
            Repr::Host(host) => {
                let op = IndexSelect { rows: rows.to_vec(), inner: host.inner(0) };
                host.apply(op, shape)
            }
            Repr::Burn(tensor) => {
                let rows: Vec<i64> = rows.iter().map(|&row| i64::try_from(row).expect("an index into memory")).collect();
                let indices = BurnTensor::<1, Int>::from_data(TensorData::new(rows, [shape[0]]), &tensor.device());
                tensor.select(0, indices).into()
            }
        }
    }

    /// Concatenates along an axis.
    ///
    /// # Panics
    /// If there are no tensors, or their other axes differ.
    pub fn cat(tensors: Vec<Tensor<D>>, axis: usize) -> Tensor<D> {
        let mut shape = tensors[0].dims();
        shape[axis] = tensors.iter().map(|tensor| tensor.dims()[axis]).sum();
        let Repr::Host(first) = &tensors[0].0 else {
            return BurnTensor::cat(tensors.into_iter().map(Tensor::burn).collect(), axis).into();
        };
        let (inner, tape) = (first.inner(axis), first.tape.clone());
        let widths = tensors.iter().map(|tensor| tensor.dims()[axis] * inner).collect();
        let views = tensors.into_iter().map(Tensor::view).collect();
        let view = apply(tape.as_ref(), Cat { widths, width: shape[axis] * inner }, views, shape.iter().product());
        Tensor::host(view, shape, tape)
    }

    /// Mean over an axis, which stays with size 1.
    #[must_use]
    pub fn mean_dim(self, axis: usize) -> Tensor<D> {
        let mut shape = self.dims();
        match self.0 {
            Repr::Host(host) => {
                let op = MeanDim { inner: host.inner(axis), count: shape[axis] };
                shape[axis] = 1;
                host.apply(op, shape)
            }
            Repr::Burn(tensor) => tensor.mean_dim(axis).into(),
        }
    }

    /// `max(x, 0)`
    #[must_use]
    pub fn relu(self) -> Tensor<D> {
        self.unary(Unary::Relu, activation::relu)
    }

    /// `1 / (1 + e^-x)`
    #[must_use]
    pub fn sigmoid(self) -> Tensor<D> {
        self.unary(Unary::Sigmoid, activation::sigmoid)
    }

    /// `tanh x`
    #[must_use]
    pub fn tanh(self) -> Tensor<D> {
        self.unary(Unary::Tanh, activation::tanh)
    }

    /// `e^x`
    #[must_use]
    pub fn exp(self) -> Tensor<D> {
        self.unary(Unary::Exp, BurnTensor::exp)
    }

    /// `factor x + offset`
    #[must_use]
    pub fn scale(self, factor: f32, offset: f32) -> Tensor<D> {
        match self.0 {
            Repr::Host(host) => {
                let shape = host.shape;
                host.apply(Scale { factor, offset }, shape)
            }
            Repr::Burn(tensor) => (*tensor * factor + offset).into(),
        }
    }

    fn unary(self, function: Unary, burn: fn(BurnTensor<D>) -> BurnTensor<D>) -> Tensor<D> {
        match self.0 {
            Repr::Host(host) => {
                let shape = host.shape;
                host.apply(UnaryOp(function), shape)
            }
            Repr::Burn(tensor) => burn(*tensor).into(),
        }
    }

    /// Repeats axes of size 1 up to a shape.
    fn expand(mut self, shape: [usize; D]) -> Tensor<D> {
        for axis in 0..D {
            let mut expanded = self.dims();
            if expanded[axis] == shape[axis] {
                continue;
            }
            assert_eq!(expanded[axis], 1, "only an axis of size 1 is broadcast");
            expanded[axis] = shape[axis];
            let Repr::Host(host) = self.0 else { unreachable!("burn broadcasts by itself") };
            let op = Expand { inner: host.inner(axis), copies: shape[axis] };
            self = host.apply(op, expanded);
        }
        self
    }

    fn binary(self, other: Tensor<D>, op: Binary, burn: fn(BurnTensor<D>, BurnTensor<D>) -> BurnTensor<D>) -> Tensor<D> {
        if let Repr::Burn(tensor) = self.0 {
            return burn(*tensor, other.burn()).into();
        }
        let (a, b) = (self.dims(), other.dims());
        let shape = std::array::from_fn(|axis| a[axis].max(b[axis]));
        let (Repr::Host(a), b) = (self.expand(shape).0, other.expand(shape).view()) else { unreachable!("checked above") };
        let view = apply(a.tape.as_ref(), op, vec![a.view, b], shape.iter().product());
        Tensor::host(view, shape, a.tape)
    }
}

impl Tensor<1> {
    /// The value of a single element.
    pub fn into_scalar(self) -> f32 {
        self.into_vec()[0]
    }
}

/// Axes of size 1 are broadcast.
impl<const D: usize> Add for Tensor<D> {
    type Output = Tensor<D>;

    fn add(self, other: Tensor<D>) -> Tensor<D> {
        self.binary(other, Binary::Add, |a, b| a + b)
    }
}

/// Axes of size 1 are broadcast.
impl<const D: usize> Mul for Tensor<D> {
    type Output = Tensor<D>;

    fn mul(self, other: Tensor<D>) -> Tensor<D> {
        self.binary(other, Binary::Mul, |a, b| a * b)
    }
}

/// Sum or product of two arrays of the same length.
#[derive(Clone, Copy)]
enum Binary {
    Add,
    Mul,
}

impl Op for Binary {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        let [a, b] = inputs.values();
        out.copy_from_slice(a);
        match self {
            Binary::Add => elementwise::add(out, b),
            Binary::Mul => elementwise::multiply(out, b),
        }
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let [a, b] = back.inputs.values();
        for (index, other) in [b, a].into_iter().enumerate() {
            if back.needs_grad(index) {
                let mut gradient = back.d_out.clone();
                if let Binary::Mul = self {
                    elementwise::multiply(&mut gradient, other);
                }
                back.add(index, gradient);
            }
        }
    }
}

struct UnaryOp(Unary);

impl Op for UnaryOp {
    /// Saves the result.
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], save: bool, _: &mut Scratch) -> Saved {
        out.copy_from_slice(inputs.get(0));
        self.0.forward(out);
        Box::new(if save { out.to_vec() } else { Vec::new() })
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let (y, mut gradient) = (back.saved::<Vec<f32>>(), std::mem::take(&mut back.d_out));
        self.0.backward(&y, &mut gradient);
        back.add(0, gradient);
    }
}

struct Scale {
    factor: f32,
    offset: f32,
}

impl Op for Scale {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        out.copy_from_slice(inputs.get(0));
        elementwise::affine(out, self.factor, self.offset);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut gradient = std::mem::take(&mut back.d_out);
        elementwise::affine(&mut gradient, self.factor, 0.0);
        back.add(0, gradient);
    }
}

/// Copies of rows of `inner` elements.
struct Expand {
    inner: usize,
    copies: usize,
}

impl Op for Expand {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        expand::forward(inputs.get(0), self.inner, self.copies, out);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut gradient = vec![0.0; back.d_out.len() / self.copies];
        expand::backward(&back.d_out, self.inner, self.copies, &mut gradient);
        back.add(0, gradient);
    }
}

/// Mean of `count` rows of `inner` elements.
struct MeanDim {
    inner: usize,
    count: usize,
}

impl Op for MeanDim {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        expand::backward(inputs.get(0), self.inner, self.count, out);
        elementwise::affine(out, 1.0 / self.count as f32, 0.0);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut gradient = vec![0.0; back.d_out.len() * self.count];
        elementwise::affine(&mut back.d_out, 1.0 / self.count as f32, 0.0);
        expand::forward(&back.d_out, self.inner, self.count, &mut gradient);
        back.add(0, gradient);
    }
}

/// A range of the columns of rows of `width` elements.
struct Narrow {
    width: usize,
    range: Range<usize>,
}

impl Op for Narrow {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        narrow::forward(inputs.get(0), self.width, self.range.clone(), out);
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut gradient = vec![0.0; back.inputs.get(0).len()];
        narrow::write(&back.d_out, self.width, self.range.clone(), &mut gradient);
        back.add(0, gradient);
    }
}

/// Rows of several arrays side by side, each array with its own number of columns.
struct Cat {
    widths: Vec<usize>,
    /// Sum of the widths.
    width: usize,
}

impl Cat {
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.widths.iter().scan(0, |end, width| {
            *end += width;
            Some(*end - width..*end)
        })
    }
}

impl Op for Cat {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        for (index, range) in self.ranges().enumerate() {
            narrow::write(inputs.get(index), self.width, range, out);
        }
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        for (index, range) in self.ranges().enumerate() {
            if back.needs_grad(index) {
                let mut gradient = vec![0.0; back.inputs.get(index).len()];
                narrow::forward(&back.d_out, self.width, range, &mut gradient);
                back.add(index, gradient);
            }
        }
    }
}

struct IndexSelect {
    rows: Vec<usize>,
    /// Elements of a row.
    inner: usize,
}

impl Op for IndexSelect {
    fn forward(&self, inputs: Inputs<'_>, out: &mut [f32], _: bool, _: &mut Scratch) -> Saved {
        for (out, &row) in out.chunks_exact_mut(self.inner).zip(&self.rows) {
            out.copy_from_slice(&inputs.get(0)[row * self.inner..][..self.inner]);
        }
        Box::new(())
    }

    fn backward(&self, mut back: Backward<'_>, _: &mut Scratch) {
        let mut gradient = vec![0.0; back.inputs.get(0).len()];
        for (d, &row) in back.d_out.chunks_exact(self.inner).zip(&self.rows) {
            elementwise::add(&mut gradient[row * self.inner..][..self.inner], d);
        }
        back.add(0, gradient);
    }
}
