"""Interface of models, as in dm-clrs."""

import abc
from collections.abc import Mapping
from typing import Any

from clrs_rs import _arguments
from clrs_rs.errors import ArgumentTypeError
from clrs_rs.specs import Spec

__all__ = ["Model"]


class Model(abc.ABC):
    """A model that learns from feedback and predicts outputs."""

    def __init__(self, spec: Spec | list[Spec]) -> None:
        self._spec: list[Spec] = spec if isinstance(spec, list) else [spec]
        for each in self._spec:
            if not isinstance(each, Mapping):
                raise ArgumentTypeError(f"`spec` must be a spec or a list of specs, not {_arguments.describe(each)}")

    @abc.abstractmethod
    def predict(self, features: Any) -> Any:
        """Predicts the outputs of a batch."""

    @abc.abstractmethod
    def feedback(self, feedback: Any) -> Any:
        """Learns from a batch."""
