"""Questions and answers for language models: CLRS-Text, with a parser, a verifier and rewards.

>>> from clrs_rs import text
>>> rows = text.generator({"bfs": [4, 5], "minimum": [4, 5, 6]}, seed=0)
>>> row = next(rows)
>>> row["algo_name"], row["question"], row["answer"]
('minimum', 'minimum:\\nkey: [0.548 0.715 0.602 0.544 0.423]\\nmin:\\n', '4\\n\\n')

Any right answer counts, not only that of the algorithm:

>>> question = "bfs:\\ns: 0, A: [[0 1 1 0], [1 0 0 1], [1 0 0 1], [0 1 1 0]]\\npi:\\n"
>>> text.verify(question, "[0 0 0 2]").valid, text.verify(question, "[0 0 0 2]").exact_match
(True, False)
>>> text.verify(question, "[0 0 0 0]").failure
'node 3 points to 0, which is not on a shortest path from 0'
>>> text.reward(question, "[0 0 0 2]"), text.reward(question, "[0 0 0 2]", kind="exact")
(1.0, 0.0)

The module does not depend on other packages. :func:`dataset` needs ``datasets``; :mod:`clrs_rs.text.verifiers` and
:mod:`clrs_rs.text.reasoning_gym` need the packages of their names.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

from clrs_rs import _arguments, _core
from clrs_rs.errors import ArgumentTypeError
from clrs_rs.samples import Sample

if TYPE_CHECKING:
    import datasets

__all__ = [
    "Example",
    "Format",
    "Kind",
    "Row",
    "Sampled",
    "Task",
    "TraceVerdict",
    "Verdict",
    "dataset",
    "format",
    "generator",
    "parse",
    "reward",
    "sample",
    "verify",
]

#: A text format; docs/text.md of the repository has their grammars.
Format = Literal["text@2.0.3", "text@2.0.1", "text@1"]
#: What a reward is given for: a correct answer, or that of the reference, trace included.
Kind = Literal["valid", "exact"]

_T = TypeVar("_T")


class Row(TypedDict):
    """A row as dm-clrs's ``clrs_generator`` yields it."""

    text: str
    question: str
    answer: str
    algo_name: str
    length: int
    use_hints: bool


class Example(NamedTuple):
    """A question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Sampled:
    """A question and its answer, and the trajectory that they describe: sample number `index` of the sampler."""

    algorithm: str
    size: int
    seed: int
    index: int
    question: str
    answer: str


@dataclass(frozen=True)
class TraceVerdict:
    """Comparison of a trace with that of the reference."""

    #: Number of steps of the reference.
    steps: int
    #: Number of steps of the answer.
    found: int
    #: The first step that differs, is missing, or is one too many. Step 0 is part of the question.
    first_divergence: int | None
    #: The difference at that step, in words.
    failure: str | None


@dataclass(frozen=True)
class Verdict:
    """What is right and wrong about an answer. True if the answer is valid."""

    #: Whether it can be read: the syntax is right, and the outputs consist of numbers.
    parsed: bool
    #: Whether all outputs are there, each with as many elements as the problem requires.
    shape: bool
    #: Fraction of output elements that equal those of the reference, without cells that it masks out; 0 if the shape is wrong.
    element_accuracy: float
    #: Whether it equals the reference, trace included, up to white space.
    exact_match: bool
    #: Whether the outputs are a correct answer, not necessarily that of the reference.
    valid: bool
    #: Why it is not valid: the first error, in words.
    failure: str | None
    #: Comparison of the trace, if the question asks for one and the answer can be read.
    trace: TraceVerdict | None

    def __bool__(self) -> bool:
        return self.valid


class Task:
    """A parsed question, against whose reference answer any number of answers can be verified. See :func:`parse`."""

    def __init__(self, question: str, reference: str | None = None) -> None:
        self._task = _core.TextTask(
            _arguments.text("question", question), None if reference is None else _arguments.text("reference", reference)
        )
        self._arguments = (question, reference)

    def __reduce__(self) -> tuple[type["Task"], tuple[str, str | None]]:
        return Task, self._arguments

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return self._task.algorithm

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self._task.nodes

    @property
    def format(self) -> str:
        """The format. Texts that ``text@2.0.1`` and ``text@2.0.3`` have in common count as the latter."""
        return self._task.format

    @property
    def hints(self) -> bool:
        """Whether a trace is asked for."""
        return self._task.hints

    @property
    def problem(self) -> dict[str, Any]:
        """The problem, as :func:`clrs_rs.trace` and :func:`clrs_rs.check` take it."""
        problem: dict[str, Any] = json.loads(self._task.problem())
        return problem

    @property
    def reference(self) -> str:
        """The reference answer: the given one, or what the algorithm answers."""
        return self._task.reference()

    def verify(self, answer: str) -> Verdict:
        """Compares an answer with the reference, and checks whether it is correct."""
        fields = json.loads(self._task.verify(_arguments.text("answer", answer)))
        trace = fields.pop("trace")
        return Verdict(**fields, trace=None if trace is None else TraceVerdict(**trace))

    def reward(self, answer: str, kind: Kind = "valid") -> float:
        """1 if an answer meets the criterion, else 0."""
        if _arguments.choice("kind", kind, get_args(Kind)) == "valid":
            return float(self._task.is_valid(_arguments.text("answer", answer)))
        return float(self.verify(answer).exact_match)

    def __repr__(self) -> str:
        return f"Task(algorithm={self.algorithm!r}, nodes={self.nodes}, format={self.format!r}, hints={self.hints})"


def generator(
    algos_and_lengths: Mapping[str, Sequence[int]],
    num_samples: int | None = None,
    use_hints: bool = False,
    seed: int = 0,
    num_decimals_in_float: int | None = 3,
    *,
    format: Format = "text@2.0.3",
    start: int = 0,
) -> Iterator[Row]:
    """The rows of dm-clrs's ``clrs_generator``, in the same order; endless without `num_samples`.

    Unlike there, Python's global random numbers are left alone. `start` skips rows, to continue where an earlier generator ended:
    their problems are drawn, but not solved.

    >>> [(row["algo_name"], row["length"]) for row in generator({"bfs": [4, 5], "minimum": [4, 5, 6]}, num_samples=4)]
    [('minimum', 5), ('minimum', 5), ('bfs', 4), ('minimum', 4)]
    """
    tasks = []
    for algorithm, lengths in _arguments.mapping("algos_and_lengths", algos_and_lengths).items():
        name = f"algos_and_lengths[{algorithm!r}]"
        lengths = _arguments.items(name, lengths, lambda name, length: _arguments.integer(name, length, 1), "a list of sizes")
        tasks += [(_arguments.text("algos_and_lengths", algorithm), length) for length in lengths]
    if num_samples is not None:
        num_samples = _arguments.integer("num_samples", num_samples)
    engine = _core.TextGenerator(tasks, _arguments.seed(seed), *_layout(format, use_hints, num_decimals_in_float), {})
    _skip_rows(engine, _arguments.integer("start", start))
    return _rows(engine, num_samples, use_hints)


def _layout(format: Any, hints: Any, decimals: Any) -> tuple[str, bool, int | None]:
    """Format, traces and decimals, for the engine."""
    decimals = None if decimals is None else _arguments.integer("decimals", decimals, 0, 300)
    return _arguments.text("format", format), _arguments.flag("hints", hints), decimals


def _rows(engine: _core.TextGenerator, num_samples: int | None, use_hints: bool) -> Iterator[Row]:
    for algorithm, size, _, _, question, answer in _engine_rows(engine, num_samples):
        yield {
            "text": question + answer,
            "question": question,
            "answer": answer,
            "algo_name": algorithm,
            "length": size,
            "use_hints": use_hints,
        }


def _engine_rows(engine: _core.TextGenerator, count: int | None) -> Iterator[tuple[str, int, int, int, str, str]]:
    """Rows of the engine. The first come at once, later ones in groups that keep all threads busy."""
    left, group = count, 16
    while left is None or left > 0:
        rows, group = _paced(engine.next_rows, group if left is None else min(group, left))
        yield from rows
        left = None if left is None else left - len(rows)


def _skip_rows(engine: _core.TextGenerator, count: int) -> None:
    group = 16
    while count > 0:
        skipped = min(group, count)
        _, group = _paced(engine.skip_rows, skipped)
        count -= skipped


def _paced(call: Callable[[int], _T], group: int) -> tuple[_T, int]:
    """Calls the engine for a group of rows, and returns the size of the next group: calls are short, since Ctrl-C waits for them."""
    start = time.monotonic()
    result = call(group)
    return result, min(2 * group, 4096) if time.monotonic() - start < 0.1 else max(group // 2, 1)


def sample(
    algorithm: str,
    n: int = 16,
    count: int = 32,
    seed: int = 0,
    *,
    hints: bool = False,
    decimals: int | None = None,
    format: Format = "text@2.0.3",
    **options: Any,
) -> list[Sampled]:
    """Questions and answers of the samples that :func:`clrs_rs.sample` draws with the same algorithm, size, seed and options.

    `count` is its `batch`. `decimals` truncates numbers before the algorithm runs on them: its option ``truncate_decimals``.

    >>> sample("insertion_sort", n=4, count=1, decimals=3)[0].answer
    '[0.544 0.548 0.602 0.715]\\n\\n'
    """
    block = (
        _arguments.text("algorithm", algorithm), _arguments.integer("n", n, 1), _arguments.seed(seed),
        _arguments.integer("count", count),
    )  # fmt: skip
    engine = _core.TextGenerator.block(block, *_layout(format, hints, decimals), options)
    return [Sampled(*row) for row in _engine_rows(engine, count)]


def format(
    sample: Sample, *, hints: bool = False, format: Format = "text@2.0.3", predicted: Sample | None = None
) -> Example:
    """A sample as a question and an answer: sampled, stored, or of a problem of your own.

    The answer is that of `predicted`, if given: a sample with the outputs, and hints if they are asked for, that a model predicted.

    >>> import clrs_rs as clrs
    >>> clrs.text.format(clrs.sample("minimum", n=3, batch=1, truncate_decimals=2)[0])
    Example(question='minimum:\\nkey: [0.54 0.71 0.6]\\nmin:\\n', answer='0\\n\\n')
    """
    for name, value in (("sample", sample), ("predicted", predicted)):
        if not (isinstance(value, Sample) or (name == "predicted" and value is None)):
            raise ArgumentTypeError(f"`{name}` must be a Sample, not {_arguments.describe(value)}")
    other = None if predicted is None else (predicted._samples, predicted._index)
    layout = (_arguments.text("format", format), _arguments.flag("hints", hints))
    return Example(*_core.format_text(sample._samples, sample._index, *layout, other))


def parse(question: str, reference: str | None = None) -> Task:
    """Reads a question of any format.

    Give the reference answer of questions in ``text@2.0.1``: rounded numbers may describe a problem with another solution, and the
    reference is then right by definition. Otherwise the algorithm computes it.

    >>> task = parse("minimum:\\nkey: [0.7 0.2 0.2]\\nmin:\\n")
    >>> task
    Task(algorithm='minimum', nodes=3, format='text@2.0.3', hints=False)
    >>> task.problem, task.reference
    ({'key': [0.7, 0.2, 0.2]}, '1\\n\\n')
    """
    return Task(question, reference)


def verify(question: str, answer: str, reference: str | None = None) -> Verdict:
    """What is right and wrong about an answer.

    >>> verify("minimum:\\nkey: [0.7 0.2 0.2]\\nmin:\\n", "2").valid
    True
    """
    return Task(question, reference).verify(answer)


def reward(question: str, answer: str, kind: Kind = "valid", reference: str | None = None) -> float:
    """1 if an answer is right, else 0: ``valid``, if it is correct; ``exact``, if it is that of the reference, trace included.

    >>> [reward("minimum:\\nkey: [0.7 0.2 0.2]\\nmin:\\n", answer) for answer in ("1", "2", "0", "a thought")]
    [1.0, 1.0, 0.0, 0.0]
    """
    return Task(question, reference).reward(answer, kind)


def dataset(
    algos_and_lengths: Mapping[str, Sequence[int]], *, seeds: Sequence[int] = (0,), **arguments: Any
) -> "datasets.IterableDataset":
    """An endless streaming dataset of ``datasets``; see :func:`clrs_rs.datasets.text`."""
    from clrs_rs import datasets

    return datasets.text(algos_and_lengths, seeds=seeds, **arguments)
