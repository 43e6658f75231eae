"""Both programs on the same network and batch: how far apart, how fast, how large.

The reference records its parameters, batch, loss, gradients and predictions; then training and evaluation are timed, each program
in a process of its own. A step of training is loss, gradients and update; an evaluation is what the outputs of the batch are,
decided. GFLOP/s are the floating-point operations that ours needs over its time, the share is that of what as many threads can
do at most, measured in the same process. The first step of ours counts from the start of the process, that of the reference from
after its imports. What the reference has no memory for is said so, and ours is timed alone.

Two right programs may fall on two sides of a near-tie. So the reference is asked how far its own gradients go when its parameters
change in the seventh digit: ours may be as far from them, where that is more than is allowed otherwise.
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
PARTS = ("training", "evaluation")
ALLOWED = {"loss": 1e-5, "gradients": 1e-4, "logits": 1e-4, "decisions": 0}
NO_MEMORY = ("RESOURCE_EXHAUSTED", "Out of memory", "bad_alloc", "MemoryError", "Cannot allocate memory", "Unable to allocate", "YNNPACK operation failed")
"""What a process says that is refused memory."""
KILLED = -9
"""How a process ends that the system stops because memory runs out."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, help="our side: the example `compare`")
    parser.add_argument("--algorithms", default="bfs")
    parser.add_argument("--processors", default="mpnn")
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--data", choices=("generalist", "canonical"), default="generalist")
    parser.add_argument("--only", choices=PARTS, help="this part alone, in both programs")
    parser.add_argument("--tries", type=int, default=20, help="seeds to try for one without near-ties; 0: do not look for them at all")
    parser.add_argument("--memory", type=float, help="GB that the reference may take; four fifths of what is free if not said")
    parser.add_argument("--no-fused", action="store_true", help="ours in ordinary operations")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers there, too")
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
            means = {part: geometric_mean([row[part]["ratio"] for row in rows if part in row]) for part in PARTS}
            if arguments.json:  # what is measured is kept, whatever comes
                report = {"cores": os.cpu_count(), "fused": not arguments.no_fused, "rounds": arguments.rounds, "mean_ratios": means, "rows": rows}
                arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    print(summary(rows, means))
    different = sum(row["same"] is False for row in rows)
    if different:
        sys.exit(f"{different} of {len(rows)} are further apart than allowed")


def compare(case, arguments):
    parts = (arguments.only,) if arguments.only else PARTS
    reference = Reference(arguments.memory)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "recording.safetensors"
        only = ["--only", arguments.only] if arguments.only else []
        words = ["--case", json.dumps(case), "--out", str(path)]
        recorded = reference.run([*words, *only, "--tries", str(arguments.tries)])
        if recorded is None:
            # Ours needs something to start from.
            recorded = reference.run([*words, "--no-outcome"])
        if recorded is None:
            sys.exit(f"there is not even memory for the parameters of {case}")
        # Seeds are tried until nothing is nearly tied: both programs are timed on the batch that was recorded.
        recorded = json.loads(recorded.splitlines()[-1])
        case = case | {"seed": recorded["seed"]}
        row = {"case": case, "unsteadiness": recorded.get("unsteadiness"), "differences": {}}
        for part in parts:
            # Ours before and after the reference, since machines are faster at one time than at another; twice as many rounds each,
            # since it is quick enough, and the first ones still ask the system for memory.
            words = [arguments.ours, str(path), part, str(2 * arguments.rounds), *["no-fused"] * arguments.no_fused]
            before = json.loads(run(words))
            theirs = reference.run(["--case", json.dumps(case), "--time", str(arguments.rounds), "--only", part])
            ours = json.loads(run(words))
            ours["milliseconds"] = before["milliseconds"] + ours["milliseconds"]
            row[part] = beside(part, theirs and json.loads(theirs.splitlines()[-1]), ours)
            row["differences"] |= row[part]["ours"].pop("differences") or {}
    apart, allowed = row["differences"], ALLOWED | {"gradients": max(ALLOWED["gradients"], row["unsteadiness"] or 0.0)}
    # A number that is not one is written as none.
    row["same"] = all(apart[name] is not None and apart[name] <= most for name, most in allowed.items() if name in apart) if apart else None
    return row


def beside(part, theirs, ours):
    """One part of both programs; nothing of the reference if that has no memory for it."""
    middle = statistics.median
    milliseconds = middle(ours["milliseconds"])
    found = {"reference": None, "ours": ours, "ratio": None, "gflops": None, "share_of_peak": None}
    if theirs:
        found["reference"] = theirs.pop(part) | theirs
        found["reference"]["first_seconds"] += theirs["initialise_seconds"]
        found["ratio"] = middle(found["reference"]["milliseconds"]) / milliseconds
    if ours["operations"]:
        found["gflops"] = ours["operations"] / milliseconds / 1e6
        found["share_of_peak"] = found["gflops"] * 1e9 / ours["peak_operations_per_second"]
    return found


class Reference:
    """Runs `record_networks.py` with so much memory and no more: the machine is to survive what does not fit."""

    def __init__(self, gigabytes):
        self.bytes = int(gigabytes * GB) if gigabytes else free_bytes() * 4 // 5

    def run(self, words):
        """What it prints, or nothing if memory is not enough."""
        words = [sys.executable, str(HERE / "record_networks.py"), *words]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=self.limit)
        if not done.returncode:
            return done.stdout
        if done.returncode == KILLED or any(words in done.stderr for words in NO_MEMORY):
            return None
        sys.exit(f"{done.stderr}\nthe reference ended with {done.returncode}")

    def limit(self):
        import resource  # not on every system

        resource.setrlimit(resource.RLIMIT_DATA, (self.bytes, self.bytes))


def free_bytes():
    """Memory that can be taken without taking it from others, where Linux tells it; or all there is."""
    try:
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def run(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{words[0]} ended with {done.returncode}")
    return done.stdout


def geometric_mean(ratios):
    """Of the ratios that there are."""
    ratios = [ratio for ratio in ratios if ratio]
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def summary(rows, means):
    count = lambda part: sum(part in row and row[part]["ratio"] is not None for row in rows)
    shown = [f"{part} {mean:.1f}x (of {count(part)})" for part, mean in means.items() if mean]
    return f"geometric mean of the ratios: {', '.join(shown) or '-'}"


HEAD = (
    f"{'':56} {'milliseconds':^26} {'ours':^14} {'peak, MB':^22} {'first, s':^15}\n"
    f"{'algorithm':30}{'processor':16}{'':10} {'theirs':>12} {'ours':>7} {'ratio':>6} {'GFLOP/s':>8} {'peak':>5} "
    f"{'theirs':>13} {'ours':>7} {'theirs':>7} {'ours':>6}  differences"
)


def lines(row):
    """A line for each part."""
    names = f"{row['case']['algorithm']:30}{row['case']['processor']:16}"
    parts = [part for part in PARTS if part in row]
    return "\n".join((names if part == parts[0] else " " * len(names)) + line(row, part) for part in parts)


def line(row, part):
    found, middle = row[part], statistics.median
    theirs, ours = found["reference"], found["ours"]
    shown = lambda value, text: "-" if value is None else text.format(value)
    names = ("loss", "gradients") if part == "training" else ("logits", "decisions")
    apart = ", ".join(f"{name} {shown(row['differences'][name], '{:.1e}' if name != 'decisions' else '{}')}" for name in names if name in row["differences"])
    if part == "training" and apart and row["unsteadiness"] is not None:
        apart += f" (the reference's own: {row['unsteadiness']:.1e})"
    return (
        f"{part:10} {'does not fit' if theirs is None else format(middle(theirs['milliseconds']), '.1f'):>12} "
        f"{middle(ours['milliseconds']):7.1f} {shown(found['ratio'], '{:.1f}x'):>6} "
        f"{shown(found['gflops'], '{:.1f}'):>8} {shown(found['share_of_peak'], '{:.0%}'):>5} "
        f"{shown(theirs and theirs['peak_bytes'] / MB, '{:.0f}'):>13} {ours['peak_bytes'] / MB:7.0f} "
        f"{shown(theirs and theirs['first_seconds'], '{:.1f}'):>7} {ours['first_seconds']:6.2f}  "
        f"{apart or 'nothing to compare with'}{'  NOT THE SAME' if row['same'] is False else ''}"
    )


if __name__ == "__main__":
    main()
