"""``BaselineModel`` and ``BaselineModelChunked``."""

import hashlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from clrs_rs import _arguments, _core
from clrs_rs.errors import ArgumentError, ArgumentTypeError, DataPointError, ModelError
from clrs_rs.models import checkpoints
from clrs_rs.models.base import Model
from clrs_rs.probing import DataPoint
from clrs_rs.processors import ProcessorFactory
from clrs_rs.samplers import Features, FeaturesChunked, Feedback
from clrs_rs.specs import Spec

__all__ = ["BaselineModel", "BaselineModelChunked"]

_Array: TypeAlias = npt.NDArray[Any]

#: Arrays by module and name, as in Haiku.
Params: TypeAlias = dict[str, dict[str, _Array]]

_HINT_MODES = {(True, True): "encoded_decoded", (False, True): "decoded_only", (False, False): "none"}
_HINT_REPRED_MODES = ("soft", "hard", "hard_on_eval")
_ENCODER_INITS = ("default", "xavier_on_scalars")


class BaselineModel(Model):
    """An encode-process-decode network for one or several algorithms, with an Adam optimizer.

    The constructor and the methods are those of dm-clrs. Differences:

    - The network computes on the CPU, in Rust. From the same parameters, losses, gradients and predictions are the same up to
      rounding.
    - ``rng_key`` may be a key of JAX, a ``hk.PRNGSequence``, an integer or a generator of NumPy; the same key gives the same
      random numbers, but not those of JAX. ``None`` turns dropout, the noise of permutations and partial teacher forcing off.
    - ``feedback`` trains the LSTM, too. dm-clrs does that in ``update_model_params_accum`` only.
    - A loss or gradient that is not finite leaves the parameters unchanged.

    Args:
        spec: The spec of an algorithm, or a list of them, as samplers and ``process_permutations`` return them.
        dummy_trajectory: A batch of each algorithm, from which the number of classes of categoricals is read.
        processor_factory: From :func:`~clrs_rs.get_processor_factory`.
        hidden_dim: Size of hidden vectors.
        encode_hints: Whether the network reads hints.
        decode_hints: Whether it predicts them.
        encoder_init: ``"default"`` or ``"xavier_on_scalars"``.
        use_lstm: Whether an LSTM follows the processor.
        learning_rate: Learning rate of Adam.
        grad_clip_max_norm: Largest norm of all gradients together; 0 does not clip.
        checkpoint_path: Directory of :meth:`save_model` and :meth:`restore_model`.
        freeze_processor: Whether the parameters of the processor stay as they are.
        dropout_prob: Dropout probability of hidden values in training.
        hint_teacher_forcing: Probability of reading the true hint instead of the predicted one in training.
        hint_repred_mode: How predicted hints are read: ``"soft"``, ``"hard"`` or ``"hard_on_eval"``.
        name: Name of the model.
        nb_msg_passing_steps: Steps of the processor per step of the algorithm.
        debug: Whether :meth:`predict` also returns hidden states.
    """

    def __init__(
        self,
        spec: Spec | list[Spec],
        dummy_trajectory: Any,
        processor_factory: ProcessorFactory,
        hidden_dim: int = 32,
        encode_hints: bool = False,
        decode_hints: bool = True,
        encoder_init: str = "default",
        use_lstm: bool = False,
        learning_rate: float = 0.005,
        grad_clip_max_norm: float = 0.0,
        checkpoint_path: str = os.path.join(tempfile.gettempdir(), "clrs3"),
        freeze_processor: bool = False,
        dropout_prob: float = 0.0,
        hint_teacher_forcing: float = 0.0,
        hint_repred_mode: str = "soft",
        name: str = "base_model",
        nb_msg_passing_steps: int = 1,
        debug: bool = False,
    ) -> None:
        super().__init__(spec)
        encode_hints, decode_hints = _arguments.flag("encode_hints", encode_hints), _arguments.flag("decode_hints", decode_hints)
        if encode_hints and not decode_hints:
            raise ModelError("`encode_hints=True`, `decode_hints=False` is invalid.")
        _arguments.choice("hint_repred_mode", hint_repred_mode, _HINT_REPRED_MODES)
        if not isinstance(processor_factory, ProcessorFactory):
            raise ArgumentTypeError(
                "`processor_factory` must come from clrs_rs.get_processor_factory: networks run on the Rust engine, and not "
                "with the modules of JAX"
            )
        given = [dummy_trajectory] if hasattr(dummy_trajectory, "features") else dummy_trajectory
        trajectories = _arguments.items("dummy_trajectory", given, lambda name, item: item, "a Feedback or a list of them")
        if len(trajectories) != len(self._spec):
            raise ModelError(f"{len(self._spec)} specs need as many dummy trajectories, not {len(trajectories)}")
        self.nb_dims: list[dict[str, int]] = [_last_axes(trajectory) for trajectory in trajectories]
        self.decode_hints = decode_hints
        self.checkpoint_path = checkpoint_path
        self.name = name
        self.nb_msg_passing_steps = nb_msg_passing_steps
        self.debug = debug
        self._config = processor_factory._config() | {
            "hidden": _arguments.integer("hidden_dim", hidden_dim, 1),
            "message_steps": _arguments.integer("nb_msg_passing_steps", nb_msg_passing_steps, 1),
            "hint_mode": _HINT_MODES[encode_hints, decode_hints],
            "feedback": hint_repred_mode,
            "teacher_forcing": _arguments.number("hint_teacher_forcing", hint_teacher_forcing),
            "init": _arguments.choice("encoder_init", encoder_init, _ENCODER_INITS),
            "lstm": _arguments.flag("use_lstm", use_lstm),
            "dropout": _arguments.number("dropout_prob", dropout_prob),
        }
        probes = [
            [(probe, *_entry(probe, entry), dims.get(probe, 0)) for probe, entry in spec.items()]
            for spec, dims in zip(self._spec, self.nb_dims)
        ]
        rate, max_norm = _arguments.number("learning_rate", learning_rate), _arguments.number("grad_clip_max_norm", grad_clip_max_norm)
        self._clips = max_norm != 0.0
        is_frozen = _arguments.flag("freeze_processor", freeze_processor)
        self._engine = _core.Model(probes, json.dumps(self._config), rate, max_norm, is_frozen)
        self._is_initialized = False

    def __repr__(self) -> str:
        algorithms = f"{len(self._spec)} algorithm" + ("s" if len(self._spec) != 1 else "")
        settings = f"{self._config['processor']}, hidden_dim={self._config['hidden']}, {self._config['hint_mode']}"
        return f"<{type(self).__name__}: {algorithms}, {settings}>"

    def init(self, features: Any, seed: int) -> None:
        """Draws new parameters and resets the optimizer. ``features`` are not read: the constructor has seen a batch."""
        self._engine.init(_arguments.integer("seed", seed, -(2**63), 2**64) % 2**32)
        self._is_initialized = True

    @property
    def params(self) -> Params | None:
        """All parameters, by dm-clrs's names of modules and parameters; ``None`` before :meth:`init`."""
        return _tree(self._engine.parameters()) if self._is_initialized else None

    @params.setter
    def params(self, params: Mapping[str, Mapping[str, Any]]) -> None:
        self._set_params(params, only_processor=False)

    @property
    def opt_state(self) -> Any:
        """State of the optimizer, as that of optax: named tuples; ``None`` before :meth:`init`."""
        if not self._is_initialized:
            return None
        updates, first, second = self._engine.optimizer()
        return checkpoints.opt_state(updates, _tree(first), _tree(second), self._clips)

    @opt_state.setter
    def opt_state(self, opt_state: Any) -> None:
        if opt_state is None:
            self._engine.reset_optimizer()
        else:
            updates, first, second = checkpoints.adam_state(opt_state)
            self._engine.set_optimizer(updates, _leaves(first), _leaves(second))

    def feedback(self, rng_key: Any, feedback: Any, algorithm_index: Any = None) -> Any:  # type: ignore[override]
        """Takes a training step on a batch and returns the loss before it."""
        return np.float32(self._engine.feedback(self._task(algorithm_index), _batch(feedback), _noise(rng_key)))

    def compute_grad(self, rng_key: Any, feedback: Any, algorithm_index: Any = None) -> tuple[Any, Params]:
        """The loss of a batch and the gradients of all parameters. Changes nothing."""
        loss, gradients = self._engine.gradients(self._task(algorithm_index), _batch(feedback), _noise(rng_key))
        return np.float32(loss), _tree(gradients)

    def update_model_params_accum(self, grads: Sequence[Mapping[str, Mapping[str, Any]]]) -> None:
        """Takes a training step with the mean of several gradients, such as those of several algorithms.

        The mean of a parameter is over those gradients that are not zero everywhere.
        """
        self._ensure_initialized()
        if isinstance(grads, Mapping):
            raise ArgumentTypeError("`grads` is a list of gradients: [grads]")
        self._engine.update(_arguments.items("grads", grads, lambda _, tree: _leaves(tree), "a list of gradients"))

    def predict(  # type: ignore[override]
        self,
        rng_key: Any,
        features: Any,
        algorithm_index: int | None = None,
        return_hints: bool = False,
        return_all_outputs: bool = False,
    ) -> Any:
        """Predicts the outputs of a batch with as many steps as the algorithm took.

        Returns:
            The outputs by name, and ``None`` or, with ``return_hints``, a list over steps of the logits of all hints by name.
            With ``return_all_outputs``, outputs have a leading axis of steps. With ``debug``, a third value: the hidden states
            after every step.
        """
        task = self._task(algorithm_index)
        _arguments.features(features, chunked=False)
        batch = (features.inputs, features.hints, None, features.lengths)
        flags = {"return_hints": return_hints, "return_all_outputs": return_all_outputs, "debug": self.debug}
        chosen = (_arguments.flag(name, value) for name, value in flags.items())
        outputs, hints, hidden = self._engine.predict(task, batch, *chosen)
        spec = self._spec[task]
        predictions = {name: DataPoint(name, spec[name][1], spec[name][2], data) for name, data in outputs}
        steps = [dict(zip((name for name, _ in hints), rows)) for rows in zip(*(logits for _, logits in hints))] or None
        return (predictions, steps, hidden) if self.debug else (predictions, steps)

    def verbose_loss(self, feedback: Any, extra_info: Any) -> dict[str, Any]:
        """The loss of every hint, ``{"loss_pi_h": ..}``, from the hints that :meth:`predict` returned."""
        if not self.decode_hints:
            return {}
        batch = _batch(feedback)
        try:
            logits = [(hint.name, np.stack([step[hint.name] for step in extra_info])) for hint in batch[1]]
        except (IndexError, KeyError, TypeError, ValueError):
            raise ArgumentError("`extra_info` must be the hints that `predict(.., return_hints=True)` returned for the batch") from None
        return {f"loss_{name}": np.float32(loss) for name, loss in _core.hint_losses(batch, logits)}

    def save_model(self, file_name: str) -> None:
        """Saves parameters and optimizer in ``checkpoint_path``, as a pickle that dm-clrs reads."""
        self._ensure_initialized()
        checkpoints.save(self._checkpoint(file_name), self.params, self.opt_state)

    def restore_model(self, file_name: str, only_load_processor: bool = False) -> None:
        """Restores a model that this class or dm-clrs saved.

        Only arrays are read from the pickle: it cannot run code. With ``only_load_processor``, all other parameters stay; the
        state of the optimizer is restored if it is of the same parameters.
        """
        params, opt_state = checkpoints.load(self._checkpoint(file_name))
        before = self._engine.parameters()
        self._set_params(params, only_load_processor)
        try:
            self.opt_state = opt_state
        except ModelError:
            if not only_load_processor:
                self._engine.set_parameters(before, only_processor=False)
                raise

    def _checkpoint(self, file_name: str) -> str:
        return os.path.join(_arguments.path("checkpoint_path", self.checkpoint_path), _arguments.path("file_name", file_name))

    def _set_params(self, params: Mapping[str, Mapping[str, Any]], only_processor: bool) -> None:
        unknown = self._engine.set_parameters(_leaves(params), only_processor)
        self._is_initialized = True
        if unknown and not only_processor:
            more = ", .." if len(unknown) > 1 else ""
            warnings.warn(f"ignored {len(unknown)} parameters that the model does not have: {unknown[0]}{more}", stacklevel=3)

    def _task(self, algorithm_index: int | None) -> int:
        self._ensure_initialized()
        if algorithm_index is None:
            if len(self._spec) != 1:
                raise ModelError(f"`algorithm_index` is needed: the model has {len(self._spec)} algorithms")
            return 0
        return _arguments.integer("algorithm_index", algorithm_index, 0, len(self._spec) - 1)

    def _ensure_initialized(self) -> None:
        if not self._is_initialized:
            raise ModelError("the model has no parameters: call `init`, `restore_model`, or set `params` first")


class BaselineModelChunked(BaselineModel):
    """A :class:`BaselineModel` for training on chunks of trajectories, which :func:`~clrs_rs.chunkify` returns.

    ``algorithm_index`` is a pair: the index of the length, as in :meth:`init`, and that of the algorithm. The state at the end
    of a chunk is carried to the next chunk of the same pair. dm-clrs intends the same, but starts every chunk from its initial
    state. To predict, set ``params`` of a :class:`BaselineModel`.
    """

    def init(self, features: Any, seed: int) -> None:
        """Draws new parameters, and resets the optimizer and all carried states."""
        super().init(features, seed)

    def feedback(self, rng_key: Any, feedback: Any, algorithm_index: Any = None) -> Any:  # type: ignore[override]
        """Takes a training step on a chunk and returns the loss before it."""
        return np.float32(self._chunk(rng_key, feedback, algorithm_index, update=True)[0])

    def compute_grad(self, rng_key: Any, feedback: Any, algorithm_index: Any = None) -> tuple[Any, Params]:
        """The loss of a chunk and the gradients of all parameters. Carries the state to the next chunk."""
        loss, gradients = self._chunk(rng_key, feedback, algorithm_index, update=False)
        return np.float32(loss), _tree(gradients)

    def predict(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not available: chunks are for training."""
        raise NotImplementedError("BaselineModelChunked only trains: set `params` of a BaselineModel to predict")

    def verbose_loss(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not available: chunks are for training."""
        raise NotImplementedError("BaselineModelChunked has no verbose loss: use a BaselineModel")

    def _chunk(self, rng_key: Any, feedback: Any, index: Any, update: bool) -> tuple[float, list[tuple[str, str, _Array]]]:
        length, algorithm = (0, None) if index is None else _arguments.pair("algorithm_index", index)
        length = _arguments.integer("algorithm_index[0]", length)
        features: FeaturesChunked = _arguments.feedback(feedback).features
        if not (hasattr(features, "is_first") and hasattr(features, "is_last")):
            raise ArgumentTypeError("`feedback` must be a chunk: `chunkify` cuts batches into chunks")
        chunk = (features.inputs, features.hints, feedback.outputs, features.is_first, features.is_last)
        return self._engine.chunk((length, self._task(algorithm)), chunk, _noise(rng_key), update)


def _batch(feedback: Feedback) -> tuple[Sequence[DataPoint], Sequence[DataPoint], Sequence[DataPoint], Any]:
    features: Features = _arguments.feedback(feedback).features
    if not hasattr(features, "lengths"):
        raise ArgumentTypeError("`feedback` is a chunk: chunks are for BaselineModelChunked")
    return features.inputs, features.hints, feedback.outputs, features.lengths


def _last_axes(trajectory: Feedback) -> dict[str, int]:
    """Length of the last axis of each probe."""
    features = _arguments.feedback(trajectory, "dummy_trajectory").features
    points = [*features.inputs, *features.hints, *trajectory.outputs]
    return {point.name: (np.shape(point.data) or (0,))[-1] for point in points}


def _tree(leaves: Iterable[tuple[str, str, _Array]]) -> Params:
    """Arrays by module and name, in the order of JAX's pytrees."""
    tree: Params = {}
    for module, name, array in sorted(leaves, key=lambda leaf: leaf[:2]):
        tree.setdefault(module, {})[name] = array
    return tree


def _leaves(tree: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    if not checkpoints.is_tree(tree):
        raise ModelError(f"parameters and gradients are arrays by module and name, not {_arguments.describe(tree)}")
    return [(module, name, array) for module, arrays in tree.items() for name, array in arrays.items()]


def _entry(probe: Any, entry: Any) -> tuple[str, str, str]:
    """Stage, location and type of a probe of a spec."""
    if not (isinstance(probe, str) and isinstance(entry, (tuple, list)) and len(entry) == 3 and all(isinstance(part, str) for part in entry)):
        raise DataPointError(f"the spec has {_arguments.describe(entry)} for `{probe}` instead of a stage, a location and a type")
    stage, location, type_ = entry
    return stage, location, type_


def _noise(rng_key: Any) -> tuple[int, int] | None:
    """Seed and number of a random stream of the engine, from anything that can seed one."""
    if rng_key is None:
        return None
    if hasattr(rng_key, "__next__"):  # hk.PRNGSequence
        rng_key = next(rng_key)
    if isinstance(rng_key, (int, np.integer)):
        data = str(int(rng_key)).encode()
    elif isinstance(rng_key, (np.random.RandomState, np.random.Generator)):
        data = rng_key.bytes(16)
    else:
        if str(getattr(rng_key, "dtype", "")).startswith("key<"):  # jax.random.key
            rng_key = sys.modules["jax"].random.key_data(rng_key)
        key = np.asarray(rng_key)
        if key.dtype.kind not in "iu":
            found = _arguments.describe(rng_key)
            raise ArgumentTypeError(f"`rng_key` must be a key of JAX, an integer or a generator of NumPy, not {found}")
        data = key.tobytes()
    digest = hashlib.blake2b(data, digest_size=10).digest()
    # The engine numbers the micro-batches of an update with the 16 bits below.
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")
