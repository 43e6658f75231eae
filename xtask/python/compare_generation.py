"""Makes the benchmark's sets with both programs, compares them array by array, and times both.

The reference makes each set in memory and frees it before the next; its import is not counted, and its peak memory begins at
what it holds already. Ours writes each set to disk and waits for the disk, a process of its own per set, start included; the
time without the start is what the process itself measures. Then ours makes the three sets of each algorithm in one command
(the middle of three tries), and at the end all sets in one.
"""
import argparse
import dataclasses
import gc
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

from launcher import Launcher
from reference import VERSIONS, arrays, build, np
from record_clrs30 import digest, sets
from parity import INEXACT, differences

MB = 1e6


@dataclasses.dataclass
class Row:
    """One set, made by both."""

    name: str
    samples: int
    reference_seconds: float
    reference_cpu_seconds: float
    reference_bytes: int  # dense arrays in memory
    reference_peak_bytes: int
    ours_seconds: float
    ours_seconds_without_start: float
    ours_cpu_seconds: float
    ours_bytes: int  # on disk
    ours_peak_bytes: int
    differences: list

    def ratio(self):
        return self.reference_seconds / self.ours_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clrs", required=True, help="the binary")
    parser.add_argument("--algorithms", help="only these, comma-separated")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers there, too")
    arguments = parser.parse_args()
    chosen = list(sets())
    if arguments.algorithms:
        chosen = [of for of in chosen if of[0] in arguments.algorithms.split(",")]
    algorithms = list(dict.fromkeys(of[0] for of in chosen))

    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.clrs, pathlib.Path(folder))
        print(HEAD)
        rows = []
        for of in chosen:
            rows.append(make(*of, program))
            print(line(rows[-1]), flush=True)
        commands = {algorithm: middle(program.benchmark(algorithm) for _ in range(3)) for algorithm in algorithms}
        whole = program.benchmark(",".join(algorithms))
        program.launcher.close()

    theirs = sum(row.reference_seconds for row in rows)
    totals = Row(
        "all, one by one", sum(row.samples for row in rows), theirs, sum(row.reference_cpu_seconds for row in rows),
        sum(row.reference_bytes for row in rows), max(row.reference_peak_bytes for row in rows),
        sum(row.ours_seconds for row in rows), sum(row.ours_seconds_without_start for row in rows),
        sum(row.ours_cpu_seconds for row in rows), sum(row.ours_bytes for row in rows),
        max(row.ours_peak_bytes for row in rows), [words for row in rows for words in row.differences],
    )  # fmt: skip
    together = dataclasses.replace(
        totals, name="all, one command", ours_seconds=whole.seconds, ours_seconds_without_start=whole.own_seconds,
        ours_cpu_seconds=whole.cpu_seconds, ours_bytes=whole.bytes, ours_peak_bytes=whole.peak_bytes,
    )  # fmt: skip
    print(line(totals), line(together), sep="\n")
    ratios = {
        algorithm: Ratios([row for row, of in zip(rows, chosen) if of[0] == algorithm], commands[algorithm])
        for algorithm in algorithms
    }
    for what in ("wall", "without_start", "cpu"):
        ordered = sorted((getattr(of, what), algorithm) for algorithm, of in ratios.items())
        words = ", ".join(f"{algorithm} {ratio:.0f}x" for ratio, algorithm in ordered[:10])
        print(f"least ratios of an algorithm's three sets in one command, {what.replace('_', ' ')}: {words}")
    if arguments.json:
        report = {
            "versions": VERSIONS,
            "python": platform.python_version(),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "ratios_by_algorithm": {algorithm: vars(of) for algorithm, of in ratios.items()},
            "sets": [dataclasses.asdict(row) for row in rows],
            "one_by_one": dataclasses.asdict(totals),
            "one_command": dataclasses.asdict(together),
        }
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    if totals.differences:
        sys.exit(f"{len(totals.differences)} arrays are different")


class Ratios:
    """How many times as long the reference takes for some sets as a command of ours."""

    def __init__(self, rows, ours):
        seconds = sum(row.reference_seconds for row in rows)
        self.wall = seconds / ours.seconds
        self.without_start = seconds / ours.own_seconds
        self.cpu = sum(row.reference_cpu_seconds for row in rows) / ours.cpu_seconds


def middle(costs):
    return sorted(costs, key=lambda cost: cost.seconds)[1]


def make(algorithm, split, count, size, seed, program):
    """One set by both programs."""
    name = f"{algorithm}_{split}"
    setting = ["--size", str(size), "--count", str(count), "--seed", str(seed)]
    ours = program.generate(["--algorithms", algorithm, "--name", split, *setting])
    gc.collect()
    reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    sampler, _ = build(algorithm, count, seed, size)
    feedback = sampler.next()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak, expected = peak_bytes(), arrays(feedback)
    return Row(
        name, count, wall, cpu, sum(array.nbytes for array in expected.values()), peak,
        ours.seconds, ours.own_seconds, ours.cpu_seconds, ours.bytes, ours.peak_bytes,
        [f"{name}: {words}" for words in program.compare(algorithm, size, count, seed, expected)],
    )  # fmt: skip


@dataclasses.dataclass
class Cost:
    """What a process took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    own_seconds: float  # what it measured itself
    bytes: int


class Program:
    """The binary `clrs`."""

    def __init__(self, path, folder):
        self.path, self.folder, self.launcher = path, folder, Launcher()

    def benchmark(self, algorithms):
        """Writes the benchmark's sets of some algorithms."""
        return self.generate(["--benchmark", "clrs30", "--algorithms", algorithms])

    def generate(self, which):
        """Writes sets, and takes them away again."""
        out = self.folder / "generated"
        words = ["generate", *which, "--json", "--out", str(out)]
        took = self.launcher.run([self.path, *words])
        if took["exit_code"]:
            sys.exit(f"clrs {' '.join(words)}: exit code {took['exit_code']}")
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        shutil.rmtree(out)
        own = json.loads(took["printed"])["seconds"]
        return Cost(took["seconds"], took["cpu_seconds"], took["peak_bytes"], own, size)

    def compare(self, algorithm, size, count, seed, expected):
        """What is different between the reference's arrays and ours, by digest; inexact ones by value."""
        words = ["sample", algorithm, "--size", str(size), "--count", str(count), "--seed", str(seed)]
        found = json.loads(subprocess.run([self.path, *words, "--digest"], check=True, capture_output=True).stdout)
        found.pop("total")
        if sorted(found) != sorted(expected):
            return [f"arrays {sorted(found)}, reference {sorted(expected)}"]
        inexact = {name for name in expected if (algorithm, name.split("/")[-1]) in INEXACT}
        different = [name for name in expected if name not in inexact and digest(expected[name]).hex() != found[name]]
        if inexact:
            out = self.folder / "set.npz"
            subprocess.run([self.path, *words, "--out", str(out), "--force"], check=True)
            with np.load(out) as file:
                some = {name: file[name] for name in sorted(inexact)}
            different += differences(algorithm, {name: expected[name] for name in some}, some)
        return different


def reset_peak():
    """From here on, `peak_bytes` is that of the next set. Linux can; elsewhere it is the peak since the start."""
    try:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def peak_bytes():
    try:
        status = pathlib.Path("/proc/self/status").read_text()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


HEAD = (
    f"{'':36}{'':>8} {'reference':^29} {'ours':^37} {'':>8}\n"
    f"{'set':36}{'samples':>8} {'s':>7} {'CPU s':>7} {'MB':>6} {'peak':>6} "
    f"{'s':>8} {'no start':>8} {'CPU s':>7} {'MB':>6} {'peak':>5} {'ratio':>7}  equal"
)


def line(row):
    return (
        f"{row.name:36}{row.samples:8} {row.reference_seconds:7.2f} {row.reference_cpu_seconds:7.2f} "
        f"{row.reference_bytes / MB:6.0f} {row.reference_peak_bytes / MB:6.0f} {row.ours_seconds:8.4f} "
        f"{row.ours_seconds_without_start:8.4f} {row.ours_cpu_seconds:7.3f} {row.ours_bytes / MB:6.2f} "
        f"{row.ours_peak_bytes / MB:5.0f} {row.ratio():6.0f}x  {'yes' if not row.differences else 'NO: ' + row.differences[0]}"
    )


if __name__ == "__main__":
    main()
