//! Logits of one sample of which some may not be chosen: these are replaced by a value below all others,
//! `min(-1, min(x) - 1)`, as in dm-clrs.
//!
//! # Ties and NaN
//! The first of equal minima takes the gradient of the replaced elements. A NaN is never the minimum, unless it is the first element.
//!
//! # Bits
//! Plain code, which takes no instruction set. Backward sums the gradients of replaced elements in order.

/// Replaces the elements of `x` whose `allowed` is false.
///
/// # Panics
/// If lengths do not match.
///
/// # Examples
/// ```
/// let mut x = [3.0, -2.0, 5.0];
/// clrs_kernels::mask_logits::forward(&mut x, &[true, true, false]);
/// assert_eq!(x, [3.0, -2.0, -3.0]);
/// ```
pub fn forward(x: &mut [f32], allowed: &[bool]) {
    assert_eq!(x.len(), allowed.len(), "x and allowed must have the same length");
    let Some(least) = argmin(x) else { return };
    let below = (x[least] - 1.0).min(-1.0);
    x.iter_mut().zip(allowed).filter(|(_, allowed)| !**allowed).for_each(|(x, _)| *x = below);
}

/// Replaces `d`, the gradient of the result, by that of the input `x`.
///
/// # Panics
/// If lengths do not match.
pub fn backward(x: &[f32], allowed: &[bool], d: &mut [f32]) {
    assert!(x.len() == allowed.len() && x.len() == d.len(), "x, allowed and d must have the same length");
    let Some(least) = argmin(x) else { return };
    let mut d_below = 0.0;
    for (d, _) in d.iter_mut().zip(allowed).filter(|(_, allowed)| !**allowed) {
        d_below += std::mem::take(d);
    }
    if x[least] - 1.0 <= -1.0 {
        d[least] += d_below;
    }
}

fn argmin(x: &[f32]) -> Option<usize> {
    (0..x.len()).reduce(|least, index| if x[index] < x[least] { index } else { least })
}
