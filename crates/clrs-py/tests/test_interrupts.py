"""Ctrl-C ends long calls, and leaves everything usable."""

import subprocess
import sys
import textwrap

import clrs_rs
import pytest

#: Sends the signal of Ctrl-C while a call runs, and prints how long it takes to end the call.
HARNESS = """
import os, signal, sys, threading, time
import clrs_rs
import numpy as np

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in processes that a shell starts in the background
sent = []

def send_after(seconds):
    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    sent.clear()
    threading.Timer(seconds, send).start()

# Fast machines complete some calls before the signal. Returns their number.
def interrupt(call):
    completed = 0
    send_after(0.5)
    try:
        while True:
            call()
            completed += 1
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - sent[0])
    return completed
"""

#: Seconds from the signal to the end of a call: a fraction of one, unless others compete for the machine.
LIMIT = 30.0

#: Calls that take long, and what must hold after their interruption. None needs more than 4 GB.
CALLS = {
    "build_sampler": """
        interrupt(lambda: clrs_rs.build_sampler("graham_scan", 200, seed=1, length=800))
        assert clrs_rs.build_sampler("graham_scan", 2, seed=1, length=8)[0].next().outputs
    """,
    "next": """
        arguments = {"seed": 1, "length": 1200, "track_max_steps": False}
        sampler, _ = clrs_rs.build_sampler("graham_scan", -1, **arguments)
        sampler.next(2)
        completed = interrupt(lambda: sampler.next(20))
        # The stream continues as if the interrupted call had not been made.
        again, _ = clrs_rs.build_sampler("graham_scan", -1, **arguments)
        for size in [2, *[20] * completed]:
            again.next(size)
        np.testing.assert_array_equal(sampler.next(1).features.inputs[1].data, again.next(1).features.inputs[1].data)
    """,
    "next with long runs": """
        arguments = {"seed": 1, "length": 50, "track_max_steps": False, "p": (1.0,)}
        sampler, _ = clrs_rs.build_sampler("bridges", -1, **arguments)
        sampler.next(1)
        completed = interrupt(lambda: sampler.next(33))
        again, _ = clrs_rs.build_sampler("bridges", -1, **arguments)
        for size in [1, *[33] * completed]:
            again.next(size)
        assert sampler._engine.state[1] == again._engine.state[1]
        np.testing.assert_array_equal(sampler._engine.state[0], again._engine.state[0])
    """,
    "sample": """
        interrupt(lambda: clrs_rs.sample("graham_scan", n=800, batch=200))
    """,
    "a sampler in Python": """
        class Points(clrs_rs.samplers.ConvexHullSampler):
            def _sample_data(self, length):
                return super()._sample_data(length)
        interrupt(lambda: Points(clrs_rs.algorithms.graham_scan, clrs_rs.SPECS["graham_scan"], 2000, seed=1, length=40))
    """,
    "trace": """
        interrupt(lambda: clrs_rs.trace("bubble_sort", {"key": np.arange(1000)[::-1] / 7}))
    """,
    "text.sample": """
        interrupt(lambda: clrs_rs.text.sample("bubble_sort", n=40, count=200_000, hints=True))
    """,
    "text.generator": """
        interrupt(lambda: clrs_rs.text.generator({"graham_scan": [200]}, start=10**9))
    """,
    "Model": """
        settings = {"lengths": [800], "val_samples": 100, "batch_size": 1, "chunk_length": 4, "hidden": 4}
        interrupt(lambda: clrs_rs.Model("graham_scan", **settings))
    """,
    "Model.train": """
        model = clrs_rs.Model("bfs", processor="triplet_mpnn", hidden=32, lengths=[8], batch_size=4, val_samples=4, steps=10**7)
        interrupt(model.train)
        step = model.step
        assert model.train(steps=2).step == step + 2
        # The parameters are those of a training without an interruption.
        other = clrs_rs.Model("bfs", processor="triplet_mpnn", hidden=32, lengths=[8], batch_size=4, val_samples=4, steps=10**7)
        other.train(steps=min(step, 20))
        if step <= 20:
            other.train(steps=2)
            for module, arrays in model.params.items():
                for name, array in arrays.items():
                    np.testing.assert_array_equal(array, other.params[module][name])
    """,
    "Model.validate": """
        model = clrs_rs.Model("bubble_sort", processor="triplet_mpnn", hidden=64, lengths=[24], batch_size=1, val_samples=256)
        interrupt(model.validate)
    """,
    "Model.evaluate": """
        model = clrs_rs.Model("bubble_sort", processor="triplet_mpnn", hidden=64, lengths=[4], batch_size=2, val_samples=2)
        model.train(steps=1)
        interrupt(lambda: model.evaluate(sizes=[64]))
        assert model.evaluate(sizes=[4], count=2)[0].samples == 2
    """,
    "train": """
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            fields = {"algorithms": ["bfs"], "processor": "mpnn", "hidden": 16, "lengths": [8], "batch_size": 4, "val_samples": 4}
            events = []
            def callback(report):
                if not events:
                    send_after(0.1)
                events.append(report)
            # No validation is interrupted: it would be repeated before the next step.
            try:
                clrs_rs.train(out=run, steps=10**6, eval_every=10**6, callback=callback, **fields)
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - sent[0])
            before = clrs_rs.open_run(run, "last").step
            assert before > 0
            report = clrs_rs.train(out=run, resume=True, callback=lambda report: False)
            assert (report.reason, report.step) == ("stopped", before + 1)
    """,
    "evaluate_run": """
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run")
            clrs_rs.train(out=run, steps=1, algorithms=["bubble_sort"], processor="triplet_mpnn", hidden=64, lengths=[4], batch_size=2)
            interrupt(lambda: clrs_rs.evaluate_run(run, sizes=[64], reuse=False))
            assert clrs_rs.evaluate_run(run, sizes=[4], count=2)[0].samples == 2
    """,
    "BaselineModel": """
        sampler, spec = clrs_rs.build_sampler("floyd_warshall", 32, seed=1, length=64)
        factory = clrs_rs.get_processor_factory("triplet_mpnn", use_ln=True, nb_triplet_fts=8)
        model = clrs_rs.models.BaselineModel(spec, sampler.next(), factory, hidden_dim=128, encode_hints=True)
        model.init(None, 1)
        before = model.params
        feedback = sampler.next(32)
        assert interrupt(lambda: model.feedback(1, feedback)) == 0, "this machine needs more work"
        for module, arrays in model.params.items():
            for name, array in arrays.items():
                np.testing.assert_array_equal(array, before[module][name])
        interrupt(lambda: [model.predict(1, feedback.features) for _ in range(1000)])
    """,
}


def run(code):
    """What a program prints that starts with the harness."""
    found = subprocess.run([sys.executable, "-c", HARNESS + textwrap.dedent(code)], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_call_soon(name):
    lines = run(CALLS[name]).splitlines()
    assert lines
    for line in lines:
        assert line.startswith("interrupted"), line
        assert float(line.split()[1]) < LIMIT, line


def test_no_batch_of_a_stream_is_lost_while_its_arrays_are_filled():
    # Filling the arrays takes most of the time. Signals that end the call at once may come when it is over: those do not count.
    printed = run("""
        arguments = {"seed": 1, "length": 40}
        kept = lost = 0
        for part in (0.5, 0.6, 0.7) * 3:
            sampler, again = (clrs_rs.build_sampler("bridges", -1, **arguments)[0] for _ in range(2))
            start = time.monotonic()
            again.next(200)
            duration = time.monotonic() - start
            send_after(part * duration)
            try:
                sampler.next(200)
                time.sleep(60)
            except KeyboardInterrupt:
                if time.monotonic() - sent[0] < 0.1:
                    continue
            expected, _ = clrs_rs.build_sampler("bridges", -1, **arguments)
            steps = sampler.max_steps == expected.max_steps
            found = sampler.next(1).features.inputs[1].data
            if steps and np.array_equal(found, expected.next(1).features.inputs[1].data):
                kept += 1
            else:
                lost += 1
        print(kept, lost)
    """)
    kept, lost = map(int, printed.split())
    # A busy machine may deliver a signal late.
    assert kept >= lost, printed


def test_an_exception_of_any_handler_ends_a_call():
    printed = run("""
        def handler(number, frame):
            raise TimeoutError("a handler of the user")
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            while True:
                clrs_rs.sample("graham_scan", n=800, batch=200)
        except TimeoutError as error:
            print(error)
    """)
    assert printed == "a handler of the user\n"


def test_an_interrupt_while_attributes_are_read_stays_an_interrupt():
    class Point:
        @property
        def name(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clrs_rs.evaluate([Point()], {})
