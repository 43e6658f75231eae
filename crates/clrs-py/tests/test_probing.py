"""Data points and probes in Python behave like dm-clrs's."""

import copy
import importlib
import pickle
import subprocess
import sys

import clrs_rs
import numpy as np
import pytest

from clrs_rs import probing

from conftest import assert_same_array, assert_same_points


def point(library, data=None):
    return library.DataPoint("pos", "node", "scalar", np.zeros((2, 3)) if data is None else data)


def test_data_points_behave_like_those_of_dm_clrs(clrs):
    theirs, ours = point(clrs), point(clrs_rs)
    assert repr(ours) == repr(theirs)
    assert (ours.name, ours.location, ours.type_) == ("pos", "node", "scalar")
    for library in (clrs, clrs_rs):
        made = point(library)
        for attribute in ("name", "location", "type_"):
            with pytest.raises(AttributeError):
                setattr(made, attribute, "x")
        with pytest.raises(AttributeError):
            made.other = 1
        made.data = np.ones(3)
        for copied in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), copy.copy(made)):
            assert repr(copied) == repr(made)
            np.testing.assert_array_equal(copied.data, made.data)
        with pytest.raises(TypeError):
            hash(made)
        # The comparison of arrays is an array.
        assert (made == pickle.loads(pickle.dumps(made))).tolist() == [True] * 3
        assert library.DataPoint(name=b"pos", location=b"node", type_=b"scalar", data=made.data).name == "pos"
        assert library.DataPoint("a", "node", "scalar", np.float64(1)) != library.DataPoint("b", "node", "scalar", np.float64(1))


def test_data_points_are_pytrees_of_jax(clrs):
    import jax

    feedback = clrs_rs.build_sampler("bfs", 4, seed=0, length=5)[0].next()
    doubled = jax.tree_util.tree_map(lambda x: 2 * x, feedback)
    assert isinstance(doubled, clrs_rs.Feedback)
    assert repr(doubled.outputs) == repr(feedback.outputs)
    np.testing.assert_array_equal(doubled.outputs[0].data, 2 * feedback.outputs[0].data)
    total = jax.jit(lambda features: features.inputs[2].data.sum())(feedback.features)
    assert int(total) == feedback.features.inputs[2].data.sum()


@pytest.mark.parametrize("order", ["import jax, clrs_rs", "import clrs_rs, jax", "import clrs_rs, jax.tree_util"])
def test_the_registration_does_not_depend_on_the_order_of_imports(order):
    code = f"""{order}, sys
import numpy as np
point = clrs_rs.DataPoint("pos", "node", "scalar", np.zeros(3))
assert len(jax.tree_util.tree_leaves(point)) == 1 and jax.tree_util.tree_leaves(point)[0].shape == (3,)
assert not any(type(finder).__module__.startswith("clrs_rs") for finder in sys.meta_path)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_probes_of_values(clrs):
    theirs = importlib.import_module("clrs._src.probing")
    order, other = np.array([2, 0, 3, 1]), np.array([1, 0, 2])
    pairs = np.array([[0, 1, 2], [2, 1, 0]])
    for call in (
        lambda p: p.array(order),
        lambda p: p.array_cat(order, 5),
        lambda p: p.heap(order, 3),
        lambda p: p.graph(np.array([[0.0, -0.5], [0.0, -1.0]])),
        lambda p: p.mask_one(2, 4),
        lambda p: p.strings_id(order, other),
        lambda p: p.strings_pair(pairs),
        lambda p: p.strings_pair_cat(pairs, 3),
        lambda p: p.strings_pi(order, other, np.array([0, 0, 1])),
        lambda p: p.strings_pos(order, other),
        lambda p: p.strings_pred(order, other),
    ):
        assert_same_array(call(theirs), call(probing), call)


def recorded(p, spec):
    probes = p.initialize(spec)
    p.push(probes, "input", {"key": np.array([0.3, 0.7])})
    for step in range(3):
        p.push(probes, "hint", {"max_h": p.mask_one(step % 2, 2)})
    p.push(probes, "output", {"max": p.mask_one(1, 2)})
    return probes


SPEC = {"key": ("input", "node", "scalar"), "max": ("output", "node", "mask_one"), "max_h": ("hint", "node", "mask_one")}


def test_probes_are_recorded_in_the_same_way(clrs):
    theirs = importlib.import_module("clrs._src.probing")
    results = []
    for p in (theirs, probing):
        probes = recorded(p, SPEC)
        p.finalize(probes)
        results.append(p.split_stages(probes, SPEC))
    for expected, found in zip(*results, strict=True):
        assert_same_points(expected, found, ("max",))


def test_errors_of_probes(clrs):
    for p in (importlib.import_module("clrs._src.probing"), probing):
        with pytest.raises(p.ProbeError, match="max_h"):
            p.push(p.initialize(SPEC), "hint", {})
        with pytest.raises(p.ProbeError, match="finalize"):
            p.split_stages(recorded(p, SPEC), SPEC)
        probes = recorded(p, SPEC)
        p.finalize(probes)
        with pytest.raises(p.ProbeError, match="finalize"):
            p.finalize(probes)
        with pytest.raises(p.ProbeError, match="finalize"):
            p.push(probes, "hint", {"max_h": p.mask_one(0, 2)})
        with pytest.raises(p.ProbeError, match="Missing probe other"):
            p.split_stages(probes, {"other": ("input", "node", "scalar")})
        probes["output"]["node"]["max"]["data"] = np.array([1.0, 1.0])
        with pytest.raises(p.ProbeError, match="one-hot"):
            p.split_stages(probes, SPEC)
        probes["output"]["node"]["max"]["data"] = np.array([0.5, 0.5])
        with pytest.raises(p.ProbeError, match="max"):
            p.split_stages(probes, SPEC)
        probes["output"]["node"]["max"]["type_"] = "mask"
        with pytest.raises(p.ProbeError, match="type"):
            p.split_stages(probes, SPEC)
