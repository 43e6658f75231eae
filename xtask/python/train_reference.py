"""Trains dm-clrs with the recipe `paper-2022`.

    train_reference.py ALGORITHM --out FOLDER [--processor mpnn] [--steps 10000] [--seed 1] [--every 500]

The batches are those of `clrs train`: the training set in its order, epoch after epoch. Prints the loss as a line of JSON and
writes the pickle `STEP.pkl` every `--every` steps, from step 0. `clrs eval` evaluates the parameters faster than dm-clrs
does (docs/weights.md). The recipe passes gradients through fed-back scalar hints; this version of dm-clrs stops them, so
algorithms with scalar hints train differently.
"""
import argparse
import json
import pathlib
import time

import network
from network import jax
from reference import build, samplers, samples

SAMPLES = 1000
BATCH = 32
RECIPE = {"feedback": "hard", "teacher_forcing": 0.5, "init": "default"}
"""Fields of `paper-2022` that differ from the defaults of fixtures."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--processor", default="mpnn")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=500)
    arguments = parser.parse_args()
    sampler, spec = build(arguments.algorithm, SAMPLES, 1, 16)
    spec, training_set = samplers.process_permutations(spec, iter([sampler.next()]), False)
    training_set = next(training_set)
    first = samples(training_set, range(BATCH))
    case = network.DEFAULTS | {"processor": arguments.processor} | RECIPE
    model = network.build_model(case, [spec], [first], grad_clip=0.0)
    model.checkpoint_path = str(arguments.out)
    model.init([first.features], arguments.seed)
    model.save_model("0.pkl")
    key, start = jax.random.PRNGKey(arguments.seed), time.monotonic()
    for step in range(1, arguments.steps + 1):
        key, step_key = jax.random.split(key)
        batch = samples(training_set, [(BATCH * (step - 1) + i) % SAMPLES for i in range(BATCH)])
        loss = float(model.feedback(step_key, batch, 0))
        if step % arguments.every == 0 or step == arguments.steps:
            model.save_model(f"{step}.pkl")
            print(json.dumps({"step": step, "loss": loss, "seconds": round(time.monotonic() - start)}), flush=True)


if __name__ == "__main__":
    main()
