"""Processors by name.

>>> import clrs_rs as clrs
>>> clrs.get_processor_factory("gat", use_ln=True, nb_triplet_fts=0, nb_heads=4)
ProcessorFactory(kind='gat', use_ln=True, nb_triplet_fts=0, nb_heads=4)
"""

import dataclasses
from typing import Any, NoReturn

from clrs_rs import _arguments
from clrs_rs.errors import ArgumentError

__all__ = ["PROCESSOR_TAG", "ProcessorFactory", "get_processor_factory"]

#: Part of the names of all modules of a processor.
PROCESSOR_TAG = "clrs_processor"


@dataclasses.dataclass(frozen=True)
class ProcessorFactory:
    """The settings of a processor, for :class:`~clrs_rs.models.BaselineModel`.

    In dm-clrs, a factory creates a JAX module. Here the processor is part of the Rust engine.
    """

    kind: str
    use_ln: bool
    nb_triplet_fts: int
    nb_heads: int | None = None

    def __call__(self, out_size: int) -> NoReturn:
        raise NotImplementedError(
            f"the processor `{self.kind}` runs on the Rust engine and cannot be called from Python; "
            "pass the factory to BaselineModel"
        )

    def _config(self) -> dict[str, Any]:
        """The settings under the names of recipes."""
        if self.kind.startswith("triplet") and self.nb_triplet_fts < 1:
            raise ArgumentError(f"`{self.kind}` needs nb_triplet_fts of at least 1, not {self.nb_triplet_fts}")
        return {
            "processor": self.kind,
            "layer_norm": _arguments.flag("use_ln", self.use_ln),
            # Ignored by processors without triplets or attention.
            "triplet_features": max(1, self.nb_triplet_fts),
            "heads": 1 if self.nb_heads is None else self.nb_heads,
        }


def get_processor_factory(kind: str, use_ln: bool, nb_triplet_fts: int, nb_heads: int | None = None) -> ProcessorFactory:
    """Settings of a processor: its name, whether it has layer normalization, and its numbers of triplet features and heads.

    All processors of dm-clrs exist: ``deepsets``, ``mpnn``, ``pgn``, ``pgn_mask``, their variants ``triplet_..`` and ``g..``
    (gated), ``gat``, ``gatv2``, ``gat_full``, ``gatv2_full``, ``memnet_masked`` and ``memnet_full``. A model of an unknown one
    is a :class:`~clrs_rs.errors.ModelError`.
    """
    heads = None if nb_heads is None else _arguments.integer("nb_heads", nb_heads, 1)
    features = 0 if nb_triplet_fts is None else _arguments.integer("nb_triplet_fts", nb_triplet_fts)
    return ProcessorFactory(_arguments.text("kind", kind), _arguments.flag("use_ln", use_ln), features, heads)
