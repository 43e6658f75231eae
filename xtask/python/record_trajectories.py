"""Small sets of every algorithm with every probe: golden/trajectories/ALGORITHM.json.

`next_word` is the 32-bit word that the generator draws after the set: a sampler that drew too much or too little gets another.
"""
import numpy as np

import golden
from reference import ALGORITHMS, VERSIONS, build

SEED = 1
COUNT = 3
SIZE = 6
# Where six nodes show too little: strings need room to match, communities to be more than single nodes.
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
    recorded |= golden.batch(sampler.next())
    return recorded | {"next_word": int(sampler._rng.randint(2**32, dtype=np.int64))}
