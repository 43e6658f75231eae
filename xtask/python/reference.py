"""Imports dm-clrs without its warnings, for all other scripts. As a script, prints the installed versions."""
import contextlib
import os
import platform
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore")


@contextlib.contextmanager
def quiet_stderr():
    """Discards stderr at the level of the process: native libraries print while they load."""
    stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null)


with quiet_stderr():
    import clrs
    import numpy as np
    from absl import logging
    from clrs._src import algorithms, dataset, evaluation, probing, samplers, specs  # noqa: F401

logging.set_verbosity(logging.ERROR)

ALGORITHMS = list(specs.CLRS_30_ALGS) + [name for name in specs.SPECS if name not in specs.CLRS_30_ALGS]
"""The thirty algorithms of the benchmark in its order, then the others."""

STAGES = ("input", "hint", "output")

VERSIONS = {"dm-clrs": clrs.__version__, "numpy": np.__version__}


def build(algorithm, count, seed, size, **options):
    """A sampler and its spec. Lists among the options become tuples."""
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    if algorithm == "binary_search" and not options.pop("sorted", True):
        return _sampler_of_unsorted_keys(count, seed, size, **options), specs.SPECS[algorithm]
    return samplers.build_sampler(algorithm, count, seed=seed, length=size, **options)


def _sampler_of_unsorted_keys(count, seed, size, **options):
    """The sampler of binary_search without the sort that dm-clrs has since May 2022."""

    class Unsorted(samplers.SearchSampler):
        def _sample_data(self, length, low=0.0, high=1.0):
            keys = self._random_sequence(length=length, low=low, high=high)
            return [self._rng.uniform(low=low, high=high), keys]

    return Unsorted(algorithms.binary_search, specs.SPECS["binary_search"], count, size, seed=seed, **options)


def samples(feedback, indices):
    """The samples of a set with the given indices."""
    indices = list(indices)
    cut = lambda points, axis: samplers._subsample_data(points, indices, axis)
    inputs, hints, lengths = feedback.features
    return samplers.Feedback(samplers.Features(cut(inputs, 0), cut(hints, 1), lengths[indices]), cut(feedback.outputs, 0))


def points(feedback):
    """All data points with their stages: inputs, hints, outputs."""
    for stage, data_points in zip(STAGES, (feedback.features.inputs, feedback.features.hints, feedback.outputs)):
        for point in data_points:
            yield stage, point


def arrays(feedback):
    """The arrays by the names that `clrs sample` uses: input/pos, .., and lengths or chunk boundaries."""
    named = {f"{stage}/{point.name}": np.asarray(point.data) for stage, point in points(feedback)}
    for name in ("lengths", "is_first", "is_last"):
        if hasattr(feedback.features, name):
            named[name] = np.asarray(getattr(feedback.features, name))
    return named


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version}" for name, version in VERSIONS.items()))
