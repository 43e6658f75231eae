"""Algorithms that are written in Python.

An algorithm is a function that returns a result and a dictionary of :mod:`~clrs_rs.probing`, a spec, and a
:class:`~clrs_rs.Sampler` of its arguments. Once registered, it is used by name like those of the package: it has batches,
transforms, sets in the store, scores and traces.

>>> import numpy as np
>>> import clrs_rs as clrs
>>> from clrs_rs import probing
>>> SPEC = {
...     "pos": ("input", "node", "scalar"),
...     "key": ("input", "node", "scalar"),
...     "max": ("output", "node", "mask_one"),
...     "max_h": ("hint", "node", "mask_one"),
... }
>>> def maximum(A):
...     probes, n = probing.initialize(SPEC), len(A)
...     probing.push(probes, "input", {"pos": np.arange(n) / n, "key": A})
...     best = 0
...     for i in range(n):
...         best = i if A[i] > A[best] else best
...         probing.push(probes, "hint", {"max_h": probing.mask_one(best, n)})
...     probing.push(probes, "output", {"max": probing.mask_one(best, n)})
...     probing.finalize(probes)
...     return best, probes
>>> clrs.register_algorithm("maximum", SPEC, maximum, clrs.samplers.SortingSampler)
>>> sampler, spec = clrs.build_sampler("maximum", 100, seed=0, length=8)
>>> sampler.next(32).features.hints
[DataPoint(name="max_h",	location=node,	type=mask_one,	data=Array(8, 32, 8))]
>>> clrs.sample("maximum", n=4, batch=1)[0].hints["max_h"]
array([0, 1, 1, 1], dtype=int32)
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from clrs_rs import _arguments, algorithms, samplers, specs
from clrs_rs.errors import ArgumentError, ArgumentTypeError

__all__ = ["Check", "register_algorithm"]

#: Takes the inputs and the outputs of a sample, by name; returns why the outputs are incorrect, or ``None``.
Check: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], str | None]

_CHECKS: dict[str, Check] = {}


def register_algorithm(
    name: str,
    spec: specs.Spec,
    algorithm: Callable[..., Any],
    sampler: type[samplers.Sampler],
    num_samples_multiplier: int = 1,
    check: Check | None = None,
) -> None:
    """Adds an algorithm to ``SPECS``, ``SAMPLERS`` and ``algorithms``. It may replace an earlier one of the same name.

    Args:
      name: a Python identifier.
      spec: stage, location and type of each probe.
      algorithm: takes what ``sampler._sample_data`` returns; returns a result and probes.
      sampler: draws problems.
      num_samples_multiplier: factor on the number of evaluation samples.
      check: decides whether outputs are correct; without it, only those of the algorithm are.
    """
    if not _arguments.text("name", name).isidentifier():
        raise ArgumentError(f"`{name}` is not a name; use letters, digits and _")
    if not callable(algorithm):
        raise ArgumentTypeError(f"the algorithm of `{name}` is not a function")
    if not (isinstance(sampler, type) and issubclass(sampler, samplers.Sampler)):
        raise ArgumentTypeError(f"the sampler of `{name}` is not a class derived from `Sampler`")
    for probe, entry in _arguments.mapping("spec", spec).items():
        if not (isinstance(entry, (tuple, list)) and len(entry) == 3):
            raise ArgumentError(f"`{probe}`: {_arguments.describe(entry)} is not a stage, a location and a type")
        stage, location, type_ = entry
        for value, constants in ((stage, specs.Stage), (location, specs.Location), (type_, specs.Type)):
            known = [constant for attribute, constant in vars(constants).items() if attribute.isupper()]
            if value not in known:
                raise ArgumentError(f"`{probe}`: `{value}` is not one of {', '.join(known)}")
    specs._SPECS[name] = dict(spec)
    specs.CLRS_30_ALGS_SETTINGS[name] = {"num_samples_multiplier": num_samples_multiplier}
    samplers.SAMPLERS[name] = sampler
    setattr(algorithms, name, algorithm)
    _CHECKS.pop(name, None)
    if check is not None:
        _CHECKS[name] = check


def check_of(name: str) -> Check | None:
    """The check that an algorithm was registered with."""
    return _CHECKS.get(name)
