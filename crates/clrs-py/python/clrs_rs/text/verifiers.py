"""CLRS-Text as a taskset of ``verifiers`` (version 0.4, ``verifiers.v1``).

.. code-block:: python

   from clrs_rs.text.verifiers import ClrsTextConfig, ClrsTextTaskset

   taskset = ClrsTextTaskset(ClrsTextConfig(algorithms={"bfs": [8, 16]}, seed=7))
   for task in taskset.take(100):
       ...  # rollouts; `task.score(trace)` records the reward `correct` and the metrics `exact_match` and `parsed`
"""

from collections.abc import Iterator

import verifiers.v1 as vf

from clrs_rs import text

__all__ = ["ClrsTextConfig", "ClrsTextData", "ClrsTextTask", "ClrsTextTaskConfig", "ClrsTextTaskset"]


class ClrsTextTaskConfig(vf.TaskConfig):
    """Which answers are right."""

    kind: text.Kind = "valid"
    """What is rewarded: any correct answer, or only that of the algorithm."""


class ClrsTextConfig(vf.TasksetConfig):
    """Which questions are asked."""

    task: ClrsTextTaskConfig = ClrsTextTaskConfig()
    algorithms: dict[str, list[int]] = {"insertion_sort": [8], "bfs": [8]}
    """Problem sizes by algorithm. Each question is of any pair, with the same probability."""
    hints: bool = False
    """Whether the steps of the algorithm are asked for, too."""
    decimals: int | None = 3
    """Decimals of numbers; None for all of them."""
    format: text.Format = "text@2.0.3"
    """Text format."""
    seed: int = 0
    """Seed of the samplers."""


class ClrsTextData(vf.TaskData):
    """A question, in ``prompt``, and its reference answer."""

    answer: str
    algorithm: str
    length: int


class ClrsTextTask(vf.Task[ClrsTextData, vf.State, ClrsTextTaskConfig]):
    """Scores the last reply, which must be an answer and nothing else."""

    def _verify(self, trace: vf.Trace) -> text.Verdict:
        return text.verify(self.data.prompt_text, trace.last_reply, self.data.answer)

    @vf.reward
    async def correct(self, trace: vf.Trace) -> float:
        """1 for a right answer, else 0."""
        return text.reward(self.data.prompt_text, trace.last_reply, self.config.kind, self.data.answer)

    @vf.metric
    async def exact_match(self, trace: vf.Trace) -> float:
        """Whether the answer is that of the algorithm, trace included."""
        return float(self._verify(trace).exact_match)

    @vf.metric
    async def parsed(self, trace: vf.Trace) -> float:
        """Whether the answer can be read."""
        return float(self._verify(trace).parsed)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the reference answer is right."""
        return text.verify(self.data.prompt_text, self.data.answer).valid


class ClrsTextTaskset(vf.Taskset[ClrsTextTask, ClrsTextConfig]):
    """Endless questions of :func:`clrs_rs.text.generator`."""

    INFINITE = True

    def load(self) -> Iterator[ClrsTextTask]:
        """The tasks, drawn while they are read."""
        config = self.config
        rows = text.generator(
            config.algorithms,
            use_hints=config.hints,
            seed=config.seed,
            num_decimals_in_float=config.decimals,
            format=config.format,
        )
        for index, row in enumerate(rows):
            data = ClrsTextData(
                name=f"{row['algo_name']}-{row['length']}#{index}",
                prompt=row["question"],
                answer=row["answer"],
                algorithm=row["algo_name"],
                length=row["length"],
            )
            yield ClrsTextTask(data, config.task)
