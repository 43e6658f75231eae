"""Greedy algorithms."""

from clrs_rs.algorithms._run import Array, Probes, Run, native


@native
def activity_selector(s: Array, f: Array) -> tuple[Array, Probes]:
    """Most activities that do not overlap, by start and finish times. Returns a mask of them and the probes."""
    run = Run("activity_selector", {"start": s, "finish": f}, s=s, f=f)
    return run.output("selected"), run.probes


@native
def task_scheduling(d: Array, w: Array) -> tuple[Array, Probes]:
    """Tasks to do in time, by deadlines and weights. Returns a mask of them and the probes."""
    run = Run("task_scheduling", {"deadline": d, "weight": w}, d=d, w=w)
    return run.output("selected"), run.probes
