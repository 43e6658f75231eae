"""How runs of `clrs train` learnt, for results/learning.json.

    learning_results.py --clrs PROGRAM [--add results/learning.json] SECONDS:RUN..

A run is trained with a shipped recipe, `clrs train NAME --algorithms A --set seed=S ..`, and `SECONDS` is how long that took, data and
validation included; leave it empty where nothing was timed. Every run is judged on the benchmark's test set, at its best validation
and at its last step. The curve has the validations, a hundred of them at most.
"""
import argparse
import json
import pathlib
import subprocess
import tomllib

POINTS = 100
EVAL_EVERY = 10
"""That of the recipe."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clrs", required=True)
    parser.add_argument("--add", type=pathlib.Path, help="add them to this file, in place of runs with the same command")
    parser.add_argument("runs", nargs="+")
    arguments = parser.parse_args()
    found = [result(arguments.clrs, *run.split(":", 1)) for run in arguments.runs]
    whole = {"recipe": "paper-2022", "test": "clrs30@1.0.0, 64 nodes", "runs": []}
    if arguments.add and arguments.add.exists():
        whole = json.loads(arguments.add.read_text())
    commands = {run["train"] for run in found}
    whole["runs"] = [run for run in whole["runs"] if run["train"] not in commands] + found
    text = json.dumps(whole, indent=1)
    # A row of a curve on a line.
    for run in whole["runs"]:
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
    other = "" if recipe["processor"] == "mpnn" else f" --set processor={recipe['processor']}"
    other += "" if recipe["eval_every"] == EVAL_EVERY else f" --set eval_every={recipe['eval_every']}"
    judged = {checkpoint: judge(clrs, run, checkpoint) for checkpoint in ("best", "last")}
    return {
        "algorithm": algorithm,
        "processor": recipe["processor"],
        "seed": seed,
        "train": f"clrs train paper-2022 --algorithms {algorithm}{other} --set steps={steps} --set seed={seed} --out RUN",
        "eval": "clrs eval RUN [--checkpoint last]",
        "seconds": float(seconds) if seconds else None,
        **judged,
        "curve": {"columns": ["step", "loss", "validation"], "rows": curve[every - 1 :: every]},
    }


def judge(clrs, run, checkpoint):
    words = [clrs, "eval", run, "--checkpoint", checkpoint, "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    (found,) = json.loads(done.stdout)["results"]
    return {name: found[name] for name in ("step", "score", "validity", "exactness")}


if __name__ == "__main__":
    main()
