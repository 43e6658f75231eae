"""Geometry."""

import numpy as np

from clrs_rs.algorithms._run import Array, Probes, Run, native


@native
def segments_intersect(xs: Array, ys: Array) -> tuple[int, Probes]:
    """Whether the segments from point 0 to 1 and from point 2 to 3 intersect. Returns 1 or 0 and the probes."""
    points = _points(xs, ys)
    run = Run("segments_intersect", {"first": points[:2], "second": points[2:]}, x=xs, y=ys)
    return int(run.output("intersect")), run.probes


@native
def graham_scan(xs: Array, ys: Array) -> tuple[Array, Probes]:
    """Convex hull by Graham's scan. Returns a mask of its points and the probes."""
    run = Run("graham_scan", {"points": _points(xs, ys)}, x=xs, y=ys)
    return run.output("in_hull"), run.probes


@native
def jarvis_march(xs: Array, ys: Array) -> tuple[Array, Probes]:
    """Convex hull by Jarvis's march. Returns a mask of its points and the probes."""
    run = Run("jarvis_march", {"points": _points(xs, ys)}, x=xs, y=ys)
    return run.output("in_hull"), run.probes


def _points(xs: Array, ys: Array) -> Array:
    return np.stack([xs, ys], axis=1)
