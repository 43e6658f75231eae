"""Evaluates runs of `clrs train` for results/learning.json.

    evaluate_runs.py --clrs PROGRAM [--add results/learning.json] SECONDS:RUN..

A run is trained with a shipped recipe: `clrs train NAME --algorithms A --set seed=S ..`. SECONDS is its duration, data generation
and validation included; it may be empty. Every run is evaluated on the benchmark's test set, at its best validation and at its
last step. The curve contains at most a hundred validations.
"""
import argparse
import json
import pathlib
import subprocess
import tomllib

POINTS = 100
FIELDS = {"step": "step", "score": "score", "validity": "validity", "exactness": "exact_match"}
"""Names in the results, and the fields of `clrs eval --json`."""
EVAL_EVERY = 10
"""Default of the recipe."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clrs", required=True)
    parser.add_argument("--add", type=pathlib.Path, help="add the results to this file; runs with the same command are replaced")
    parser.add_argument("runs", nargs="+")
    arguments = parser.parse_args()
    results = [result(arguments.clrs, *run.split(":", 1)) for run in arguments.runs]
    report = {"recipe": "paper-2022", "test": "clrs30@1.0.0, 64 nodes", "runs": []}
    if arguments.add and arguments.add.exists():
        report = json.loads(arguments.add.read_text())
    commands = {run["train"] for run in results}
    report["runs"] = [run for run in report["runs"] if run["train"] not in commands] + results
    text = json.dumps(report, indent=1)
    # One line per row of a curve.
    for run in report["runs"]:
        for row in run["curve"]["rows"]:
            text = text.replace(json.dumps(row, indent=1).replace("\n", "\n" + " " * 5), json.dumps(row))
    if arguments.add:
        arguments.add.write_text(text + "\n")
    else:
        print(text)


def result(clrs, seconds, run):
    folder = pathlib.Path(run)
    recipe = tomllib.loads((folder / "config.toml").read_text())
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    losses = {line["step"]: line["loss"] for line in lines if "loss" in line}
    curve = [[line["step"], round(losses[line["step"]], 5), round(line["val"], 5)] for line in lines if "val" in line]
    every = -(-len(curve) // POINTS)
    (algorithm,), seed, steps = recipe["algorithms"], recipe["seed"], recipe["steps"]
    overrides = "" if recipe["processor"] == "mpnn" else f" --set processor={recipe['processor']}"
    overrides += "" if recipe["eval_every"] == EVAL_EVERY else f" --set eval_every={recipe['eval_every']}"
    evaluations = {checkpoint: evaluate(clrs, run, checkpoint) for checkpoint in ("best", "last")}
    return {
        "algorithm": algorithm,
        "processor": recipe["processor"],
        "seed": seed,
        "train": f"clrs train paper-2022 --algorithms {algorithm}{overrides} --set steps={steps} --set seed={seed} --out RUN",
        "eval": "clrs eval RUN [--checkpoint last]",
        "seconds": float(seconds) if seconds else None,
        **evaluations,
        "curve": {"columns": ["step", "loss", "validation"], "rows": curve[every - 1 :: every]},
    }


def evaluate(clrs, run, checkpoint):
    arguments = [clrs, "eval", run, "--checkpoint", checkpoint, "--json"]
    process = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True)
    (metrics,) = json.loads(process.stdout)["results"]
    return {name: metrics[field] for name, field in FIELDS.items()}


if __name__ == "__main__":
    main()
