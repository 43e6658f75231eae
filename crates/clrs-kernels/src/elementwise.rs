//! Elementwise functions of one or two arrays of the same length.
//!
//! [`sigmoid`](crate::sigmoid) and [`expand`](crate::expand), which repeats rows for broadcasting, are separate.
//!
//! # Bits
//! Plain code, which takes no instruction set. The exponential and the hyperbolic tangent are those of the platform.

/// An elementwise function of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unary {
    /// `max(x, 0)`
    Relu,
    /// `1 / (1 + e^-x)`, see [`sigmoid`](crate::sigmoid).
    Sigmoid,
    /// `tanh x`
    Tanh,
    /// `e^x`
    Exp,
}

impl Unary {
    /// Replaces every element by the function of it. NaN stays NaN.
    ///
    /// # Examples
    /// ```
    /// use clrs_kernels::elementwise::Unary;
    ///
    /// let mut x = [-1.0, 2.0];
    /// Unary::Relu.forward(&mut x);
    /// assert_eq!(x, [0.0, 2.0]);
    /// ```
    pub fn forward(self, x: &mut [f32]) {
        match self {
            Unary::Relu => x.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
            Unary::Sigmoid => crate::sigmoid::forward(x),
            Unary::Tanh => x.iter_mut().for_each(|x| *x = x.tanh()),
            Unary::Exp => x.iter_mut().for_each(|x| *x = x.exp()),
        }
    }

    /// Replaces `d`, the gradient of the result `y`, by that of the input.
    ///
    /// # Panics
    /// If lengths do not match.
    pub fn backward(self, y: &[f32], d: &mut [f32]) {
        assert_eq!(y.len(), d.len(), "y and d must have the same length");
        let pairs = d.iter_mut().zip(y);
        match self {
            Unary::Relu => pairs.for_each(|(d, y)| *d = if *y > 0.0 { *d } else { 0.0 }),
            Unary::Sigmoid => crate::sigmoid::backward(y, d),
            Unary::Tanh => pairs.for_each(|(d, y)| *d *= 1.0 - y * y),
            Unary::Exp => pairs.for_each(|(d, y)| *d *= y),
        }
    }
}

/// Adds `terms` to `sum`. The gradient of both is that of the result.
///
/// # Panics
/// If lengths do not match.
pub fn add(sum: &mut [f32], terms: &[f32]) {
    assert_eq!(sum.len(), terms.len(), "sum and terms must have the same length");
    sum.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

/// Multiplies `product` by `factors`. The gradient of one factor is that of the result times the other factor.
///
/// # Panics
/// If lengths do not match.
pub fn multiply(product: &mut [f32], factors: &[f32]) {
    assert_eq!(product.len(), factors.len(), "product and factors must have the same length");
    product.iter_mut().zip(factors).for_each(|(product, factor)| *product *= factor);
}

/// `a x + b` for every element.
pub fn affine(x: &mut [f32], a: f32, b: f32) {
    for x in x {
        *x = *x * a + b;
    }
}
