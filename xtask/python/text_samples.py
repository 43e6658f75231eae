"""Samples of dm-clrs one at a time, and the formatters of both versions of CLRS-Text."""
import importlib.util
import pathlib

from reference import build, quiet_stderr


def load_old(folder):
    """The formatter of dm-clrs 2.0.1, which imports the installed dm-clrs otherwise."""
    spec = importlib.util.spec_from_file_location("clrs_utils_2_0_1", pathlib.Path(folder) / "clrs/_src/clrs_text/clrs_utils.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(algorithm, size, seed, decimals, count):
    with quiet_stderr():
        sampler, _ = build(algorithm, -1, seed, size, track_max_steps=False, truncate_decimals=decimals)
        return [sampler.next(batch_size=1) for _ in range(count)]
