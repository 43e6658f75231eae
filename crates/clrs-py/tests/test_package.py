"""What the package promises beyond its numbers: import, processes, threads, memory, clients."""

import gc
import importlib.metadata
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import tomllib
import warnings

import clrs_rs
import clrs_rs.__main__
import numpy as np
import pytest

from conftest import assert_same_feedback


def python(code, *flags):
    return subprocess.run([sys.executable, *flags, "-c", code], check=True, capture_output=True, text=True).stdout


def test_the_import_needs_numpy_alone():
    code = "import sys; before = set(sys.modules); import clrs_rs; print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    loaded = set(python(code).split())
    assert not loaded & {"jax", "torch", "tensorflow", "clrs", "attr", "absl", "haiku", "datasets", "torch_geometric", "scipy"}
    for name in loaded - {"clrs_rs", "numpy"}:
        assert name in sys.stdlib_module_names or name.startswith(("_", "numpy", "cython")), name


def test_the_import_is_fast():
    """No slower than NumPy's, in the best of a few tries, since others may compete. `cargo xtask compare` measures milliseconds."""
    code = """if True:
        import time
        start = time.process_time()
        import numpy
        middle = time.process_time()
        import clrs_rs
        print((time.process_time() - middle) / (middle - start))
    """
    assert min(float(python(code)) for _ in range(5)) < 1.0


def test_the_program_is_installed():
    version = subprocess.run([sys.executable, "-m", "clrs_rs", "--version"], check=True, capture_output=True, text=True).stdout
    assert version == f"clrs {clrs_rs.__version__}\n"
    failed = subprocess.run([sys.executable, "-m", "clrs_rs", "trace", "bsf"], capture_output=True, text=True)
    assert failed.returncode == 2
    assert "did you mean `bfs`" in failed.stderr


def test_the_program_ignores_ctrl_c_if_its_parent_does(monkeypatch):
    handlers = []
    monkeypatch.setattr(clrs_rs.__main__._core, "main", lambda arguments: handlers.append(signal.getsignal(signal.SIGINT)))
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            clrs_rs.__main__.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers == [signal.SIG_IGN, signal.SIG_DFL]


def test_the_wheel_has_a_console_script_and_type_hints():
    distribution = importlib.metadata.distribution("clrs-rs")
    [script] = distribution.entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("clrs", "clrs_rs.__main__:main")
    assert callable(script.load())
    assert {"clrs_rs/py.typed", "clrs_rs/_core.pyi"} <= {str(file) for file in distribution.files}
    assert [requirement for requirement in distribution.requires if "extra" not in requirement] == ["numpy>=1.24"]


def batch(name, seed):
    return clrs_rs.build_sampler(name, 40, seed=seed, length=6)[0].next(5)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_give_the_same_batches(method):
    """Also after rayon's threads exist in the parent: a forked child has none of them."""
    sampler, _ = clrs_rs.build_sampler("bfs", 200, seed=0, length=8)
    arguments = [("dijkstra", 1), ("heapsort", 2), ("bfs", 3)]
    with warnings.catch_warnings():
        # Python 3.12 warns about forks of processes with threads, which this test is about.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            # A deadlock is a failure, not a test that never ends.
            results = pool.starmap_async(batch, arguments).get(timeout=120)
    for (name, seed), found in zip(arguments, results, strict=True):
        assert_same_feedback(batch(name, seed), found, name)


def test_a_sampler_can_be_used_by_a_forked_child():
    sampler, _ = clrs_rs.build_sampler("bfs", -1, seed=0, length=8)
    again, _ = clrs_rs.build_sampler("bfs", -1, seed=0, length=8)
    sampler.next(3), again.next(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(1, initializer=globals().__setitem__, initargs=("shared", sampler)) as pool:
            found = pool.apply_async(next_of_shared).get(timeout=120)
    assert_same_feedback(again.next(4), found, "bfs")


def next_of_shared():
    return shared.next(4)  # noqa: F821, set in the child


def test_models_train_in_forked_children():
    """With the parameters and on the samples of their parent, to the same bits."""
    expected = train_a_little()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            found = [pool.apply_async(train_a_little) for _ in range(2)]
            assert [result.get(timeout=120) for result in found] == [expected, expected]


def test_a_model_does_not_go_on_training_in_a_forked_child():
    """Its batches are sampled by a thread, which only the parent has."""
    model = clrs_rs.Model("bfs", hidden=8, lengths=[4], batch_size=4, val_samples=4)
    model.train_step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(1, initializer=globals().__setitem__, initargs=("shared", model)) as pool:
            assert "forked process" in pool.apply_async(error_of_shared).get(timeout=120)
    model.train_step()


def error_of_shared():
    try:
        shared.train_step()  # noqa: F821, set in the child
    except clrs_rs.errors.ClrsError as error:
        return str(error)


def train_a_little():
    """Losses of a model in memory, and of a model on batches."""
    model = clrs_rs.Model("bfs", processor="mpnn", hidden=16, lengths=[8], batch_size=8, val_samples=4)
    losses = [model.train_step().loss for _ in range(5)]
    sampler, spec = clrs_rs.build_sampler("bfs", 32, seed=1, length=8)
    factory = clrs_rs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    model = clrs_rs.models.BaselineModel(spec, sampler.next(), factory, hidden_dim=16, encode_hints=True)
    model.init(None, 1)
    return losses + [float(model.feedback(step, sampler.next(8))) for step in range(5)]


def test_threads_share_a_sampler():
    """Every batch is one that a single thread would have drawn, in some order."""
    sampler, _ = clrs_rs.build_sampler("dijkstra", -1, seed=0, length=6, track_max_steps=False)
    expected = {sampler.next(2).features.inputs[2].data.tobytes() for _ in range(40)}
    sampler, _ = clrs_rs.build_sampler("dijkstra", -1, seed=0, length=6, track_max_steps=False)
    found, lock = set(), threading.Lock()

    def draw():
        for _ in range(10):
            drawn = sampler.next(2).features.inputs[2].data.tobytes()
            with lock:
                found.add(drawn)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_sampling_releases_the_lock_of_the_interpreter():
    """Another thread runs while samples are drawn."""
    ticks, done = 0, threading.Event()

    def draw():
        clrs_rs.build_sampler("find_maximum_subarray", 3000, seed=0, length=64)
        done.set()

    thread = threading.Thread(target=draw)
    thread.start()
    while not done.is_set():
        ticks += 1
    thread.join()
    assert ticks > 100


def test_arrays_belong_to_numpy():
    feedback = batch("bfs", 0)
    for point in (*feedback.features.inputs, *feedback.features.hints, *feedback.outputs):
        assert point.data.flags.writeable
        assert point.data.flags.c_contiguous
    data = feedback.features.hints[0].data
    expected = data.copy()
    del feedback
    gc.collect()
    np.testing.assert_array_equal(data, expected)


def test_memory_does_not_grow():
    """10,000 batches, of which each would leave 100 kB behind if it were not freed."""
    sampler, _ = clrs_rs.build_sampler("bfs", -1, seed=0, length=16)
    fixed, _ = clrs_rs.build_sampler("bfs", 100, seed=0, length=16)
    for _ in range(500):
        sampler.next(8), fixed.next(8)
    before = resident_bytes()
    for _ in range(5000):
        sampler.next(8), fixed.next(8)
    assert resident_bytes() - before < 20_000_000


def resident_bytes():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_a_defect_is_an_exception_and_not_a_crash():
    """A panic of the engine."""
    with pytest.raises(clrs_rs.errors.InternalError, match=r"internal error \(please report it\): for tests"):
        clrs_rs._core._panic()
    assert len(clrs_rs.sample("bfs", n=4, batch=2)) == 2


def test_models_of_dm_clrs_train_on_our_feedback(clrs):
    """A training step, a prediction and a score, with lists of our feedback."""
    import jax

    sampler, spec = clrs_rs.build_sampler("bfs", 16, seed=0, length=4)
    feedback = sampler.next(8)
    processor = clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    model = clrs.models.BaselineModel([spec], [feedback], processor, hidden_dim=8, encode_hints=True)
    model.init([feedback.features], 1)
    first = float(model.feedback(jax.random.PRNGKey(0), feedback, 0))
    for _ in range(10):
        last = float(model.feedback(jax.random.PRNGKey(0), feedback, 0))
    assert last < first
    predictions, _ = model.predict(jax.random.PRNGKey(0), feedback.features, algorithm_index=0)
    expected, found = (library.evaluate(feedback.outputs, predictions) for library in (clrs, clrs_rs))
    assert found["score"] == pytest.approx(expected["score"], rel=1e-6)
    # With hints, which are raw logits.
    _, raw = model.predict(jax.random.PRNGKey(0), feedback.features, algorithm_index=0, return_hints=True)
    hints = [clrs_rs.decoders.postprocess(spec, step, 0.1, 25, True) for step in raw]
    ours = clrs_rs.evaluate_hints(feedback.features.hints, feedback.features.lengths, hints)
    theirs = clrs.evaluate_hints(tuple(feedback.features.hints), feedback.features.lengths, hints)
    assert list(ours) == list(theirs)
    for name, score in theirs.items():
        np.testing.assert_allclose(ours[name], score, rtol=1e-5)


def test_the_mirror_of_internal_modules():
    code = """
from clrs_rs._src import algorithms, dataset, decoders, evaluation, probing, samplers, specs
import clrs_rs._src.samplers, clrs_rs
from clrs_rs._src.algorithms import graphs
from clrs_rs._src.algorithms.graphs import bfs
from clrs_rs._src.probing import ProbesDict, initialize
from clrs_rs._src.samplers import SAMPLERS, _batch_hints, _batch_io, _subsample_data
from clrs_rs._src.specs import CLRS_30_ALGS
from clrs_rs._src.evaluation import _eval_one
for name in ("encoders", "losses", "nets"):
    assert not hasattr(clrs_rs._src, name)
    for statement in (f"from clrs_rs._src import {name}", f"from clrs_rs._src.{name} import Net", f"import clrs_rs._src.{name}"):
        try:
            exec(statement)
        except ImportError as error:
            assert "docs/migration.md says what to use instead" in str(error), error
        else:
            raise AssertionError(statement)
assert samplers.Sampler is clrs_rs.Sampler and clrs_rs._src.samplers is samplers and bfs is clrs_rs.algorithms.bfs
"""
    python(code)


def test_the_public_names_are_those_of_dm_clrs(clrs):
    missing = {name for name in clrs.__all__ if not hasattr(clrs_rs, name)}
    # Text is questions and answers of the program: `clrs text`.
    assert missing <= {"clrs_text"}


def test_the_version_is_that_of_the_crate():
    root = pathlib.Path(__file__).parents[3]
    manifest = tomllib.loads((root / "Cargo.toml").read_text())
    assert clrs_rs.__version__ == manifest["workspace"]["package"]["version"]


def test_internals_are_an_attribute_after_the_import():
    code = "import clrs_rs as clrs; clrs._src.probing.initialize; assert not hasattr(clrs, 'nothing')"
    subprocess.run([sys.executable, "-c", code], check=True)
