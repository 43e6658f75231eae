"""Parameters of dm-clrs as our files, and back: docs/weights.md says how they are called.

    weights.py to-safetensors best.pkl out.safetensors     what `BaselineModel.save_model` wrote, for `clrs train --weights`
    weights.py to-pickle best.safetensors best.pkl         a checkpoint of ours, for `BaselineModel.restore_model`

It needs NumPy and safetensors, but neither dm-clrs nor JAX. A pickle can run any code when it is read as Python means it; here
only NumPy's arrays are made, and everything else in the file (the state of the optimiser) is passed over.
"""
import argparse
import json
import pickle
import sys

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

ALLOWED = {"_reconstruct", "_frombuffer", "ndarray", "dtype", "scalar"}
HEAD = "clrs.checkpoint"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, convert in (("to-safetensors", to_safetensors), ("to-pickle", to_pickle)):
        command = commands.add_parser(name)
        command.add_argument("source")
        command.add_argument("target")
        command.set_defaults(convert=convert)
    arguments = parser.parse_args()
    count = arguments.convert(arguments.source, arguments.target)
    print(f"{arguments.target}: {count} parameters")


def to_safetensors(source, target):
    with open(source, "rb") as file:
        try:
            saved = Arrays(file).load()
        except Exception as error:  # a pickle is a program, and may fail as one
            sys.exit(f"{source}: no pickle of arrays ({error})")
    if not isinstance(saved, dict) or not isinstance(saved.get("params"), dict):
        sys.exit(f"{source}: not what save_model writes: it holds no `params`")
    named = {f"{module}/{name}": value for module, of in saved["params"].items() for name, value in of.items()}
    for name, value in named.items():
        if not isinstance(value, np.ndarray) or value.dtype != np.float32:
            sys.exit(f"{source}: `{name}` is no array of float32")
    save_file({name: np.ascontiguousarray(value) for name, value in named.items()}, target)
    return len(named)


def to_pickle(source, target):
    try:
        with safe_open(source, "numpy") as file:
            head = json.loads((file.metadata() or {}).get(HEAD, "{}"))
            named = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        sys.exit(f"{source}: no whole safetensors file ({error})")
    if not any(name.startswith("net/") for name in named):
        references = head.get("reference") or sys.exit(f"{source}: it does not say what its parameters are called in dm-clrs")
        named = {reference: named[name] for name, reference in references.items()}
    params = {}
    for name, value in sorted(named.items()):
        module, _, last = name.rpartition("/")
        params.setdefault(module, {})[last] = value
    with open(target, "wb") as file:
        pickle.dump({"params": params, "opt_state": None}, file)
    return len(named)


class Arrays(pickle.Unpickler):
    """Reads arrays, and something without use for everything else."""

    def find_class(self, module, name):
        if module.partition(".")[0] == "numpy" and name in ALLOWED:
            return super().find_class(module, name)
        return Other


class Other:
    """Stands for what is passed over."""

    def __new__(cls, *_args, **_options):
        return super().__new__(cls)

    def __init__(self, *_args, **_options):
        pass

    def __setstate__(self, _state):
        pass


if __name__ == "__main__":
    main()
