"""What the reference's network computes: golden/networks/CASE.safetensors, and any other case from the command line.

    record_networks.py --case '{"algorithm": "bfs", "processor": "mpnn"}' --out FILE     record it: its settings to stdout
    record_networks.py --case '{"algorithm": "bfs", "processor": "mpnn"}' --time 20      time it: JSON to stdout

With `--only evaluation` no loss, gradients or training, with `--only training` nothing else; with `--no-outcome` a file has
parameters and the batch alone, for cases that the reference cannot compute.

A file holds, all as float32: `param/MODULE/NAME`, `grad/..` of the same in training and its `loss`; the batch after the
transforms, `input/NAME`, `hint/NAME`, `output/NAME`, `lengths`; at evaluation `eval/NAME`, the outputs as they are decoded,
`hard/NAME`, the outputs as they are scored, and `eval_hint/NAME`, the hints as they are decoded, step by step. Its metadata are
the `settings`, the `spec` and how far the gradient goes when parameters change in the seventh digit (`unsteadiness`).

`optimizer.safetensors` has twenty updates: `param/NAME` before, then `STEP/grad/NAME` and `STEP/param/NAME` after it.
`training.safetensors` has twenty steps of training: `param/..` before, `STEP/input/..` and so on, `losses`, `after/..`.
"""
import argparse
import json
import pathlib
import sys

import network
import network_cases
from reference import np
from safetensors import safe_open
from safetensors.numpy import save_file

TOLERANCE = 1e-4
FORGET = 25
"""What is compiled is thrown away after so many cases: it is mapped piece by piece, and a system allows only so many pieces."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", required=True, type=json.loads, help="settings as a JSON object; run.py's for the rest")
    parser.add_argument("--out", type=pathlib.Path, help="the safetensors file to write")
    parser.add_argument("--tries", type=int, default=network.TRIES, help="seeds to try for one without near-ties; 0: do not look")
    parser.add_argument("--time", type=int, metavar="ROUNDS", help="time so many steps and evaluations")
    parser.add_argument("--only", choices=network.PARTS, help="record and time this part alone")
    parser.add_argument("--no-outcome", action="store_true", help="record parameters and the batch alone")
    arguments = parser.parse_args()
    parts = (arguments.only,) if arguments.only else network.PARTS
    if arguments.time:  # before anything else takes memory
        import network_times  # not on every system

        print(json.dumps(network_times.measure(network.complete(arguments.case), arguments.time, parts)))
    if arguments.out:
        tries, parts = (0, ()) if arguments.no_outcome else (arguments.tries, parts)
        named, metadata = network.record(arguments.case, tries, parts)
        write(arguments.out, named, metadata)
        steadiness = {"unsteadiness": float(metadata["unsteadiness"])} if tries else {}
        print(json.dumps({"seed": json.loads(metadata["settings"])["seed"]} | steadiness))  # the seed may be another


def write(path, named, metadata):
    save_file(named, path, metadata)


def recorders():
    """Name, settings and recorder of each file."""
    for number, (name, settings) in enumerate(network_cases.cases()):
        yield name, settings, network.record
        if number % FORGET == FORGET - 1:
            network.jax.clear_caches()
    yield "optimizer", {"seed": 1}, network.record_optimizer
    yield "training", network_cases.TRAINING, network.record_training


def record(folder):
    """Writes every file that does not hold any more; yields the path of each, its size, and that it is right.

    Last digits are the machine's, and safetensors writes metadata in any order: to write what still holds would only change files.
    """
    network.compile_fast()
    folder.mkdir(parents=True, exist_ok=True)
    for name, settings, recorder in recorders():
        path = folder / f"{name}.safetensors"
        if not same(path, settings, recorder):
            write(path, *recorder(settings))
        yield path, path.stat().st_size, True


def check(folder):
    """Yields the path of each file, its size, and whether the reference still says so."""
    network.compile_fast()
    left = set(folder.glob("*.safetensors"))
    for name, settings, recorder in recorders():
        path = folder / f"{name}.safetensors"
        left.discard(path)
        yield path, path.stat().st_size if path.exists() else 0, same(path, settings, recorder)
    yield from ((path, path.stat().st_size, False) for path in sorted(left))


def same(path, settings, recorder):
    """Whether a file holds, with its own seed: which is the first without near-ties may hang on the last digit."""
    if not path.exists():
        return False
    with safe_open(path, "numpy") as file:
        metadata, recorded = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
    seed = json.loads(metadata["settings"])["seed"]
    found, expected = recorder(settings | {"seed": seed}, tries=0)
    return (
        all(metadata.get(name) == value for name, value in expected.items() if name != "unsteadiness")
        and {name: of.shape for name, of in recorded.items()} == {name: of.shape for name, of in found.items()}
        and all(near(name, found[name], of) for name, of in recorded.items())
    )


def near(name, found, recorded):
    """Whether no more is between them than another order of sums. Logits of permutations have a diagonal of -1e6."""
    size = np.abs(recorded) if name.startswith("eval") else np.abs(recorded).max(initial=0.0)
    return bool((np.abs(found - recorded) <= TOLERANCE * (1.0 + size)).all())


if __name__ == "__main__":
    sys.exit(main())
