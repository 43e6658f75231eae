"""Exceptions of the package.

All of them are a :class:`ClrsError`. Each also inherits from what dm-clrs, NumPy or Python raise in the same place, so that
existing ``except`` clauses keep working.

>>> import clrs_rs as clrs
>>> try:
...     clrs.build_sampler("bsf", 10, length=4)
... except NotImplementedError as error:
...     print(error)
unknown algorithm `bsf`; did you mean `bfs`?
"""

__all__ = [
    "BatchError",
    "ClrsError",
    "DataPointError",
    "IgnoredOptionWarning",
    "InternalError",
    "InvalidProblemError",
    "OptionError",
    "ScoreError",
    "StoreError",
    "TransformError",
    "UnknownAlgorithmError",
    "UnknownOptionError",
]


class ClrsError(Exception):
    """Base class of all exceptions of this package."""


class UnknownAlgorithmError(ClrsError, NotImplementedError):
    """No algorithm has the given name."""


class OptionError(ClrsError, ValueError):
    """A sampler option has an invalid value."""


class UnknownOptionError(OptionError, TypeError):
    """A sampler does not have the option."""


class InvalidProblemError(ClrsError, ValueError):
    """An algorithm cannot run on the problem."""


class BatchError(ClrsError, ValueError):
    """Samples do not form a batch."""


class DataPointError(ClrsError, ValueError):
    """A ``DataPoint`` or a spec is malformed."""


class ScoreError(ClrsError, AssertionError, ValueError):
    """Predictions cannot be scored."""


class TransformError(ClrsError, ValueError):
    """A transform does not apply to a batch."""


class StoreError(ClrsError, OSError):
    """A file or a directory cannot be read or written."""


class InternalError(ClrsError, RuntimeError):
    """A defect of this package. Please report it."""


class IgnoredOptionWarning(UserWarning):
    """A sampler ignores an option that it does not have."""
