"""Models without dm-clrs: what they refuse, what randomizes them, and what they learn."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import clrs_rs as clrs
from clrs_rs import errors
from clrs_rs.models import checkpoints


def stream(algorithm="bfs", batch_size=4, length=5, seed=1, **options):
    """The spec after the transforms, and endless batches."""
    sampler, spec = clrs.build_sampler(algorithm, -1, length=length, seed=seed, track_max_steps=False, **options)
    return clrs.process_permutations(spec, iter(lambda: sampler.next(batch_size), None), True)


def make(spec, batch, processor="mpnn", seed=1, cls=clrs.models.BaselineModel, **settings):
    factory = clrs.get_processor_factory(processor, use_ln=True, nb_triplet_fts=4, nb_heads=1)
    settings = {"hidden_dim": 8, "encode_hints": True, "learning_rate": 0.01} | settings
    model = cls(spec, batch, factory, **settings)
    if seed is not None:
        model.init(None, seed)
    return model


def same(first, second):
    return all(np.array_equal(first[module][name], second[module][name]) for module in first for name in first[module])


def test_a_model_learns_and_the_same_seed_gives_the_same_bits():
    runs = []
    for _ in range(2):
        spec, batches = stream(batch_size=16)
        model = make(spec, next(batches), hidden_dim=16)
        losses = [float(model.feedback(step, next(batches))) for step in range(60)]
        runs.append((losses, model.params))
    assert runs[0][0] == runs[1][0] and same(runs[0][1], runs[1][1])
    assert np.mean(losses[-5:]) < 0.4 * np.mean(losses[:5])
    batch = next(batches)
    predictions, _ = model.predict(0, batch.features)
    assert clrs.evaluate(batch.outputs, predictions)["score"] > 0.7


def test_keys_of_any_kind_randomize_and_none_does_not():
    spec, batches = stream("insertion_sort")
    batch = next(batches)
    model = make(spec, batch, dropout_prob=0.3)

    def loss(key):
        return float(model.compute_grad(key, batch)[0])

    assert loss(None) == loss(None)
    for first, other in [(1, 2), (np.int64(3), -4), (np.array([0, 1], "u4"), np.array([0, 2], "u4")), (2**80, 2**81)]:
        assert loss(first) == loss(first) != loss(other)
        assert loss(first) != loss(None)
    assert loss(7) == loss(np.int32(7))
    # A stream goes on.
    for generator in (np.random.RandomState(0), np.random.default_rng(0), iter([5, 6])):
        assert loss(generator) != loss(generator)


def test_a_spec_and_an_algorithm_of_ones_own():
    spec = {
        "x": ("input", "node", "scalar"),
        "class": ("input", "graph", "categorical"),
        "seen": ("hint", "edge", "mask"),
        "last": ("hint", "node", "pointer"),
        "largest": ("output", "node", "mask_one"),
    }
    nodes, samples, rows, random = 6, 8, 3, np.random.RandomState(0)

    def batch():
        x = random.uniform(size=(samples, nodes))
        point = clrs.DataPoint
        inputs = [
            point("x", "node", "scalar", x.astype("f4")),
            point("class", "graph", "categorical", np.eye(3)[random.randint(3, size=samples)]),
        ]
        hints = [
            point("seen", "edge", "mask", random.randint(-1, 2, size=(rows, samples, nodes, nodes)).astype("i4")),
            point("last", "node", "pointer", random.randint(nodes, size=(rows, samples, nodes))),
        ]
        outputs = [point("largest", "node", "mask_one", np.eye(nodes, dtype=bool)[x.argmax(1)])]
        return clrs.Feedback(clrs.Features(inputs, hints, random.randint(1, rows + 1, size=samples)), outputs)

    model = make(spec, batch(), processor="triplet_gmpnn", hidden_dim=16)
    losses = [float(model.feedback(step, batch())) for step in range(80)]
    assert np.isfinite(losses).all()
    test = batch()
    predictions, hints = model.predict(0, test.features, return_hints=True)
    assert (predictions["largest"].data.argmax(1) == test.outputs[0].data.argmax(1)).mean() > 0.5
    assert [logits.shape for logits in hints[0].values()] == [(samples, nodes, nodes), (samples, nodes, nodes)]
    assert len(hints) == rows - 1


def test_what_is_wrong_is_said_in_words():
    spec, batches = stream()
    batch = next(batches)
    model = make(spec, batch, seed=None)
    assert model.params is None and model.opt_state is None
    with pytest.raises(errors.ModelError, match="call `init`"):
        model.feedback(0, batch)
    model.init(batch.features, seed=1)

    def feedback(**changes):
        features = batch.features._replace(**{name: value for name, value in changes.items() if name != "outputs"})
        return batch._replace(features=features, **{name: value for name, value in changes.items() if name == "outputs"})

    cases = [
        (feedback(inputs=batch.features.inputs[1:]), "the input `pos` is missing"),
        (feedback(hints=[*batch.features.hints, batch.features.hints[0]]), "is not in the spec, or occurs twice"),
        (feedback(outputs=[]), "the output `pi` is missing"),
        (feedback(lengths=np.array([1.0, 2.0])), "for 2 samples of 5 nodes"),
        (feedback(lengths=np.array([1.0, 2.0, 0.5, 99.0])), "sample 2 has length 0.5, expected an integer"),
        (feedback(outputs=[clrs.DataPoint("pi", "node", "pointer", np.full((4, 5), 5))]), "`pi` contains 5, expected a node from 0 to 4"),
    ]
    for wrong, message in cases:
        with pytest.raises(errors.DataPointError, match=message):
            model.feedback(0, wrong)
    with pytest.raises(errors.ArgumentError, match="`algorithm_index` must be from 0 to 0, not 1"):
        model.feedback(0, batch, 1)
    with pytest.raises(ValueError, match="`encode_hints=True`, `decode_hints=False` is invalid"):
        make(spec, batch, decode_hints=False)
    with pytest.raises(errors.ModelError, match="unknown processor `mpn`; did you mean `mpnn`"):
        make(spec, batch, processor="mpn")
    with pytest.raises(errors.ArgumentError, match="`hidden_dim` must be at least 1, not 0"):
        make(spec, batch, hidden_dim=0)
    with pytest.raises(errors.ArgumentError, match="hint_repred_mode"):
        make(spec, batch, hint_repred_mode="softer")
    with pytest.raises(TypeError, match="get_processor_factory"):
        clrs.models.BaselineModel(spec, batch, lambda size: None)
    with pytest.raises(TypeError, match="list of gradients"):
        model.update_model_params_accum(model.compute_grad(0, batch)[1])
    sampler, unprocessed = clrs.build_sampler("insertion_sort", 4, length=5, seed=1)
    with pytest.raises(errors.DataPointError, match="apply `process_permutations` first"):
        make(unprocessed, sampler.next())
    with pytest.raises(AttributeError, match="JAX module of dm-clrs"):
        clrs.models.Net  # noqa: B018
    with pytest.raises(NotImplementedError, match="Rust engine"):
        clrs.get_processor_factory("gat", True, 8, 1)(128)


def test_parameters_of_another_model_are_refused_by_name():
    spec, batches = stream()
    batch = next(batches)
    model, wide = make(spec, batch), make(spec, batch, hidden_dim=16)
    before = model.params
    with pytest.raises(errors.ModelError, match="has shape .* expected"):
        model.params = wide.params
    missing = dict(before)
    del missing["net/mpnn_aggr_clrs_processor/linear_3"]
    with pytest.raises(errors.ModelError, match="`net/mpnn_aggr_clrs_processor/linear_3/.` is missing"):
        model.params = missing
    with pytest.warns(UserWarning, match="ignored 1 parameters that the model does not have: net/other/w"):
        model.params = before | {"net/other": {"w": np.zeros(3)}}
    assert same(model.params, before)
    with pytest.raises(errors.ModelError, match="has shape"):
        model.opt_state = wide.opt_state
    with pytest.raises(errors.ModelError, match="not one of Adam"):
        model.opt_state = (1, 2)


def test_a_saved_model_goes_on_with_the_same_bits(tmp_path):
    spec, batches = stream()
    first, second = next(batches), next(batches)
    model = make(spec, first, checkpoint_path=str(tmp_path / "new"), grad_clip_max_norm=1.0)
    model.feedback(0, first)
    model.save_model("model.pkl")
    other = make(spec, first, checkpoint_path=str(tmp_path / "new"), seed=9, grad_clip_max_norm=1.0)
    other.restore_model("model.pkl")
    assert model.feedback(1, second) == other.feedback(1, second)
    assert same(model.params, other.params)
    assert os.listdir(tmp_path / "new") == ["model.pkl"]


class Payload:
    def __reduce__(self):
        return os.system, ("touch executed",)


@pytest.mark.parametrize(
    "saved",
    [
        Payload(),
        {"params": Payload()},
        {"params": {}, "opt_state": Payload()},
        {"params": {"net": {"w": np.array([Payload()], dtype=object)}}},
        {"params": {"net": {"w": np.array(["text"])}}},
        {"params": {"net": {"w": 3}}},
        {"params": [1]},
        {"params": {"net": {"w": print}}},
        [1, 2],
        3,
    ],
)
def test_pickles_of_anything_else_are_refused_and_run_nothing(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(pickle.dumps(saved))
    with pytest.raises(errors.CheckpointError, match="file"):
        checkpoints.load(str(tmp_path / "file"))
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.filterwarnings("ignore:ignored")
def test_damaged_pickles_are_refused(tmp_path):
    spec, batches = stream()
    model = make(spec, next(batches), checkpoint_path=str(tmp_path))
    model.save_model("file")
    data = (tmp_path / "file").read_bytes()
    before = model.params
    random = np.random.RandomState(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(data)
        for position in random.randint(len(data), size=3):
            damaged[position] = random.randint(256)
        damaged = damaged[: random.randint(1, len(data) + 1)] if random.randint(2) else damaged
        (tmp_path / "file").write_bytes(bytes(damaged))
        try:
            model.restore_model("file")
        except errors.ModelError:
            refused += 1
            assert same(model.params, before)
        else:
            model.params = before
    assert refused > 100
    with pytest.raises(FileNotFoundError):
        model.restore_model("no such file")


def test_chunks_train_and_continue_where_they_were_cut():
    sampler, spec = clrs.build_sampler("insertion_sort", 8, length=8, seed=1)
    spec, batches = clrs.process_permutations(spec, iter(lambda: sampler.next(4), None), False)
    batch = next(batches)
    model = make(spec, batch, hidden_dim=8)
    params = model.params
    full, gradients = model.compute_grad(None, batch)

    def chunks(length):
        return clrs.chunkify(iter([batch, batch, batch]), length)

    chunked = make(spec, batch, cls=clrs.models.BaselineModelChunked)
    chunked.params = params
    whole = chunks(8)
    for _ in range(2):
        loss, found = chunked.compute_grad(None, next(whole), (0, 0))
        np.testing.assert_allclose(loss, full, rtol=1e-5)
        for module in gradients:
            for name in gradients[module]:
                np.testing.assert_allclose(found[module][name], gradients[module][name], atol=1e-5)
    # Half of a sample has another loss, but both halves together know the whole.
    halves, losses = chunks(4), []
    for _ in range(2):
        losses.append(float(chunked.compute_grad(None, next(halves), (1, 0))[0]))
    assert losses[0] != losses[1] and np.isfinite(losses).all()
    assert float(chunked.feedback(1, next(chunks(8)), (2, 0))) > 0
    assert not same(chunked.params, params)
    with pytest.raises(NotImplementedError):
        chunked.predict(0, batch.features)
    with pytest.raises(NotImplementedError):
        chunked.verbose_loss(batch, None)
    for index, message in ((0, "must be a pair, not 0"), ((-1, 0), r"\[0\]` must be at least 0"), ((1.7, 0), "must be an integer")):
        with pytest.raises(errors.ArgumentError, match=message):
            chunked.feedback(0, next(chunks(8)), index)
    with pytest.raises(errors.DataPointError, match="a chunk needs at least 2 rows"):
        chunked.feedback(1, next(chunks(1)), (3, 0))


def test_a_gradient_that_is_not_finite_changes_nothing():
    spec, batches = stream("dijkstra")
    batch = next(batches)
    model = make(spec, batch)
    before = model.params
    inputs = [clrs.DataPoint(point.name, point.location, point.type_, point.data * (np.nan if point.name == "A" else 1)) for point in batch.features.inputs]
    assert np.isnan(model.feedback(0, batch._replace(features=batch.features._replace(inputs=inputs))))
    assert same(model.params, before)


def test_threads_share_a_model():
    spec, batches = stream(batch_size=2)
    items = [next(batches) for _ in range(16)]
    model = make(spec, items[0])

    def work(share):
        for item in share:
            model.feedback(0, item)
            model.predict(0, item.features)
            assert model.params is not None

    threads = [threading.Thread(target=work, args=(items[index::4],)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.opt_state[0].count == len(items)


def test_models_work_in_forked_processes():
    code = """
import os, sys
import clrs_rs as clrs
sampler, spec = clrs.build_sampler("bfs", 8, length=6, seed=1)
factory = clrs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
model = clrs.models.BaselineModel(spec, sampler.next(4), factory, hidden_dim=128, encode_hints=True)
model.init(None, 1)
model.feedback(0, sampler.next(8))
child = os.fork()
if child == 0:
    loss = model.feedback(0, sampler.next(8))
    os._exit(0 if loss > 0 else 1)
_, status = os.waitpid(child, 0)
model.feedback(0, sampler.next(8))
sys.exit(os.waitstatus_to_exitcode(status))
"""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
