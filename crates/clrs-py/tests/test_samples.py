"""Typed samples, traces and checks."""

import json
import subprocess
import sys

import clrs_rs
import numpy as np
import pytest

from conftest import ALGORITHMS, assert_same_feedback


@pytest.mark.parametrize("name", ALGORITHMS)
def test_samples_have_the_values_of_batches(name):
    samples = clrs_rs.sample(name, n=6, batch=4, seed=2)
    sampler, spec = clrs_rs.build_sampler(name, 4, seed=2, length=6)
    feedback = sampler.next()
    assert_same_feedback(feedback, samples.feedback(), name)
    assert samples.spec == spec
    for index, sample in enumerate(samples):
        assert sample.steps == feedback.features.lengths[index]
        for points, values in ((feedback.features.inputs, sample.inputs), (feedback.outputs, sample.outputs)):
            assert [point.name for point in points] == list(values)
            for point in points:
                assert_same_cells(point, point.data[index], values[point.name])
        for point in feedback.features.hints:
            assert_same_cells(point, point.data[: sample.steps, index], sample.hints[point.name])
        assert sample.check()


def assert_same_cells(point, dense, values):
    """Compares dense values with typed ones."""
    types = {"scalar": np.float64, "mask": np.int8, "categorical": np.int8}
    assert values.dtype == types.get(point.type_, np.int32), point.name
    if point.type_ == "mask_one":
        dense = dense.argmax(-1)
    elif point.type_ == "categorical":
        dense = np.where(dense[..., -1] == -1, -1, dense.argmax(-1))
    np.testing.assert_array_equal(values, dense, err_msg=point.name)


def test_samples_behave_like_a_sequence():
    samples = clrs_rs.sample("bfs", n=5, batch=6, seed=0)
    assert len(samples) == 6
    assert [sample.steps for sample in samples[1:3]] == [samples[1].steps, samples[2].steps]
    np.testing.assert_array_equal(samples[-1].outputs["pi"], samples[5].outputs["pi"])
    with pytest.raises(IndexError):
        samples[6]
    with pytest.raises(KeyError):
        samples[0].inputs["pi"]
    two = samples.feedback([0, -1], dtype=np.float32)
    assert two.features.hints[0].data.dtype == np.float32
    assert two.outputs[0].data.dtype == np.int64
    np.testing.assert_array_equal(two.outputs[0].data[1], samples[5].outputs["pi"])
    assert repr(samples) == "Samples(algorithm='bfs', count=6)"
    assert repr(samples[0]).startswith("Sample(algorithm='bfs', nodes=5, ")
    assert repr(samples[0].outputs).startswith("{'pi': array(")


def test_sets_of_the_store_are_read_as_they_were_written(tmp_path):
    samples = clrs_rs.sample("heapsort", n=6, batch=5, seed=1)
    path = samples.save(tmp_path / "new", "train")
    assert path.is_file()
    assert_same_feedback(samples.feedback(), clrs_rs.load(tmp_path / "new", "heapsort", "train").feedback(), "heapsort")
    benchmark = clrs_rs.load("clrs30", "heapsort", "val").feedback()
    sampler, _ = clrs_rs.build_sampler("heapsort", 32, seed=2, length=16)
    assert_same_feedback(sampler.next(), benchmark, "heapsort")


def test_checks_accept_any_correct_answer():
    path = {"weights": [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]], "source": 0}
    for parent in (1, 2):
        assert clrs_rs.check("bfs", path, {"pi": [0, 0, 0, parent]})
    with pytest.raises(TypeError):
        clrs_rs.check("bfs", path, None)
    result = clrs_rs.check("bfs", path, {"pi": [0, 0, 0, 3]})
    assert not result
    assert "3" in result.reason
    # Dense and typed values: a one-hot mask, and its node.
    problem = {"key": [3.0, 1.0, 2.0]}
    assert clrs_rs.check("minimum", problem, {"min": [0.0, 1.0, 0.0]})
    assert clrs_rs.check("minimum", problem, {"min": 1})
    assert not clrs_rs.check("minimum", problem, {"min": 2})


def test_checks_of_batches_accept_any_correct_answer(tmp_path):
    square = {"weights": [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]], "source": 0}
    batch = clrs_rs._core.run("bfs", json.dumps(square))
    samples = clrs_rs.Samples.from_feedback("bfs", batch)
    samples.save(tmp_path, "train")
    # TensorFlow's records have another order.
    features = batch.features._replace(inputs=batch.features.inputs[::-1])
    reordered = clrs_rs.Samples.from_feedback("bfs", batch._replace(features=features))
    for sample in (samples[0], clrs_rs.load(tmp_path, "bfs", "train")[0], reordered[0]):
        assert sample.check()
        for parent in (1, 2):
            assert sample.check({"pi": [0, 0, 0, parent]})
        wrong = sample.check({"pi": [0, 0, 0, 3]}).reason
        assert "3" in wrong and "differs" not in wrong
    # Probes that are not the algorithm's.
    features = batch.features._replace(inputs=batch.features.inputs[1:])
    partial = clrs_rs.Samples.from_feedback("bfs", batch._replace(features=features))[0]
    assert partial.check() and "differs" in partial.check({"pi": [0, 0, 0, 3]}).reason


def test_checks_know_the_plain_pointers_of_the_benchmark():
    sample = clrs_rs.load("clrs30@1.0.0", "insertion_sort", "val")[0]
    assert sample.check()
    assert "differs" not in sample.check({"pred": np.arange(sample.nodes)}).reason


@pytest.mark.parametrize(
    ("message", "problem", "output"),
    [
        ("`min`: this output is missing", {"key": [1.0]}, {}),
        ("`min`: 2 values, expected 3", {"key": [1.0, 2.0, 3.0]}, {"min": [0, 1]}),
        ("`min`: a value is invalid", {"key": [1.0, 2.0, 3.0]}, {"min": [0.5, 0.5, 0.0]}),
        ("it has no `keys`, but `key`", {"keys": [1.0]}, {"min": 0}),
        ("not finite", {"key": [np.inf]}, {"min": 0}),
    ],
)
def test_malformed_questions_are_value_errors(message, problem, output):
    with pytest.raises(ValueError, match=message):
        clrs_rs.check("minimum", problem, output)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_traces_are_documents(name):
    trace = clrs_rs.trace(name, n=5, seed=1)
    sample = clrs_rs.sample(name, n=5, batch=1, seed=1)[0]
    assert (trace.nodes, trace.steps) == (sample.nodes, sample.steps)
    for ours, typed in ((trace.inputs, sample.inputs), (trace.hints, sample.hints), (trace.outputs, sample.outputs)):
        assert list(ours) == list(typed)
        for probe, values in ours.items():
            np.testing.assert_array_equal(values, typed[probe], err_msg=probe)
    assert len(trace.step_lines) == trace.steps
    assert json.loads(trace.to_json())["problem"] == trace.problem
    assert clrs_rs.trace(name, trace.problem).to_json() == trace.to_json()


def test_traces_are_those_of_the_program():
    arguments = ["trace", "bfs", "-n", "5", "--set", "graph=tree", "--seed", "1", "--json"]
    printed = subprocess.run([sys.executable, "-m", "clrs_rs", *arguments], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) == json.loads(clrs_rs.trace("bfs", n=5, seed=1, graph="tree").to_json())
