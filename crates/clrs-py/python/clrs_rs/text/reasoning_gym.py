"""CLRS-Text as a dataset of ``reasoning_gym``. Importing this module registers it under the name ``clrs_text``.

.. code-block:: python

   import clrs_rs.text.reasoning_gym
   import reasoning_gym

   data = reasoning_gym.create_dataset("clrs_text", algorithms={"bfs": [8, 16]}, size=1000, seed=7)
   for entry in data:
       score = data.score_answer(model(entry["question"]), entry)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import reasoning_gym
from reasoning_gym.dataset import ProceduralDataset

from clrs_rs import text

__all__ = ["ClrsTextConfig", "ClrsTextDataset"]


@dataclass
class ClrsTextConfig:
    """Which questions are asked, and which answers are right."""

    #: Problem sizes by algorithm. Each question is of any pair, with the same probability.
    algorithms: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"insertion_sort": (8,), "bfs": (8,)})
    #: Whether the steps of the algorithm are asked for, too.
    hints: bool = False
    #: Decimals of numbers; ``None`` for all of them.
    decimals: int | None = 3
    #: Text format.
    format: text.Format = "text@2.0.3"
    #: What scores 1: any correct answer, or only that of the algorithm.
    kind: text.Kind = "valid"
    #: Seed of the samplers, of 32 bits.
    seed: int | None = None
    #: Number of questions.
    size: int = 500

    def validate(self) -> None:
        """Checks the configuration."""
        assert self.size > 0, "size must be at least 1"
        assert self.kind in ("valid", "exact"), "kind must be 'valid' or 'exact'"
        assert any(self.algorithms.values()), "algorithms must have a size"


class ClrsTextDataset(ProceduralDataset):
    """Questions of :func:`clrs_rs.text.generator`, scored by :func:`clrs_rs.text.reward`."""

    def __init__(self, config: ClrsTextConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._rows: list[text.Row] = []
        self._generator = text.generator(
            config.algorithms,
            use_hints=config.hints,
            seed=self.seed % 2**32,
            num_decimals_in_float=config.decimals,
            format=config.format,
        )

    @property
    def category(self) -> str:
        """The category of datasets about algorithms."""
        return "algorithmic"

    def __getitem__(self, idx: int) -> dict[str, Any]:
        if not 0 <= idx < self.size:
            raise IndexError(f"question {idx} of {self.size}")
        while len(self._rows) <= idx:
            self._rows.append(next(self._generator))
        row = self._rows[idx]
        metadata = {
            "source_dataset": "clrs_text",
            "source_index": idx,
            "algorithm": row["algo_name"],
            "difficulty": {"length": row["length"]},
        }
        return {"question": row["question"], "answer": row["answer"], "metadata": metadata}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """1 for a right answer, else 0."""
        if answer is None:
            return 0.0
        return text.reward(entry["question"], answer, self.config.kind, entry["answer"])


if "clrs_text" not in reasoning_gym.factory.DATASETS:
    reasoning_gym.register_dataset("clrs_text", ClrsTextDataset, ClrsTextConfig)
