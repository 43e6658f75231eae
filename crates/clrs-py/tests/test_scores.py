"""Scores and decoded predictions equal dm-clrs's."""

import clrs_rs
import numpy as np
import pytest

from conftest import ALGORITHMS, assert_same_array


def transformed(library, name, seed):
    """A batch with permutations as cycles, and its spec."""
    sampler, spec = library.build_sampler(name, 6, seed=seed, length=7)
    spec, iterator = library.process_permutations(spec, iter([sampler.next()]), True)
    return spec, next(iterator)


def assert_same_scores(expected, found, message):
    """Same names, values and containers. Scores of masks without positives are float32 in dm-clrs; ours are all float64."""
    assert list(found) == list(expected), message
    for name, score in expected.items():
        assert type(found[name]) is (np.float64 if isinstance(score, np.float32) else type(score)), (*message, name)
        assert_same_array(np.asarray(score, np.float64), found[name], (*message, name))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_scores_of_outputs(clrs, name):
    spec, truth = transformed(clrs_rs, name, 1)
    _, guess = transformed(clrs_rs, name, 2)
    predictions = {point.name: point for point in guess.outputs}
    expected, found = (library.evaluate(tuple(truth.outputs), predictions) for library in (clrs, clrs_rs))
    assert_same_scores(expected, found, (name,))
    perfect = clrs_rs.evaluate(truth.outputs, {point.name: point for point in truth.outputs})
    assert perfect["score"] == 1.0


@pytest.mark.parametrize("name", ALGORITHMS)
def test_scores_of_hints(clrs, name):
    spec, truth = transformed(clrs_rs, name, 1)
    _, guess = transformed(clrs_rs, name, 2)
    steps = min(len(batch.features.hints[0].data) for batch in (truth, guess))
    predictions = [
        {
            point.name: clrs_rs.DataPoint(point.name, point.location, point.type_, point.data[step])
            for point in guess.features.hints
        }
        for step in range(1, steps)
    ]
    arguments = (truth.features.hints, truth.features.lengths, predictions)
    expected, found = (library.evaluate_hints(*arguments) for library in (clrs, clrs_rs))
    assert_same_scores(expected, found, (name,))


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("name", ["bfs", "insertion_sort", "lcs_length", "articulation_points", "floyd_warshall"])
def test_postprocess(clrs, name, hard):
    import jax.numpy as jnp

    spec, truth = transformed(clrs_rs, name, 1)
    nodes = truth.features.inputs[0].data.shape[1]
    random = np.random.RandomState(0)
    logits = {}
    for point in [*truth.outputs, *truth.features.hints]:
        shape = point.data.shape if point in truth.outputs else point.data.shape[1:]
        extra = (nodes,) if point.type_ == "pointer" else ()
        logits[point.name] = random.normal(size=(*shape, *extra)).astype(np.float32)
    for convert in (jnp.asarray, np.asarray):
        # Copies: dm-clrs's changes NumPy arrays in place.
        raw = lambda: {key: convert(value.copy()) for key, value in logits.items()}
        expected, found = (library.decoders.postprocess(spec, raw(), 0.1, 25, hard) for library in (clrs, clrs_rs))
        assert list(found) == list(expected)
        for key, theirs in expected.items():
            ours = found[key]
            assert (ours.name, ours.location, ours.type_) == (theirs.name, theirs.location, theirs.type_)
            assert np.asarray(ours.data).dtype == np.asarray(theirs.data).dtype, key
            assert isinstance(ours.data, np.ndarray) == (convert is np.asarray), key
            if hard:
                np.testing.assert_array_equal(ours.data, theirs.data)
            else:
                np.testing.assert_allclose(ours.data, theirs.data, atol=2e-6)


def test_postprocess_is_differentiable_with_jax():
    import jax
    import jax.numpy as jnp

    spec = {"x": ("output", "node", "scalar"), "p": ("output", "node", "permutation_pointer")}

    def loss(logits, hard):
        decoded = clrs_rs.decoders.postprocess(spec, {"x": logits, "p": logits}, 1.0, 3, hard)
        return (decoded["x"].data ** 2).sum() + (decoded["p"].data ** 2).sum()

    logits = jnp.arange(9.0).reshape(3, 3) / 9
    assert jnp.abs(jax.jit(jax.grad(loss), static_argnums=1)(logits, False)).max() > 0
    assert jnp.abs(jax.grad(loss)(logits, True)).max() == 0


def test_data_points_of_jax_and_dm_clrs_are_scored(clrs):
    import jax.numpy as jnp

    _, truth = transformed(clrs, "insertion_sort", 1)
    predictions = {point.name: clrs.DataPoint(point.name, point.location, point.type_, jnp.asarray(point.data)) for point in truth.outputs}
    assert clrs_rs.evaluate(truth.outputs, predictions)["score"] == 1.0


def test_predictions_that_cannot_be_scored_are_errors(clrs):
    _, truth = transformed(clrs_rs, "bfs", 1)
    (pi,) = truth.outputs
    mask = clrs_rs.DataPoint("pi", "node", "mask", pi.data)
    for library in (clrs, clrs_rs):
        with pytest.raises(AssertionError):
            library.evaluate(truth.outputs, {})
        with pytest.raises(AssertionError):
            library.evaluate(truth.outputs, {"pi": mask})
        plain = library.build_sampler("insertion_sort", 2, seed=0, length=4)[0].next().outputs
        with pytest.raises(ValueError):
            library.evaluate(plain, {"pred": plain[0]})
    with pytest.raises(clrs_rs.errors.ScoreError, match="no prediction for `pi`"):
        clrs_rs.evaluate(truth.outputs, {})
    with pytest.raises(clrs_rs.errors.ScoreError, match="the prediction of `pi` is a node mask, expected a node pointer"):
        clrs_rs.evaluate(truth.outputs, {"pi": mask})
    short = clrs_rs.DataPoint("pi", "node", "pointer", pi.data[:2])
    with pytest.raises(clrs_rs.errors.ScoreError, match="has shape"):
        clrs_rs.evaluate(truth.outputs, {"pi": short})
    classes = [clrs_rs.DataPoint("phase", "graph", "categorical", np.eye(count)[:2]) for count in (2, 3)]
    with pytest.raises(clrs_rs.errors.ScoreError, match="`phase` has shape"):
        clrs_rs.evaluate(classes[:1], {"phase": classes[1]})
    with pytest.raises(clrs_rs.errors.DataPointError, match="`soft_pointer` is not a supported type"):
        clrs_rs.evaluate(truth.outputs, {"pi": clrs_rs.DataPoint("pi", "node", "soft_pointer", pi.data)})


def test_predictions_are_found_by_their_keys():
    sampler, _ = clrs_rs.build_sampler("bfs", 4, seed=1, length=5)
    outputs = sampler.next(4).outputs
    wrong = clrs_rs.DataPoint("pi", outputs[0].location, outputs[0].type_, (outputs[0].data + 1) % 5)
    renamed = clrs_rs.DataPoint("x", outputs[0].location, outputs[0].type_, outputs[0].data)
    assert clrs_rs.evaluate(outputs, {"pi": renamed, "other": wrong})["score"] == 1.0


@pytest.mark.parametrize("order", ["F", "transposed", "reversed", "strided"])
def test_scores_do_not_depend_on_the_order_of_arrays_in_memory(order):
    def reordered(array):
        if order == "F":
            return np.asfortranarray(array)
        if order == "transposed":
            return np.ascontiguousarray(array.T).T
        if order == "reversed":
            return np.ascontiguousarray(array[::-1])[::-1]
        return np.repeat(array, 2, axis=-1)[..., ::2]

    sampler, _ = clrs_rs.build_sampler("floyd_warshall", 5, seed=1, length=6)
    feedback = sampler.next(4)
    points = [clrs_rs.DataPoint(point.name, point.location, point.type_, reordered(point.data)) for point in feedback.outputs]
    assert clrs_rs.evaluate(feedback.outputs, {point.name: point for point in points})["score"] == 1.0
    assert clrs_rs.evaluate(points, {point.name: point for point in feedback.outputs})["score"] == 1.0
