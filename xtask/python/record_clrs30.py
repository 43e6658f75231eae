"""Digests of the 90 sets of the benchmark: golden/clrs30.json. Takes ten minutes and 5 GB of memory.

The digest of an array is the SHA-256 of its bytes, little-endian in C order. The digest of a set is the SHA-256 of the digests of
its inputs, hints and outputs, in the order of the spec, and of its lengths.
"""
import hashlib

import numpy as np

from reference import VERSIONS, arrays, build, samplers, specs


def sets():
    """Algorithm, split, number of samples, size and seed of every set."""
    for algorithm in specs.CLRS_30_ALGS:
        for split, setting in samplers.CLRS30.items():
            multiplier = 1 if split == "train" else specs.CLRS_30_ALGS_SETTINGS[algorithm]["num_samples_multiplier"]
            yield algorithm, split, setting["num_samples"] * multiplier, setting["length"], setting["seed"]


def record():
    return {"versions": VERSIONS, "sets": [digests(*parameters) for parameters in sets()]}


def digests(algorithm, split, count, size, seed):
    sampler, _ = build(algorithm, count, seed, size)
    array_digests = {name: digest(array) for name, array in arrays(sampler.next()).items()}
    return {
        "algorithm": algorithm,
        "split": split,
        "count": count,
        "size": size,
        "seed": seed,
        "digest": hashlib.sha256(b"".join(array_digests.values())).hexdigest(),
        "arrays": {name: array_digest.hex() for name, array_digest in array_digests.items()},
    }


def digest(array):
    assert array.dtype.byteorder in "=<|"
    return hashlib.sha256(np.ascontiguousarray(array).data).digest()
