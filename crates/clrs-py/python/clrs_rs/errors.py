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
    "ArgumentError",
    "ArgumentTypeError",
    "BatchError",
    "CheckpointError",
    "ClrsError",
    "DataPointError",
    "IgnoredOptionWarning",
    "InternalError",
    "InvalidProblemError",
    "MissingFileError",
    "MissingRunError",
    "ModelError",
    "OptionError",
    "RecipeError",
    "RunError",
    "SampleError",
    "ScoreError",
    "StoreError",
    "TextError",
    "TooLargeError",
    "TrainError",
    "TransformError",
    "UnknownAlgorithmError",
    "UnknownOptionError",
    "UnknownProbeError",
]


class ClrsError(Exception):
    """Base class of all exceptions of this package."""


class ArgumentError(ClrsError, ValueError):
    """An argument has a value that it cannot have."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type that it cannot have."""


class UnknownAlgorithmError(ClrsError, NotImplementedError):
    """No algorithm has the given name."""


class OptionError(ClrsError, ValueError):
    """A sampler option has an invalid value."""


class UnknownOptionError(OptionError, TypeError):
    """A sampler does not have the option."""


class InvalidProblemError(ClrsError, ValueError):
    """An algorithm cannot run on the problem."""


class SampleError(ClrsError, RuntimeError):
    """A distribution has no problem with the required properties, or none was found."""


class BatchError(ClrsError, AssertionError, ValueError):
    """Samples do not form a batch."""


class DataPointError(ClrsError, ValueError):
    """A ``DataPoint`` or a spec is malformed."""


class UnknownProbeError(DataPointError, KeyError):
    """A spec or a trajectory has no probe with the given name."""

    # That of KeyError is in quotes.
    __str__ = Exception.__str__


class ModelError(ClrsError, ValueError):
    """A network cannot be built, or not with these parameters or on this batch."""


class CheckpointError(ModelError):
    """A file is not a saved model, or not one of this model."""


class RecipeError(ClrsError, ValueError):
    """A recipe has an unknown field or a value that it cannot have, or cannot be trained."""


class RunError(ClrsError, OSError):
    """A run directory cannot be created, read or written."""


class MissingRunError(RunError, FileNotFoundError):
    """A directory has no run, or not the checkpoint."""


class TrainError(ClrsError, RuntimeError):
    """Training failed: the network diverged, or its data ended."""


class ScoreError(ClrsError, AssertionError, ValueError):
    """Predictions cannot be scored."""


class TransformError(ClrsError, AssertionError, ValueError):
    """A transform does not apply to a batch."""


class StoreError(ClrsError, OSError):
    """A file or a directory cannot be read or written."""


class MissingFileError(StoreError, FileNotFoundError):
    """A file, a directory or a set does not exist."""


class TooLargeError(ClrsError, MemoryError):
    """Samples do not fit into memory."""


class TextError(ClrsError, ValueError):
    """A text is not a question, or a trajectory cannot be expressed in a text format."""


class InternalError(ClrsError, RuntimeError):
    """A defect of this package. Please report it."""


class IgnoredOptionWarning(UserWarning):
    """A sampler ignores an option that it does not have."""
