"""Models against those of dm-clrs: the same parameters and batches give the same losses, gradients and predictions."""

import os
import pathlib
import pickle
import sys
import types
import unittest

import numpy as np
import pytest

import clrs_rs

# Most of the time of these tests is spent in XLA's optimizations.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false")
clrs = pytest.importorskip("clrs")
import jax  # noqa: E402
import optax  # noqa: E402
from clrs._src import decoders  # noqa: E402

jax.config.update("jax_disable_most_optimizations", True)

KEY = jax.random.PRNGKey(0)


@pytest.fixture(autouse=True)
def comparable(monkeypatch):
    """Removes the noise that dm-clrs adds to the logits of permutations in training, and lets it train several algorithms.

    For parameters of other algorithms, dm-clrs passes ``None`` to optax, which this function of optax 0.2.8 does not expect.
    """
    log_sinkhorn = decoders.log_sinkhorn
    monkeypatch.setattr(decoders, "log_sinkhorn", lambda *args, **options: log_sinkhorn(*args, **options | {"noise_rng_key": None}))
    monkeypatch.setattr(optax.tree, "cast_like", lambda tree, _: tree)


def batches(algorithm, count=1, length=5, batch_size=4, seed=2, pred_as_input=False):
    """The spec after the transforms, and some batches."""
    sampler, spec = clrs.build_sampler(algorithm, num_samples=-1, length=length, seed=seed, track_max_steps=False)
    stream = iter(lambda: sampler.next(batch_size), None)
    if pred_as_input:
        spec, stream = clrs.process_pred_as_input(spec, stream)
    spec, stream = clrs.process_permutations(spec, stream, enforce_permutations=True)
    return spec, [next(stream) for _ in range(count)]


def both_models(specs, dummies, processor="mpnn", heads=None, chunked=False, **settings):
    """A model of dm-clrs and one of ours, with the same parameters, none of which is zero."""
    settings = {"hidden_dim": 8, "encode_hints": True, "learning_rate": 0.01, "grad_clip_max_norm": 1.0} | settings
    found = []
    for package in (clrs, clrs_rs):
        factory = package.get_processor_factory(processor, use_ln=True, nb_triplet_fts=4, nb_heads=heads)
        found.append(package.models.BaselineModel(specs, dummies, factory, **settings))
    theirs, ours = found
    theirs.init([dummy.features for dummy in dummies], 3)
    random = np.random.RandomState(1)
    theirs.params = jax.tree.map(lambda value: value + 0.05 * random.normal(size=value.shape).astype("f4"), theirs.params)
    theirs.opt_state = theirs.opt.init(theirs.params)
    ours.init([dummy.features for dummy in dummies], 3)
    ours.params = theirs.params
    return theirs, ours


def flat(tree):
    return {f"{module}/{name}": np.asarray(value) for module, values in tree.items() for name, value in values.items()}


def assert_same_tree(found, expected, tolerance):
    found, expected = flat(found), flat(expected)
    assert found.keys() == expected.keys()
    assert all(found[name].shape == expected[name].shape and found[name].dtype == np.float32 for name in found)
    difference = np.sqrt(sum(np.square(found[name] - expected[name], dtype=np.float64).sum() for name in found))
    norm = np.sqrt(sum(np.square(value, dtype=np.float64).sum() for value in expected.values()))
    assert difference <= tolerance * norm, f"{difference / norm}"


def assert_same_update(found, expected, gradients, rate=0.01):
    """Adam divides gradients by their size, so that one of almost zero moves a parameter by the rate in either direction."""
    found, expected = flat(found), flat(expected)
    largest = max(np.abs(value).max() for value in flat(gradients).values())
    compared = 0
    for name, gradient in flat(gradients).items():
        is_clear = np.abs(gradient) > 1e-5 * largest
        compared += is_clear.sum()
        np.testing.assert_allclose(found[name][is_clear], expected[name][is_clear], atol=0.01 * rate, rtol=0, err_msg=name)
        np.testing.assert_allclose(found[name], expected[name], atol=2.1 * rate, rtol=0, err_msg=name)
    assert compared > 0.5 * sum(value.size for value in found.values()) / len(found)


def smallest_gap(type_, logits):
    """How far logits are from another decision."""
    if type_ == "scalar":
        return np.inf
    if type_ == "mask":
        return np.abs(logits).min()
    ordered = np.sort(np.asarray(logits), axis=-1)
    return (ordered[..., -1] - ordered[..., -2]).min()


def assert_close(found, expected, tolerance=1e-4):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


CASES = {
    "mpnn": ("bfs", {}),
    "triplet_gmpnn": ("insertion_sort", {"processor": "triplet_gmpnn", "encoder_init": "xavier_on_scalars"}),
    "pgn": ("dijkstra", {"processor": "pgn", "nb_msg_passing_steps": 2}),
    "gat": ("topological_sort", {"processor": "gat", "heads": 2}),
    "gatv2_full": ("minimum", {"processor": "gatv2_full", "heads": 2}),
    "memnet_masked": ("bfs", {"processor": "memnet_masked"}),
    "lstm": ("quickselect", {"use_lstm": True}),
    "decoded_only": ("bridges", {"processor": "pgn_mask", "encode_hints": False}),
    "no_hints": ("lcs_length", {"encode_hints": False, "decode_hints": False, "grad_clip_max_norm": 0.0}),
    "hard": ("graham_scan", {"hint_repred_mode": "hard", "hint_teacher_forcing": 1.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_losses_gradients_and_predictions_equal_those_of_dm_clrs(case):
    algorithm, settings = CASES[case]
    spec, (batch,) = batches(algorithm, pred_as_input=algorithm == "minimum", seed=4)
    theirs, ours = both_models([spec], [batch], debug=True, **settings)

    expected, gradients = theirs.compute_grad(KEY, batch, 0)
    loss, found = ours.compute_grad(None, batch, 0)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert_same_tree(found, gradients, 1e-4)

    outputs, hints, hidden = theirs.predict(KEY, batch.features, 0, return_hints=True, return_all_outputs=True)
    our_outputs, our_hints, our_hidden = ours.predict(None, batch.features, 0, return_hints=True, return_all_outputs=True)
    if settings.get("hint_repred_mode") == "hard":
        # Otherwise a rounding error may change a decision, and with it all later steps.
        assert min(smallest_gap(spec[name][2], logits) for row in hints for name, logits in row.items()) > 1e-4
    # Rounding errors grow with the number of steps.
    assert_close(our_hidden, hidden, 2e-3)
    assert (our_hints is None) == (hints is None)
    for step, (row, expected_row) in enumerate(zip(our_hints or [], hints or [], strict=True)):
        assert row.keys() == expected_row.keys()
        for name in row:
            assert_close(row[name], expected_row[name], 2e-3), (step, name)
    assert our_outputs.keys() == outputs.keys()
    for name, point in outputs.items():
        of_ours = our_outputs[name]
        assert (of_ours.name, of_ours.location, of_ours.type_) == (point.name, point.location, point.type_)
        assert of_ours.data.dtype == point.data.dtype == np.float32
        np.testing.assert_allclose(of_ours.data, point.data, atol=1e-4)

    final, no_hints, _ = theirs.predict(KEY, batch.features, 0)
    our_final, our_no_hints, _ = ours.predict(None, batch.features, 0)
    assert no_hints is our_no_hints is None
    for name, point in final.items():
        np.testing.assert_allclose(our_final[name].data, point.data, atol=1e-4)
        np.testing.assert_array_equal(our_final[name].data, our_outputs[name].data[-1])

    if hints:
        losses, our_losses = theirs.verbose_loss(batch, hints), ours.verbose_loss(batch, our_hints)
        assert losses.keys() == our_losses.keys()
        for name in losses:
            np.testing.assert_allclose(our_losses[name], losses[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("clip", [1.0, 0.0])
def test_updates_and_states_of_the_optimizer_equal_those_of_dm_clrs(clip):
    spec, found = batches("bfs", count=4)
    theirs, ours = both_models([spec], found[:1], grad_clip_max_norm=clip)
    _, gradients = theirs.compute_grad(KEY, found[0])
    for number, batch in enumerate(found):
        np.testing.assert_allclose(ours.feedback(None, batch), theirs.feedback(KEY, batch), rtol=1e-3)
        if number == 0:
            assert_same_update(ours.params, theirs.params, gradients)
            state, expected = (next(part for part in of.opt_state if hasattr(part, "mu")) for of in (ours, theirs))
            assert_same_tree(state.mu, expected.mu, 1e-4)
            assert_same_tree(state.nu, expected.nu, 1e-4)
    # optax is imported here, so its own classes are used.
    assert jax.tree.structure(ours.opt_state) == jax.tree.structure(theirs.opt_state)
    state, expected = (next(part for part in of.opt_state if hasattr(part, "mu")) for of in (ours, theirs))
    assert state.count == expected.count == len(found) and state.count.dtype == expected.count.dtype
    # With the same gradients, parameters and state, updates are the same: dm-clrs continues from our state, and we from theirs.
    theirs.opt_state, ours.opt_state = ours.opt_state, theirs.opt_state
    ours.opt_state = theirs.opt_state
    ours.params = theirs.params
    for batch in found:
        _, gradients = theirs.compute_grad(KEY, batch)
        theirs.update_model_params_accum([gradients])
        ours.update_model_params_accum([gradients])
        assert_same_tree(ours.params, theirs.params, 1e-6)


@pytest.mark.parametrize("freeze", [False, True])
def test_updates_of_several_algorithms_equal_those_of_dm_clrs(freeze):
    algorithms = ("bfs", "minimum", "insertion_sort")
    specs, found = zip(*(batches(algorithm, count=2) for algorithm in algorithms))
    dummies = [of[0] for of in found]
    theirs, ours = both_models(list(specs), dummies, freeze_processor=freeze)
    initial = flat(ours.params)
    # One algorithm after another: parameters of the others stay.
    for index in (1, 0, 2):
        _, gradients = theirs.compute_grad(KEY, found[index][0], index)
        before = flat(ours.params)
        own = flat(ours.compute_grad(None, found[index][0], index)[1])
        loss = ours.feedback(None, found[index][0], index)
        np.testing.assert_allclose(loss, theirs.feedback(KEY, found[index][0], index), rtol=1e-4)
        assert_same_update(ours.params, theirs.params, gradients)
        moved = {name for name, value in flat(ours.params).items() if not np.array_equal(value, before[name])}
        assert all(f"/algo_{index}_" in name or "clrs_processor" in name for name in moved)
        # A gradient may be zero for one of them, and a rounding error for the other.
        moved = {name for name in moved if np.abs(own[name]).max() > 1e-5 * max(np.abs(value).max() for value in own.values())}
        assert moved <= {name for name, value in flat(theirs.params).items() if not np.array_equal(value, before[name])}
        ours.params, ours.opt_state = theirs.params, theirs.opt_state
    # Accumulated over two of the three, and then without any gradient.
    for _ in range(3):
        gradients = [theirs.compute_grad(KEY, found[index][1], index)[1] for index in (0, 2)]
        theirs.update_model_params_accum(gradients)
        ours.update_model_params_accum(gradients)
        assert_same_tree(ours.params, theirs.params, 1e-6)
    zeros = jax.tree.map(np.zeros_like, gradients[0])
    theirs.update_model_params_accum([zeros])
    ours.update_model_params_accum([zeros])
    assert_same_tree(ours.params, theirs.params, 1e-6)
    moved = {name for name, value in flat(ours.params).items() if not np.array_equal(value, initial[name])}
    assert any("clrs_processor" in name for name in moved) == (not freeze)
    for index in range(len(algorithms)):
        assert any(f"/algo_{index}_" in name for name in moved)


def test_the_lstm_is_trained_even_if_the_processor_is_frozen():
    spec, (batch,) = batches("bfs")
    theirs, ours = both_models([spec], [batch], use_lstm=True, freeze_processor=True)
    before = flat(ours.params)
    _, gradients = theirs.compute_grad(KEY, batch)
    theirs.update_model_params_accum([gradients])
    ours.update_model_params_accum([gradients])
    assert_same_tree(ours.params, theirs.params, 1e-6)
    moved = {name for name, value in flat(ours.params).items() if not np.array_equal(value, before[name])}
    assert "net/processor_lstm/linear/w" in moved and not any("clrs_processor" in name for name in moved)


def test_pickles_go_both_ways(tmp_path):
    spec, (batch, other) = batches("bfs", count=2)
    theirs, ours = both_models([spec], [batch], checkpoint_path=str(tmp_path))
    theirs.feedback(KEY, batch)
    theirs.save_model("theirs.pkl")
    ours.restore_model("theirs.pkl")
    assert_same_tree(ours.params, theirs.params, 0.0)
    _, gradients = theirs.compute_grad(KEY, other)
    np.testing.assert_allclose(ours.feedback(None, other), theirs.feedback(KEY, other), rtol=1e-4)
    assert_same_update(ours.params, theirs.params, gradients)
    ours.save_model("ours.pkl")
    restored, _ = both_models([spec], [batch], checkpoint_path=str(tmp_path))
    restored.restore_model("ours.pkl")
    assert_same_tree(restored.params, ours.params, 0.0)
    assert jax.tree.structure(restored.opt_state) == jax.tree.structure(theirs.opt_state)
    np.testing.assert_allclose(restored.feedback(KEY, batch), ours.feedback(None, batch), rtol=1e-4)


def test_pickles_of_jax_arrays_are_read(tmp_path):
    spec, (batch,) = batches("bfs")
    theirs, ours = both_models([spec], [batch], checkpoint_path=str(tmp_path))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        saved = {"params": theirs._device_params, "opt_state": theirs._device_opt_state}
        (tmp_path / "jax.pkl").write_bytes(pickle.dumps(saved, protocol))
        ours.init(None, 9)
        ours.restore_model("jax.pkl")
        assert_same_tree(ours.params, theirs.params, 0.0)


def test_only_the_processor_is_loaded_for_other_algorithms(tmp_path):
    spec, (batch,) = batches("bfs")
    theirs, _ = both_models([spec], [batch], checkpoint_path=str(tmp_path))
    theirs.save_model("bfs.pkl")
    spec, (batch,) = batches("insertion_sort")
    _, ours = both_models([spec], [batch], checkpoint_path=str(tmp_path))
    before = ours.params
    ours.init(None, 9)
    drawn = ours.params
    ours.restore_model("bfs.pkl", only_load_processor=True)
    for module, values in ours.params.items():
        expected = theirs.params if "clrs_processor" in module else drawn
        assert_same_tree({module: values}, {module: expected[module]}, 0.0)
    assert before.keys() == drawn.keys()


def test_initial_parameters_have_the_shapes_and_the_spread_of_dm_clrs():
    spec, (batch,) = batches("dijkstra")
    models = []
    for package in (clrs, clrs_rs):
        factory = package.get_processor_factory("triplet_gmpnn", use_ln=True, nb_triplet_fts=8)
        settings = {"hidden_dim": 64, "encode_hints": True, "encoder_init": "xavier_on_scalars"}
        model = package.models.BaselineModel([spec], [batch], factory, **settings)
        model.init([batch.features], 1)
        models.append(flat(model.params))
    theirs, ours = models
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        assert ours[name].shape == value.shape and ours[name].dtype == value.dtype
        if value.size < 1000:
            continue
        np.testing.assert_allclose(ours[name].std(), value.std(), rtol=0.1)
        assert abs(ours[name].mean()) < 0.1 * value.std() + 1e-8


def test_dm_clrs_trains_and_evaluates_on_our_batches():
    sampler, spec = clrs_rs.build_sampler("bfs", num_samples=-1, length=6, seed=1, track_max_steps=False)
    spec, stream = clrs_rs.process_permutations(spec, iter(lambda: sampler.next(8), None), True)
    batch = next(stream)
    factory = clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    model = clrs.models.BaselineModel([spec], [batch], factory, hidden_dim=16, encode_hints=True, learning_rate=0.01)
    model.init([batch.features], 1)
    losses = [float(model.feedback(KEY, batch)) for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]
    predictions, _ = model.predict(KEY, batch.features)
    theirs, ours = clrs.evaluate(batch.outputs, predictions), clrs_rs.evaluate(batch.outputs, predictions)
    assert theirs["score"] > 0.8
    np.testing.assert_allclose(ours["score"], theirs["score"], rtol=1e-6)


def test_the_tests_of_dm_clrs_pass():
    """With nothing changed but the import.

    One is left out: it compares parameters after updates to 1e-4, among them the bias of pointers, which has no effect on a
    softmax. Its gradient is nothing but rounding errors, and Adam divides it by its size. `test_models_baselines.py` compares the
    losses and gradients of chunks and complete samples.
    """
    source = pathlib.Path(clrs.__file__).parent / "_src" / "baselines_test.py"
    module = types.ModuleType("reference_baselines_test")
    sys.modules[module.__name__] = module
    exec(compile(source.read_text(encoding="utf-8").replace("clrs._src", "clrs_rs._src"), str(source), "exec"), module.__dict__)
    del module.BaselinesTest.test_full_vs_chunked
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    failed = [f"{test.id()}\n{traceback}" for test, traceback in result.failures + result.errors]
    assert not failed, "\n\n".join(failed)
    assert result.testsRun == 3
