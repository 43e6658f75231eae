"""Training and evaluation: the commands ``clrs train`` and ``clrs eval`` from Python.

>>> import clrs_rs
>>> model = clrs_rs.Model("bfs", processor="mpnn", hidden=16, lengths=[6], batch_size=8, val_samples=8)
>>> report = model.train(steps=20)
>>> report.step, report.best is not None
(20, True)
>>> [evaluation] = model.evaluate(sizes=[8], count=4)
>>> evaluation.set, evaluation.samples
('n=8', 4)
"""

import dataclasses
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from clrs_rs import _arguments, _core
from clrs_rs._recipe import Recipe, RecipeLike, resolve
from clrs_rs.errors import ArgumentError, ModelError, RecipeError
from clrs_rs.models.baselines import Params, _batch, _tree
from clrs_rs.predicted import PredictedTrajectory
from clrs_rs.probing import DataPoint
from clrs_rs.reports import EvalReport, HintScore, StepReport, TaskUpdate, TrainReport, ValidationReport

__all__ = ["Callback", "Model", "TrainedModel", "evaluate_run", "open_run", "train"]

#: Gets a :class:`StepReport` or a :class:`ValidationReport`; training stops if it returns ``False``.
Callback: TypeAlias = Callable[[StepReport | ValidationReport], bool | None]


def train(
    recipe: RecipeLike = None,
    *,
    out: "str | os.PathLike[str]",
    callback: Callback | None = None,
    resume: bool = False,
    **fields: Any,
) -> TrainReport:
    """Trains in a run directory, as ``clrs train`` does.

    Ctrl-C, an exception of the callback, or ``False`` from it stop the run after the current step. Its checkpoint stays, and
    ``resume=True`` continues to the same bits as if it had never stopped.

    Args:
        recipe: A shipped recipe, a TOML file or a :class:`Recipe`; ``fields`` replace some of its fields.
        out: The run directory.
        callback: Called after every step and every validation.
        resume: Whether to resume the run in ``out``, with its own recipe.
    """
    resume = _arguments.flag("resume", resume)
    if resume and (recipe is not None or fields):
        raise RecipeError("a run is resumed with its own recipe: give no recipe and no fields")
    _arguments.callback(callback)
    text = None if resume else resolve(recipe, fields).toml
    run = _arguments.path("out", out)
    reason, step, best = _core.train(text, run, _notifier(callback))
    return TrainReport(reason, step, best, run)


def _notifier(callback: Callback | None) -> Callable[..., bool] | None:
    if callback is None:
        return None

    def notify(kind: str, report: str, is_best: bool = False) -> bool:
        returned = callback(_step_report(report) if kind == "step" else _validation_report(report, is_best))
        return not _arguments.is_false(returned)

    return notify


def _step_report(text: str) -> StepReport:
    report = json.loads(text)
    return StepReport(report["step"], [TaskUpdate(**task) for task in report["tasks"]])


def _validation_report(text: str, is_best: bool) -> ValidationReport:
    report = json.loads(text)
    return ValidationReport(report["step"], report["score"], dict(report["tasks"]), is_best)


def _names(algorithms: Any) -> list[str]:
    """Names of algorithms; a single one may be given without a list."""
    names = [algorithms] if isinstance(algorithms, str) else algorithms
    return _arguments.items("algorithms", names, _arguments.text, "a name or a list of names")


class TrainedModel:
    """A model of a run, or the current state of a :class:`Model`. :func:`open_run` opens one."""

    def __init__(self, engine: "_core.TrainedModel") -> None:
        self._engine = engine

    def __repr__(self) -> str:
        recipe = self.recipe
        settings = f"{recipe['processor']}, hidden={recipe['hidden']}"
        return f"<{type(self).__name__}: {', '.join(self.algorithms)}, {settings}, step {self.step}>"

    @property
    def algorithms(self) -> list[str]:
        """Algorithms that it was trained on."""
        return self._engine.algorithms

    @property
    def recipe(self) -> Recipe:
        """Recipe that it was trained with."""
        toml, values = self._engine.recipe()
        return Recipe(toml, json.loads(values))

    @property
    def step(self) -> int:
        """Training steps so far."""
        return self._engine.step

    @property
    def params(self) -> Params:
        """All parameters, by dm-clrs's names of modules and parameters."""
        return _tree(self._engine.parameters())

    def predict(self, batch: Any, algorithm: str | None = None) -> dict[str, DataPoint]:
        """Predicts the outputs of a batch with as many steps as the algorithm took.

        ``batch`` is a ``Feedback``, or ``Features``, as a sampler returns it: the transforms of the recipe are applied here.
        """
        if hasattr(batch, "features"):
            points: _core._Batch = _batch(batch)
        else:
            _arguments.features(batch, "batch", chunked=False)
            points = (batch.inputs, batch.hints, None, batch.lengths)
        found = self._engine.predict(self._algorithm(algorithm), points)
        return {name: DataPoint(name, location, type_, data) for name, location, type_, data in found}

    def evaluate(
        self,
        sizes: Iterable[int] = (),
        *,
        algorithms: Iterable[str] | None = None,
        data: str | None = None,
        split: str | None = None,
        count: int | None = None,
        seed: int | None = None,
        options: Mapping[str, Any] | None = None,
        steps: str = "oracle",
        batch_size: int = 32,
        hints: bool = False,
        trajectories: Sequence[int] = (),
        reuse: bool = True,
    ) -> list[EvalReport]:
        """Evaluates on the benchmark's test set, on other sets, or on new samples.

        Args:
            sizes: Sizes of new samples. With ``data`` or ``split``, in addition to those.
            algorithms: Algorithms to evaluate, all by default.
            data: Version of the benchmark (``"clrs30"``), or a directory of sets.
            split: ``"test"`` by default.
            count: Number of new samples; as many as the benchmark's test set has by default.
            seed: Seed of new samples, 4 by default.
            options: Options of the distribution of new samples.
            steps: ``"oracle"`` (as many as the algorithm took), ``"max"`` or ``"fixpoint"``.
            batch_size: Samples per batch: memory against speed.
            hints: Whether hints are scored, too.
            trajectories: Samples whose predicted trajectories are returned.
            reuse: Whether results are kept in the run directory and read from there.
        """
        sets: list[dict[str, Any]] = []
        sizes = _arguments.items("sizes", sizes, lambda name, size: _arguments.integer(name, size, 1), "a list of sizes")
        given = [name for name, value in {"count": count, "seed": seed, "options": options}.items() if value is not None]
        if given and not sizes:
            raise ArgumentError(f"`{given[0]}` is for new samples, and there are none without `sizes`")
        count = None if count is None else _arguments.integer("count", count, 1)
        chosen = self.algorithms if algorithms is None else _names(algorithms)
        indices = _arguments.items("trajectories", trajectories, _arguments.integer, "a list of indices of samples")
        settings = (
            _arguments.choice("steps", steps, ("oracle", "max", "fixpoint")),
            _arguments.integer("batch_size", batch_size, 1),
            _arguments.flag("hints", hints), indices, _arguments.flag("reuse", reuse),
        )  # fmt: skip
        if not sizes or data is not None or split is not None:
            data = None if data is None else _arguments.path("data", data)
            sets.append({"data": data, "split": _arguments.text("split", "test" if split is None else split)})
        given_options = dict(_arguments.mapping("options", {} if options is None else options))
        sampled = {"count": count, "seed": _arguments.seed(4 if seed is None else seed), "options": given_options}
        sets += [{"size": size} | sampled for size in sizes]
        return [self._evaluate(algorithm, chosen_set, *settings) for algorithm in chosen for chosen_set in sets]

    def _evaluate(self, algorithm: str, chosen: dict[str, Any], *settings: Any) -> EvalReport:
        name, text, traces = self._engine.evaluate(algorithm, chosen, *settings)
        report = json.loads(text)
        hints = report.pop("hints", None)
        return EvalReport(
            algorithm=algorithm,
            set=name,
            hints=None if hints is None else [HintScore(**hint) for hint in hints],
            trajectories=[PredictedTrajectory(trace) for trace in traces],
            **report,
        )

    def _algorithm(self, algorithm: str | None) -> str:
        if algorithm is None:
            if len(self.algorithms) != 1:
                raise RecipeError(f"the model has several algorithms; name one of {', '.join(self.algorithms)}")
            return self.algorithms[0]
        return _arguments.text("algorithm", algorithm)


#: Keyword arguments of :meth:`TrainedModel.evaluate`.
_EVALUATE_ARGUMENTS = [name for name in inspect.signature(TrainedModel.evaluate).parameters if name not in ("self", "sizes")]


class Model:
    """A network in training, in memory.

    Args:
        algorithms: Names of one or several algorithms, which share the processor.
        processor: Name of the processor.
        recipe: A shipped recipe, a TOML file or a :class:`Recipe` to start from.
        fields: Fields of the recipe to replace: ``hidden``, ``lengths``, ``batch_size``, ``learning_rate``, ``seed``, ..
    """

    def __init__(
        self,
        algorithms: str | Iterable[str],
        processor: str | None = None,
        *,
        recipe: RecipeLike = None,
        **fields: Any,
    ) -> None:
        names = _names(algorithms)
        if processor is not None:
            fields["processor"] = _arguments.text("processor", processor)
        self.recipe: Recipe = resolve(recipe, {"algorithms": names} | fields)
        self.algorithms = names
        self._trainer = _core.Trainer(self.recipe.toml)
        self._best: tuple[int, float] | None = None
        self._best_model: TrainedModel | None = None
        self._validations_since_best = 0
        self._pending_validation = False
        self._snapshot: TrainedModel | None = None

    def __repr__(self) -> str:
        settings = f"{self.recipe['processor']}, hidden={self.recipe['hidden']}"
        return f"<{type(self).__name__}: {', '.join(self.algorithms)}, {settings}, step {self.step}>"

    @property
    def step(self) -> int:
        """Training steps so far."""
        return self._trainer.steps

    @property
    def params(self) -> Params:
        """All parameters, by dm-clrs's names of modules and parameters."""
        return self.snapshot().params

    def train_step(self) -> StepReport:
        """Takes one training step: an update for every algorithm."""
        try:
            return _step_report(self._trainer.step())
        finally:
            self._snapshot = None

    def validate(self) -> ValidationReport:
        """Evaluates the current parameters on the validation sets. :meth:`best` is the model with the best score."""
        report = _validation_report(self._trainer.validate(), is_best=False)
        if self._best is None or report.score > self._best[1]:
            snapshot = self.snapshot()
            # Otherwise another thread has taken a step since, and the parameters do not exist any more.
            if snapshot.step == report.step:
                self._best, self._best_model, self._validations_since_best = (report.step, report.score), snapshot, 0
                return dataclasses.replace(report, is_best=True)
        return report

    def train(self, steps: int | None = None, callback: Callback | None = None) -> TrainReport:
        """Takes training steps, by default up to the ``steps`` of the recipe, and validates every ``eval_every`` of them.

        As in :func:`train`, the training ends early once ``patience`` validations in a row were not better than the best one,
        if the recipe has a ``patience``; :meth:`best` is the model of that one. The callback is called after every step and
        every validation, and stops the training if it returns ``False``. Ctrl-C stops it after the current step, and ``train``
        continues from there. Nothing is written to files: :func:`train` trains in a run directory.
        """
        _arguments.callback(callback)
        last = self.recipe["steps"] if steps is None else self.step + _arguments.integer("steps", steps)
        is_stopped = self._pending_validation and self._validate_in_training(callback)
        while self.step < last and not (is_stopped or self._is_out_of_patience()):
            report = self.train_step()
            is_stopped = callback is not None and _arguments.is_false(callback(report))
            if report.step == last or report.step % self.recipe["eval_every"] == 0:
                is_stopped = self._validate_in_training(callback) or is_stopped
        if self._is_out_of_patience():
            reason = "early_stopping"
        else:
            reason = "stopped" if is_stopped and self.step < last else "completed"
        return TrainReport(reason, self.step, self._best)

    def _validate_in_training(self, callback: Callback | None) -> bool:
        """A validation that counts for the patience. Returns whether the callback stops the training."""
        self._pending_validation = True
        report = self.validate()
        # Not after Ctrl-C: the next training then starts with this validation.
        self._pending_validation = False
        if not report.is_best:
            self._validations_since_best += 1
        return callback is not None and _arguments.is_false(callback(report))

    def _is_out_of_patience(self) -> bool:
        patience: int = self.recipe["patience"]
        return 0 < patience <= self._validations_since_best

    def best(self) -> TrainedModel:
        """The model of the best validation, which a run directory has as its ``best`` checkpoint."""
        if self._best_model is None:
            raise ModelError("the model has not been validated: call `train` or `validate` first")
        return self._best_model

    def snapshot(self) -> TrainedModel:
        """The model with its current parameters."""
        snapshot = self._snapshot
        # Other threads may take steps at any time.
        if snapshot is None or snapshot.step != self.step:
            snapshot = self._snapshot = TrainedModel(self._trainer.snapshot())
        return snapshot

    def predict(self, batch: Any, algorithm: str | None = None) -> dict[str, DataPoint]:
        """See :meth:`TrainedModel.predict`."""
        return self.snapshot().predict(batch, algorithm)

    def evaluate(self, sizes: Iterable[int] = (), **settings: Any) -> list[EvalReport]:
        """See :meth:`TrainedModel.evaluate`."""
        _arguments.known("evaluate", settings, _EVALUATE_ARGUMENTS)
        return self.snapshot().evaluate(sizes, **settings)


def open_run(run: "str | os.PathLike[str]", checkpoint: str = "best") -> TrainedModel:
    """Opens the model of a run directory: its ``best`` or ``last`` checkpoint, or a file.

    Raises:
        RunError: If the directory has no run, or no such checkpoint.
    """
    return TrainedModel(_core.TrainedModel.open(_arguments.path("run", run), _arguments.path("checkpoint", checkpoint)))


def evaluate_run(
    run: "str | os.PathLike[str]", sizes: Iterable[int] = (), *, checkpoint: str = "best", **settings: Any
) -> list[EvalReport]:
    """Evaluates a run, as ``clrs eval`` does; the arguments are those of :meth:`TrainedModel.evaluate`."""
    _arguments.known("evaluate_run", settings, _EVALUATE_ARGUMENTS)
    return open_run(run, checkpoint).evaluate(sizes, **settings)
