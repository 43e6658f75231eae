"""One run of an algorithm, step by step."""

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clrs_rs import _arguments, _core
from clrs_rs.errors import ArgumentError
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

    It is the document that ``clrs trace --json`` prints. Notebooks show it in the explorer, the page of ``clrs trace --html``.
    """

    def __init__(self, text: str) -> None:
        self._text = _arguments.text("text", text)
        try:
            self._read(json.loads(text))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ArgumentError(f"`text` is not the JSON of a trace: {type(error).__name__}: {error}") from None

    def _read(self, document: dict[str, Any]) -> None:
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
        return f"{type(self).__name__}({self._fields()})"

    def _fields(self) -> str:
        return f"algorithm={self.algorithm!r}, nodes={self.nodes}, steps={self.steps}"

    def _repr_html_(self) -> str:
        text = f"{describe(self.inputs)}\n\n{describe(self.outputs)}"
        return page_html(self._text, f"{self.algorithm}: {self.nodes} nodes, {self.steps} steps", text)


def _probe(probe: dict[str, Any], nodes: int) -> ProbeTrace:
    kind = probe["kind"] if isinstance(probe["kind"], str) else next(iter(probe["kind"]))
    values = np.array([np.nan if value is None else value for value in probe["values"]])
    width = values.shape[-1]
    if probe["location"] == Location.EDGE and width == nodes * nodes:
        values = values.reshape(*values.shape[:-1], nodes, nodes)
    elif width == 1 and (probe["location"] == Location.GRAPH or kind == "mask_one"):
        values = values.reshape(values.shape[:-1])
    return ProbeTrace(probe["name"], probe["stage"], probe["location"], kind, probe["description"], values)


def page_html(trace: str, title: str, text: str) -> str:
    """The page of the explorer in a frame, whose scripts and styles touch nothing outside; and a text where frames are removed.

    `trace` is the JSON of a trace. The page needs no network.
    """
    # Without a sandbox, scripts in the frame could use the notebook; `allow-downloads` is for pictures that a user saves.
    frame = (
        f'<iframe srcdoc="{html.escape(_core.trace_page(trace))}" sandbox="allow-scripts allow-downloads" title="{html.escape(title)}" '
        'style="width:100%;height:640px;border:1px solid #8884;resize:vertical"></iframe>'
    )
    return f"{frame}<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"


def describe(values: Mapping[str, npt.NDArray[Any]]) -> str:
    """A line per probe. Long arrays are abbreviated."""
    return "\n".join(f"{name}: {np.array2string(array, precision=3, threshold=64, separator=' ')}" for name, array in values.items())
