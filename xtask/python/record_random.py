"""Draws of NumPy's legacy RandomState: golden/random.json.

Every method that the samplers use, with and without a size, in sequence on one stream: a method that consumes too much or too
little of the stream changes all later draws. Then the first words of generators seeded by a list, as every sample of a set that
is sampled in parallel has one: [seed, low 32 bits of the sample's index, high 32 bits].
"""
import numpy as np


def record():
    return {
        "numpy": np.__version__,
        "streams": [stream(seed) for seed in (0, 1, 42, 2**32 - 1)],
        "samples": [
            sample(seed, number)
            for seed in (0, 1, 2**32 - 1)
            for number in (0, 1, 999, 2**32 - 1, 2**32, 5 * 2**32 + 7, 2**64 - 1)
        ],
    }


def stream(seed):
    random = np.random.RandomState(seed)
    draws = []

    def draw(method, arguments, value):
        values = np.ravel(value).tolist()
        if method == "uniform":
            values = [float(x).hex() for x in values]
        draws.append({"method": method, "arguments": arguments, "values": values})

    for _ in range(3):
        draw("uniform", [0.0, 1.0, 1], random.uniform(0.0, 1.0))
        draw("uniform", [-1.0, 1.0, 7], random.uniform(-1.0, 1.0, size=7))
        draw("uniform", [0.0, 2.0 * np.pi, 5], random.uniform(0.0, 2.0 * np.pi, size=5))
        draw("randint", [0, 4, 1], random.randint(0, 4))
        draw("randint", [0, 4, 9], random.randint(0, 4, size=9))
        draw("randint", [1, 9, 3], random.randint(1, 9, size=3))
        draw("randint", [5, 6, 2], random.randint(5, 6, size=2))
        draw("randint", [0, 2**32, 2], random.randint(2**32, size=2, dtype=np.int64))
        for p in (0.0, 0.01, 0.2, 0.3, 0.30000000000000004, 0.5, 0.7000000000000001, 0.9, 1.0):
            draw("binomial", [p, 1], random.binomial(1, p))
            draw("binomial", [p, 40], random.binomial(1, p, size=40))
        draw("permutation", [1], random.permutation(1))
        draw("permutation", [33], random.permutation(33))
        draw("choice", [1, 1], random.choice(1))
        draw("choice", [100, 1], random.choice(100))
        draw("choice", [100, 12], random.choice(100, (12,), replace=True))
    return {"seed": seed, "draws": draws, "next": int(random.randint(2**32, dtype=np.int64))}


def sample(seed, number):
    random = np.random.RandomState([seed, number % 2**32, number // 2**32])
    return {"seed": seed, "sample": number, "words": random.randint(2**32, size=4, dtype=np.int64).tolist()}
