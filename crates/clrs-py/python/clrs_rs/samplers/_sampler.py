"""The base class of samplers."""

import abc
import copy
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from clrs_rs import _arguments, _core, probing
from clrs_rs.algorithms import native_name
from clrs_rs.errors import ArgumentError, ArgumentTypeError, BatchError
from clrs_rs.samplers._batching import _batch_hints, _batch_io, _subsample_data
from clrs_rs.samplers._types import Features, Feedback, Trajectory
from clrs_rs.specs import SPECS, Spec

#: Number of samples that are drawn and discarded to estimate the number of steps.
_WARM_UP = 1000


class Sampler(abc.ABC):
    """Draws problems, runs an algorithm on them, and returns batches.

    A sampler of the package runs on the Rust engine. To sample your own problems, derive a class that sets
    ``CAN_TRUNCATE_INPUT_DATA`` and implements ``_sample_data``, which returns the arguments of the algorithm; it may use the
    generator ``self._rng`` and the methods ``_random_sequence``, ``_random_string``, ``_random_er_graph``,
    ``_random_community_graph`` and ``_random_bipartite_graph``.

    >>> import clrs_rs as clrs
    >>> class SmallIntegers(clrs.Sampler):
    ...     CAN_TRUNCATE_INPUT_DATA = False
    ...     def _sample_data(self, length):
    ...         return [self._rng.randint(0, 10, length).astype(float)]
    >>> sampler = SmallIntegers(clrs.algorithms.insertion_sort, clrs.SPECS["insertion_sort"], 10, seed=0, length=4)
    >>> sampler.next(1).features.inputs[1].data
    array([[3., 7., 0., 1.]])
    """

    #: Whether ``truncate_decimals`` changes the problems.
    CAN_TRUNCATE_INPUT_DATA: ClassVar[bool | None] = None

    # Set on access: `__getattr__`.
    _rng: np.random.RandomState
    _inputs: Trajectory
    _outputs: Trajectory
    _hints: Trajectory
    _lengths: npt.NDArray[np.float64]

    def __init__(
        self,
        algorithm: Callable[..., Any],
        spec: Spec,
        num_samples: int,
        *args: Any,
        seed: Any = None,
        track_max_steps: bool = True,
        truncate_decimals: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Creates a sampler.

        Args:
          algorithm: returns a result and a dictionary of probes.
          spec: the probes of the algorithm.
          num_samples: number of samples, which are all drawn here; if negative, samples are drawn by every ``next``.
          *args: arguments of ``_sample_data``.
          seed: seed of ``numpy.random.RandomState``.
          track_max_steps: pad batches that are drawn by ``next`` to the longest sample so far, including 1000 samples that
            are drawn here and discarded. Batches then have the same shape, mostly.
          truncate_decimals: truncate real numbers of the problems to so many decimals.
          **kwargs: arguments of ``_sample_data``.
        """
        self._lock = threading.RLock()
        self._spec = spec
        self._num_samples = _arguments.integer("num_samples", num_samples, -(2**48))
        self._algorithm = algorithm
        self._args = args
        self._kwargs = kwargs
        self._track_max_steps = track_max_steps
        if truncate_decimals is not None:
            truncate_decimals = _arguments.integer("truncate_decimals", truncate_decimals, -300, 300)
        self._truncate_decimals = truncate_decimals
        self._engine: _core.FixedSet | _core.Stream | None = None

        try:
            random = np.random.RandomState(seed)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"`seed` is not a seed of NumPy: {error}") from None
        name = self._native_name()
        if name is not None:
            self._engine = self._start_engine(name, random)
            return
        self._rng = random
        if num_samples >= 0:
            batch = self._make_batch(num_samples, spec, 0, algorithm, *args, **kwargs)
            self._inputs, self._outputs, self._hints, self._lengths = batch
        elif track_max_steps:
            self._max_steps = -1
            for _ in range(_WARM_UP):
                _, _, hints = self._record_sample(spec, algorithm, *args, **kwargs)
                self._max_steps = max([self._max_steps, *(len(point.data) for point in hints)])

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.CAN_TRUNCATE_INPUT_DATA is None:
            raise NotImplementedError(f"{cls.__name__} must set the class attribute `CAN_TRUNCATE_INPUT_DATA`")

    def next(self, batch_size: int | None = None) -> Feedback:
        """Returns ``batch_size`` samples: drawn with replacement from a fixed set, or new ones.

        Without a ``batch_size``, returns all samples of a fixed set. These are the arrays of the sampler: what changes them
        changes later batches.
        """
        batch_size = 0 if batch_size is None else _arguments.integer("batch_size", batch_size)
        with self._lock:
            return self._next(batch_size)

    def _next(self, batch_size: int) -> Feedback:
        if not batch_size:
            if self._num_samples < 0:
                raise BatchError("`batch_size` is required if samples are drawn by every call")
            return Feedback(Features(self._inputs, self._hints, self._lengths), self._outputs)
        if 0 <= self._num_samples < batch_size:
            raise BatchError(f"Batch size {batch_size} > dataset size {self._num_samples}.")
        # Once the arrays exist, a user may have changed them.
        if self._engine is not None and "_inputs" not in self.__dict__:
            return self._next_of_engine(batch_size)
        if self._num_samples >= 0:
            indices = self._rng.choice(self._num_samples, (batch_size,), replace=True)
            inputs, outputs = (_subsample_data(points, indices) for points in (self._inputs, self._outputs))
            hints, lengths = _subsample_data(self._hints, indices, axis=1), self._lengths[indices]
        else:
            inputs, outputs, hints, lengths = self._make_batch(
                batch_size,
                self._spec,
                self.max_steps if self._track_max_steps else 0,
                self._algorithm,
                *self._args,
                **self._kwargs,
            )
            if self._track_max_steps:
                self.max_steps = max(self.max_steps, len(hints[0].data))
        return Feedback(Features(inputs, hints, lengths), outputs)

    @property
    def max_steps(self) -> int:
        """Number of steps that batches are padded to at least, with ``track_max_steps``."""
        steps = self._engine.max_steps if isinstance(self._engine, _core.Stream) else self.__dict__.get("_max_steps")
        if steps is None:
            raise AttributeError("only samplers that draw samples with `track_max_steps` have `max_steps`")
        return steps

    @max_steps.setter
    def max_steps(self, steps: int) -> None:
        steps = _arguments.integer("max_steps", steps)
        if isinstance(self._engine, _core.Stream):
            self._engine.max_steps = steps
        else:
            self._max_steps = steps

    # -- The Rust engine.

    def _native_name(self) -> str | None:
        """Name of the algorithm if the engine has it with this sampler, unchanged by a derived class."""
        from clrs_rs.samplers._builtin import NATIVE_SAMPLERS

        name = native_name(self._algorithm)
        if name is None or self._spec != SPECS[name] or (self._truncate_decimals or 0) < 0:
            return None
        native, own = NATIVE_SAMPLERS[name], type(self)
        return name if all(getattr(own, method) is getattr(native, method) for method in _DRAWING) else None

    def _start_engine(self, name: str, random: np.random.RandomState) -> "_core.FixedSet | _core.Stream":
        try:
            options = inspect.signature(self._sample_data).bind(*self._args, **self._kwargs).arguments
        except TypeError as error:
            raise ArgumentTypeError(f"the sampler of {name}: {error}") from None
        length = _arguments.integer("length", options.pop("length"))
        if self._truncate_decimals:
            options["truncate_decimals"] = self._truncate_decimals
        state = _get_state(random)
        if self._num_samples >= 0:
            return _core.FixedSet(name, length, self._num_samples, state, options)
        if self._track_max_steps:
            return _core.Stream.track_max_steps(name, length, state, options)
        return _core.Stream(name, length, state, options, None)

    def _next_of_engine(self, batch_size: int) -> Feedback:
        assert self._engine is not None
        random = self.__dict__.get("_rng")
        if random is None:
            return self._engine.next(batch_size)
        # The user has the generator too: both continue the same stream.
        self._engine.state = _get_state(random)
        batch = self._engine.next(batch_size)
        _set_state(random, self._engine.state)
        return batch

    def __getattr__(self, name: str) -> Any:
        """Creates what the engine has, and few users need, on access: the arrays of a fixed set and the generator."""
        engine = self.__dict__.get("_engine")
        is_array = name in ("_inputs", "_outputs", "_hints", "_lengths") and isinstance(engine, _core.FixedSet)
        if engine is None or not (name == "_rng" or is_array):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._lock:
            # Another thread may have created it meanwhile.
            if name in self.__dict__:
                pass
            elif is_array:
                features, self._outputs = engine.all()
                self._inputs, self._hints, self._lengths = features
            else:
                random = np.random.RandomState(0)
                _set_state(random, engine.state)
                self._rng = random
            return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    # -- Samplers and algorithms in Python.

    @abc.abstractmethod
    def _sample_data(self, length: int, *args: Any, **kwargs: Any) -> Sequence[Any]:
        """Draws the arguments of the algorithm."""

    def _make_batch(
        self, num_samples: int, spec: Spec, min_length: int, algorithm: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Trajectory, Trajectory, Trajectory, npt.NDArray[np.float64]]:
        """Draws and runs samples. Returns inputs, outputs, hints and lengths."""
        samples = [self._record_sample(spec, algorithm, *args, **kwargs) for _ in range(num_samples)]
        inputs, outputs, hints = ([sample[stage] for sample in samples] for stage in range(3))
        batched_hints, lengths = _batch_hints(hints, min_length)
        return _batch_io(inputs), _batch_io(outputs), batched_hints, lengths

    def _record_sample(
        self, spec: Spec, algorithm: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Trajectory, Trajectory, Trajectory]:
        _, probes = algorithm(*self._trunc_array(self._sample_data(*args, **kwargs)))
        return probing.split_stages(probes, spec)

    def _trunc_array(self, data: Any) -> Any:
        """Truncates the real numbers and arrays of real numbers in a sequence, if the sampler does."""
        data = copy.deepcopy(data)
        if not self._truncate_decimals:
            return data
        scale = 10**self._truncate_decimals
        for index, value in enumerate(data):
            if isinstance(value, float):
                data[index] = float(np.trunc(value * scale) / scale)
            elif _is_float_array(value):
                data[index] = np.trunc(value * scale) / scale
        return data

    def _random_sequence(self, length: int, low: float = 0.0, high: float = 1.0) -> npt.NDArray[np.float64]:
        """Uniformly distributed numbers."""
        return self._rng.uniform(low=low, high=high, size=(length,))

    def _random_string(self, length: int, chars: int = 4) -> npt.NDArray[np.int64]:
        """Letters, as numbers below `chars`."""
        return self._rng.randint(0, high=chars, size=(length,))

    def _random_er_graph(
        self,
        nb_nodes: int,
        p: float = 0.5,
        directed: bool = False,
        acyclic: bool = False,
        weighted: bool = False,
        low: float = 0.0,
        high: float = 1.0,
    ) -> npt.NDArray[Any]:
        """Weights of an Erdős–Rényi graph; 0 where there is no edge."""
        shape = (nb_nodes, nb_nodes)
        edges = self._rng.binomial(1, p, size=shape)
        if not directed:
            edges = edges * edges.T
        elif acyclic:
            order = self._rng.permutation(nb_nodes)
            edges = np.triu(edges, k=1)[np.ix_(order, order)]
        if not weighted:
            return edges
        weights = self._rng.uniform(low=low, high=high, size=shape)
        if not directed:
            # Symmetric, and with an offset that keeps small weights from becoming 0, which means no edge.
            weights = np.sqrt(weights * weights.T + 1e-3)
        return edges.astype(float) * weights

    def _random_community_graph(
        self,
        nb_nodes: int,
        k: int = 4,
        p: float = 0.5,
        eps: float = 0.01,
        directed: bool = False,
        acyclic: bool = False,
        weighted: bool = False,
        low: float = 0.0,
        high: float = 1.0,
    ) -> npt.NDArray[np.float64]:
        """Weights of `k` Erdős–Rényi graphs in a row, perturbed by edges to later ones, with the nodes shuffled."""
        if k > nb_nodes:
            raise ArgumentError(f"{nb_nodes} nodes cannot form {k} communities")
        kind: dict[str, Any] = {"directed": directed, "acyclic": acyclic, "weighted": weighted, "low": low, "high": high}
        community = np.minimum(np.arange(nb_nodes) // (nb_nodes // k), k - 1)
        weights = np.zeros((nb_nodes, nb_nodes))
        for index in range(k):
            nodes = np.flatnonzero(community == index)
            weights[np.ix_(nodes, nodes)] = self._random_er_graph(len(nodes), p=p, **kind)
        perturbation = self._random_er_graph(nb_nodes, p=eps, **kind)
        # Edges to earlier communities would close new cycles.
        toggled = (perturbation > 0.0) & (community[:, None] <= community[None, :])
        weights = np.where(toggled, np.where(weights > 0.0, 0.0, perturbation), weights)
        order = self._rng.permutation(nb_nodes)
        return weights[np.ix_(order, order)]

    def _random_bipartite_graph(self, n: int, m: int, p: float = 0.25) -> npt.NDArray[np.float64]:
        """Capacities of a flow network: a source, `n` nodes, `m` nodes, and a sink."""
        left, right = slice(1, n + 1), slice(n + 1, n + m + 1)
        capacities = np.zeros((n + m + 2, n + m + 2))
        capacities[0, left] = 1.0
        capacities[right, n + m + 1] = 1.0
        capacities[left, right] = self._rng.binomial(1, p, size=(n, m))
        return capacities


#: Methods that determine the samples.
_DRAWING = (
    "_make_batch",
    "_random_bipartite_graph",
    "_random_community_graph",
    "_random_er_graph",
    "_random_sequence",
    "_random_string",
    "_sample_data",
    "_trunc_array",
)


def _is_float_array(data: Any) -> bool:
    return isinstance(data, np.ndarray) and issubclass(data.dtype.type, np.floating)


def _get_state(random: np.random.RandomState) -> tuple[npt.NDArray[np.uint32], int]:
    """Key and position of a generator."""
    state: Any = random.get_state(legacy=False)
    return state["state"]["key"], state["state"]["pos"]


def _set_state(random: np.random.RandomState, state: tuple[npt.NDArray[np.uint32], int]) -> None:
    """Sets the key and the position of a generator."""
    full: Any = random.get_state(legacy=False)
    full["state"] = {"key": state[0], "pos": state[1]}
    random.set_state(full)
