"""Both programs on the same network and batch: how far apart, how fast, how large.

The reference records its parameters, batch, loss, gradients and predictions, and is timed in a process of its own; ours reads
the recording, computes the same and is timed in another. A step of training is loss, gradients and update; an evaluation is
what the outputs of the batch are, decided. The first step of ours counts from the start of the process, that of the reference
from after its imports.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MB = 1e6


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
    parser.add_argument("--no-fused", action="store_true", help="ours in ordinary operations")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers there, too")
    arguments = parser.parse_args()
    rows, different = [], 0
    print(HEAD)
    for algorithm in arguments.algorithms.split(","):
        for processor in arguments.processors.split(","):
            case = {
                "algorithm": algorithm, "processor": processor, "size": arguments.size, "hidden": arguments.hidden,
                "batch": arguments.batch, "seed": arguments.seed, "data": arguments.data,
            }  # fmt: skip
            row = compare(case, arguments.ours, arguments.rounds, arguments.no_fused)
            rows.append(row)
            different += not row["same"]
            print(line(row), flush=True)
    if arguments.json:
        report = {"cores": os.cpu_count(), "fused": not arguments.no_fused, "rounds": arguments.rounds, "rows": rows}
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    if different:
        sys.exit(f"{different} of {len(rows)} are further apart than allowed")


def compare(case, ours, rounds, no_fused):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "recording.safetensors"
        words = [sys.executable, str(HERE / "record_networks.py"), "--case", json.dumps(case), "--out", str(path)]
        theirs = json.loads(run([*words, "--time", str(rounds)]).splitlines()[-1])
        found = json.loads(run([ours, str(path), str(rounds), *["no-fused"] * no_fused]))
    theirs |= {
        "train_ms": theirs["training"]["milliseconds"],
        "eval_ms": theirs["evaluation"]["milliseconds"],
        "train_peak_bytes": theirs["peak_bytes"]["trained"],
        "first_step_seconds": theirs["initialise_seconds"] + theirs["training"]["first_seconds"],
    }
    differences = found["differences"]
    near = (
        differences["loss"] <= 1e-5 and differences["gradients"] <= 1e-4 and differences["logits"] <= 1e-4
        and differences["decisions"] == 0
    )  # fmt: skip
    middle = statistics.median
    return {
        "case": case,
        "same": near,
        "differences": differences,
        "reference": theirs,
        "ours": found,
        "train_ratio": middle(theirs["train_ms"]) / middle(found["train_ms"]),
        "eval_ratio": middle(theirs["eval_ms"]) / middle(found["eval_ms"]),
    }


def run(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{words[0]} ended with {done.returncode}")
    return done.stdout


HEAD = (
    f"{'':44} {'differences':^26} {'training, ms':^24} {'evaluation, ms':^24} {'peak, MB':^15} {'first step, s':^15}\n"
    f"{'algorithm':30}{'processor':14} {'loss':>8} {'grads':>8} {'logits':>8} "
    f"{'theirs':>8} {'ours':>7} {'ratio':>7} {'theirs':>8} {'ours':>7} {'ratio':>7} {'theirs':>7} {'ours':>7} {'theirs':>7} {'ours':>7}"
)


def line(row):
    theirs, ours, apart = row["reference"], row["ours"], row["differences"]
    middle = statistics.median
    return (
        f"{row['case']['algorithm']:30}{row['case']['processor']:14} {apart['loss']:8.1e} {apart['gradients']:8.1e} {apart['logits']:8.1e} "
        f"{middle(theirs['train_ms']):8.1f} {middle(ours['train_ms']):7.1f} {row['train_ratio']:6.1f}x "
        f"{middle(theirs['eval_ms']):8.1f} {middle(ours['eval_ms']):7.1f} {row['eval_ratio']:6.1f}x "
        f"{theirs['train_peak_bytes'] / MB:7.0f} {ours['train_peak_bytes'] / MB:7.0f} "
        f"{theirs['first_step_seconds']:7.1f} {ours['first_step_seconds']:7.2f}{'' if row['same'] else '  NOT THE SAME'}"
    )


if __name__ == "__main__":
    main()
