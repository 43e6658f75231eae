"""Converts parameters between dm-clrs and clrs; docs/weights.md documents their names.

    weights.py to-safetensors best.pkl out.safetensors     a file of `BaselineModel.save_model`, for `clrs train --weights`
    weights.py to-pickle best.safetensors best.pkl         a checkpoint of `clrs train`, for `BaselineModel.restore_model`

Requires NumPy and safetensors, but neither dm-clrs nor JAX. Unpickling can run arbitrary code; here only NumPy arrays are created,
and everything else in the file (the state of the optimizer) is ignored.
"""
import argparse
import json
import pickle
import sys

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

ALLOWED = {"_reconstruct", "_frombuffer", "ndarray", "dtype", "scalar"}
META_KEY = "clrs.checkpoint"


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
            saved = ArrayUnpickler(file).load()
        except Exception as error:  # unpickling can raise anything
            sys.exit(f"{source}: not a pickle of arrays ({error})")
    if not isinstance(saved, dict) or not isinstance(saved.get("params"), dict):
        sys.exit(f"{source}: not a file of save_model: `params` is missing")
    named = {f"{module}/{name}": value for module, values in saved["params"].items() for name, value in values.items()}
    for name, value in named.items():
        if not isinstance(value, np.ndarray) or value.dtype != np.float32:
            sys.exit(f"{source}: `{name}` is not a float32 array")
    save_file({name: np.ascontiguousarray(value) for name, value in named.items()}, target)
    return len(named)


def to_pickle(source, target):
    try:
        with safe_open(source, "numpy") as file:
            meta = json.loads((file.metadata() or {}).get(META_KEY, "{}"))
            named = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        sys.exit(f"{source}: not a complete safetensors file ({error})")
    if not any(name.startswith("net/") for name in named):
        references = meta.get("reference") or sys.exit(f"{source}: the names of its parameters in dm-clrs are missing")
        named = {reference: named[name] for name, reference in references.items()}
    params = {}
    for name, value in sorted(named.items()):
        module, _, last = name.rpartition("/")
        params.setdefault(module, {})[last] = value
    with open(target, "wb") as file:
        pickle.dump({"params": params, "opt_state": None}, file)
    return len(named)


class ArrayUnpickler(pickle.Unpickler):
    """Unpickles NumPy arrays; everything else becomes an `Ignored`."""

    def find_class(self, module, name):
        if module.partition(".")[0] == "numpy" and name in ALLOWED:
            return super().find_class(module, name)
        return Ignored


class Ignored:
    """Placeholder for values that are not arrays."""

    def __new__(cls, *_args, **_options):
        return super().__new__(cls)

    def __init__(self, *_args, **_options):
        pass

    def __setstate__(self, _state):
        pass


if __name__ == "__main__":
    main()
