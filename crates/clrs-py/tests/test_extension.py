"""An algorithm that is written in Python gets everything that those of the package have (paper, appendix A.3)."""

import importlib
import pickle

import clrs_rs
import numpy as np
import pytest

from clrs_rs import probing

from conftest import assert_same_feedback

SPEC = {
    "pos": ("input", "node", "scalar"),
    "key": ("input", "node", "scalar"),
    "k": ("input", "graph", "scalar"),
    "pred": ("output", "node", "should_be_permutation"),
    "pred_h": ("hint", "node", "pointer"),
    "smallest": ("hint", "node", "mask_one"),
    "sorted": ("hint", "node", "mask"),
    "phase": ("hint", "graph", "categorical"),
}


def selection_sort(A, k, probing=probing):
    """Selection sort, with every kind of probe."""
    n = len(A)
    probes = probing.initialize(SPEC)
    probing.push(probes, "input", {"pos": np.arange(n) / n, "key": A.copy(), "k": k})
    order = np.arange(n)
    for i in range(n - 1):
        smallest = i + np.argmin(A[order[i:]])
        order[[i, smallest]] = order[[smallest, i]]
        probing.push(
            probes,
            "hint",
            {
                "pred_h": probing.array(order),
                "smallest": probing.mask_one(order[i], n),
                "sorted": np.isin(np.arange(n), order[: i + 1]) * 1.0,
                "phase": probing.array_cat(np.array([i % 3]), 3)[0],
            },
        )
    probing.push(probes, "output", {"pred": probing.array(order)})
    probing.finalize(probes)
    return A[order], probes


def sampler_of(library):
    class SelectionSampler(library.Sampler):
        CAN_TRUNCATE_INPUT_DATA = True

        def _sample_data(self, length, low=0.0, high=1.0):
            return [self._random_sequence(length, low, high), float(self._rng.randint(5))]

    return SelectionSampler


SelectionSampler = sampler_of(clrs_rs)
SelectionSampler.__qualname__ = "SelectionSampler"  # to be found when it is unpickled


@pytest.fixture(scope="module", autouse=True)
def registered(unregister):
    clrs_rs.register_algorithm("selection_sort", SPEC, selection_sort, SelectionSampler, num_samples_multiplier=2)


def test_batches_are_those_that_dm_clrs_would_make(clrs):
    theirs_probing = importlib.import_module("clrs._src.probing")
    theirs = sampler_of(clrs)(lambda *data: selection_sort(*data, probing=theirs_probing), SPEC, 10, seed=1, length=6, high=2.0)
    ours, spec = clrs_rs.build_sampler("selection_sort", 10, seed=1, length=6, high=2.0)
    assert spec == SPEC
    for batch_size in (None, 4, 7):
        assert_same_feedback(theirs.next(batch_size), ours.next(batch_size), "selection_sort")


def test_batches_on_the_fly_track_steps(clrs):
    theirs_probing = importlib.import_module("clrs._src.probing")
    arguments = {"seed": 1, "length": 4, "truncate_decimals": 2}
    theirs = sampler_of(clrs)(lambda *data: selection_sort(*data, probing=theirs_probing), SPEC, -1, **arguments)
    ours = SelectionSampler(selection_sort, SPEC, -1, **arguments)
    for _ in range(2):
        assert_same_feedback(theirs.next(3), ours.next(3), "selection_sort")
    assert ours.max_steps == theirs.max_steps == 3


def test_transforms_chunks_and_scores(clrs):
    sampler, spec = clrs_rs.build_sampler("selection_sort", 10, seed=1, length=6)
    iterator = clrs_rs.process_random_pos(iter(lambda: sampler.next(4), None), np.random.RandomState(0))
    spec, iterator = clrs_rs.process_permutations(spec, iterator, True)
    feedback = next(iterator)
    assert spec["pred_mask"] == ("output", "node", "mask_one")
    assert clrs_rs.evaluate(feedback.outputs, {point.name: point for point in feedback.outputs})["score"] == 1.0
    chunk = next(clrs_rs.chunkify(iterator, 7))
    assert chunk.features.is_first.shape == (7, 4)


def test_the_store_keeps_the_samples(tmp_path):
    sampler, spec = clrs_rs.build_sampler("selection_sort", 10, seed=1, length=6)
    feedback = sampler.next()
    samples = clrs_rs.Samples.from_feedback("selection_sort", feedback)
    path = samples.save(tmp_path, "train")
    assert path.name == "selection_sort_train.arrow"
    again = clrs_rs.load(tmp_path, "selection_sort", "train")
    assert again.spec == SPEC
    assert_same_feedback(feedback, again.feedback(), "selection_sort")
    dataset, num_samples, spec = clrs_rs.create_dataset(tmp_path, "selection_sort", "train", 4)
    assert (num_samples, spec) == (10, SPEC)
    assert next(iter(dataset)).features.hints[0].data.shape[:2] == (5, 4)
    with pytest.raises(clrs_rs.errors.StoreError, match="already exists"):
        samples.save(tmp_path, "train")
    samples.save(tmp_path, "train", replace=True)


def test_traces_show_the_steps():
    samples = clrs_rs.sample("selection_sort", n=4, batch=2, seed=3)
    run = samples[1]
    assert (run.nodes, run.steps) == (4, 3)
    assert run.hints["phase"].tolist() == [0, 1, 2]
    trace = run.trace()
    assert trace.problem is None
    assert trace.hints["smallest"].tolist() == run.hints["smallest"].tolist()
    assert "selection_sort: 4 nodes, 3 steps" in trace._repr_html_()


def test_problems_of_algorithms_in_python_are_their_arguments():
    trace = clrs_rs.trace("selection_sort", {"A": [0.5, 0.1, 0.3], "k": 2.0})
    assert trace.inputs["key"].tolist() == [0.5, 0.1, 0.3]
    assert trace.hints["phase"].tolist() == [0, 1]
    with pytest.raises(clrs_rs.errors.InvalidProblemError, match="its problems have the arguments of the algorithm: A, k"):
        clrs_rs.trace("selection_sort", {"key": [0.5, 0.1, 0.3]})
    assert clrs_rs.check("selection_sort", {"A": [0.5, 0.1, 0.3], "k": 2.0}, trace.outputs)


def test_checks_of_algorithms_in_python():
    run = clrs_rs.sample("selection_sort", n=4, batch=1, seed=3)[0]
    assert run.check()
    wrong = {name: np.roll(values, 1) for name, values in run.outputs.items()}
    assert "differs from the output of the algorithm" in run.check(wrong).reason

    def check(inputs, outputs):
        return None if len(outputs["pred"]) == len(inputs["key"]) else "too short"

    clrs_rs.register_algorithm("checked_sort", SPEC, selection_sort, SelectionSampler, check=check)
    run = clrs_rs.sample("checked_sort", n=4, batch=1, seed=3)[0]
    assert run.check() and run.check({"pred": [0, 0, 0, 0]})
    assert run.check({"pred": [0]}) == clrs_rs.CheckResult(False, "too short")


def test_an_algorithm_that_replaces_one_of_the_engine_is_traced_and_checked_as_itself(monkeypatch):
    original = clrs_rs.algorithms.insertion_sort

    def reversed_steps(A):
        result, probes = original(A)
        hint = probes["hint"]["node"]["pred_h"]
        hint["data"] = hint["data"][::-1]
        return result, probes

    spec, sampler = clrs_rs.SPECS["insertion_sort"], clrs_rs.samplers.SAMPLERS["insertion_sort"]
    for table in (clrs_rs.specs._SPECS, clrs_rs.CLRS_30_ALGS_SETTINGS, clrs_rs.samplers.SAMPLERS, vars(clrs_rs.algorithms)):
        monkeypatch.setitem(table, "insertion_sort", table["insertion_sort"])
    clrs_rs.register_algorithm("insertion_sort", spec, reversed_steps, sampler)
    sample = clrs_rs.sample("insertion_sort", n=4, batch=1)[0]
    np.testing.assert_array_equal(sample.trace().hints["pred_h"], sample.hints["pred_h"])
    problem = {"A": np.array([1.0, 0.0, 1.0])}
    assert clrs_rs.check("insertion_sort", problem, {"pred": [1, 1, 0]})
    assert "differs from the output of the algorithm" in clrs_rs.check("insertion_sort", problem, {"pred": [2, 1, 1]}).reason


def test_recipes_are_for_algorithms_of_the_engine():
    for call in (
        lambda: clrs_rs.Model("selection_sort"),
        lambda: clrs_rs.recipe(algorithms=["bfs", "selection_sort"]),
        lambda: clrs_rs.train(out="never", algorithms=["selection_sort"]),
    ):
        with pytest.raises(clrs_rs.errors.UnknownAlgorithmError, match="`selection_sort` is written in Python.*BaselineModel"):
            call()


def test_samplers_of_the_package_can_be_derived_from():
    class Reversed(clrs_rs.samplers.SortingSampler):
        def _sample_data(self, length):
            (keys,) = super()._sample_data(length)
            return [np.sort(keys)[::-1].copy()]

    sampler = Reversed(clrs_rs.algorithms.bubble_sort, clrs_rs.SPECS["bubble_sort"], 3, seed=0, length=5)
    keys = sampler.next().features.inputs[1].data
    assert (np.diff(keys, axis=1) < 0).all()


def test_a_changed_helper_is_used():
    class Complete(clrs_rs.samplers.BfsSampler):
        def _random_er_graph(self, nb_nodes, *args, **kwargs):
            return np.ones((nb_nodes, nb_nodes), int) - np.eye(nb_nodes, dtype=int)

    feedback = Complete(clrs_rs.algorithms.bfs, clrs_rs.SPECS["bfs"], 3, seed=0, length=5).next()
    assert (feedback.features.inputs[2].data.sum((1, 2)) == 20).all()


def test_samplers_in_python_pickle():
    sampler, _ = clrs_rs.build_sampler("selection_sort", -1, seed=1, length=4)
    again = pickle.loads(pickle.dumps(sampler))
    assert_same_feedback(sampler.next(2), again.next(2), "selection_sort")


def test_a_replaced_sampler_is_used_by_name(monkeypatch):
    class Constant(clrs_rs.samplers.SortingSampler):
        def _sample_data(self, length):
            return [np.full(length, 0.5)]

    monkeypatch.setitem(clrs_rs.samplers.SAMPLERS, "minimum", Constant)
    sampler, _ = clrs_rs.build_sampler("minimum", 2, seed=0, length=4)
    assert (sampler.next().features.inputs[1].data == 0.5).all()


def test_mistakes_are_reported():
    with pytest.raises(NotImplementedError, match="CAN_TRUNCATE_INPUT_DATA"):

        class Unfinished(clrs_rs.Sampler):
            def _sample_data(self, length):
                return []

    with pytest.raises(ValueError, match="is not one of input, output, hint"):
        clrs_rs.register_algorithm("x", {"a": ("inptu", "node", "scalar")}, selection_sort, SelectionSampler)
    with pytest.raises(ValueError, match="not a name"):
        clrs_rs.register_algorithm("a b", SPEC, selection_sort, SelectionSampler)
    with pytest.raises(TypeError, match="Sampler"):
        clrs_rs.register_algorithm("x", SPEC, selection_sort, object)
    feedback = clrs_rs.build_sampler("bfs", 2, seed=0, length=4)[0].next()
    feedback.outputs[0].data[0, 0] = 9
    with pytest.raises(clrs_rs.errors.BatchError, match="`pi` has an invalid value in sample 0"):
        clrs_rs.Samples.from_feedback("bfs", feedback)
