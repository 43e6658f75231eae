"""Algorithms called one by one return the results and probes of dm-clrs's."""

import importlib

import clrs_rs
import numpy as np
import pytest

from conftest import ALGORITHMS, ROUNDED, assert_same_array


def assert_same_value(expected, found, message):
    """Same type and value, also in tuples."""
    assert type(found) is type(expected), message
    if isinstance(expected, tuple):
        for theirs, ours in zip(expected, found, strict=True):
            assert_same_value(theirs, ours, message)
    elif isinstance(expected, np.ndarray):
        assert_same_array(expected, found, message)
    else:
        assert found == expected, message


@pytest.mark.parametrize("name", ALGORITHMS)
def test_results_and_probes_are_the_same(clrs, name):
    sampler, _ = clrs.build_sampler(name, 1, seed=4, length=8)
    for _ in range(3):
        arguments = sampler._sample_data(8)
        copies = [np.array(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]
        result, probes = getattr(clrs_rs.algorithms, name)(*copies)
        for argument, copy in zip(arguments, copies, strict=True):
            np.testing.assert_array_equal(argument, copy)  # not changed by the call
        expected_result, expected_probes = getattr(clrs.algorithms, name)(*arguments)
        if name == "find_maximum_subarray":
            # The sum of two halves there, of all numbers here.
            np.testing.assert_allclose(result[2], expected_result[2], rtol=1e-14)
            result, expected_result = result[:2], expected_result[:2]
        assert_same_value(expected_result, result, name)
        assert [*probes] == [*expected_probes]
        for stage, locations in expected_probes.items():
            assert [*probes[stage]] == [*locations]
            for location, named in locations.items():
                assert [*probes[stage][location]] == [*named]
                for probe, expected in named.items():
                    found = probes[stage][location][probe]
                    assert found["type_"] == expected["type_"]
                    rounded = (name, probe) in ROUNDED
                    assert_same_array(expected["data"], found["data"], (name, stage, probe), rounded)


def test_probes_of_the_engine_can_be_split(clrs):
    graph = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    _, probes = clrs_rs.algorithms.bfs(graph, 1)
    inputs, outputs, hints = clrs_rs.probing.split_stages(probes, clrs_rs.SPECS["bfs"])
    assert [point.name for point in inputs] == ["pos", "s", "A", "adj"]
    assert outputs[0].data.tolist() == [[1, 1, 1]]
    assert hints[0].data.shape == (2, 1, 3)
    # dm-clrs reads them too.
    probing = importlib.import_module("clrs._src.probing")
    assert len(probing.split_stages(probes, clrs.SPECS["bfs"])[2]) == 2


def test_inputs_keep_the_type_of_arguments(clrs):
    weights = np.array([[0, 3, 1], [3, 0, 1], [1, 1, 0]])
    for dtype in (np.int64, np.float64, np.float32):
        expected = clrs.algorithms.bellman_ford(weights.astype(dtype), 0)[1]["input"]["edge"]["A"]["data"]
        found = clrs_rs.algorithms.bellman_ford(weights.astype(dtype), 0)[1]["input"]["edge"]["A"]["data"]
        assert_same_array(expected, found, dtype)


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("the matrix is not 2 x 2", lambda: clrs_rs.algorithms.bfs(np.zeros((2, 3)), 0)),
        ("source", lambda: clrs_rs.algorithms.bfs(np.zeros((2, 2)), 5)),
        ("sorted", lambda: clrs_rs.algorithms.binary_search(0.5, np.array([2.0, 1.0]))),
        ("letters", lambda: clrs_rs.algorithms.kmp_matcher(np.array([0, 4]), np.array([0]))),
        ("finite", lambda: clrs_rs.algorithms.insertion_sort(np.array([np.nan, 1.0]))),
        ("source", lambda: clrs_rs.algorithms.bipartite_matching(np.zeros((4, 4)), 1, 1, 1, 3)),
    ],
)
def test_invalid_problems_are_value_errors(message, call):
    with pytest.raises(ValueError, match=message):
        call()
