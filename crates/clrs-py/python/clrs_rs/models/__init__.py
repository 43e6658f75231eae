"""Models of dm-clrs on the Rust engine, without JAX.

>>> import clrs_rs as clrs
>>> sampler, spec = clrs.build_sampler("bfs", 32, length=8, seed=1)
>>> factory = clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
>>> model = clrs.models.BaselineModel(spec, sampler.next(), factory, hidden_dim=16, encode_hints=True)
>>> model.init(sampler.next(8).features, seed=42)
>>> losses = [model.feedback(step, sampler.next(8)) for step in range(20)]
>>> bool(losses[-1] < losses[0])
True
>>> feedback = sampler.next(8)
>>> predictions, _ = model.predict(0, feedback.features)
>>> predictions["pi"]
DataPoint(name="pi",	location=node,	type=pointer,	data=Array(8, 8))
"""

from typing import Any

from clrs_rs.models.base import Model as Model
from clrs_rs.models.baselines import BaselineModel as BaselineModel, BaselineModelChunked as BaselineModelChunked

__all__ = ["BaselineModel", "BaselineModelChunked"]

_JAX_MODULES = ("GAT", "MPNN", "Net", "NetChunked")


def __getattr__(name: str) -> Any:
    if name in _JAX_MODULES:
        raise AttributeError(
            f"`{name}` is a JAX module of dm-clrs, and networks run on the Rust engine here; use `BaselineModel` with "
            "`get_processor_factory`, or dm-clrs's own module on the same data"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
