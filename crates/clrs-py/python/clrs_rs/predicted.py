"""Predicted trajectories: what a network decided at every step, beside what the algorithm did."""

import html
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clrs_rs import traces
from clrs_rs.specs import Stage

__all__ = ["PredictedTrajectory"]


class PredictedTrajectory(traces.Trace):
    """The run of an algorithm, and beside it the hints and outputs that a network predicted.

    Predicted hints have a row per step that the network took. The first row is given to the network; the others are predicted.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        predictions = json.loads(text)["predictions"]
        #: The predicted probes with their decisions.
        self.predictions = [traces._probe(probe, self.nodes) for probe in predictions]
        self._probabilities: dict[str, Any] = {probe["name"]: probe.get("probabilities") for probe in predictions}

    @property
    def predicted_hints(self) -> Mapping[str, npt.NDArray[Any]]:
        """Decisions on the hints by name, one row per step."""
        return {probe.name: probe.values for probe in self.predictions if probe.stage == Stage.HINT}

    @property
    def predicted_outputs(self) -> Mapping[str, npt.NDArray[Any]]:
        """Decisions on the outputs by name."""
        return {probe.name: probe.values for probe in self.predictions if probe.stage == Stage.OUTPUT}

    def probabilities(self, name: str) -> list[npt.NDArray[Any]] | None:
        """For each row of a hint or output, the probabilities of all values of all cells; ``None`` for scalars.

        One per cell for masks, one per class for categoricals, one per node for pointers, permutations and one-hot masks. A row
        that is given has none.
        """
        rows = self._probabilities[name]
        return None if rows is None else [np.array(row) for row in rows]

    def __repr__(self) -> str:
        outputs = self.predicted_outputs
        correct = sum(np.array_equal(values, self.outputs[name]) for name, values in outputs.items())
        return f"{super().__repr__()[:-1]}, correct_outputs='{correct} of {len(outputs)}')".replace("Trace", type(self).__name__, 1)

    def _repr_html_(self) -> str:
        truth = {probe.name: probe for probe in self.probes}
        hints = [probe for probe in self.predictions if probe.stage == Stage.HINT]
        sections = []
        for step in range(1, max((len(probe.values) for probe in hints), default=1)):
            rows = [(probe, probe.values[step], _row(truth[probe.name], step)) for probe in hints if step < len(probe.values)]
            sections.append(traces._section(f"step {step + 1}", rows, False))
        outputs = [(probe, probe.values, truth[probe.name].values) for probe in self.predictions if probe.stage == Stage.OUTPUT]
        sections.append(traces._section("output", outputs, True))
        title = f"<b>{html.escape(self.algorithm)}</b>: {self.nodes} nodes; predictions that differ are marked"
        return f'{traces._STYLE}<div class="clrs-trace">{title}{"".join(sections)}</div>'


def _row(probe: traces.ProbeTrace, step: int) -> npt.NDArray[Any] | None:
    return probe.values[step] if step < len(probe.values) else None
