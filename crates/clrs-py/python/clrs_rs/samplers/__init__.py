"""Samplers: fixed sets and endless streams of samples, and transforms of their batches.

>>> import numpy as np
>>> import clrs_rs as clrs
>>> sampler, spec = clrs.build_sampler("insertion_sort", num_samples=-1, seed=1, length=8, track_max_steps=False)
>>> def batches():
...     while True:
...         yield sampler.next(4)
>>> iterator = clrs.process_random_pos(batches(), np.random.RandomState(0))
>>> spec, iterator = clrs.process_permutations(spec, iterator, enforce_permutations=True)
>>> next(iterator).outputs
[DataPoint(name="pred",	location=node,	type=permutation_pointer,	data=Array(4, 8, 8)), \
DataPoint(name="pred_mask",	location=node,	type=mask_one,	data=Array(4, 8))]
"""

from clrs_rs.samplers._batching import (
    _batch_hints as _batch_hints,
    _batch_io as _batch_io,
    _subsample_data as _subsample_data,
)
from clrs_rs.samplers._builtin import (
    CLRS30,
    SAMPLERS,
    ActivitySampler,
    ArticulationSampler,
    BellmanFordSampler,
    BfsSampler,
    BipartiteSampler,
    ConvexHullSampler,
    DAGPathSampler,
    DfsSampler,
    FloydWarshallSampler,
    LCSSampler,
    MatcherSampler,
    MaxSubarraySampler,
    MSTSampler,
    OptimalBSTSampler,
    SccSampler,
    SearchSampler,
    SegmentsSampler,
    SortingSampler,
    TaskSampler,
    TopoSampler,
    _is_collinear as _is_collinear,
    build_sampler,
)
from clrs_rs.samplers._sampler import Sampler, _is_float_array as _is_float_array
from clrs_rs.samplers._transforms import (
    _preprocess_permutations as _preprocess_permutations,
    process_permutations,
    process_pred_as_input,
    process_random_pos,
)
from clrs_rs.samplers._types import Features, FeaturesChunked, Feedback, Trajectories, Trajectory

__all__ = [
    "CLRS30",
    "SAMPLERS",
    "ActivitySampler",
    "ArticulationSampler",
    "BellmanFordSampler",
    "BfsSampler",
    "BipartiteSampler",
    "ConvexHullSampler",
    "DAGPathSampler",
    "DfsSampler",
    "Features",
    "FeaturesChunked",
    "Feedback",
    "FloydWarshallSampler",
    "LCSSampler",
    "MSTSampler",
    "MatcherSampler",
    "MaxSubarraySampler",
    "OptimalBSTSampler",
    "Sampler",
    "SccSampler",
    "SearchSampler",
    "SegmentsSampler",
    "SortingSampler",
    "TaskSampler",
    "TopoSampler",
    "Trajectories",
    "Trajectory",
    "build_sampler",
    "process_permutations",
    "process_pred_as_input",
    "process_random_pos",
]
