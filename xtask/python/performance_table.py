"""Prints the results of `cargo xtask compare training --json FILE` as Markdown tables for docs/performance.md.

    performance_table.py FILE..

One table for training and one for evaluation, with a row per case and the geometric mean of the ratios.
"""
import argparse
import json
import pathlib
import statistics

from compare_training import MB, PHASES, geometric_mean

HEAD = """\
| algorithm | processor | nodes | dm-clrs, ms | clrs, ms | ratio | dm-clrs, MB | clrs, MB | fraction of peak |
|---|---|--:|--:|--:|--:|--:|--:|--:|"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    rows = [row for path in parser.parse_args().files for row in json.loads(path.read_text())["rows"]]
    tables = [table(phase, [row for row in rows if phase in row]) for phase in PHASES if any(phase in row for row in rows)]
    print("\n\n".join(tables))


def table(phase, rows):
    mean = geometric_mean([row[phase]["ratio"] for row in rows])
    title = "Training step" if phase == "training" else "Evaluation"
    last = f"Geometric mean of the ratios: {mean:.1f}x." if mean else ""
    return "\n".join([f"{title}:", "", HEAD, *(line(row["case"], row[phase]) for row in rows), "", last]).rstrip()


def line(case, results):
    theirs, ours = results["reference"], results["ours"]
    milliseconds = lambda cost: format(statistics.median(cost["milliseconds"]), ".1f")
    megabytes = lambda cost: format(cost["peak_bytes"] / MB, ".0f")
    cells = [
        case["algorithm"] + (", generalist" if case["data"] == "generalist" else ""),
        case["processor"],
        case["size"],
        milliseconds(theirs) if theirs else "does not fit",
        milliseconds(ours),
        f"{results['ratio']:.1f}x" if results["ratio"] else "-",
        megabytes(theirs) if theirs else "-",
        megabytes(ours),
        f"{results['share_of_peak']:.0%}" if results["share_of_peak"] else "-",
    ]
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
