"""Predicted trajectories: what a network decided at every step, beside what the algorithm did."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clrs_rs import _core, traces
from clrs_rs.errors import UnknownProbeError
from clrs_rs.specs import Stage

__all__ = ["PredictedTrajectory"]


class PredictedTrajectory(traces.Trace):
    """The run of an algorithm, and beside it the hints and outputs that a network predicted.

    Predicted hints have a row per step that the network took. The first row is given to the network; the others are predicted.
    """

    def _read(self, document: dict[str, Any]) -> None:
        super()._read(document)
        predictions = document["predictions"]
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
        if name not in self._probabilities:
            raise UnknownProbeError(f"`{name}` is not predicted{_core.did_you_mean(str(name), list(self._probabilities))}")
        rows = self._probabilities[name]
        return None if rows is None else [np.array(row) for row in rows]

    def _fields(self) -> str:
        outputs = self.predicted_outputs
        correct = sum(np.array_equal(values, self.outputs[name]) for name, values in outputs.items())
        return f"{super()._fields()}, correct_outputs='{correct} of {len(outputs)}'"

    def _repr_html_(self) -> str:
        sections = {"inputs": self.inputs, "predicted outputs": self.predicted_outputs, "true outputs": self.outputs}
        text = "\n\n".join(f"{title}:\n{traces.describe(values)}" for title, values in sections.items())
        return traces.page_html(self._text, f"{self.algorithm}: {self.nodes} nodes, truth and prediction", text)
