"""The Rust engine of ``clrs_rs``."""

from typing import Any, TypeAlias, TypedDict, final

import numpy as np
import numpy.typing as npt

from clrs_rs.samplers import Feedback

__version__: str

#: Key and position of ``RandomState.get_state()``.
_State: TypeAlias = tuple[npt.NDArray[np.uint32], int]

class _Algorithm(TypedDict):
    spec: dict[str, tuple[str, str, str]]
    options: list[str]
    eval_multiplier: int
    family: str

def algorithms() -> dict[str, _Algorithm]: ...
def main(arguments: list[str]) -> int: ...
@final
class FixedSet:
    def __new__(cls, algorithm: str, length: int, num_samples: int, state: _State, options: dict[str, Any]) -> FixedSet: ...
    def all(self) -> Feedback: ...
    def next(self, batch_size: int) -> Feedback: ...
    @property
    def max_steps(self) -> int: ...
    state: _State

@final
class Stream:
    def __new__(
        cls, algorithm: str, length: int, state: _State, options: dict[str, Any], max_steps: int | None
    ) -> Stream: ...
    @staticmethod
    def track_max_steps(algorithm: str, length: int, state: _State, options: dict[str, Any]) -> Stream: ...
    def next(self, batch_size: int) -> Feedback: ...
    @property
    def max_steps(self) -> int | None: ...
    state: _State
