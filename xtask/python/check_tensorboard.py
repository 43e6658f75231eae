"""Compares the TensorBoard events of a run with its metrics: `python check_tensorboard.py RUN`.

TensorBoard's loader reads all event files of the run. Tags, steps and values must be those of `metrics.jsonl`, in the same order.
TensorBoard stores float32.
"""
import json
import math
import pathlib
import sys

from reference import np, quiet_stderr

with quiet_stderr():
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

FILE_VERSION = "brain.Event:2"


def main(folder):
    expected, found = metrics(folder), events(folder)
    assert expected, f"{folder} contains no metrics"
    for row, (metric, scalar) in enumerate(zip(expected, found)):
        assert same(metric, scalar), f"scalar {row} is {scalar}, expected {metric}"
    assert len(expected) == len(found), f"{len(found)} scalars, expected {len(expected)}"
    tags, steps = {tag for tag, _, _ in found}, {step for _, step, _ in found}
    print(f"TensorBoard: {len(found)} scalars of {len(tags)} tags and {len(steps)} steps are equal to the metrics")


def metrics(folder):
    """Tag, step and value of every metric."""
    rows = []
    for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        step, algorithm = fields.pop("step"), fields.pop("algorithm")
        # JSON has null for NaN.
        rows += [(f"{algorithm}/{name}", step, math.nan if value is None else value) for name, value in fields.items()]
    return rows


def events(folder):
    """Tag, step and value of every scalar."""
    rows = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        first, *others = EventFileLoader(str(path)).Load()
        assert first.file_version == FILE_VERSION, f"{path}: version {first.file_version!r}"
        for event in others:
            assert event.wall_time > 0.0, f"{path}: step {event.step} has no time"
            for value in event.summary.value:
                # The loader converts scalars to tensors, and passes on values that it does not recognize.
                assert len(value.tensor.float_val) == 1, f"{path}: step {event.step} has no value of {value.tag}"
                rows.append((value.tag, event.step, value.tensor.float_val[0]))
    return rows


def same(metric, scalar):
    (*names, value), (*other_names, other_value) = metric, scalar
    return names == other_names and np.array_equal(np.float32(value), np.float32(other_value), equal_nan=True)


if __name__ == "__main__":
    main(pathlib.Path(*sys.argv[1:]))
