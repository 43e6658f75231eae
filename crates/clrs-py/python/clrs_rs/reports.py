"""Reports of training and evaluation."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from clrs_rs.predicted import PredictedTrajectory

__all__ = ["EvalReport", "HintScore", "StepReport", "TaskUpdate", "TrainReport", "ValidationReport"]


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
        return table(("algorithm", "set", "samples", "steps", "score", "validity", "exact match"), [row])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in HTML. Cells are HTML, too."""
    head = "".join(f"<th>{name}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
