"""Runs the same network on the same batch in both programs and compares values, time and memory.

dm-clrs records its parameters, batch, loss, gradients and predictions as a fixture. Then training and evaluation are timed,
each program in a separate process. A training step is loss, gradients and update; an evaluation computes the decoded outputs of
the batch. GFLOP/s are the floating-point operations that ours needs divided by its time; the fraction of the peak is relative to the
maximum of as many threads, measured in the same process. The first step of ours is timed from the start of the process, that of
dm-clrs from the end of its imports. Cases that do not fit into the memory of dm-clrs are reported as such, and only
ours is timed.

Two correct programs may resolve a near-tie differently. So dm-clrs also measures how much its gradients change when its
parameters change in the seventh digit (`unsteadiness`); if that exceeds the tolerance of gradients, it replaces it.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MB = 1e6
GB = 1e9
PHASES = ("training", "evaluation")
TOLERANCES = {"loss": 1e-5, "gradients": 1e-4, "logits": 1e-4, "decisions": 0}
NO_MEMORY = (
    "RESOURCE_EXHAUSTED", "Out of memory", "bad_alloc", "MemoryError", "Cannot allocate memory", "Unable to allocate",
    "YNNPACK operation failed",
)  # fmt: skip
"""Messages of processes that run out of memory."""
KILLED = -9
"""Exit code of a process that the system kills for lack of memory."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, help="path of the example `compare` of clrs-nn")
    parser.add_argument("--algorithms", default="bfs")
    parser.add_argument("--processors", default="mpnn")
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--data", choices=("generalist", "canonical"), default="generalist")
    parser.add_argument("--only", choices=PHASES, help="only this phase")
    parser.add_argument("--tries", type=int, default=20, help="seeds to try for a case without near-ties; 0 takes the seed as it is")
    parser.add_argument("--memory", type=float, help="memory limit of dm-clrs in GB; by default four fifths of the available memory")
    parser.add_argument("--no-fused", action="store_true", help="run ours without fused operations")
    parser.add_argument("--json", type=pathlib.Path, help="write the results to this file")
    arguments = parser.parse_args()
    rows = []
    print(HEAD)
    for algorithm in arguments.algorithms.split(","):
        for processor in arguments.processors.split(","):
            case = {
                "algorithm": algorithm, "processor": processor, "size": arguments.size, "hidden": arguments.hidden,
                "batch": arguments.batch, "seed": arguments.seed, "data": arguments.data,
            }  # fmt: skip
            rows.append(compare(case, arguments))
            print(lines(rows[-1]), flush=True)
            means = {phase: geometric_mean([row[phase]["ratio"] for row in rows if phase in row]) for phase in PHASES}
            if arguments.json:  # after every case, in case a later one fails
                report = {
                    "cores": os.cpu_count(), "fused": not arguments.no_fused, "rounds": arguments.rounds,
                    "mean_ratios": means, "rows": rows,
                }  # fmt: skip
                arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    print(summary(rows, means))
    different = sum(row["same"] is False for row in rows)
    if different:
        sys.exit(f"{different} of {len(rows)} cases differ by more than the tolerance")


def compare(case, arguments):
    phases = (arguments.only,) if arguments.only else PHASES
    reference = Reference(arguments.memory)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fixture.safetensors"
        only = ["--only", arguments.only] if arguments.only else []
        options = ["--case", json.dumps(case), "--out", str(path)]
        recorded = reference.run([*options, *only, "--tries", str(arguments.tries)])
        if recorded is None:
            # Ours needs at least the parameters and the batch.
            recorded = reference.run([*options, "--no-outcome"])
        if recorded is None:
            sys.exit(f"not enough memory for the parameters of {case}")
        # Recording may choose another seed: both programs are timed on the recorded batch.
        recorded = json.loads(recorded.splitlines()[-1])
        case = case | {"seed": recorded["seed"]}
        row = {"case": case, "unsteadiness": recorded.get("unsteadiness"), "differences": {}}
        for phase in phases:
            # Ours is timed before and after dm-clrs, since the speed of a machine changes over time. It is fast enough for
            # twice as many rounds, and allocates memory in the first ones.
            command = [arguments.ours, str(path), phase, str(2 * arguments.rounds), *["no-fused"] * arguments.no_fused]
            before = json.loads(run(command))
            theirs = reference.run(["--case", json.dumps(case), "--time", str(arguments.rounds), "--only", phase])
            ours = json.loads(run(command))
            ours["milliseconds"] = before["milliseconds"] + ours["milliseconds"]
            row[phase] = side_by_side(phase, theirs and json.loads(theirs.splitlines()[-1]), ours)
            row["differences"] |= row[phase]["ours"].pop("differences") or {}
    differences = row["differences"]
    tolerances = TOLERANCES | {"gradients": max(TOLERANCES["gradients"], row["unsteadiness"] or 0.0)}
    # JSON has null for NaN.
    within = lambda name: differences[name] is not None and differences[name] <= tolerances[name]
    row["same"] = all(within(name) for name in tolerances if name in differences) if differences else None
    return row


def side_by_side(phase, theirs, ours):
    """Results of both programs for one phase; `None` for dm-clrs if it runs out of memory."""
    milliseconds = statistics.median(ours["milliseconds"])
    found = {"reference": None, "ours": ours, "ratio": None, "gflops": None, "share_of_peak": None}
    if theirs:
        found["reference"] = theirs.pop(phase) | theirs
        found["reference"]["first_seconds"] += theirs["initialize_seconds"]
        found["ratio"] = statistics.median(found["reference"]["milliseconds"]) / milliseconds
    if ours["operations"]:
        found["gflops"] = ours["operations"] / milliseconds / 1e6
        found["share_of_peak"] = found["gflops"] * 1e9 / ours["peak_operations_per_second"]
    return found


class Reference:
    """Runs `record_networks.py` with a memory limit, so that a case that does not fit does not take down the machine."""

    def __init__(self, gigabytes):
        self.bytes = int(gigabytes * GB) if gigabytes else free_bytes() * 4 // 5

    def run(self, options):
        """Its output, or `None` if it runs out of memory."""
        command = [sys.executable, str(HERE / "record_networks.py"), *options]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=self.limit)
        if not process.returncode:
            return process.stdout
        if process.returncode == KILLED or any(message in process.stderr for message in NO_MEMORY):
            return None
        sys.exit(f"{process.stderr}\nthe reference failed with exit code {process.returncode}")

    def limit(self):
        import resource  # not available on every system

        resource.setrlimit(resource.RLIMIT_DATA, (self.bytes, self.bytes))


def free_bytes():
    """Available memory on Linux, total memory elsewhere."""
    try:
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def run(command):
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if process.returncode:
        sys.exit(f"{command[0]} failed with exit code {process.returncode}")
    return process.stdout


def geometric_mean(ratios):
    """Geometric mean without missing ratios."""
    ratios = [ratio for ratio in ratios if ratio]
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def summary(rows, means):
    count = lambda phase: sum(phase in row and row[phase]["ratio"] is not None for row in rows)
    text = [f"{phase} {mean:.1f}x (of {count(phase)})" for phase, mean in means.items() if mean]
    return f"geometric mean of the ratios: {', '.join(text) or '-'}"


HEAD = (
    f"{'':56} {'milliseconds':^26} {'ours':^14} {'peak, MB':^22} {'first, s':^15}\n"
    f"{'algorithm':30}{'processor':16}{'':10} {'theirs':>12} {'ours':>7} {'ratio':>6} {'GFLOP/s':>8} {'peak':>5} "
    f"{'theirs':>13} {'ours':>7} {'theirs':>7} {'ours':>6}  differences"
)


def lines(row):
    """One line per phase."""
    names = f"{row['case']['algorithm']:30}{row['case']['processor']:16}"
    phases = [phase for phase in PHASES if phase in row]
    return "\n".join((names if phase == phases[0] else " " * len(names)) + line(row, phase) for phase in phases)


def line(row, phase):
    found, median = row[phase], statistics.median
    theirs, ours = found["reference"], found["ours"]
    show = lambda value, text: "-" if value is None else text.format(value)
    names = ("loss", "gradients") if phase == "training" else ("logits", "decisions")
    formats = {"decisions": "{}"}
    differences = ", ".join(
        f"{name} {show(row['differences'][name], formats.get(name, '{:.1e}'))}" for name in names if name in row["differences"]
    )
    if phase == "training" and differences and row["unsteadiness"] is not None:
        differences += f" (unsteadiness of dm-clrs: {row['unsteadiness']:.1e})"
    return (
        f"{phase:10} {'does not fit' if theirs is None else format(median(theirs['milliseconds']), '.1f'):>12} "
        f"{median(ours['milliseconds']):7.1f} {show(found['ratio'], '{:.1f}x'):>6} "
        f"{show(found['gflops'], '{:.1f}'):>8} {show(found['share_of_peak'], '{:.0%}'):>5} "
        f"{show(theirs and theirs['peak_bytes'] / MB, '{:.0f}'):>13} {ours['peak_bytes'] / MB:7.0f} "
        f"{show(theirs and theirs['first_seconds'], '{:.1f}'):>7} {ours['first_seconds']:6.2f}  "
        f"{differences or 'nothing to compare'}{'  DIFFERENT' if row['same'] is False else ''}"
    )


if __name__ == "__main__":
    main()
