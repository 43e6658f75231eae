"""The reference, imported quietly. Every other script goes through here.

Run alone, it says what is installed.
"""
import contextlib
import os
import platform
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore")


@contextlib.contextmanager
def silence():
    """Closes the mouth of libraries that write to stderr past Python while they load."""
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


with silence():
    import clrs
    import numpy as np
    from absl import logging
    from clrs._src import dataset, evaluation, probing, samplers, specs  # noqa: F401

logging.set_verbosity(logging.ERROR)

ALGORITHMS = list(specs.CLRS_30_ALGS) + [name for name in specs.SPECS if name not in specs.CLRS_30_ALGS]
"""The thirty of the benchmark in its order, then the others."""

STAGES = ("input", "hint", "output")

VERSIONS = {"dm-clrs": clrs.__version__, "numpy": np.__version__}


def build(algorithm, count, seed, size, **options):
    """A sampler; lists among the options become tuples."""
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return samplers.build_sampler(algorithm, count, seed=seed, length=size, **options)


def samples(feedback, which):
    """Some samples of a set, by their places."""
    which = list(which)
    cut = lambda points, axis: samplers._subsample_data(points, which, axis)
    inputs, hints, lengths = feedback.features
    return samplers.Feedback(samplers.Features(cut(inputs, 0), cut(hints, 1), lengths[which]), cut(feedback.outputs, 0))


def points(feedback):
    """Every data point with its stage: inputs, hints, outputs."""
    for stage, of_stage in zip(STAGES, (feedback.features.inputs, feedback.features.hints, feedback.outputs)):
        for point in of_stage:
            yield stage, point


def arrays(feedback):
    """The arrays by the names of `clrs sample`: input/pos, ..., and lengths or the marks of chunks."""
    named = {f"{stage}/{point.name}": np.asarray(point.data) for stage, point in points(feedback)}
    for name in ("lengths", "is_first", "is_last"):
        if hasattr(feedback.features, name):
            named[name] = np.asarray(getattr(feedback.features, name))
    return named


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version}" for name, version in VERSIONS.items()))
