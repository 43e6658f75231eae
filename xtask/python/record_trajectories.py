"""A small set of every algorithm with all probes: golden/trajectories/ALGORITHM.json.

`next_word` is the generator's next 32-bit word after the set: it differs if a sampler draws too much or too little.
"""
import numpy as np

import golden_format
from reference import ALGORITHMS, VERSIONS, build

SEED = 1
COUNT = 3
SIZE = 6
# Algorithms for which six nodes are too few: strings need room for matches, communities more than one node.
SIZES = {
    "bridges": 8,
    "articulation_points": 8,
    "kmp_matcher": 8,
    "mst_kruskal": 8,
    "naive_string_matcher": 8,
    "segments_intersect": 4,
    "strongly_connected_components": 8,
}


def record():
    return {algorithm: case(algorithm) for algorithm in ALGORITHMS}


def case(algorithm):
    size = SIZES.get(algorithm, SIZE)
    sampler, _ = build(algorithm, COUNT, SEED, size)
    recorded = {"versions": VERSIONS, "algorithm": algorithm, "size": size, "count": COUNT, "seed": SEED}
    recorded |= golden_format.batch(sampler.next())
    return recorded | {"next_word": int(sampler._rng.randint(2**32, dtype=np.int64))}
