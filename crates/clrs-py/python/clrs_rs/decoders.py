"""Raw predictions of a network as values of probes.

Arrays may be NumPy's or JAX's; results are of the same library, so that gradients of JAX pass through.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clrs_rs.errors import DataPointError, UnknownProbeError
from clrs_rs.probing import DataPoint
from clrs_rs.specs import Spec, Type

__all__ = ["log_sinkhorn", "postprocess"]


def postprocess(
    spec: Spec,
    preds: Mapping[str, Any],
    sinkhorn_temperature: float,
    sinkhorn_steps: int,
    hard: bool,
) -> dict[str, DataPoint]:
    """Turns logits into data points.

    Hard: masks are thresholded, and one-hot masks, classes and pointers take the argmax. Soft: they become probabilities, and
    pointers become soft pointers. Logits of permutations pass the Sinkhorn operator first.

    >>> import numpy as np
    >>> spec = {"pi": ("output", "node", "pointer")}
    >>> postprocess(spec, {"pi": np.array([[0.1, 2.0], [0.5, 0.2]])}, 0.1, 5, hard=True)["pi"].data
    array([1., 0.], dtype=float32)
    """
    for name in preds:
        if name not in spec:
            raise UnknownProbeError(f"the spec has no probe `{name}`")
    return {name: _postprocess(name, spec[name], data, sinkhorn_temperature, sinkhorn_steps, hard) for name, data in preds.items()}


def _postprocess(
    name: str, probe: tuple[str, str, str], data: Any, temperature: float, steps: int, hard: bool
) -> DataPoint:
    _, location, type_ = probe
    xp = _namespace(data)
    if type_ == Type.MASK:
        data = (data > 0.0) * 1.0 if hard else 1.0 / (1.0 + xp.exp(-data))
    elif type_ in (Type.MASK_ONE, Type.CATEGORICAL):
        data = _one_hot(xp, xp.argmax(data, -1), data.shape[-1]) if hard else _softmax(xp, data)
    elif type_ == Type.POINTER:
        data = xp.argmax(data, -1).astype(np.float32) if hard else _softmax(xp, data)
        type_ = Type.POINTER if hard else Type.SOFT_POINTER
    elif type_ == Type.PERMUTATION_POINTER:
        data = xp.exp(log_sinkhorn(data, steps, temperature, zero_diagonal=True, noise_rng_key=None))
        if hard:
            data = _one_hot(xp, xp.argmax(data, -1), data.shape[-1])
    elif type_ != Type.SCALAR:
        raise DataPointError(f"`{name}` has the type {type_}, which no network predicts")
    elif hard and hasattr(data, "at"):
        import jax

        data = jax.lax.stop_gradient(data)
    return DataPoint(name, location, type_, data)


def log_sinkhorn(x: Any, steps: int, temperature: float, zero_diagonal: bool, noise_rng_key: Any) -> Any:
    """Logarithm of the doubly stochastic matrices that logits ``[..., n, n]`` converge to.

    Gumbel noise is added with a key of JAX's random numbers; then logits must be arrays of JAX.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise DataPointError(f"square matrices expected, found {x.shape}")
    xp = _namespace(x)
    if noise_rng_key is not None:
        import jax

        x = x - xp.log(-xp.log(jax.random.uniform(noise_rng_key, x.shape) + 1e-12) + 1e-12)
    x = x / temperature
    if zero_diagonal:
        x = x - (1e6 * xp.eye(x.shape[-1])).astype(x.dtype)
    for _ in range(steps):
        for axis in (-1, -2):
            x = x - x.max(axis, keepdims=True)
            x = x - xp.log(xp.exp(x).sum(axis, keepdims=True))
    return x


def _namespace(data: Any) -> Any:
    """The module with functions for an array: JAX's for its arrays, else NumPy's."""
    module = getattr(data, "__array_namespace__", None)
    return np if module is None else module()


def _softmax(xp: Any, data: Any) -> Any:
    exponentials = xp.exp(data - data.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def _one_hot(xp: Any, classes: Any, count: int) -> Any:
    return (classes[..., None] == xp.arange(count)).astype(np.float32)
