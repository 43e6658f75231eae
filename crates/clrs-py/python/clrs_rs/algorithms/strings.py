"""String matching."""

import numpy as np

from clrs_rs.algorithms._run import Array, Probes, Run, native
from clrs_rs.algorithms.dynamic_programming import letters


@native
def naive_string_matcher(T: Array, P: Array) -> tuple[int, Probes]:
    """First occurrence of a pattern in a text, by trying every position. Returns it (or the length of the text) and the probes."""
    return _match("naive_string_matcher", T, P)


@native
def kmp_matcher(T: Array, P: Array) -> tuple[int, Probes]:
    """First occurrence of a pattern in a text, by Knuth, Morris and Pratt. Returns it (or the length of the text) and the probes."""
    return _match("kmp_matcher", T, P)


def _match(name: str, text: Array, pattern: Array) -> tuple[int, Probes]:
    run = Run(name, {"text": letters(text), "pattern": letters(pattern)})
    return int(np.argmax(run.output("match"))), run.probes
