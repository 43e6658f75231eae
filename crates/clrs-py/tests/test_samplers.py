"""Samplers give the same numbers as dm-clrs's, with the same types, in the same containers."""

import copy
import pickle
import warnings

import clrs_rs
import numpy as np
import pytest

from conftest import ALGORITHMS, ROUNDED, assert_same_array, assert_same_feedback, assert_same_points

OPTIONS = [
    ("bfs", {"p": (0.1, 0.9)}),
    ("articulation_points", {"p": (0.7,)}),
    ("binary_search", {"low": -3.0, "high": 5.0}),
    ("find_maximum_subarray_kadane", {"low": -2.0, "high": 0.5}),
    ("lcs_length", {"length_2": 4, "chars": 2}),
    ("task_scheduling", {"max_deadline": 3, "low": 0.5, "high": 0.75}),
    ("mst_kruskal", {"p": (0.9,), "low": 0.25, "high": 4.0}),
    ("dag_shortest_paths", {"p": (0.2, 0.8), "low": 1.0, "high": 2.0}),
    ("strongly_connected_components", {"k": 2, "p": (0.9,), "eps": 0.2}),
    ("bipartite_matching", {"length_2": 3, "p": (0.6,)}),
    ("kmp_matcher", {"length_needle": -3, "chars": 3}),
    ("naive_string_matcher", {"length_needle": 2}),
    ("segments_intersect", {"low": -1.0, "high": 9.0}),
    ("graham_scan", {"origin_x": 1.0, "origin_y": -2.0, "radius": 0.5}),
    ("insertion_sort", {"truncate_decimals": 1}),
    ("bellman_ford", {"truncate_decimals": 2}),
    ("jarvis_march", {"truncate_decimals": 2}),
]


def both(clrs, name, num_samples, *args, **kwargs):
    """The sampler of dm-clrs and ours."""
    theirs, _ = clrs.build_sampler(name, num_samples, *args, **kwargs)
    ours, _ = clrs_rs.build_sampler(name, num_samples, *args, **kwargs)
    return theirs, ours


@pytest.mark.parametrize("name", ALGORITHMS)
def test_fixed_sets_are_the_same(clrs, name):
    for seed, length in ((1, 4), (2, 7), (3, 12)):
        theirs, ours = both(clrs, name, 9, seed=seed, length=length)
        for batch_size in (3, 9, None, 2):
            assert_same_feedback(theirs.next(batch_size), ours.next(batch_size), name, seed, length, batch_size)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_batches_on_the_fly_are_the_same(clrs, name):
    theirs, ours = both(clrs, name, -1, seed=5, length=6, track_max_steps=False)
    for batch_size in (1, 4):
        assert_same_feedback(theirs.next(batch_size), ours.next(batch_size), name, batch_size)


@pytest.mark.parametrize("name", ["bfs", "minimum", "quickselect", "kmp_matcher", "segments_intersect"])
def test_max_steps_are_tracked_in_the_same_way(clrs, name):
    theirs, ours = both(clrs, name, -1, 4, seed=6)
    for _ in range(3):
        assert_same_feedback(theirs.next(2), ours.next(2), name)
        assert ours.max_steps == theirs.max_steps
    theirs.max_steps = ours.max_steps = 40
    assert_same_feedback(theirs.next(2), ours.next(2), name)


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_options_have_the_same_effect(clrs, name, options):
    theirs, ours = both(clrs, name, 6, seed=7, length=9, **options)
    assert_same_feedback(theirs.next(), ours.next(), name, options)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_samplers_in_python_draw_what_the_engine_draws(name):
    """A derived class that changes nothing runs in Python, and draws the same problems with `_sample_data`."""
    native, spec = clrs_rs.build_sampler(name, 5, seed=8, length=7)

    class InPython(clrs_rs.samplers.SAMPLERS[name]):
        def _sample_data(self, *args, **kwargs):
            return super()._sample_data(*args, **kwargs)

    in_python = InPython(getattr(clrs_rs.algorithms, name), spec, 5, seed=8, length=7)
    assert native._engine is not None
    assert in_python._engine is None
    for batch_size in (None, 3):
        assert_same_feedback(native.next(batch_size), in_python.next(batch_size), name)


@pytest.mark.parametrize("name", ["bfs", "jarvis_march", "strongly_connected_components", "bipartite_matching"])
def test_sample_data_and_helpers_are_the_same(clrs, name):
    theirs, ours = both(clrs, name, 2, seed=9, length=6)
    rounded = (name, "x") in ROUNDED
    for draw in (
        lambda sampler: sampler._sample_data(6),
        lambda sampler: [sampler._random_sequence(5, low=-1.0, high=2.0), sampler._random_string(9, chars=3)],
        lambda sampler: [sampler._random_er_graph(5, 0.4, directed=True, acyclic=True, weighted=True, low=2.0, high=3.0)],
        lambda sampler: [sampler._random_er_graph(5, weighted=True)],
        lambda sampler: [sampler._random_community_graph(9, k=2, eps=0.3, weighted=True, directed=True)],
        lambda sampler: [sampler._random_bipartite_graph(3, 4, 0.5)],
    ):
        for expected, found in zip(draw(theirs), draw(ours), strict=True):
            assert_same_array(expected, found, name, rounded)


def test_the_private_state_that_clients_use_exists(clrs):
    theirs, ours = both(clrs, "bfs", 8, seed=1, length=5)
    assert ours._num_samples == theirs._num_samples
    for field in ("_inputs", "_hints", "_outputs"):
        assert_same_points(getattr(theirs, field), getattr(ours, field), ("bfs", field))
    assert_same_array(theirs._lengths, ours._lengths, "lengths")


def test_the_generator_is_shared_with_its_user(clrs):
    theirs, ours = both(clrs, "dijkstra", -1, seed=2, length=5, track_max_steps=False)
    for _ in range(3):
        assert_same_feedback(theirs.next(2), ours.next(2), "dijkstra")
        assert ours._rng.uniform() == theirs._rng.uniform()
        assert ours._rng.normal() == theirs._rng.normal()


def test_the_arrays_of_a_fixed_set_are_the_samplers_own(clrs):
    for library in (clrs, clrs_rs):
        sampler, _ = library.build_sampler("bfs", 4, seed=0, length=5)
        assert sampler.next().outputs[0] is sampler.next().outputs[0]
        sampler.next().outputs[0].data[:] = 3
        assert (sampler.next(2).outputs[0].data == 3).all()


@pytest.mark.parametrize("arguments", [{"num_samples": 20}, {"num_samples": -1}, {"num_samples": -1, "track_max_steps": False}])
@pytest.mark.parametrize("copied", [lambda sampler: pickle.loads(pickle.dumps(sampler)), copy.deepcopy])
def test_samplers_continue_their_stream_after_pickling(arguments, copied):
    sampler, _ = clrs_rs.build_sampler("mst_prim", seed=3, length=6, p=(0.3, 0.6), **arguments)
    sampler.next(4)
    again = copied(sampler)
    for _ in range(2):
        assert_same_feedback(sampler.next(4), again.next(4), "mst_prim")


def test_samplers_of_pickled_tuples_continue_like_those_of_dm_clrs(clrs):
    theirs, ours = both(clrs, "bfs", 10, seed=3, length=5)
    theirs.next(2), ours.next(2)
    theirs, ours = (pickle.loads(pickle.dumps((sampler, 1)))[0] for sampler in (theirs, ours))
    assert_same_feedback(theirs.next(4), ours.next(4), "bfs")


def test_build_sampler_returns_the_spec_itself(clrs):
    for library in (clrs, clrs_rs):
        assert library.build_sampler("bfs", 1, length=4)[1] is library.SPECS["bfs"]


def test_unknown_arguments_are_ignored_with_a_warning_or_refused():
    with pytest.warns(clrs_rs.errors.IgnoredOptionWarning, match="bfs ignores .*: length_needle"):
        sampler, _ = clrs_rs.build_sampler("bfs", 3, seed=1, length=4, p=(0.5,), length_needle=-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same, _ = clrs_rs.build_sampler("bfs", 3, seed=1, length=4, p=(0.5,))
    assert_same_feedback(same.next(), sampler.next(), "bfs")
    with pytest.raises(TypeError, match="no argument `lenght`; did you mean `length`"):
        clrs_rs.build_sampler("bfs", 3, lenght=4, strict=True)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (NotImplementedError, lambda library: library.build_sampler("bsf", 3, length=4)),
        (ValueError, lambda library: library.build_sampler("bfs", 8, length=4)[0].next(9)),
        (AssertionError, lambda library: library.build_sampler("bfs", -1, length=4, track_max_steps=False)[0].next()),
        (TypeError, lambda library: library.build_sampler("bfs", 3)),
        (ValueError, lambda library: library.build_sampler("bfs", 3, length=4, seed=-1)),
        (ValueError, lambda library: library.build_sampler("strongly_connected_components", 3, length=3)),
    ],
)
def test_errors_have_the_classes_of_dm_clrs(clrs, error, call):
    for library in (clrs, clrs_rs):
        with pytest.raises(error):
            call(library)


def test_messages_are_those_of_the_engine():
    with pytest.raises(clrs_rs.errors.UnknownAlgorithmError, match="unknown algorithm `bsf`; did you mean `bfs`?"):
        clrs_rs.build_sampler("bsf", 3, length=4)
    with pytest.raises(clrs_rs.errors.BatchError, match=r"Batch size 9 > dataset size 8\."):
        clrs_rs.build_sampler("bfs", 8, length=4)[0].next(9)
    with pytest.raises(clrs_rs.errors.OptionError, match="`chars=many`"):
        clrs_rs.build_sampler("lcs_length", 8, length=4, chars="many")
    with pytest.raises(clrs_rs.errors.InvalidProblemError, match="size 0 is too small"):
        clrs_rs.build_sampler("bfs", 8, length=0)
    assert all(issubclass(getattr(clrs_rs.errors, name), clrs_rs.errors.ClrsError) for name in clrs_rs.errors.__all__ if name.endswith("Error"))


def test_seeds_are_those_of_numpy(clrs):
    for seed in (2**32 - 1, [1, 2, 3], np.int64(5)):
        theirs, ours = both(clrs, "bfs", 2, seed=seed, length=4)
        assert_same_feedback(theirs.next(), ours.next(), "bfs", seed)
    first, second = (clrs_rs.build_sampler("insertion_sort", 1, length=8)[0].next() for _ in range(2))
    assert not np.array_equal(first.features.inputs[1].data, second.features.inputs[1].data)


def test_constants_are_the_same(clrs):
    for name in ("SPECS", "CLRS30", "CLRS_30_ALGS_SETTINGS"):
        theirs, ours = getattr(clrs, name), getattr(clrs_rs, name)
        assert ours == theirs
        assert list(ours) == list(theirs)
    for name in clrs.SPECS:
        assert list(clrs_rs.SPECS[name]) == list(clrs.SPECS[name]), name
    assert clrs_rs.CLRS_30_ALGS == clrs.specs.CLRS_30_ALGS
    assert clrs_rs.ALGO_IDX_INPUT_NAME == clrs.ALGO_IDX_INPUT_NAME
    for name in ("Stage", "Location", "Type", "OutputClass"):
        public = lambda library: {key: value for key, value in vars(getattr(library, name)).items() if key.isupper()}
        assert public(clrs_rs) == public(clrs)
    samplers = clrs._src.samplers if hasattr(clrs, "_src") else __import__("clrs._src.samplers", fromlist=["x"])
    assert list(clrs_rs.samplers.SAMPLERS) == list(samplers.SAMPLERS)
    for name, sampler in samplers.SAMPLERS.items():
        ours = clrs_rs.samplers.SAMPLERS[name]
        assert ours.__name__ == sampler.__name__
        assert ours.CAN_TRUNCATE_INPUT_DATA == sampler.CAN_TRUNCATE_INPUT_DATA
