"""Modules under their names in ``clrs._src``, for code that imports dm-clrs's internals.

>>> from clrs_rs._src import probing, samplers
>>> from clrs_rs._src.algorithms import graphs
"""

import sys

from clrs_rs import algorithms, clrs_text, dataset, decoders, evaluation, probing, processors, samplers, specs
from clrs_rs.models import base as model, baselines

__all__ = ["algorithms", "clrs_text", "dataset", "decoders", "evaluation", "probing", "processors", "samplers", "specs"]

for _name in [name for name in sys.modules if name.partition(".")[0] == "clrs_rs"]:
    _parts = _name.split(".")
    if len(_parts) > 1 and _parts[1] in __all__:
        sys.modules[".".join(["clrs_rs", "_src", *_parts[1:]])] = sys.modules[_name]

sys.modules["clrs_rs._src.baselines"] = baselines
sys.modules["clrs_rs._src.model"] = model
