"""Compares `clrs text` with dm-clrs, string by string: samples in both formats, streams, JSON files, and the sizes of the benchmark.

`text_parity.py --clrs BINARY --old FOLDER` runs the small matrix, `--full` the large one; FOLDER has dm-clrs 2.0.1, whose formatter
is applied to the samples of the installed version. Questions and answers must be equal, with two exceptions that are counted:

- Six algorithms call an unstable sort. Where numbers are truncated, equal keys occur, and their order depends on the CPU.
- Points of convex hulls are computed with sine and cosine. Those of NumPy are off by one unit in the last place in about one of 700
  angles; which ones depends on the C library and the CPU. This shows with all decimals.

Texts that differ must be equal to those of dm-clrs with a stable sort and correctly rounded sines and cosines.
"""
import argparse
import collections
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from reference import VERSIONS, np, quiet_stderr, specs
from text_samples import draw, load_old

with quiet_stderr():
    import datasets
    import pyarrow.parquet
    from absl import flags, logging
    from clrs._src.clrs_text import clrs_utils, generate_clrs_text, huggingface_generators

HULLS = ("graham_scan", "jarvis_march")
UNSTABLE = ("activity_selector", "dijkstra", "graham_scan", "mst_kruskal", "mst_prim", "task_scheduling")
FORMATS = ("text@2.0.3", "text@2.0.1")

TRAIN = generate_clrs_text._DEFAULT_TRAIN_ALGOS_AND_LENGTHS

# The last one has equal keys, the one before it hulls with all decimals; the others are equal completely.
STREAMS = [
    dict(algos_and_lengths={"bfs": [4, 5], "minimum": [4, 5, 6]}, seed=0, use_hints=False, num_decimals_in_float=3),
    dict(algos_and_lengths={"insertion_sort": [5, 9], "topological_sort": [7], "binary_search": [4, 16, 33], "lcs_length": [8]},
         seed=42, use_hints=True, num_decimals_in_float=3),
    dict(algos_and_lengths=TRAIN, seed=7, use_hints=True, num_decimals_in_float=None),
    dict(algos_and_lengths=TRAIN, seed=0, use_hints=True, num_decimals_in_float=3),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clrs", required=True, help="path of the binary")
    parser.add_argument("--old", required=True, type=pathlib.Path, help="folder with dm-clrs 2.0.1")
    parser.add_argument("--full", action="store_true", help="the large matrix")
    parser.add_argument("--algorithms", help="only samples of these algorithms, comma-separated")
    arguments = parser.parse_args()
    logging.set_verbosity(logging.FATAL)
    comparison = Comparison(arguments.clrs, load_old(arguments.old))
    algorithms = arguments.algorithms.split(",") if arguments.algorithms else list(specs.SPECS)

    print(", ".join(f"{name} {version}" for name, version in VERSIONS.items()), flush=True)
    for case in cases(algorithms, arguments.full):
        comparison.samples(*case)
    print(comparison, flush=True)
    if not arguments.algorithms:
        comparison.sizes()
        comparison.parquet()
        for stream in STREAMS:
            comparison.stream(stream, 10_000 if arguments.full else 150)
        if arguments.full:
            comparison.json({"bridges": None}, hints=True, decimals=None, samples=-1, seeds=[])
            comparison.json({"insertion_sort": None}, hints=False, decimals=None, samples=-1, seeds=[])
        comparison.json({"bfs": [4, 7], "optimal_bst": [5]}, hints=True, decimals=3, samples=4, seeds=[0, 9])
    if comparison.failed:
        sys.exit(f"{comparison.failed} differences")


def cases(algorithms, full):
    """Algorithm, size, seed, decimals and number of samples."""
    sizes = generate_clrs_text._DEFAULT_VAL_ALGOS_AND_LENGTHS
    for algorithm in algorithms:
        # Algorithms that are not part of the benchmark have small sizes; a bipartite graph has two more nodes.
        of_algorithm = sizes.get(algorithm, range(6, 12))
        if not full:
            of_algorithm = [of_algorithm[0], of_algorithm[len(of_algorithm) // 2]]
        for size in of_algorithm:
            for decimals in (None, 3):
                for seed in (0, 3, 81) if full else (3,):
                    yield algorithm, size, seed, decimals, 5 if full else 3


class Counts:
    """Outcomes of comparisons."""

    def __init__(self):
        self.equal = self.ties = self.last_bit = self.different = 0
        self.plain_ties = 0  # of the ties, those without hints


class Comparison:
    def __init__(self, binary, old):
        self.binary, self.old = binary, old
        self.counts = collections.defaultdict(Counts)
        self.failed = 0
        self.last_report = time.monotonic()
        self.cases = 0

    def __str__(self):
        total = Counts()
        for counts in self.counts.values():
            for name, value in vars(counts).items():
                setattr(total, name, getattr(total, name) + value)
        lines = [
            f"{total.equal} of {total.equal + total.ties + total.last_bit + total.different} texts are equal; "
            f"{total.ties} are with a stable sort; {total.last_bit} are with correctly rounded sines and cosines; "
            f"{total.different} differ"
        ]
        for (algorithm, decimals), counts in self.counts.items():
            if counts.ties or counts.last_bit or counts.different:
                texts = counts.equal + counts.ties + counts.last_bit + counts.different
                lines.append(
                    f"  {algorithm}, {decimals or 'all'} decimals: {counts.equal} of {texts} equal, {counts.ties} ties "
                    f"({counts.plain_ties} without hints), "
                    f"{counts.last_bit} last bits, {counts.different} different"
                )
        return "\n".join(lines)

    def run(self, *arguments):
        call = [self.binary, "text", *map(str, arguments)]
        done = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(call)} failed: {done.stderr.strip()}")
        return done.stdout

    def samples(self, algorithm, size, seed, decimals, count):
        """Compares the first samples of a sampler, with and without hints, in all formats."""
        samples, portable = draw(algorithm, size, seed, decimals, count), None
        for hints in (False, True):
            for format_, formatter in zip(FORMATS, (clrs_utils, self.old)):
                if format_ == "text@2.0.1" and decimals:
                    continue  # 2.0.1 does not truncate
                texts = lambda samples: [formatter.format_clrs_example(algorithm, sample, hints) for sample in samples]
                arguments = ["sample", algorithm, "-n", size, "--seed", seed, "--count", count, "--format", format_]
                arguments += ["--hints"] * hints + ["--decimals", decimals] * bool(decimals)
                ours = [json.loads(line) for line in self.run(*arguments).splitlines()]
                identity = dict(algorithm=algorithm, size=size, seed=seed)
                assert [{**row, "question": "", "answer": ""} for row in ours] == [
                    {**identity, "index": index, "question": "", "answer": ""} for index in range(count)
                ], ours
                counts = self.counts[algorithm, decimals]
                for index, (expected, row) in enumerate(zip(texts(samples), ours)):
                    found = row["question"], row["answer"]
                    if found == expected:
                        counts.equal += 1
                        continue
                    if portable is None and may_differ(algorithm, decimals):
                        with portable_numpy():
                            portable = draw(algorithm, size, seed, decimals, count)
                    if portable is None or texts(portable)[index] != found:
                        counts.different += 1
                        self.fail(f"clrs text {' '.join(map(str, arguments))}, sample {index}", expected, found)
                    elif decimals:
                        counts.ties += 1
                        counts.plain_ties += not hints
                    else:
                        counts.last_bit += 1
        self.cases += 1
        if time.monotonic() - self.last_report > 20:
            self.last_report = time.monotonic()
            print(f"{self.cases} cases, at {algorithm} {size}, {self.failed} different", flush=True)

    def fail(self, case, expected, found):
        self.failed += 1
        if self.failed <= 10:
            print(f"DIFFERENT: {case}\n  dm-clrs {expected!r}\n  ours    {found!r}", flush=True)

    def sizes(self):
        """Compares algorithms and sizes of the benchmark, in order."""
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["--benchmark", "clrs-text", "--count", 1, "--seed", 0, "--file-format", "jsonl", "--json"]
            written = json.loads(self.run("generate", *arguments, "--out", folder))["files"]
            for split in ("train", "val"):
                expected = getattr(generate_clrs_text, f"_DEFAULT_{split.upper()}_ALGOS_AND_LENGTHS")
                found = {}
                for path in (pathlib.Path(file["path"]) for file in written):
                    if path.parent.name == split:
                        found[path.stem] = [json.loads(line)["size"] for line in path.read_text().splitlines()]
                if list(found.items()) != list(expected.items()):
                    self.fail(f"algorithms and sizes of {split}", expected, found)
        print(f"sizes of the benchmark: {sum(map(len, found.values()))} in val", flush=True)

    def parquet(self):
        """Compares a Parquet file, as other programs read it, with JSON lines."""
        with tempfile.TemporaryDirectory() as folder:
            for format_ in ("parquet", "jsonl"):
                arguments = ["--stream", "--lengths", "bfs=4,9", "--lengths", "heapsort=6", "--count", 5000, "--hints", "--quiet"]
                self.run("generate", *arguments, "--file-format", format_, "--out", folder)
            datasets.disable_progress_bars()
            found = datasets.Dataset.from_parquet(f"{folder}/stream.parquet", cache_dir=folder)
            expected = [json.loads(line) for line in pathlib.Path(folder, "stream.jsonl").read_text().splitlines()]
            if found.to_list() != expected:
                self.fail("rows of a Parquet file", expected[0], found[0])
            metadata = pyarrow.parquet.read_metadata(f"{folder}/stream.parquet").metadata
            if json.loads(metadata[b"clrs.text"])["text"]["format"] != "text@2.0.3":
                self.fail("metadata of a Parquet file", "the settings", metadata)
        print(f"Parquet: {len(expected)} rows are read by datasets {datasets.__version__}", flush=True)

    def stream(self, settings, count):
        """Compares the first rows of a stream."""
        rows = lambda: [
            (row["algo_name"], int(row["length"]), row["question"], row["answer"], row["text"])
            for row in huggingface_generators.clrs_generator(num_samples=count, **settings)
        ]
        with quiet_stderr():
            expected, portable = rows(), None
        lengths = [f"{algorithm}={','.join(map(str, sizes))}" for algorithm, sizes in settings["algos_and_lengths"].items()]
        arguments = [argument for of_algorithm in lengths for argument in ("--lengths", of_algorithm)]
        arguments += ["--decimals", settings["num_decimals_in_float"] or 0] + ["--hints"] * settings["use_hints"]
        with tempfile.TemporaryDirectory() as folder:
            common = ["--stream", "--count", count, "--seed", settings["seed"], "--file-format", "jsonl", "--out", folder]
            self.run("generate", *common, *arguments, "--quiet")
            found = [json.loads(line) for line in pathlib.Path(folder, "stream.jsonl").read_text().splitlines()]
        equal = 0
        for index, (row, ours) in enumerate(zip(expected, found, strict=True)):
            ours = ours["algorithm"], ours["size"], ours["question"], ours["answer"], ours["question"] + ours["answer"]
            if row == ours:
                equal += 1
                continue
            if portable is None:
                with quiet_stderr(), portable_numpy():
                    portable = rows()
            if not may_differ(row[0], settings["num_decimals_in_float"]) or portable[index] != ours:
                self.fail(f"row {index} of a stream", row, ours)
        print(f"stream with seed {settings['seed']}: {equal} of {count} rows are equal", flush=True)

    def json(self, lengths, hints, decimals, samples, seeds):
        """Compares JSON files of dm-clrs with ours, byte by byte."""
        defaults = generate_clrs_text._DEFAULT_VAL_ALGOS_AND_LENGTHS
        lengths = {algorithm: sizes or defaults[algorithm] for algorithm, sizes in lengths.items()}
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = pathlib.Path(folder, "dm-clrs"), pathlib.Path(folder, "ours")
            call = ["generate", "--split_name=val", f"--path_to_save={theirs}", f"--number_of_samples={samples}"]
            call += ["--use_hints" if hints else "--nouse_hints", f"--seeds={','.join(map(str, seeds))}"]
            flags.FLAGS.unparse_flags()
            flags.FLAGS([*call, f"--num_decimals_in_float={decimals}"] if decimals else call)
            generate_clrs_text._DEFAULT_VAL_ALGOS_AND_LENGTHS = lengths
            try:
                with quiet_stderr():
                    generate_clrs_text.main([])
            finally:
                generate_clrs_text._DEFAULT_VAL_ALGOS_AND_LENGTHS = defaults
            arguments = ["--hints"] * hints + ["--decimals", decimals] * bool(decimals) + ["--file-format", "json", "--quiet"]
            if samples == -1:
                arguments += ["--benchmark", "clrs-text", "--split", "val", "--algorithms", ",".join(lengths), "--out", ours]
            else:
                arguments += [f"--lengths={algorithm}={','.join(map(str, sizes))}" for algorithm, sizes in lengths.items()]
                arguments += ["--count", samples, "--seed", ",".join(map(str, seeds)), "--out", ours / "val"]
            self.run("generate", *arguments)
            for algorithm in lengths:
                expected, found = ((root / "val" / f"{algorithm}.json").read_bytes() for root in (theirs, ours))
                if expected != found:
                    at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
                    self.fail(f"{algorithm}.json, byte {at}", expected[max(0, at - 80) : at + 80], found[max(0, at - 80) : at + 80])
                else:
                    print(f"{algorithm}.json: {len(expected)} bytes are equal", flush=True)


def may_differ(algorithm, decimals):
    """Whether results depend on the system: on the order of equal keys, or on the last bit of a sine."""
    return algorithm in (UNSTABLE if decimals else HULLS)


@contextlib.contextmanager
def portable_numpy():
    """NumPy with functions that have the same results everywhere: a stable sort, correctly rounded sines and cosines."""
    originals = {name: getattr(np, name) for name in ("argsort", "sin", "cos")}
    np.argsort = lambda a, *rest, **options: originals["argsort"](a, *rest, **{**options, "kind": "stable"})
    np.sin = lambda angles: np.array([taylor(angle, 1) for angle in angles.tolist()])
    np.cos = lambda angles: np.array([taylor(angle, 0) for angle in angles.tolist()])
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(np, name, original)


def taylor(angle, degree):
    """Sine (degree 1) or cosine (degree 0) of a positive angle, by the Taylor series from the given degree on.

    Terms are integers with 200 binary places. The quotient of two integers is correctly rounded.
    """
    one = 1 << 200
    numerator, denominator = angle.as_integer_ratio()
    angle = one * numerator // denominator
    term, sign, total = (angle if degree else one), 1, 0
    while term:
        total += sign * term
        degree += 2
        term, sign = term * angle * angle // (one * one * degree * (degree - 1)), -sign
    return total / one


if __name__ == "__main__":
    main()
