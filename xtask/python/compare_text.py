"""Times `clrs text sample` and dm-clrs per sample, for every algorithm of the benchmark, on one core each.

Sizes are 16, or the largest of the val split where that is smaller. Both sample, run the algorithm and format with hints and three
decimals. dm-clrs runs in this process, after its imports and the creation of the sampler; ours in one process per algorithm, whose
start and output are included.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import time

from reference import VERSIONS, build, quiet_stderr, specs

with quiet_stderr():
    from clrs._src.clrs_text import clrs_utils, generate_clrs_text

SIZE = 16
SEED = 1
DECIMALS = 3
OUR_SAMPLES = 30_000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clrs", required=True, help="path of the binary")
    parser.add_argument("--samples", type=int, default=100, help="samples of dm-clrs")
    parser.add_argument("--json", type=pathlib.Path, help="write the results to this file")
    arguments = parser.parse_args()
    rows = [compare(algorithm, arguments) for algorithm in specs.CLRS_30_ALGS]
    ratios = [row["ratio"] for row in rows]
    print(f"median {statistics.median(ratios):.0f}x, from {min(ratios):.0f}x to {max(ratios):.0f}x")
    if arguments.json:
        settings = dict(seed=SEED, decimals=DECIMALS, hints=True, samples=arguments.samples, python=platform.python_version())
        report = dict(versions=VERSIONS, settings=settings, median_ratio=statistics.median(ratios), algorithms=rows)
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


def compare(algorithm, arguments):
    size = min(SIZE, generate_clrs_text._DEFAULT_VAL_ALGOS_AND_LENGTHS[algorithm][-1])
    with quiet_stderr():
        sampler, _ = build(algorithm, -1, SEED, size, track_max_steps=False, truncate_decimals=DECIMALS)
    texts = []
    start = time.perf_counter()
    for _ in range(arguments.samples):
        texts.append(clrs_utils.format_clrs_example(algorithm, sampler.next(batch_size=1), use_hints=True))
    reference = (time.perf_counter() - start) / arguments.samples

    call = [arguments.clrs, "text", "sample", algorithm, "-n", size, "--seed", SEED, "--hints", "--decimals", DECIMALS, "--count"]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}

    def ours(count, stdout):
        return subprocess.run([*map(str, call), str(count)], env=environment, stdout=stdout, check=True).stdout

    output = ours(arguments.samples, subprocess.PIPE)
    found = [(row["question"], row["answer"]) for row in map(json.loads, output.splitlines())]
    # A few with equal keys, in another order.
    differences = sum(text != other for text, other in zip(texts, found, strict=True))
    start = time.perf_counter()
    ours(OUR_SAMPLES, subprocess.DEVNULL)
    seconds = (time.perf_counter() - start) / OUR_SAMPLES
    row = dict(
        algorithm=algorithm,
        size=size,
        bytes=statistics.mean(len(question) + len(answer) for question, answer in texts),
        reference_seconds=reference,
        seconds=seconds,
        ratio=reference / seconds,
        different=differences,
    )
    print(
        f"{algorithm:30} n={size:<3} {row['bytes']:8.0f} bytes  dm-clrs {1e6 * reference:8.0f} us  ours {1e6 * seconds:7.2f} us  "
        f"{row['ratio']:6.0f}x  {differences} of {arguments.samples} texts differ",
        flush=True,
    )
    return row


if __name__ == "__main__":
    main()
