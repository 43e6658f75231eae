"""Times the Python package next to dm-clrs, in one process: `PYTHONPATH=FOLDER python compare_python.py`.

Four comparisons: `next(32)` of samplers that draw on the fly at 16 nodes, `build_sampler` of the benchmark's train sets, `feedback`
and `predict` of a model, and the import. The libraries take turns, and the medians are compared.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

from reference import VERSIONS, clrs

import clrs_rs
import numpy as np

NODES, BATCH = 16, 32


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def on_the_fly(name, rounds):
    """Medians of both libraries. Without the 1000 samples that are drawn first, which `build_sampler` shows."""
    samplers = [library.build_sampler(name, -1, seed=1, length=NODES, track_max_steps=False)[0] for library in (clrs, clrs_rs)]
    for sampler in samplers:
        sampler.next(BATCH)
    times = [[seconds(lambda: sampler.next(BATCH)) for sampler in samplers] for _ in range(rounds)]
    # Ours is short: a single one would measure the clock.
    ours = [seconds(lambda: [samplers[1].next(BATCH) for _ in range(20)]) / 20 for _ in range(rounds)]
    return statistics.median(theirs for theirs, _ in times), statistics.median(ours)


def train_set(name):
    """Times to build the train set; dm-clrs's once, since it takes seconds."""
    arguments = clrs.CLRS30["train"]
    builds = [lambda library=library: library.build_sampler(name, **arguments) for library in (clrs, clrs_rs)]
    return seconds(builds[0]), statistics.median(seconds(builds[1]) for _ in range(5))


def models(rounds):
    """Seconds of a training step and of a prediction: of dm-clrs, ours, and the training step of `clrs train`.

    The network is the same: bfs, mpnn, hidden size 128. All batches are drawn before, except those of `clrs train`, which draws them
    on another thread meanwhile. Every round has other batches: a step is faster or slower as a network learns, and one that sees
    the same batches again learns something else.
    """
    import jax

    trainer = clrs_rs.Model("bfs", processor="mpnn", lengths=[NODES], batch_size=BATCH, val_samples=1)
    sampler, spec = clrs_rs.build_sampler("bfs", -1, length=NODES, seed=1, p=trainer.recipe["edge_probabilities"])
    stream = clrs_rs.process_random_pos(iter(lambda: sampler.next(BATCH), None), np.random.RandomState(1))
    first = next(stream)
    both = []
    for library in (clrs, clrs_rs):
        factory = library.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
        settings = {"hidden_dim": 128, "encode_hints": True, "learning_rate": 1e-3, "grad_clip_max_norm": 1.0}
        both.append(library.models.BaselineModel([spec], [first], factory, encoder_init="xavier_on_scalars", **settings))
        both[-1].init([first.features], 42)
    key = jax.random.PRNGKey(0)
    theirs, ours = both

    # JAX returns before the loss is computed; `float` waits for it.
    works = {
        "feedback of dm-clrs": lambda batch: float(theirs.feedback(key, batch)),
        "feedback": lambda batch: ours.feedback(key, batch),
        "step of clrs train": lambda _: trainer.train_step(),
        "predict of dm-clrs": lambda batch: jax.block_until_ready(theirs.predict(key, batch.features)[0]["pi"].data),
        "predict": lambda batch: ours.predict(key, batch.features),
    }
    # Our two training steps take turns: the threads of JAX are busy for a while after its own.
    groups = [["feedback of dm-clrs"], ["feedback", "step of clrs train"], ["predict of dm-clrs"], ["predict"]]
    times = {name: [] for name in works}
    for _ in range(rounds + 1):
        batches = [next(stream) for _ in range(20)]
        for group in groups:
            rows = [[seconds(lambda: works[name](batch)) for name in group] for batch in batches]
            for name, found in zip(group, zip(*rows)):
                times[name].append(statistics.mean(found))
    # The first round compiles.
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def imports():
    """Best time to import each library after NumPy, in fresh processes."""
    code = "import time, numpy; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    run = lambda name: float(subprocess.run([sys.executable, "-c", code.format(name)], check=True, capture_output=True, text=True).stdout)
    return min(run("clrs") for _ in range(2)), min(run("clrs_rs") for _ in range(5))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithms", help="only these algorithms, comma-separated")
    parser.add_argument("--rounds", type=int, default=7, help="batches of which the median is taken")
    parser.add_argument("--json", type=pathlib.Path, help="write the results to this file")
    arguments = parser.parse_args()
    names = arguments.algorithms.split(",") if arguments.algorithms else clrs_rs.CLRS_30_ALGS
    rows = []
    print(f"{'':30} {'next(32), ms':>24}      {'train set, s':>24}")
    print(f"{'':30} {'dm-clrs':>9} {'ours':>9} {'ratio':>6}     {'dm-clrs':>9} {'ours':>9} {'ratio':>6}")
    for name in names:
        (their_batch, our_batch), (their_set, our_set) = on_the_fly(name, arguments.rounds), train_set(name)
        rows.append({"algorithm": name, "next": [their_batch, our_batch], "train_set": [their_set, our_set]})
        batches = f"{their_batch * 1e3:9.2f} {our_batch * 1e3:9.3f} {their_batch / our_batch:6.0f}"
        print(f"{name:30} {batches}     {their_set:9.2f} {our_set:9.4f} {their_set / our_set:6.0f}", flush=True)
    for key, title in (("next", "next(32)"), ("train_set", "train set")):
        ratios = [theirs / ours for theirs, ours in (row[key] for row in rows)]
        print(f"{title}: median {statistics.median(ratios):.0f}x, least {min(ratios):.0f}x")
    steps = models(rounds=3)
    for name in ("feedback", "predict"):
        theirs, ours = steps[f"{name} of dm-clrs"], steps[name]
        print(f"{name} (bfs, mpnn): dm-clrs {theirs * 1e3:.1f} ms, ours {ours * 1e3:.1f} ms, {theirs / ours:.1f}x")
    program = steps["step of clrs train"]
    print(f"step of clrs train: {program * 1e3:.1f} ms; feedback takes {steps['feedback'] / program:.2f} of it")
    theirs, ours = imports()
    print(f"import: dm-clrs {theirs:.2f} s, ours {ours * 1e3:.0f} ms")
    if arguments.json:
        result = {"versions": VERSIONS, "algorithms": rows, "models": steps, "import": [theirs, ours]}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
