"""Objects of the engine that several threads use at the same time. The same tests run on free-threaded Python."""

import os
import subprocess
import sys
import sysconfig
import threading

import clrs_rs
import numpy as np
import pytest

THREADS, ROUNDS = 8, 6


@pytest.fixture(autouse=True)
def frequent_switches():
    """The interpreter switches threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work):
    """Results of `work(index)`, which all threads start together. A deadlock is a failure."""
    barrier = threading.Barrier(THREADS)
    results, errors = [None] * THREADS, []

    def start(index):
        try:
            barrier.wait(timeout=60)
            results[index] = work(index)
        except BaseException as error:
            errors.append(error)

    # The end of the process does not wait for daemons.
    threads = [threading.Thread(target=start, args=(index,), daemon=True) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a deadlock"
    if errors:
        raise errors[0]
    return results


def test_the_module_does_not_need_the_lock_of_the_interpreter():
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled()


def data_of(feedback):
    return [point.data.tobytes() for point in (*feedback.features.inputs, *feedback.features.hints, *feedback.outputs)]


def test_a_stream_gives_every_batch_once():
    create = lambda: clrs_rs.build_sampler("dijkstra", -1, seed=1, length=8, track_max_steps=False)[0]
    sampler, again = create(), create()
    found = in_threads(lambda _: [data_of(sampler.next(4))[2] for _ in range(ROUNDS)])
    assert sorted(sum(found, [])) == sorted(data_of(again.next(4))[2] for _ in range(THREADS * ROUNDS))


def test_a_stream_whose_generator_was_read_gives_every_batch_once():
    create = lambda: clrs_rs.build_sampler("dijkstra", -1, seed=1, length=8, track_max_steps=False)[0]
    sampler, again = create(), create()
    assert sampler._rng
    found = in_threads(lambda _: [data_of(sampler.next(4))[2] for _ in range(ROUNDS)])
    assert sorted(sum(found, [])) == sorted(data_of(again.next(4))[2] for _ in range(THREADS * ROUNDS))


def test_arrays_of_a_fixed_set_are_made_once():
    sampler, _ = clrs_rs.build_sampler("bfs", 50, seed=1, length=8)
    expected = data_of(clrs_rs.build_sampler("bfs", 50, seed=1, length=8)[0].next())
    found = in_threads(lambda _: sampler.next())
    assert data_of(found[0]) == expected
    assert all(batch.outputs is found[0].outputs and batch.features.inputs is found[0].features.inputs for batch in found)


def test_batches_of_a_fixed_set_whose_arrays_were_read_are_given_once():
    create = lambda: clrs_rs.build_sampler("dijkstra", 50, seed=1, length=8)[0]
    # The first calls create the generator: several tries, since it takes only a moment.
    again = create()
    expected = sorted(data_of(again.next(4))[2] for _ in range(THREADS))
    for _ in range(20):
        sampler = create()
        sampler.next()
        assert sorted(in_threads(lambda _: data_of(sampler.next(4))[2])) == expected


FORKS = """
import multiprocessing, threading, warnings
import clrs_rs

warnings.simplefilter("ignore")
samplers = [clrs_rs.build_sampler("floyd_warshall", -1, seed=1, length=size, track_max_steps=False)[0] for size in (4, 64)]
small, large = samplers
assert all(sampler._rng for sampler in samplers)

def draw():
    while True:
        large.next(16)

threading.Thread(target=draw, daemon=True).start()
for _ in range(5):
    child = multiprocessing.get_context("fork").Process(target=small.next, args=(2,), daemon=True)
    child.start()
    child.join(60)
    assert child.exitcode == 0, "a deadlock"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_child_draws_while_another_thread_draws_from_another_sampler():
    # In a process of its own: JAX, which other tests import, does not like forks.
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=400)


EXIT = """
import threading, time
import clrs_rs

sampler, _ = clrs_rs.build_sampler("floyd_warshall", -1, seed=1, length=64, track_max_steps=False)

def draw():
    while True:
        sampler.next(16)

threading.Thread(target=draw, daemon=True).start()
time.sleep(0.1)
"""


def test_the_interpreter_exits_while_a_daemon_thread_draws():
    for _ in range(10):
        subprocess.run([sys.executable, "-c", EXIT], check=True, timeout=100)


def test_samples_traces_and_checks():
    samples = clrs_rs.sample("heapsort", n=8, batch=16, seed=1)
    work = lambda index: (data_of(samples.feedback()), samples[index].trace().to_json(), bool(samples[index].check()))
    assert in_threads(work) == [work(index) for index in range(THREADS)]


def test_texts_are_generated_once():
    create = lambda: clrs_rs._core.TextGenerator([("bfs", 5), ("minimum", 6)], 1, "text@2.0.3", False, 3, {})
    engine, again = create(), create()
    found = in_threads(lambda _: [row for _ in range(ROUNDS) for row in engine.next_rows(3)])
    assert sorted(sum(found, [])) == sorted(again.next_rows(3 * ROUNDS * THREADS))
    task = clrs_rs.text.parse("minimum:\nkey: [0.7 0.2 0.2]\nmin:\n")
    assert in_threads(lambda _: task.reward("1")) == [1.0] * THREADS


def test_chunks():
    chunks = clrs_rs._core.Chunks(4)
    feedback = clrs_rs.build_sampler("bfs", 8, seed=1, length=6)[0].next()
    features = feedback.features

    def push_and_take(_):
        taken = 0
        for _ in range(ROUNDS):
            chunks.push(features.inputs, features.hints, feedback.outputs, features.lengths)
            while chunks.next() is not None:
                taken += 1
        return taken

    # As many chunks as a single thread gets.
    total = sum(in_threads(push_and_take))
    alone = clrs_rs.chunkify(iter([feedback] * THREADS * ROUNDS), 4)
    assert total == sum(1 for _ in alone)


def test_a_model_predicts_the_same_in_all_threads_and_takes_every_step():
    sampler, spec = clrs_rs.build_sampler("bfs", 16, seed=1, length=6)
    feedback = sampler.next(8)
    factory = clrs_rs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    model = clrs_rs.models.BaselineModel(spec, feedback, factory, hidden_dim=8, encode_hints=True)
    model.init(None, 1)
    predict = lambda _: model.predict(0, feedback.features)[0]["pi"].data.tobytes()
    assert set(in_threads(predict)) == {predict(0)}
    in_threads(lambda _: [model.feedback(None, feedback) for _ in range(ROUNDS)])
    again = clrs_rs.models.BaselineModel(spec, feedback, factory, hidden_dim=8, encode_hints=True)
    again.init(None, 1)
    for _ in range(THREADS * ROUNDS):
        again.feedback(None, feedback)
    # Every step was taken on the same batch: their order does not matter.
    for module, arrays in again.params.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, model.params[module][name])


def test_a_network_in_training_is_used_by_several_threads():
    model = clrs_rs.Model("bfs", processor="mpnn", hidden=8, lengths=[4], batch_size=4, val_samples=4)
    in_threads(lambda index: model.train_step() if index % 2 else model.evaluate(sizes=[4], count=2, reuse=False))
    assert model.step == THREADS // 2


def test_algorithms_and_registration():
    A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])

    def work(index):
        clrs_rs.register_algorithm(f"own_{index}", clrs_rs.SPECS["minimum"], clrs_rs.algorithms.minimum, clrs_rs.samplers.SortingSampler)
        return [clrs_rs.algorithms.bfs(A, 0)[0].tolist() for _ in range(ROUNDS)]

    assert in_threads(work) == [[[0, 0, 1]] * ROUNDS] * THREADS
