"""Recipes, training and evaluation: the commands ``clrs train`` and ``clrs eval`` from Python.

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
import html
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from clrs_rs import _core
from clrs_rs.errors import RecipeError
from clrs_rs.models.baselines import Params, _batch, _points, _tree
from clrs_rs.predicted import PredictedTrajectory
from clrs_rs.probing import DataPoint

__all__ = [
    "EvalReport",
    "HintScore",
    "Model",
    "Recipe",
    "StepReport",
    "TaskUpdate",
    "TrainReport",
    "TrainedModel",
    "ValidationReport",
    "evaluate_run",
    "open_run",
    "recipe",
    "recipes",
    "train",
]


@dataclasses.dataclass(frozen=True)
class Recipe(Mapping[str, Any]):
    """Everything that determines a run: a mapping of its fields. :func:`recipe` creates one.

    >>> import clrs_rs
    >>> paper = clrs_rs.recipe("paper-2022", algorithms=["bfs"], seed=3)
    >>> paper["processor"], paper["seed"]
    ('mpnn', 3)
    """

    #: The complete recipe as TOML, the form of ``clrs train FILE``.
    toml: str
    fields: dict[str, Any] = dataclasses.field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"Recipe({', '.join(f'{name}={self.fields[name]!r}' for name in self._changed())})"

    def _repr_html_(self) -> str:
        changed = self._changed()
        rows = (
            (f"<b>{name}</b>" if name in changed else name, f"<code>{html.escape(str(value))}</code>", html.escape(text))
            for name, value, text in ((name, self.fields[name], text) for name, _, text in _core.recipe_fields())
        )
        return _table(("field", "value", "description"), rows)

    def _changed(self) -> list[str]:
        """Fields that do not have their defaults."""
        _, defaults = _core.recipe("", [])
        default = json.loads(defaults)
        return [name for name, value in self.fields.items() if value != default[name]]


def recipe(base: "str | os.PathLike[str] | Recipe | None" = None, **fields: Any) -> Recipe:
    """A recipe: a shipped one (:func:`recipes`), a TOML file, or the defaults, with some fields replaced.

    Raises:
        RecipeError: If a field is unknown, or its value is out of range.
    """
    return _resolve(base, fields)


def _resolve(base: "str | os.PathLike[str] | Recipe | None", fields: Mapping[str, Any]) -> Recipe:
    if isinstance(base, Recipe):
        text = base.toml
    elif base is None:
        text = ""
    else:
        shipped = dict(_core.recipes())
        name = os.fspath(base)
        if name in shipped:
            text = shipped[name]
        elif os.path.exists(name):
            with open(name, encoding="utf-8") as file:
                text = file.read()
        else:
            raise RecipeError(f"unknown recipe `{name}`: neither a file nor one of {', '.join(shipped)}")
    toml, values = _core.recipe(text, [f"{name}={_field(value)}" for name, value in fields.items()])
    return Recipe(toml, json.loads(values))


def recipes() -> list[str]:
    """Names of the shipped recipes."""
    return [name for name, _ in _core.recipes()]


def _field(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(_field(item) for item in value)
    return str(value)


@dataclasses.dataclass(frozen=True)
class TaskUpdate:
    """An update for one algorithm: the loss before it, and the norm of all gradients before clipping."""

    algorithm: str
    loss: float
    grad_norm: float


@dataclasses.dataclass(frozen=True)
class StepReport:
    """A training step: an update for every algorithm."""

    step: int
    tasks: list[TaskUpdate]

    @property
    def loss(self) -> float:
        """Mean loss over the algorithms."""
        return sum(task.loss for task in self.tasks) / len(self.tasks)


@dataclasses.dataclass(frozen=True)
class ValidationReport:
    """A validation: the mean score, and the metrics of every algorithm."""

    step: int
    score: float
    tasks: dict[str, dict[str, Any]]
    is_best: bool


@dataclasses.dataclass(frozen=True)
class TrainReport:
    """How a training ended: ``completed``, ``early_stopping`` or ``stopped``, after which step, and the best validation."""

    reason: str
    step: int
    best: tuple[int, float] | None
    run: str | None = None


@dataclasses.dataclass(frozen=True)
class HintScore:
    """Score of a hint, over all steps and at each of them."""

    name: str
    score: float
    per_step: list[float]


@dataclasses.dataclass(frozen=True)
class EvalReport:
    """An evaluation on one set. All metrics are from 0 to 1."""

    algorithm: str
    set: str
    samples: int
    steps: str
    #: Steps that the network took, mean over samples.
    mean_steps: float
    #: Mean over the outputs of micro-F1 for masks and accuracy for others.
    score: float
    #: Fraction of samples with a correct answer.
    validity: float
    #: Fraction of samples whose answer is that of dm-clrs.
    exact_match: float
    outputs: dict[str, float]
    hints: list[HintScore] | None = None
    trajectories: list[PredictedTrajectory] = dataclasses.field(default_factory=list, repr=False)

    def _repr_html_(self) -> str:
        percent = (f"{100 * value:.2f}" for value in (self.score, self.validity, self.exact_match))
        row = (self.algorithm, self.set, str(self.samples), self.steps, *percent)
        return _table(("algorithm", "set", "samples", "steps", "score", "validity", "exact match"), [row])


#: Gets a :class:`StepReport` or a :class:`ValidationReport`; training stops if it returns ``False``.
Callback: TypeAlias = Callable[[StepReport | ValidationReport], bool | None]


def train(
    recipe: "str | os.PathLike[str] | Recipe | None" = None,
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
    if resume and (recipe is not None or fields):
        raise RecipeError("a run is resumed with its own recipe: give no recipe and no fields")
    text = None if resume else _resolve(recipe, fields).toml
    reason, step, best = _core.train(text, os.fspath(out), _notifier(callback))
    return TrainReport(reason, step, best, os.fspath(out))


def _notifier(callback: Callback | None) -> Callable[..., bool | None] | None:
    if callback is None:
        return None

    def notify(kind: str, report: str, is_best: bool = False) -> bool | None:
        return callback(_step_report(report) if kind == "step" else _validation_report(report, is_best))

    return notify


def _step_report(text: str) -> StepReport:
    report = json.loads(text)
    return StepReport(report["step"], [TaskUpdate(**task) for task in report["tasks"]])


def _validation_report(text: str, is_best: bool) -> ValidationReport:
    report = json.loads(text)
    return ValidationReport(report["step"], report["score"], dict(report["tasks"]), is_best)


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
            points = _batch(batch)
        else:
            points = (_points(batch.inputs), _points(batch.hints), None, batch.lengths)  # type: ignore[assignment]
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
        seed: int = 4,
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
            seed: Seed of new samples.
            options: Options of the distribution of new samples.
            steps: ``"oracle"`` (as many as the algorithm took), ``"max"`` or ``"fixpoint"``.
            batch_size: Samples per batch: memory against speed.
            hints: Whether hints are scored, too.
            trajectories: Samples whose predicted trajectories are returned.
            reuse: Whether results are kept in the run directory and read from there.
        """
        sets: list[dict[str, Any]] = []
        sizes = list(sizes)
        if not sizes or data is not None or split is not None:
            sets.append({"data": data, "split": split or "test"})
        sampled = {"count": count, "seed": seed, "options": dict(options or {})}
        sets += [{"size": size} | sampled for size in sizes]
        chosen = self.algorithms if algorithms is None else [algorithms] if isinstance(algorithms, str) else algorithms
        return [
            self._evaluate(algorithm, chosen_set, steps, batch_size, hints, list(trajectories), reuse)
            for algorithm in chosen
            for chosen_set in sets
        ]

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
        return algorithm


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
        recipe: "str | os.PathLike[str] | Recipe | None" = None,
        **fields: Any,
    ) -> None:
        names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
        if processor is not None:
            fields["processor"] = processor
        self.recipe: Recipe = _resolve(recipe, {"algorithms": names} | fields)
        self.algorithms = names
        self._trainer = _core.Trainer(self.recipe.toml)
        self._best: tuple[int, float] | None = None
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
        self._snapshot = None
        return _step_report(self._trainer.step())

    def validate(self) -> ValidationReport:
        """Evaluates the current parameters on the validation sets."""
        report = _validation_report(self._trainer.validate(), is_best=False)
        is_best = self._best is None or report.score > self._best[1]
        if is_best:
            self._best = (report.step, report.score)
        return dataclasses.replace(report, is_best=is_best)

    def train(self, steps: int | None = None, callback: Callback | None = None) -> TrainReport:
        """Takes training steps, by default up to the ``steps`` of the recipe, and validates every ``eval_every`` of them.

        The callback is called after every step and every validation, and stops the training if it returns ``False``. Nothing
        is written to files: :func:`train` trains in a run directory.
        """
        last = self.recipe["steps"] if steps is None else self.step + steps
        stopped = False
        while self.step < last and not stopped:
            report = self.train_step()
            stopped = callback is not None and callback(report) is False
            if report.step == last or report.step % self.recipe["eval_every"] == 0:
                validation = self.validate()
                stopped = (callback is not None and callback(validation) is False) or stopped
        return TrainReport("stopped" if stopped else "completed", self.step, self._best)

    def snapshot(self) -> TrainedModel:
        """The model with its current parameters."""
        if self._snapshot is None:
            self._snapshot = TrainedModel(self._trainer.snapshot())
        return self._snapshot

    def predict(self, batch: Any, algorithm: str | None = None) -> dict[str, DataPoint]:
        """See :meth:`TrainedModel.predict`."""
        return self.snapshot().predict(batch, algorithm)

    def evaluate(self, sizes: Iterable[int] = (), **settings: Any) -> list[EvalReport]:
        """See :meth:`TrainedModel.evaluate`."""
        return self.snapshot().evaluate(sizes, **settings)


def open_run(run: "str | os.PathLike[str]", checkpoint: str = "best") -> TrainedModel:
    """Opens the model of a run directory: its ``best`` or ``last`` checkpoint, or a file.

    Raises:
        RunError: If the directory has no run, or no such checkpoint.
    """
    return TrainedModel(_core.TrainedModel.open(os.fspath(run), checkpoint))


def evaluate_run(
    run: "str | os.PathLike[str]", sizes: Iterable[int] = (), *, checkpoint: str = "best", **settings: Any
) -> list[EvalReport]:
    """Evaluates a run, as ``clrs eval`` does; the arguments are those of :meth:`TrainedModel.evaluate`."""
    return open_run(run, checkpoint).evaluate(sizes, **settings)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
