"""Times training and evaluation of dm-clrs on one batch, compiled as in `clrs.examples.run`."""
import os
import resource
import statistics
import sys
import time

import network
from network import jax
from reference import VERSIONS, samples

WARM_UP = 3


def measure(case, rounds, phases=network.PHASES):
    """Milliseconds of each round and their median, seconds of the first round, and peak memory in bytes."""
    network.GUMBEL = True
    imported = peak()
    source = network.Batches(case)
    batch = source.next()
    start = time.perf_counter()
    # Training starts with this batch. For evaluation the network was built with another one: one sample defines its shapes.
    sample = batch if "training" in phases else samples(batch, [0])
    model = network.build_model(case, [source.spec], [sample])
    jax.block_until_ready(model._device_params)
    initialize_seconds = time.perf_counter() - start
    key = jax.random.PRNGKey(0)

    def train():
        loss = model.feedback(key, batch, 0)
        jax.block_until_ready((loss, model._device_params, model._device_opt_state))

    def evaluate():
        jax.block_until_ready(model.predict(key, batch.features, 0))

    measured = {}
    for phase, step in (("training", train), ("evaluation", evaluate)):
        if phase in phases:
            measured[phase] = timed(step, rounds)
            measured[phase]["peak_bytes"] = peak()
    network.GUMBEL = False
    return measured | {
        "settings": case,
        "nodes": network.nodes(batch),
        "steps": batch.features.hints[0].data.shape[0],
        "initialize_seconds": initialize_seconds,
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
    milliseconds, cpu_milliseconds = [], []
    for _ in range(rounds):
        start, cpu_start = time.perf_counter(), time.process_time()
        step()
        milliseconds.append((time.perf_counter() - start) * 1e3)
        cpu_milliseconds.append((time.process_time() - cpu_start) * 1e3)
    return {
        "first_seconds": first,
        "median_milliseconds": statistics.median(milliseconds),
        "median_cpu_milliseconds": statistics.median(cpu_milliseconds),
        "milliseconds": milliseconds,
    }


def peak():
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
