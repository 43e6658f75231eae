"""Interface of models, as in dm-clrs."""

import abc
from typing import Any

from clrs_rs.specs import Spec

__all__ = ["Model"]


class Model(abc.ABC):
    """A model that learns from feedback and predicts outputs."""

    def __init__(self, spec: Spec | list[Spec]) -> None:
        self._spec: list[Spec] = spec if isinstance(spec, list) else [spec]

    @abc.abstractmethod
    def predict(self, features: Any) -> Any:
        """Predicts the outputs of a batch."""

    @abc.abstractmethod
    def feedback(self, feedback: Any) -> Any:
        """Learns from a batch."""
