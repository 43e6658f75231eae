"""Sorting."""

import numpy as np

from clrs_rs.algorithms._run import Array, Probes, Run, native


@native
def insertion_sort(A: Array) -> tuple[Array, Probes]:
    """Insertion sort. Returns the sorted keys and the probes."""
    return _sort("insertion_sort", A)


@native
def bubble_sort(A: Array) -> tuple[Array, Probes]:
    """Bubble sort. Returns the sorted keys and the probes."""
    return _sort("bubble_sort", A)


@native
def heapsort(A: Array) -> tuple[Array, Probes]:
    """Heapsort. Returns the sorted keys and the probes."""
    return _sort("heapsort", A)


@native
def quicksort(A: Array) -> tuple[Array, Probes]:
    """Quicksort. Returns the sorted keys and the probes."""
    return _sort("quicksort", A)


def _sort(name: str, keys: Array) -> tuple[Array, Probes]:
    return np.sort(keys), Run(name, {"key": keys}, key=keys).probes
