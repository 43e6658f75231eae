"""Questions and answers of every algorithm of the benchmark, in both formats, with and without hints.

Texts with equal keys, whose order depends on the CPU, are left out: the six algorithms that sort have all decimals or are small.
"""
import os

from reference import quiet_stderr, specs
from text_samples import draw, load_old

with quiet_stderr():
    from clrs._src.clrs_text import clrs_utils

HULLS = ("graham_scan", "jarvis_march")


def record():
    return [case for algorithm in specs.CLRS_30_ALGS for case in cases(algorithm)]


def cases(algorithm):
    old = load_old(os.environ["DM_CLRS_2_0_1"])
    # Version 2.0.1 does not truncate. Three significant digits hide the last bit of a sine.
    yield case(algorithm, 5, 0, 3, clrs_utils, "text@2.0.3", 1)
    yield case(algorithm, 4, 2, None, old, "text@2.0.1", 1)
    if algorithm not in HULLS:
        yield case(algorithm, 4, 1, None, clrs_utils, "text@2.0.3", 1)
    if algorithm == "find_maximum_subarray_kadane":
        yield case(algorithm, 64, 1, 3, clrs_utils, "text@2.0.3", 5)  # has -0.0


def case(algorithm, size, seed, decimals, formatter, format_, count):
    samples = draw(algorithm, size, seed, decimals, count)
    settings = dict(algorithm=algorithm, size=size, seed=seed, decimals=decimals, format=format_)
    plain, hints = ([list(formatter.format_clrs_example(algorithm, sample, hints)) for sample in samples] for hints in (False, True))
    return {**settings, "plain": plain, "hints": hints}
