"""Results of dm-clrs's transforms of batches: golden/transforms.json.

Each case contains the sampled batches before the transform and the batches after it. A case that dm-clrs rejects has an
`error` instead of `after`. Dtypes are recorded too: permutations become float32.
"""
import copy

import numpy as np

import golden_format
from reference import VERSIONS, build, dataset, samplers


def record():
    return {"versions": VERSIONS, "cases": [case(**settings) for settings in cases()]}


def cases():
    for algorithm, size in (("bfs", 5), ("lcs_length", 5), ("kmp_matcher", 6)):
        yield {"transform": "random_pos", "algorithm": algorithm, "size": size, "batches": [3, 3], "position_seed": 7}
    for algorithm, size in (("minimum", 4), ("lcs_length", 4), ("activity_selector", 4), ("bfs", 3), ("insertion_sort", 4)):
        yield {"transform": "pred_as_input", "algorithm": algorithm, "size": size, "batches": [3]}
    for enforce in (True, False):
        for size in (2, 5):
            yield {
                "transform": "permutations", "algorithm": "insertion_sort", "size": size, "batches": [4], "enforce": enforce
            }
        yield {"transform": "permutations", "algorithm": "minimum", "size": 3, "batches": [2], "enforce": enforce}
    for algorithm, size, length in (("bfs", 4, 3), ("bfs", 3, 1), ("lcs_length", 4, 5), ("insertion_sort", 4, 4)):
        yield {"transform": "chunk", "algorithm": algorithm, "size": size, "batches": [3] * 5, "chunk_length": length}


def case(transform, algorithm, size, batches, seed=5, **settings):
    sampler, spec = build(algorithm, -1, seed, size, track_max_steps=False)
    before = [sampler.next(count) for count in batches]
    recorded = {"transform": transform, "algorithm": algorithm, "size": size, "batches": batches, "seed": seed, **settings}
    recorded["before"] = [golden_format.batch(batch) for batch in before]
    # random_pos modifies its input.
    source = iter(copy.deepcopy(before))
    if transform == "random_pos":
        after = samplers.process_random_pos(source, np.random.RandomState(settings["position_seed"]))
    elif transform == "pred_as_input":
        spec, after = samplers.process_pred_as_input(spec, source)
    elif transform == "permutations":
        spec, after = samplers.process_permutations(spec, source, settings["enforce"])
    else:
        after = dataset.chunkify(source, settings["chunk_length"])
    try:
        recorded["after"] = [golden_format.batch(batch) for batch in until_exhausted(after)]
    except AssertionError:
        recorded["error"] = "AssertionError"
    return recorded


def until_exhausted(batches):
    """dm-clrs's generators end in a RuntimeError when their source does."""
    while True:
        try:
            yield next(batches)
        except RuntimeError as error:
            assert isinstance(error.__cause__, StopIteration), error
            return
