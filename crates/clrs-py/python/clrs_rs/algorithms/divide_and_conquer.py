"""Maximum subarrays."""

from typing import Any

from clrs_rs.algorithms._run import Array, Probes, Run, native


@native
def find_maximum_subarray(A: Array) -> tuple[tuple[int, int, Any], Probes]:
    """Maximum subarray by divide and conquer. Returns its first and last position and its sum, and the probes."""
    return _subarray("find_maximum_subarray", A)


@native
def find_maximum_subarray_kadane(A: Array) -> tuple[tuple[int, int, Any], Probes]:
    """Maximum subarray by Kadane's algorithm. Returns its first and last position and its sum, and the probes."""
    return _subarray("find_maximum_subarray_kadane", A)


def _subarray(name: str, numbers: Array) -> tuple[tuple[int, int, Any], Probes]:
    run = Run(name, {"key": numbers}, key=numbers)
    low, high = run.node("start"), run.node("end")
    return (low, high, numbers[low : high + 1].sum()), run.probes
