"""Feedback as a pytree of JAX, and batches on a device."""

import functools
import itertools

import clrs_rs
import clrs_rs.jax as clrs_jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_trees_are_mapped():
    feedback = clrs_rs.sample("bfs", n=6, batch=2).feedback()
    doubled = jax.tree.map(lambda array: array * 2, feedback)
    assert type(doubled) is type(feedback) and type(doubled.features.inputs[0]) is clrs_rs.DataPoint
    np.testing.assert_array_equal(doubled.features.inputs[0].data, feedback.features.inputs[0].data * 2)
    leaves, structure = jax.tree.flatten(feedback)
    assert len(leaves) == 4 + 2 + 1 + 1
    assert jax.tree.structure(clrs_rs.sample("bfs", n=6, batch=2, seed=1).feedback()) == structure


def test_functions_of_feedback_are_compiled_once_and_differentiated():
    compiled = []

    @jax.jit
    def loss(weight, feedback):
        compiled.append(feedback)
        keys = clrs_jax.inputs(feedback)["key"]
        logits = weight * -keys[:, None, :] * jnp.ones_like(keys)[:, :, None]
        truth = jax.nn.one_hot(clrs_jax.outputs(feedback)["pred"], keys.shape[1])
        return -(truth * jax.nn.log_softmax(logits)).sum(-1).mean()

    batches = clrs_jax.batches("insertion_sort", n=6, batch=4)
    gradient = jax.grad(loss)
    for feedback in itertools.islice(batches, 5):
        assert np.isfinite(gradient(1.0, feedback))
    assert len(compiled) == 1, "hints have the same number of steps in all batches"


def test_batches_are_those_of_dm_clrs(clrs):
    sampler, _ = clrs.build_sampler("dijkstra", -1, seed=3, length=6)
    for feedback in itertools.islice(clrs_jax.batches("dijkstra", n=6, batch=4, seed=3), 3):
        theirs = sampler.next(4)
        pairs = zip(jax.tree.leaves(feedback), jax.tree.leaves(theirs), strict=True)
        for ours, expected in pairs:
            assert isinstance(ours, jax.Array)
            np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_dtypes_devices_transforms_and_processes():
    transform = functools.partial(clrs_rs.process_permutations, enforce_permutations=True)
    device = jax.devices()[0]
    stream = clrs_jax.batches("insertion_sort", n=4, batch=2, dtype=jnp.bfloat16, device=device, transform=transform)
    feedback = next(stream)
    assert [point.name for point in feedback.outputs] == ["pred", "pred_mask"]
    assert feedback.outputs[0].data.dtype == jnp.bfloat16 and feedback.outputs[0].data.devices() == {device}
    keys = [clrs_jax.inputs(next(clrs_jax.batches("minimum", n=4, batch=2, process=process)))["key"] for process in range(3)]
    assert len({np.asarray(key).tobytes() for key in keys}) == 3
    with pytest.raises(clrs_rs.errors.UnknownOptionError):
        clrs_jax.batches("bfs", grpah="tree")
    with pytest.raises(ValueError, match="at least 1"):
        clrs_jax.batches("bfs", batch=0)


def test_prefetching_takes_items_before_they_are_needed():
    taken = []
    source = (taken.append(item) or item for item in range(10))
    stream = clrs_jax.prefetch(source, 3)
    assert next(stream) == 0 and taken == [0, 1, 2, 3]
    assert list(stream) == list(range(1, 10))
