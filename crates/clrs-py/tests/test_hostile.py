"""Whatever is passed to the package, it raises an exception of its own in words of its own: no panic, no crash, no defect."""

import itertools
import math

import clrs_rs
import numpy as np
import pytest

from conftest import FOREIGN

ANYTHING = [
    None, True, -1, 0, 3, 2**31, 2**63, 2**70, -0.5, math.nan, math.inf, "", "x", "\0", b"bfs", [], [1], {}, {"x": 1},
    object(), np.zeros(0), np.float32(2), np.array(["text"]), np.array([None]), np.zeros((2, 2)), range(3),
]  # fmt: skip

ARRAYS = [
    np.array(0.0), np.zeros(0), np.zeros((0, 0, 0)), np.zeros((1,) * 20), np.full((4, 6), -7), np.full((4, 6), 2**62),
    np.full((4, 6), math.nan), np.full((4, 6), -math.inf), np.zeros((4, 6), complex), np.zeros((4, 6), bool),
    np.array([["text"] * 6] * 4), np.array([[None] * 6] * 4), np.zeros((4, 6, 6)), np.ones((4, 6, 6)), np.ones((9, 4, 6)),
    np.full((9, 4, 6), 99), np.full((9, 4, 6), 0.5), np.zeros((4, 6))[::-1, ::2], np.zeros((6, 4)).T, "text", None, [[1], [2, 3]],
]  # fmt: skip


def attempt(call, *arguments, **named):
    """Calls, and accepts a result, every error of the package but a defect, and the end of an iterator."""
    try:
        return call(*arguments, **named)
    except clrs_rs.errors.InternalError as error:
        pytest.fail(f"a defect: {error}, from {arguments} {named}")
    except clrs_rs.errors.ClrsError as error:
        assert not FOREIGN.search(str(error).replace("TOML parse error at line", "")), str(error)
    except StopIteration:
        pass
    # Everything else fails the test: other exceptions, and panics that are not caught.


@pytest.mark.parametrize("value", ANYTHING, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_arguments_of_functions(value, tmp_path):
    attempt(clrs_rs.build_sampler, value, 3, length=4)
    attempt(clrs_rs.build_sampler, "bfs", value, length=4, track_max_steps=False)
    for name in ("length", "seed", "truncate_decimals", "p"):
        attempt(clrs_rs.build_sampler, "bfs", 3, **{"length": 4} | {name: value})
    for algorithm in ("dijkstra", "kmp_matcher", "lcs_length", "strongly_connected_components", "jarvis_march", "task_scheduling"):
        for option in clrs_rs._core.algorithms()[algorithm]["options"]:
            attempt(clrs_rs.sample, algorithm, 5, 2, **{option: value})
    sampler, spec = clrs_rs.build_sampler("bfs", 8, seed=1, length=6)
    stream, _ = clrs_rs.build_sampler("bfs", -1, seed=1, length=6)
    for each in (sampler, stream):
        attempt(each.next, value)
        attempt(setattr, each, "max_steps", value)
        attempt(each.next, 1)
    samples = clrs_rs.sample("bfs", n=6, batch=4)
    attempt(clrs_rs.sample, value)
    for name in ("n", "batch", "seed"):
        attempt(clrs_rs.sample, "bfs", **{name: value})
    attempt(samples.feedback, value)
    attempt(samples.feedback, [value])
    attempt(samples.feedback, None, value)
    attempt(samples.save, tmp_path, value)
    attempt(samples[0].check, value)
    attempt(samples[0].check, {"pi": value})
    attempt(clrs_rs.trace, "bfs", value)
    for field in ("weights", "source", "key"):
        attempt(clrs_rs.trace, "bfs", {"weights": [[0, 1], [1, 0]], "source": 0} | {field: value})
    for position in range(4):
        arguments = ["clrs30", "bfs", "val", 4]
        arguments[position] = value
        attempt(clrs_rs.create_dataset, *arguments)
    attempt(clrs_rs.load, value, "bfs", "val")
    attempt(lambda: next(clrs_rs.chunkify(iter([sampler.next()]), value)))
    attempt(lambda: next(clrs_rs.chunkify(iter([value]), 4)))
    attempt(clrs_rs.evaluate, value, value)
    attempt(clrs_rs.evaluate_hints, value, value, value)
    attempt(clrs_rs.predecessor_to_cyclic_predecessor_and_first, value)
    attempt(clrs_rs.Trace, value)
    attempt(clrs_rs.register_algorithm, value, value, value, value)
    for arguments in ((value, 0), (np.zeros((3, 3)), value)):
        attempt(clrs_rs.algorithms.bfs, *arguments)
        attempt(clrs_rs.algorithms.kmp_matcher, *arguments)
    attempt(clrs_rs.algorithms.quickselect, value)


@pytest.mark.parametrize("value", ANYTHING, ids=repr)
def test_settings_of_models(value, tmp_path):
    sampler, spec = clrs_rs.build_sampler("bfs", 8, seed=1, length=6)
    batch = sampler.next(4)
    factory = clrs_rs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    for name in ("processor", "use_ln", "nb_triplet_fts", "nb_heads"):
        settings = {"processor": "triplet_mpnn", "use_ln": True, "nb_triplet_fts": 2, "nb_heads": 1} | {name: value}
        made = attempt(lambda: clrs_rs.get_processor_factory(settings.pop("processor"), **settings))
        if made is not None and not is_large(value):
            attempt(clrs_rs.models.BaselineModel, spec, batch, made, hidden_dim=4)
    attempt(clrs_rs.models.BaselineModel, value, batch, factory)
    attempt(clrs_rs.models.BaselineModel, {"x": value}, batch, factory)
    attempt(clrs_rs.models.BaselineModel, spec, value, factory)
    attempt(clrs_rs.models.BaselineModel, spec, batch, value)
    for name in ("encoder_init", "learning_rate", "grad_clip_max_norm", "dropout_prob", "hint_teacher_forcing", "hint_repred_mode"):
        attempt(clrs_rs.models.BaselineModel, spec, batch, factory, **{"hidden_dim": 4, name: value})
    if not is_large(value):
        for name in ("hidden_dim", "nb_msg_passing_steps"):
            attempt(clrs_rs.models.BaselineModel, spec, batch, factory, **{"hidden_dim": 4, name: value})
    model = clrs_rs.models.BaselineModel(spec, batch, factory, hidden_dim=4, encode_hints=True)
    attempt(model.init, None, value)
    model.init(None, 1)
    model.checkpoint_path = str(tmp_path)
    attempt(model.feedback, value, batch)
    attempt(model.feedback, 0, value)
    attempt(model.feedback, 0, batch, value)
    attempt(model.predict, 0, value)
    attempt(model.update_model_params_accum, value)
    attempt(model.update_model_params_accum, [value])
    attempt(model.update_model_params_accum, [{"net/x": {"w": value}}])
    attempt(setattr, model, "params", value)
    attempt(setattr, model, "opt_state", value)
    module = next(iter(model.params))
    attempt(setattr, model, "params", {module: {"w": value, "b": value}})
    attempt(model.save_model, value)
    attempt(model.restore_model, value)
    attempt(model.verbose_loss, batch, value)
    if not is_large(value):
        for name in ("hidden", "lengths", "batch_size", "steps", "val_samples", "learning_rate", "seed", "data", "processor"):
            settings = {"hidden": 4, "lengths": [4], "batch_size": 2, "val_samples": 2} | {name: value}
            attempt(clrs_rs.Model, "bfs", **settings)
    attempt(clrs_rs.Model, value)
    attempt(clrs_rs.recipe, value)
    attempt(clrs_rs.open_run, value)
    attempt(clrs_rs.train, value, out=tmp_path / "never", algorithms=value)


def is_large(value):
    """A size that is valid, and more than memory."""
    return isinstance(value, int) and value >= 2**31


@pytest.mark.parametrize("algorithm", ["bfs", "heapsort", "kmp_matcher", "floyd_warshall"])
def test_batches(algorithm):
    """Every array of a batch replaced by every other, in scores, transforms, chunks, files and models."""
    sampler, spec = clrs_rs.build_sampler(algorithm, 8, seed=1, length=6)
    batch = sampler.next(4)
    factory = clrs_rs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    spec, batches = clrs_rs.process_permutations(spec, iter([batch]), True)
    batch = next(batches)
    model = clrs_rs.models.BaselineModel(spec, batch, factory, hidden_dim=4, encode_hints=True)
    model.init(None, 1)
    chunked = clrs_rs.models.BaselineModelChunked(spec, batch, factory, hidden_dim=4, encode_hints=True)
    chunked.init(None, 1)
    for hostile in hostile_batches(batch):
        attempt(model.feedback, 0, hostile)
        attempt(model.compute_grad, None, hostile)
        attempt(model.predict, 0, hostile.features, return_hints=True, return_all_outputs=True)
        attempt(clrs_rs.Samples.from_feedback, algorithm, hostile)
        attempt(lambda: clrs_rs.Samples.from_feedback(algorithm, hostile)[0].trace())
        attempt(lambda: next(clrs_rs.process_permutations(spec, iter([hostile]), True)[1]))
        attempt(lambda: next(clrs_rs.process_pred_as_input(spec, iter([hostile]))[1]))
        chunk = attempt(lambda: next(clrs_rs.chunkify(iter([hostile]), 3)))
        if chunk is not None:
            attempt(chunked.feedback, 0, chunk)
        truth = {point.name: point for point in batch.outputs}
        attempt(clrs_rs.evaluate, hostile.outputs, truth)
        attempt(lambda: clrs_rs.evaluate(batch.outputs, {point.name: point for point in hostile.outputs or []}))
        hints = [{point.name: replaced(point, point.data[step]) for point in batch.features.hints} for step in (0, 1)]
        attempt(clrs_rs.evaluate_hints, hostile.features.hints, hostile.features.lengths, hints)
    # The model is intact: none of these has changed it into something that does not compute.
    assert np.isfinite(model.feedback(0, batch))


def hostile_batches(batch):
    """Batches with one part that does not fit."""
    features = batch.features
    for array in ARRAYS:
        yield batch._replace(features=features._replace(lengths=array))
        for stage, points in (("inputs", features.inputs), ("hints", features.hints)):
            for index in range(len(points)):
                yield batch._replace(features=features._replace(**{stage: with_array(points, index, array)}))
        for index in range(len(batch.outputs)):
            yield batch._replace(outputs=with_array(batch.outputs, index, array))
    yield batch._replace(features=features._replace(lengths=features.lengths * 0))
    for points in ([], batch.outputs, [*features.inputs, *features.inputs], None):
        yield batch._replace(features=features._replace(inputs=points))
        yield batch._replace(features=features._replace(hints=points))
        yield batch._replace(outputs=points)
    locations, types = ("node", "edge", "graph", "x"), [type_ for name, type_ in vars(clrs_rs.Type).items() if name.isupper()]
    for location, type_ in itertools.product(locations, types):
        first, *others = features.hints
        point = clrs_rs.DataPoint(first.name, location, type_, first.data)
        yield batch._replace(features=features._replace(hints=[point, *others]))
        first, *others = batch.outputs
        yield batch._replace(outputs=[clrs_rs.DataPoint(first.name, location, type_, first.data), *others])


def with_array(points, index, array):
    points = list(points)
    points[index] = replaced(points[index], array)
    return points


def replaced(point, data):
    return clrs_rs.DataPoint(point.name, point.location, point.type_, data)
