"""Records what the reference does: `goldens.py FOLDER KIND...` rewrites, `goldens.py --check FOLDER KIND...` compares.

The cosine, the sine and the arc tangent of a system may differ from another's in the last bit; what stems from them is compared
within 1e-12, and digests that it goes into are not compared. Networks add in an order that is the compiler's: they are compared
within 1e-4. Everything else is exact.
"""
import argparse
import json
import pathlib
import sys

import golden

HULLS = ("graham_scan", "jarvis_march")
INEXACT = ("x", "y", "atans")
TOLERANCE = 1e-12


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a file would change")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("kinds", nargs="+", choices=["random", "scores", "transforms", "trajectories", "networks", "clrs30"])
    arguments = parser.parse_args()

    files, different = 0, 0
    for path, value in recordings(arguments.kinds):
        path = arguments.folder / path
        text = golden.text(value)
        if arguments.check:
            recorded = path.read_text(encoding="utf-8") if path.exists() else None
            if recorded != text and (recorded is None or not same(json.loads(recorded), json.loads(text))):
                different += 1
                print(f"{path}: the reference says something else", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"{path}: {len(text.encode())} bytes", flush=True)
        files += 1
    if "networks" in arguments.kinds:
        for path, size, same_as_recorded in networks(arguments.folder / "networks", arguments.check):
            if not same_as_recorded:
                different += 1
                print(f"{path}: the reference says something else", file=sys.stderr)
            elif not arguments.check:
                print(f"{path}: {size} bytes", flush=True)
            files += 1
    print(f"{files} files, {different} of them different from what the reference says" if arguments.check else f"{files} files")
    if different:
        sys.exit("to record what it says now: cargo xtask goldens")


def recordings(kinds):
    """Every file of these kinds with its content. The reference is imported only where it is asked."""
    for kind in kinds:
        if kind == "networks":
            continue  # not JSON
        recording = __import__(f"record_{kind}").record()
        if kind == "trajectories":
            for algorithm, case in recording.items():
                yield pathlib.Path(kind, f"{algorithm}.json"), case
        else:
            yield pathlib.Path(f"{kind}.json"), recording


def networks(folder, check):
    """Every file of the networks, its size, and whether it is right: written anew, it is."""
    import record_networks

    return record_networks.check(folder) if check else record_networks.record(folder)


def same(one, other, hull=False, inexact=False):
    """Whether two recordings are the same, but for what a system's own cosine and so on decide."""
    if isinstance(one, dict) and isinstance(other, dict):
        hull = hull or one.get("algorithm") in HULLS
        inexact = hull and one.get("name") in INEXACT
        depends = [name for name in one if hull and (name == "digest" or name.split("/")[-1] in INEXACT)]
        return one.keys() == other.keys() and all(
            same(one[name], other[name], hull, inexact) for name in one if name not in depends
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b, hull, inexact) for a, b in zip(one, other))
    if inexact and isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= TOLERANCE
    return one == other


if __name__ == "__main__":
    main()
