"""Predicted trajectories: what a network decided at every step, beside what the algorithm did."""

import html
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["PredictedTrajectory"]


class PredictedTrajectory:
    """The true and the predicted trajectory of one sample.

    Hints have a row per step. Row 0 is given to the network; the others are predicted. Pointers, one-hot masks and classes
    are indices; a cell that is masked out is -1.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        #: The document that ``clrs eval --trajectories`` writes for the sample.
        self.document = document
        self._truth = {probe["name"]: probe for probe in document["probes"]}
        self._predicted = {probe["name"]: probe for probe in document["predictions"]}

    def __repr__(self) -> str:
        wrong = sum(not np.array_equal(self.predicted(name), self.truth(name)) for name in self.outputs)
        outcome = "all outputs correct" if wrong == 0 else f"{wrong} of {len(self.outputs)} outputs differ"
        return f"<PredictedTrajectory: {self.algorithm}, {self.nodes} nodes, {self.steps} steps, {outcome}>"

    @property
    def algorithm(self) -> str:
        """Name of the algorithm."""
        return str(self.document["algorithm"])

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.document["nodes"])

    @property
    def steps(self) -> int:
        """Number of steps of the algorithm."""
        return int(self.document["steps"])

    @property
    def outputs(self) -> list[str]:
        """Names of the predicted outputs."""
        return [name for name, probe in self._predicted.items() if probe["stage"] == "output"]

    @property
    def hints(self) -> list[str]:
        """Names of the predicted hints."""
        return [name for name, probe in self._predicted.items() if probe["stage"] == "hint"]

    def truth(self, name: str) -> npt.NDArray[Any]:
        """True values of a probe; those of a hint have a row per step."""
        return np.array(self._truth[name]["values"])

    def predicted(self, name: str) -> npt.NDArray[Any]:
        """Predicted values of an output or a hint; those of a hint have a row per step that the network took."""
        return np.array(self._predicted[name]["values"])

    def probabilities(self, name: str) -> list[npt.NDArray[Any]] | None:
        """For each row, the probabilities of all values of all cells; ``None`` for scalars."""
        rows = self._predicted[name].get("probabilities")
        return None if rows is None else [np.array(row) for row in rows]

    def _repr_html_(self) -> str:
        caption = f"<p><b>{html.escape(self.algorithm)}</b>: {self.nodes} nodes, {self.steps} steps</p>"
        tables = [self._html_table(name) for name in (*self.outputs, *self.hints)]
        note = "<p>Cells that differ from the algorithm's are marked.</p>"
        return f"<div>{caption}{''.join(tables)}{note}</div>"

    def _html_table(self, name: str) -> str:
        probe = self._predicted[name]
        truth, found = self.truth(name), self.predicted(name)
        if probe["stage"] != "hint":
            truth, found = truth[None], found[None]
        rows = []
        for step, row in enumerate(found):
            expected = truth[step] if step < len(truth) else None
            rows.append(f"<tr><th>{step if probe['stage'] == 'hint' else ''}</th>{_html_cells(row, expected)}</tr>")
        summary = f"{html.escape(name)} ({probe['stage']}, {html.escape(str(probe['kind']))})"
        is_open = " open" if probe["stage"] == "output" else ""
        return f"<details{is_open}><summary>{summary}</summary><table>{''.join(rows)}</table></details>"


def _html_cells(row: npt.NDArray[Any], expected: npt.NDArray[Any] | None) -> str:
    """Up to 256 cells, so that the matrices of large graphs do not fill a notebook."""
    found = row.reshape(-1)
    same = np.full(found.shape, True) if expected is None else np.isclose(found, expected.reshape(-1), atol=0.05)
    cells = [
        f"<td>{value:.3g}</td>" if is_same else f'<td style="background:#f6c6c6;color:#000">{value:.3g}</td>'
        for value, is_same in zip(found[:256].tolist(), same)
    ]
    more = "<td>..</td>" if found.size > 256 else ""
    return "".join(cells) + more
