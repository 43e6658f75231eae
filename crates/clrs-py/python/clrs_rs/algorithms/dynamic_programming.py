"""Dynamic programming."""

import numpy as np

from clrs_rs.algorithms._run import Array, Probes, Run, native
from clrs_rs.errors import InvalidProblemError


@native
def matrix_chain_order(p: Array) -> tuple[Array, Probes]:
    """Order of matrix products, by dimensions. Returns the last product of every chain and the probes."""
    run = Run("matrix_chain_order", {"dimensions": p}, p=p)
    return run.output("s")[1:, 1:], run.probes


@native
def lcs_length(x: Array, y: Array) -> tuple[Array, Probes]:
    """Longest common subsequence of strings of letters 0 to 3.

    Returns the direction to the previous cell of every cell (0: both strings, 1: the first, 2: the second), and the probes.
    """
    run = Run("lcs_length", {"first": letters(x), "second": letters(y)})
    directions = run.output("b")[: len(x), len(x) :, :3]
    return np.argmax(directions, axis=-1).astype(float), run.probes


@native
def optimal_bst(p: Array, q: Array) -> tuple[Array, Probes]:
    """Optimal binary search tree, by probabilities of keys and gaps. Returns the roots of all subtrees and the probes."""
    run = Run("optimal_bst", {"key_probabilities": p, "gap_probabilities": q}, q=q)
    return run.output("root"), run.probes


def letters(indices: Array) -> str:
    """A string over a, b, c, d."""
    array = np.asarray(indices)
    is_valid = array.ndim == 1 and (array.size == 0 or (array.dtype.kind in "iu" and 0 <= array.min() <= array.max() < len(_ALPHABET)))
    if not is_valid:
        raise InvalidProblemError(f"letters must be a list of integers from 0 to {len(_ALPHABET) - 1}")
    return "".join(_ALPHABET[index] for index in array)


_ALPHABET = "abcd"
