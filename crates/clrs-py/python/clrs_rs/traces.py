"""One run of an algorithm, step by step."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clrs_rs.specs import Location, Stage

__all__ = ["ProbeTrace", "SourceLine", "Trace"]


@dataclass(frozen=True)
class SourceLine:
    """A line of the algorithm's source, counted from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class ProbeTrace:
    """A probe and its values."""

    name: str
    stage: str
    location: str
    #: Type of the probe, as the engine names it.
    kind: str
    description: str
    #: One row per step for hints, a single one otherwise; edges are rows of nodes times nodes.
    values: npt.NDArray[Any]


class Trace:
    """A recorded run: the problem, every probe at every step, and the source line of each step.

    It is the document that ``clrs trace --json`` prints, and shows itself in notebooks.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        document = json.loads(text)
        self.algorithm: str = document["algorithm"]
        #: The problem, as :func:`clrs_rs.trace` takes it. None for algorithms that are not built in.
        self.problem: dict[str, Any] | None = document["problem"]
        self.nodes: int = document["nodes"]
        self.steps: int = document["steps"]
        self.step_lines = [SourceLine(line["file"], line["line"]) for line in document["step_locations"]]
        self.probes = [_probe(probe, self.nodes) for probe in document["probes"]]

    @property
    def inputs(self) -> Mapping[str, npt.NDArray[Any]]:
        """Values of the inputs by name."""
        return self._values(Stage.INPUT)

    @property
    def hints(self) -> Mapping[str, npt.NDArray[Any]]:
        """Values of the hints by name, one row per step."""
        return self._values(Stage.HINT)

    @property
    def outputs(self) -> Mapping[str, npt.NDArray[Any]]:
        """Values of the outputs by name."""
        return self._values(Stage.OUTPUT)

    def _values(self, stage: str) -> dict[str, npt.NDArray[Any]]:
        return {probe.name: probe.values for probe in self.probes if probe.stage == stage}

    def to_json(self) -> str:
        """The document as JSON."""
        return self._text

    def __repr__(self) -> str:
        return f"Trace(algorithm={self.algorithm!r}, nodes={self.nodes}, steps={self.steps})"

    def _repr_html_(self) -> str:
        return _html(self)


def _probe(probe: dict[str, Any], nodes: int) -> ProbeTrace:
    kind = probe["kind"] if isinstance(probe["kind"], str) else next(iter(probe["kind"]))
    values = np.array([np.nan if value is None else value for value in probe["values"]])
    if probe["location"] == Location.EDGE:
        values = values.reshape(*values.shape[:-1], nodes, nodes)
    elif probe["location"] == Location.GRAPH or kind == "mask_one":
        values = values.reshape(values.shape[:-1])
    return ProbeTrace(probe["name"], probe["stage"], probe["location"], kind, probe["description"], values)


_STYLE = (
    "<style>.clrs-trace table{border-collapse:collapse;margin:.3em 0;font:12px monospace}"
    ".clrs-trace td,.clrs-trace th{padding:1px 6px;text-align:right;border:1px solid #8884}"
    ".clrs-trace th{text-align:left;font-weight:normal;opacity:.75}.clrs-trace .changed{background:#fc06;font-weight:bold}"
    ".clrs-trace .edges{display:inline-block;vertical-align:top;margin-right:1em}</style>"
)


def _html(trace: Trace) -> str:
    """The run as HTML without scripts: one table per step, with changed values marked."""
    sections = [_section("input", [(probe, probe.values, None) for probe in trace.probes if probe.stage == Stage.INPUT], True)]
    hints = [probe for probe in trace.probes if probe.stage == Stage.HINT]
    for step in range(trace.steps):
        rows = [(probe, probe.values[step], probe.values[step - 1] if step else None) for probe in hints]
        line = trace.step_lines[step] if step < len(trace.step_lines) else None
        where = f" ({line.file.rpartition('/')[2]}:{line.line})" if line else ""
        sections.append(_section(f"step {step + 1} of {trace.steps}{where}", rows, False))
    outputs = [(probe, probe.values, None) for probe in trace.probes if probe.stage == Stage.OUTPUT]
    sections.append(_section("output", outputs, True))
    title = f"<b>{html.escape(trace.algorithm)}</b>: {trace.nodes} nodes, {trace.steps} steps"
    return f'{_STYLE}<div class="clrs-trace">{title}{"".join(sections)}</div>'


_Row = tuple[ProbeTrace, npt.NDArray[Any], npt.NDArray[Any] | None]


def _section(title: str, rows: Sequence[_Row], is_open: bool) -> str:
    nodes = "".join(_line(*row) for row in rows if row[0].location == Location.NODE and row[1].ndim == 1)
    others = "".join(_line(*row) for row in rows if row[1].ndim == 0)
    edges = "".join(_matrix(*row) for row in rows if row[1].ndim == 2)
    tables = "".join(f"<table>{lines}</table>" for lines in (nodes, others) if lines)
    return f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{tables}{edges}</details>"


def _line(probe: ProbeTrace, values: npt.NDArray[Any], before: npt.NDArray[Any] | None) -> str:
    return f"<tr>{_head(probe)}{_cells(values.reshape(-1), None if before is None else before.reshape(-1))}</tr>"


def _matrix(probe: ProbeTrace, values: npt.NDArray[Any], before: npt.NDArray[Any] | None) -> str:
    rows = "".join(f"<tr>{_cells(row, None if before is None else before[i])}</tr>" for i, row in enumerate(values))
    return f'<table class="edges"><tr>{_head(probe, len(values))}</tr>{rows}</table>'


def _head(probe: ProbeTrace, columns: int = 1) -> str:
    return f'<th colspan="{columns}" title="{html.escape(probe.description)}">{html.escape(probe.name)}</th>'


def _cells(values: npt.NDArray[Any], before: npt.NDArray[Any] | None) -> str:
    cells = []
    for index, value in enumerate(values):
        changed = ' class="changed"' if before is not None and before[index] != value else ""
        cells.append(f"<td{changed}>{value:.3g}</td>")
    return "".join(cells)
