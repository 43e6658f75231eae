"""Records results of dm-clrs's network as fixtures: golden/networks/CASE.safetensors, or any case from the command line.

    record_networks.py --case '{"algorithm": "bfs", "processor": "mpnn"}' --out FILE     record it; prints its seed as JSON
    record_networks.py --case '{"algorithm": "bfs", "processor": "mpnn"}' --time 20      time it; prints JSON

`--only evaluation` omits loss, gradients and training, `--only training` everything else. With `--no-outcome` a fixture contains
only parameters and the batch, for cases that dm-clrs cannot compute.

All tensors of a fixture are float32: `param/MODULE/NAME` and their gradients `grad/..`; the `loss`; the batch after the
transforms, `input/NAME`, `hint/NAME`, `output/NAME`, `lengths`; of an evaluation `eval/NAME`, the decoded outputs, `hard/NAME`,
the outputs as they are scored, and `eval_hint/NAME`, the decoded hints of every step. The metadata contain the `settings`, the
`spec` and how much the gradient changes when parameters change in the seventh digit (`unsteadiness`).

`optimizer.safetensors` contains twenty updates: `param/NAME` before, then `STEP/grad/NAME` and `STEP/param/NAME` after each.
`training.safetensors` contains twenty training steps: `param/..` before, `STEP/input/..` etc., `losses`, `after/..`.
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
CASES_PER_CACHE = 25
"""Compiled functions are dropped after this many cases: each has memory mappings, the number of which the system limits."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", required=True, type=json.loads, help="settings as a JSON object; others are the defaults of run.py")
    parser.add_argument("--out", type=pathlib.Path, help="safetensors file to write")
    parser.add_argument("--tries", type=int, default=network.TRIES, help="seeds to try for a case without near-ties; 0 takes the seed as it is")
    parser.add_argument("--time", type=int, metavar="ROUNDS", help="number of training steps and evaluations to time")
    parser.add_argument("--only", choices=network.PHASES, help="record and time only this phase")
    parser.add_argument("--no-outcome", action="store_true", help="record only parameters and the batch")
    arguments = parser.parse_args()
    phases = (arguments.only,) if arguments.only else network.PHASES
    if arguments.time:  # before anything else allocates memory
        import network_times  # not available on every system

        print(json.dumps(network_times.measure(network.complete(arguments.case), arguments.time, phases)))
    if arguments.out:
        tries, phases = (0, ()) if arguments.no_outcome else (arguments.tries, phases)
        named, metadata = network.record(arguments.case, tries, phases)
        write(arguments.out, named, metadata)
        steadiness = {"unsteadiness": float(metadata["unsteadiness"])} if tries else {}
        print(json.dumps({"seed": json.loads(metadata["settings"])["seed"]} | steadiness))  # it may differ from that of the case


def write(path, named, metadata):
    save_file(named, path, metadata)


def recorders():
    """Name, settings and recorder of each fixture."""
    for number, (name, settings) in enumerate(network_cases.cases()):
        yield name, settings, network.record
        if number % CASES_PER_CACHE == CASES_PER_CACHE - 1:
            network.jax.clear_caches()
    yield "optimizer", {"seed": 1}, network.record_optimizer
    yield "training", network_cases.TRAINING, network.record_training


def record(folder):
    """Rewrites the fixtures that disagree with dm-clrs; yields the path and size of each, and `True`.

    The last digits depend on the machine, and safetensors writes metadata in any order, so rewriting the others would change files
    for no reason.
    """
    network.compile_fast()
    folder.mkdir(parents=True, exist_ok=True)
    for name, settings, recorder in recorders():
        path = folder / f"{name}.safetensors"
        if not same(path, settings, recorder):
            write(path, *recorder(settings))
        yield path, path.stat().st_size, True


def check(folder):
    """Yields the path and size of each fixture, and whether it agrees with dm-clrs."""
    network.compile_fast()
    unexpected = set(folder.glob("*.safetensors"))
    for name, settings, recorder in recorders():
        path = folder / f"{name}.safetensors"
        unexpected.discard(path)
        yield path, path.stat().st_size if path.exists() else 0, same(path, settings, recorder)
    yield from ((path, path.stat().st_size, False) for path in sorted(unexpected))


def same(path, settings, recorder):
    """Whether a fixture agrees with dm-clrs, with its seed: which seed is the first without near-ties may depend on the machine."""
    if not path.exists():
        return False
    with safe_open(path, "numpy") as file:
        metadata, recorded = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}
    seed = json.loads(metadata["settings"])["seed"]
    found, expected = recorder(settings | {"seed": seed}, tries=0)
    return (
        all(metadata.get(name) == value for name, value in expected.items() if name != "unsteadiness")
        and {name: array.shape for name, array in recorded.items()} == {name: array.shape for name, array in found.items()}
        and all(near(name, found[name], array) for name, array in recorded.items())
    )


def near(name, found, recorded):
    """Whether the difference can result from the order of summation. Logits of permutations have a diagonal of -1e6."""
    size = np.abs(recorded) if name.startswith("eval") else np.abs(recorded).max(initial=0.0)
    return bool((np.abs(found - recorded) <= TOLERANCE * (1.0 + size)).all())


if __name__ == "__main__":
    sys.exit(main())
