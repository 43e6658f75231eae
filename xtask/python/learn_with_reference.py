"""Trains the reference as the recipe `paper-2022` says, to see how well it learns itself.

    learn_with_reference.py ALGORITHM --out FOLDER [--processor mpnn] [--steps 10000] [--seed 1] [--every 500]

Batches are those of `clrs train`: the training set in its order, epoch after epoch. A line of JSON with the loss is printed, and a
pickle `STEP.pkl` written, every so many steps, from 0 on; `clrs` judges it faster than the reference does (docs/weights.md). The recipe's feedback
lets gradients of scalar hints through, which this version of the reference stops: where there are such hints, the two differ.
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
"""Where `paper-2022` is not as the defaults of recordings."""


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
    spec, whole = samplers.process_permutations(spec, iter([sampler.next()]), False)
    whole = next(whole)
    first = samples(whole, range(BATCH))
    case = network.DEFAULTS | {"processor": arguments.processor} | RECIPE
    model = network.build_model(case, [spec], [first], grad_clip=0.0)
    model.checkpoint_path = str(arguments.out)
    model.init([first.features], arguments.seed)
    model.save_model("0.pkl")
    key, begun = jax.random.PRNGKey(arguments.seed), time.monotonic()
    for step in range(1, arguments.steps + 1):
        key, now = jax.random.split(key)
        batch = samples(whole, [(BATCH * (step - 1) + i) % SAMPLES for i in range(BATCH)])
        loss = float(model.feedback(now, batch, 0))
        if step % arguments.every == 0 or step == arguments.steps:
            model.save_model(f"{step}.pkl")
            print(json.dumps({"step": step, "loss": loss, "seconds": round(time.monotonic() - begun)}), flush=True)


if __name__ == "__main__":
    main()
