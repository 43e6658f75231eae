"""Time of a training step in Python (`BaselineModel.feedback`) and of the program (`clrs train`), in alternation.

    time_feedback.py [ROUNDS]

Prints JSON: milliseconds per step of both, medians over rounds, and their ratio. The network is the same (bfs, mpnn, hidden size
128, batches of 32 problems with 16 nodes). A step of the program is that of its trainer, in the same process: it draws samples on
another thread meanwhile; the batches of the other are drawn before.
"""
import json
import statistics
import sys
import time

import clrs_rs as clrs
import numpy as np

STEPS = 20


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    trainer = clrs.Model("bfs", processor="mpnn", lengths=[16], batch_size=32, val_samples=1)
    sampler, spec = clrs.build_sampler("bfs", -1, length=16, seed=1, p=trainer.recipe["edge_probabilities"])
    stream = clrs.process_random_pos(iter(lambda: sampler.next(32), None), np.random.RandomState(1))
    batches = [next(stream) for _ in range(STEPS)]
    factory = clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    settings = {"hidden_dim": 128, "encode_hints": True, "learning_rate": 1e-3, "grad_clip_max_norm": 1.0}
    model = clrs.models.BaselineModel(spec, batches[0], factory, encoder_init="xavier_on_scalars", **settings)
    model.init(None, 42)

    def feedback():
        for step, batch in enumerate(batches):
            model.feedback(step, batch)

    def train():
        for _ in range(STEPS):
            trainer.train_step()

    times = {"feedback": [], "train": []}
    for name, work in [("feedback", feedback), ("train", train)] * (rounds + 1):
        start = time.perf_counter()
        work()
        times[name].append(1000 * (time.perf_counter() - start) / STEPS)
    # The first round warms up.
    found = {name: statistics.median(values[1:]) for name, values in times.items()}
    print(json.dumps({f"{name}_ms": round(value, 2) for name, value in found.items()} | {"ratio": round(found["feedback"] / found["train"], 3)}))


if __name__ == "__main__":
    main()
