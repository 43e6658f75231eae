"""Compares `clrs sample` with dm-clrs, array by array: names, order, dtype, shape and values.

`parity.py --clrs BINARY` runs the cases of parity_cases.py. Where dm-clrs fails, ours must exit with code 2. Values must
have the same bits, except for three probes that depend on cosine, sine and arc tangent, which are compared within 1e-12. With one
node dm-clrs drops the node axis of inputs and outputs; only values are compared then.
"""
import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile
import time

import parity_cases
from reference import STAGES, VERSIONS, arrays, build, dataset, np, samplers

INEXACT = {("graham_scan", name) for name in ("x", "y", "atans")} | {("jarvis_march", name) for name in ("x", "y")}
TOLERANCE = 1e-12
USER_ERROR = 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clrs", required=True, help="path of the binary")
    parser.add_argument("--full", action="store_true", help="the large matrix")
    parser.add_argument("--algorithms", help="only these algorithms, comma-separated")
    arguments = parser.parse_args()
    chosen = list(dict.fromkeys(parity_cases.full() if arguments.full else parity_cases.small()))
    if arguments.algorithms:
        chosen = [case for case in chosen if case.algorithm in arguments.algorithms.split(",")]

    print(", ".join(f"{name} {version}" for name, version in VERSIONS.items()) + f": {len(chosen)} cases", flush=True)
    check_comparison()
    totals, failed, last_report = Totals(), 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for done, case in enumerate(chosen):
            differences = compare(case, arguments.clrs, pathlib.Path(folder, "case.npz"), totals)
            failed += bool(differences)
            if differences:
                print(f"DIFFERENT: clrs {' '.join(case.arguments())}", *differences, sep="\n  ", flush=True)
            if time.monotonic() - last_report > 20:
                last_report = time.monotonic()
                print(f"{done + 1} of {len(chosen)} cases, {failed} different", flush=True)
    print(totals)
    if failed:
        sys.exit(f"{failed} of {len(chosen)} cases differ")


class Totals:
    """Counts and times for the last line."""

    def __init__(self):
        self.equal = self.rejected = self.arrays = self.values = 0
        self.reference = self.ours = 0.0

    def __str__(self):
        return (
            f"equal: {self.equal} cases with {self.arrays} arrays of {self.values} values; rejected by both: {self.rejected}; "
            f"dm-clrs took {self.reference:.1f} s, ours {self.ours:.1f} s in {self.equal + self.rejected} processes"
        )


def compare(case, binary, path, totals):
    """Descriptions of all differences."""
    start = time.perf_counter()
    try:
        expected = reference_arrays(case)
    except Exception as error:  # of any type
        expected = error
    middle = time.perf_counter()
    call = [binary, *case.arguments(), "--out", str(path), "--force"]
    ours = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    totals.reference += middle - start
    totals.ours += time.perf_counter() - middle

    if isinstance(expected, Exception):
        if ours.returncode != USER_ERROR or len(ours.stderr.strip().splitlines()) != 1:
            name = type(expected).__name__
            return [f"dm-clrs rejects ({name}: {expected}), ours exits {ours.returncode}: {ours.stderr.strip()}"]
        totals.rejected += 1
        return []
    if ours.returncode:
        return [f"ours exits {ours.returncode}: {ours.stderr.strip()}"]
    with np.load(path) as file:
        found = {name: file[name] for name in file.files}
    totals.equal += 1
    totals.arrays += len(found)
    totals.values += sum(array.size for array in found.values())
    return differences(case.algorithm, expected, found)


def reference_arrays(case):
    """The arrays of dm-clrs, by the names that `clrs sample` uses."""
    options = dict(case.options)
    # Ours accepts a number for a list of one.
    if "p" in options and not isinstance(options["p"], tuple):
        options["p"] = (options["p"],)
    count = -1 if case.stream else case.count
    sampler, spec = build(case.algorithm, count, case.seed, case.size, track_max_steps=case.track_max_steps, **options)
    named = {}
    if "chunk" in case.transforms:
        drawn = (sampler.next(case.next[0]) for _ in itertools.count())
        batch_count = len(case.next)
    else:
        complete_set = [] if case.stream else [sampler.next()]
        drawn = itertools.chain(complete_set, (sampler.next(count) for count in case.next))
        batch_count = len(complete_set) + len(case.next)
    prefixes = [""] * (not case.stream and "chunk" not in case.transforms)
    prefixes += [f"next_{index}/" for index in range(len(case.next))]
    for prefix, feedback in zip(prefixes, itertools.islice(transformed(case, spec, drawn), batch_count), strict=True):
        named |= {prefix + name: array for name, array in arrays(feedback).items()}
    return named


def transformed(case, spec, batches):
    random = np.random.RandomState(case.position_seed)
    for name in case.transforms:
        if name == "random_pos":
            batches = samplers.process_random_pos(batches, random)
        elif name == "pred_as_input":
            spec, batches = samplers.process_pred_as_input(spec, batches)
        elif name in ("permutations", "plain_permutations"):
            spec, batches = samplers.process_permutations(spec, batches, name == "permutations")
        else:
            batches = dataset.chunkify(batches, case.chunk_length)
    return batches


def differences(algorithm, expected, found):
    found_differences = []
    for prefix in sorted({name.rpartition("/")[0] for name in expected | found}):
        of = lambda names: [name for name in names if name.rpartition("/")[0] == prefix]
        stage = prefix.split("/")[-1]
        order = list if stage in STAGES else sorted
        if order(of(expected)) != order(of(found)):
            found_differences.append(f"arrays {of(found)}, reference {of(expected)}")
    for name in expected.keys() & found.keys():
        theirs, ours = expected[name], found[name]
        # With one node dm-clrs drops axes.
        prefix = name.split("/")[0] + "/" if name.startswith("next_") else ""
        nodes = found[f"{prefix}input/pos"].shape[-1] if f"{prefix}input/pos" in found else None
        if nodes == 1 and theirs.size == ours.size:
            theirs = theirs.reshape(ours.shape)
        if (theirs.dtype, theirs.shape) != (ours.dtype, ours.shape):
            found_differences.append(f"{name}: {ours.dtype} {ours.shape}, reference {theirs.dtype} {theirs.shape}")
            continue
        inexact = (algorithm, name.split("/")[-1]) in INEXACT
        wrong = ~(np.abs(theirs - ours) <= TOLERANCE) if inexact else theirs != ours
        if np.any(wrong):
            cell = tuple(int(axis) for axis in np.argwhere(wrong)[0])
            count = int(np.sum(wrong))
            found_differences.append(f"{name}{list(cell)}: {ours[cell]!r}, reference {theirs[cell]!r} ({count} of {ours.size} cells)")
    return found_differences


def check_comparison():
    """Checks that the comparison detects differences."""
    good = {"input/pos": np.arange(4.0), "input/x": np.ones(4), "lengths": np.ones(1)}
    assert not differences("bfs", good, dict(good))
    bad = [
        {**good, "input/x": np.array([1.0, 1.0, 1.0, 1.0 + 2**-52])},
        {**good, "input/x": np.ones(4, dtype=np.float32)},
        {**good, "input/x": np.ones((4, 1))},
        {"input/x": good["input/x"], "input/pos": good["input/pos"], "lengths": good["lengths"]},
        {"input/pos": good["input/pos"], "lengths": good["lengths"]},
        {**good, "input/y": np.ones(4)},
    ]
    for different in bad:
        assert differences("bfs", good, different), different
    nearly = {**good, "input/x": np.ones(4) + 1e-13}
    assert not differences("graham_scan", good, nearly) and differences("graham_scan", good, {**good, "input/x": np.full(4, np.nan)})


if __name__ == "__main__":
    main()
