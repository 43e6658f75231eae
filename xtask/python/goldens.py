"""Records results of dm-clrs: `goldens.py FOLDER KIND...` rewrites, `goldens.py --check FOLDER KIND...` compares.

Cosine, sine and arc tangent differ between systems in the last bit: values that depend on them are compared within 1e-12, and
their digests are not compared. The order of summation in networks inexact_names on the compiler: they are compared within 1e-4.
Everything else is exact.
"""
import argparse
import json
import pathlib
import sys

import golden_format

HULLS = ("graham_scan", "jarvis_march")
INEXACT = ("x", "y", "atans")
TOLERANCE = 1e-12


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file would change")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kinds", nargs="+", choices=["random", "scores", "transforms", "trajectories", "text", "networks", "clrs30"])
    arguments = parser.parse_args()

    files, different = 0, 0
    for path, value in json_goldens(arguments.kinds):
        path = arguments.folder / path
        text = golden_format.text(value)
        if arguments.check:
            recorded = path.read_text(encoding="utf-8") if path.exists() else None
            if recorded != text and (recorded is None or not same(json.loads(recorded), json.loads(text))):
                different += 1
                print(f"{path}: dm-clrs computes other values", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"{path}: {len(text.encode())} bytes", flush=True)
        files += 1
    if "networks" in arguments.kinds:
        for path, size, is_same in network_fixtures(arguments.folder / "networks", arguments.check):
            if not is_same:
                different += 1
                print(f"{path}: dm-clrs computes other values", file=sys.stderr)
            elif not arguments.check:
                print(f"{path}: {size} bytes", flush=True)
            files += 1
    print(f"{files} files, {different} different from dm-clrs" if arguments.check else f"{files} files")
    if different:
        sys.exit("to record the new values: cargo xtask goldens")


def json_goldens(kinds):
    """Path and content of every JSON file of these kinds. Importing a recorder imports dm-clrs, so only those needed are."""
    for kind in kinds:
        if kind == "networks":
            continue  # safetensors, not JSON
        content = __import__(f"record_{kind}").record()
        if kind == "trajectories":
            for algorithm, case in content.items():
                yield pathlib.Path(kind, f"{algorithm}.json"), case
        else:
            yield pathlib.Path(f"{kind}.json"), content


def network_fixtures(folder, check):
    """Path and size of every fixture, and whether it agrees with dm-clrs, which rewritten ones do."""
    import record_networks

    return record_networks.check(folder) if check else record_networks.record(folder)


def same(one, other, hull=False, inexact=False):
    """Whether two goldens are the same, up to the system's cosine, sine and arc tangent."""
    if isinstance(one, dict) and isinstance(other, dict):
        hull = hull or one.get("algorithm") in HULLS
        inexact = hull and one.get("name") in INEXACT
        inexact_names = [name for name in one if hull and (name == "digest" or name.split("/")[-1] in INEXACT)]
        return one.keys() == other.keys() and all(
            same(one[name], other[name], hull, inexact) for name in one if name not in inexact_names
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b, hull, inexact) for a, b in zip(one, other))
    if inexact and isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= TOLERANCE
    return one == other


if __name__ == "__main__":
    main()
