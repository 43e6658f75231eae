"""Samples as the engine stores them, typed and without padding; traces of single runs; checks of answers.

>>> import clrs_rs as clrs
>>> samples = clrs.sample("bfs", n=8, batch=4, seed=1, graph="tree")
>>> samples
Samples(algorithm='bfs', count=4)
>>> run = samples[0]
>>> run
Sample(algorithm='bfs', nodes=8, steps=8)
>>> run.hints["pi_h"][1]
array([0, 1, 2, 3, 4, 5, 6, 5], dtype=int32)
>>> run.check({"pi": run.outputs["pi"]})
CheckResult(is_valid=True, reason=None)
>>> samples.feedback().outputs[0].data.shape
(4, 8)
"""

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from clrs_rs import _arguments, _core, algorithms, extension, probing, samplers
from clrs_rs.algorithms._run import native_name, problem_json
from clrs_rs.dataset import open_samples
from clrs_rs.errors import ArgumentError, InvalidProblemError
from clrs_rs.samplers import Features, Feedback
from clrs_rs.samplers._builtin import NATIVE_SAMPLERS
from clrs_rs.specs import SPECS, Spec, Stage
from clrs_rs.traces import Trace

__all__ = ["CheckResult", "Sample", "Samples", "check", "load", "sample", "trace"]


@dataclass(frozen=True)
class CheckResult:
    """Whether an answer is correct, and if not, its first error. True if it is correct."""

    is_valid: bool
    reason: str | None

    def __bool__(self) -> bool:
        return self.is_valid


def sample(algorithm: str, n: int = 16, batch: int = 32, seed: int = 0, **options: Any) -> "Samples":
    """Draws problems of size `n` and runs the algorithm on them.

    The first samples of a seed are those of ``build_sampler(algorithm, batch, seed=seed, length=n)``. Options are those that
    ``clrs show ALGORITHM`` lists, among them families of graphs that dm-clrs does not have; unknown ones are errors.

    >>> sample("bfs", n=5, batch=2, graph="tree")[0].nodes
    5
    >>> sample("bfs", n=5, batch=2, grpah="tree")
    Traceback (most recent call last):
    clrs_rs.errors.UnknownOptionError: bfs has no option `grpah`; did you mean `graph`?; its options are: p, graph, \
degree, rewire, attach, radius, truncate_decimals
    """
    algorithm, seed = _arguments.text("algorithm", algorithm), _arguments.seed(seed)
    n, batch = _arguments.integer("n", n, 1), _arguments.integer("batch", batch, 1)
    is_native = _is_native(algorithm) and samplers.SAMPLERS.get(algorithm) is NATIVE_SAMPLERS.get(algorithm)
    if algorithm in samplers.SAMPLERS and not is_native:
        sampler, _ = samplers.build_sampler(algorithm, batch, seed=seed, length=n, strict=True, **options)
        return Samples.from_feedback(algorithm, sampler.next())
    return Samples(_core.Samples.draw(algorithm, n, batch, seed, options))


def load(folder: str | os.PathLike[str], algorithm: str, split: str) -> "Samples":
    """Opens a set: of a directory of the store, of a directory of TensorFlow Datasets, or of ``clrs30``.

    Unlike :func:`~clrs_rs.create_dataset`, which repeats dm-clrs's order and rounding, samples of the store and of ``clrs30``
    are as they were drawn.

    >>> load("clrs30", "bfs", "test")
    Samples(algorithm='bfs', count=32)
    """
    return Samples(open_samples(_arguments.path("folder", folder), algorithm, split))


def trace(
    algorithm: str, problem: Mapping[str, Any] | None = None, *, n: int | None = None, seed: int | None = None, **options: Any
) -> Trace:
    """Runs an algorithm step by step: on a problem, or on a random one of size `n`, by default 8.

    The problem of an algorithm that is written in Python has its arguments, by name.

    >>> run = trace("insertion_sort", {"key": [5, 2, 4]})
    >>> run
    Trace(algorithm='insertion_sort', nodes=3, steps=3)
    >>> run.hints["pred_h"].tolist()
    [[0, 0, 1], [1, 1, 0], [2, 1, 1]]
    """
    if problem is None:
        return sample(algorithm, 8 if n is None else n, 1, 0 if seed is None else seed, **options)[0].trace()
    given = [name for name, value in {"n": n, "seed": seed, **options}.items() if value is not None]
    if given:
        raise ArgumentError(f"`{given[0]}` is for random problems, and a problem is given")
    return _solve(algorithm, problem).trace()


def check(algorithm: str, problem: Mapping[str, Any], output: Mapping[str, Any]) -> CheckResult:
    """Whether an output solves a problem. Any correct answer is accepted, not only that of the algorithm.

    Algorithms that are written in Python have the check that they were registered with; without one, only the output of the
    algorithm itself is accepted.

    >>> check("insertion_sort", {"key": [1, 0, 1]}, {"pred": [2, 1, 1]})
    CheckResult(is_valid=True, reason=None)
    >>> check("insertion_sort", {"key": [1, 0, 1]}, {"pred": [0, 0, 1]}).reason
    'node 0 comes before node 1, but its key is larger'
    """
    return _solve(algorithm, problem).check(_arguments.mapping("output", output))


def _solve(algorithm: str, problem: Mapping[str, Any]) -> "Sample":
    """Runs an algorithm of the engine or in Python."""
    algorithm = _arguments.text("algorithm", algorithm)
    _arguments.mapping("problem", problem)
    if algorithm not in samplers.SAMPLERS or _is_native(algorithm):
        return Samples(_core.record(algorithm, problem_json(problem)))[0]
    function = getattr(algorithms, algorithm)
    arguments = {name: np.asarray(value) if isinstance(value, (list, tuple)) else value for name, value in problem.items()}
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        expected = ", ".join(inspect.signature(function).parameters)
        raise InvalidProblemError(f"{algorithm}: {error}; its problems have the arguments of the algorithm: {expected}") from None
    _, probes = function(**arguments)
    inputs, outputs, hints = probing.split_stages(probes, SPECS[algorithm])
    lengths = np.array([float(len(hints[0].data)) if hints else 1.0])
    return Samples.from_feedback(algorithm, Feedback(Features(inputs, hints, lengths), outputs))[0]


def _is_native(algorithm: Any) -> bool:
    """Whether the engine runs an algorithm, and not a function in Python that was registered under its name."""
    function = getattr(algorithms, algorithm, None) if isinstance(algorithm, str) else None
    return function is not None and native_name(function) == algorithm


class Samples(Sequence["Sample"]):
    """Samples of one algorithm. They may differ in nodes and steps."""

    def __init__(self, samples: _core.Samples) -> None:
        self._samples = samples

    @classmethod
    def from_feedback(cls, algorithm: str, feedback: Feedback) -> "Samples":
        """The samples of a batch, of any algorithm."""
        features, outputs = _arguments.feedback(feedback, chunked=False)
        _arguments.text("algorithm", algorithm)
        return cls(_core.Samples.from_feedback(algorithm, features.inputs, features.hints, outputs, features.lengths))

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self._samples.algorithm

    @property
    def spec(self) -> Spec:
        """Stage, location and type of every probe."""
        return self._samples.spec

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, index: int) -> "Sample": ...
    @overload
    def __getitem__(self, index: slice) -> list["Sample"]: ...
    def __getitem__(self, index: int | slice) -> "Sample | list[Sample]":
        if isinstance(index, slice):
            return [Sample(self._samples, i) for i in range(*index.indices(len(self)))]
        return Sample(self._samples, range(len(self))[index])

    def feedback(self, indices: Sequence[int] | None = None, dtype: npt.DTypeLike | None = None) -> Feedback:
        """Samples of one size as a dense batch in the layout of dm-clrs; by default all of them.

        `dtype` replaces float64, which dm-clrs uses even for masks.
        """
        chosen = None if indices is None else _arguments.items("indices", indices, self._index, "a list of indices of samples")
        features, outputs = self._samples.feedback(chosen, 0)
        if dtype is not None:
            dtype = _arguments.dtype("dtype", dtype)
            if dtype.kind != "f":
                raise ArgumentError(f"`dtype` must be a type of floating-point numbers, not {dtype}")
            for point in (*features.inputs, *features.hints, *outputs):
                if point.data.dtype == np.float64:
                    point.data = point.data.astype(dtype)
        return Feedback(Features(features.inputs, features.hints, features.lengths), outputs)

    def save(self, directory: str | os.PathLike[str], split: str, replace: bool = False) -> Path:
        """Writes the set ``ALGORITHM_SPLIT`` of the store, and returns its path."""
        path = _arguments.path("directory", directory)
        return Path(self._samples.write(path, _arguments.text("split", split), _arguments.flag("replace", replace)))

    def _index(self, name: str, index: Any) -> int:
        """An index of a sample; negative ones count from the end."""
        return range(len(self))[_arguments.integer(name, index, -len(self), len(self) - 1)]

    def __repr__(self) -> str:
        return f"Samples(algorithm={self.algorithm!r}, count={len(self)})"


class Sample:
    """One sample: its inputs, its hints step by step, and its outputs.

    Values are arrays of the types that the engine stores: float64 for scalars, int32 for nodes, int8 for masks and classes. A
    one-hot mask is the index of its node. Hints have a leading axis of steps.
    """

    def __init__(self, samples: _core.Samples, index: int) -> None:
        self._samples = samples
        self._index = index

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self._samples.algorithm

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self._samples.nodes(self._index)

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self._samples.steps(self._index)

    @property
    def inputs(self) -> Mapping[str, npt.NDArray[Any]]:
        """Values of the inputs by name."""
        return _Values(self._samples, self._index, Stage.INPUT)

    @property
    def hints(self) -> Mapping[str, npt.NDArray[Any]]:
        """Values of the hints by name, one row per step."""
        return _Values(self._samples, self._index, Stage.HINT)

    @property
    def outputs(self) -> Mapping[str, npt.NDArray[Any]]:
        """Values of the outputs by name."""
        return _Values(self._samples, self._index, Stage.OUTPUT)

    def check(self, outputs: Mapping[str, Any] | None = None) -> CheckResult:
        """Whether outputs solve the problem of the sample: by default its own."""
        if outputs is not None:
            _arguments.mapping("outputs", outputs)
        registered = extension.check_of(self.algorithm)
        if registered is None:
            chosen = None if outputs is None else dict(outputs)
            reason = self._samples.check(self._index, chosen, _is_native(self.algorithm))
        else:
            reason = registered(dict(self.inputs), dict(self.outputs if outputs is None else outputs))
        return CheckResult(reason is None, reason)

    def trace(self) -> Trace:
        """The sample as a document. Notebooks show it in the explorer."""
        return Trace(self._samples.trace(self._index, _is_native(self.algorithm)))

    def _repr_html_(self) -> str:
        return self.trace()._repr_html_()

    def __repr__(self) -> str:
        return f"Sample(algorithm={self.algorithm!r}, nodes={self.nodes}, steps={self.steps})"


class _Values(Mapping[str, npt.NDArray[Any]]):
    """Values of one stage, read when they are needed."""

    def __init__(self, samples: _core.Samples, index: int, stage: str) -> None:
        self._samples = samples
        self._index = index
        self._names = [name for name, probe in samples.spec.items() if probe[0] == stage]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        return self._samples.values(self._index, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))
