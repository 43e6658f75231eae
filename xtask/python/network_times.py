"""What training and evaluation of the reference cost, on one batch, compiled, as `clrs.examples.run` does both."""
import os
import resource
import statistics
import sys
import time

import network
from network import jax
from reference import VERSIONS, samples

WARM_UP = 3


def measure(case, rounds, parts=network.PARTS):
    """Milliseconds of each round and their median, seconds until the first is done, and memory in bytes."""
    network.GUMBEL = True
    imported = peak()
    source = network.Batches(case)
    batch = source.next()
    start = time.perf_counter()
    # Training begins with a batch of its own. A network that is evaluated was made for another: one sample is enough for its shapes.
    sample = batch if "training" in parts else samples(batch, [0])
    model = network.build_model(case, [source.spec], [sample])
    jax.block_until_ready(model._device_params)
    initialised = time.perf_counter() - start
    key = jax.random.PRNGKey(0)

    def train():
        loss = model.feedback(key, batch, 0)
        jax.block_until_ready((loss, model._device_params, model._device_opt_state))

    def evaluate():
        jax.block_until_ready(model.predict(key, batch.features, 0))

    measured = {}
    for part, step in (("training", train), ("evaluation", evaluate)):
        if part in parts:
            measured[part] = timed(step, rounds)
            measured[part]["peak_bytes"] = peak()
    network.GUMBEL = False
    return measured | {
        "settings": case,
        "nodes": network.nodes(batch),
        "steps": batch.features.hints[0].data.shape[0],
        "initialise_seconds": initialised,
        "imported_bytes": imported,
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": VERSIONS | {"jax": jax.__version__},
    }


def timed(step, rounds):
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    for _ in range(WARM_UP - 1):
        step()
    milliseconds, of_all_processors = [], []
    for _ in range(rounds):
        start, start_of_all = time.perf_counter(), time.process_time()
        step()
        milliseconds.append((time.perf_counter() - start) * 1e3)
        of_all_processors.append((time.process_time() - start_of_all) * 1e3)
    return {
        "first_seconds": first,
        "median_milliseconds": statistics.median(milliseconds),
        "median_cpu_milliseconds": statistics.median(of_all_processors),
        "milliseconds": milliseconds,
    }


def peak():
    """The most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
