"""Searching."""

from typing import Any

from clrs_rs.algorithms._run import Array, Probes, Run, native


@native
def minimum(A: Array) -> tuple[int, Probes]:
    """Minimum of keys. Returns its position and the probes."""
    run = Run("minimum", {"key": A}, key=A)
    return run.node("min"), run.probes


@native
def binary_search(x: float, A: Array) -> tuple[int, Probes]:
    """Binary search in sorted keys. Returns the position of the first key that is not less than `x`, and the probes."""
    run = Run("binary_search", {"key": A, "target": x}, key=A)
    return run.node("return"), run.probes


@native
def quickselect(A: Array) -> tuple[Any, Probes]:
    """The lower median of keys. Returns it and the probes."""
    run = Run("quickselect", {"key": A}, key=A)
    return A[run.node("median")], run.probes
