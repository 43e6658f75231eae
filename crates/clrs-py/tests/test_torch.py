"""Batches for PyTorch: types, workers, ranks, batches of samples, losses and scores."""

import functools
import itertools

import clrs_rs
import clrs_rs.torch as clrs_torch
import jax
import numpy as np
import pytest
import torch
from clrs_rs.probing import DataPoint
from torch.utils.data import DataLoader

PERMUTATIONS = functools.partial(clrs_rs.process_permutations, enforce_permutations=True)


def positions(feedback):
    """What tells streams apart: the keys of the first batch."""
    return next(point.data for point in feedback.features.inputs if point.name == "key")


def take(loader, count):
    return list(itertools.islice(loader, count))


def test_pointers_become_indices_and_others_floats():
    for algorithm in clrs_rs.CLRS_30_ALGS:
        numpy = clrs_rs.sample(algorithm, n=6, batch=3).feedback()
        feedback = clrs_torch.as_torch(numpy)
        assert feedback.features.lengths.dtype == torch.int64
        for points, expected in zip(
            (feedback.features.inputs, feedback.features.hints, feedback.outputs),
            (numpy.features.inputs, numpy.features.hints, numpy.outputs),
            strict=True,
        ):
            for point, array in zip(points, expected, strict=True):
                is_pointer = point.type_ in ("pointer", "should_be_permutation")
                assert point.data.dtype == (torch.int64 if is_pointer else torch.float32), (algorithm, point)
                np.testing.assert_array_equal(point.data.numpy(), array.data.astype(point.data.numpy().dtype))


def test_tensors_share_memory_without_a_dtype():
    feedback = clrs_rs.sample("bfs", n=4, batch=2).feedback()
    tensors = clrs_torch.as_torch(feedback, dtype=None)
    tensors.features.inputs[0].data[0, 0] = 7
    assert feedback.features.inputs[0].data[0, 0] == 7
    assert tensors.outputs[0].data.dtype == torch.int64


def test_tensors_become_arrays_again():
    feedback = clrs_rs.sample("dijkstra", n=5, batch=2).feedback()
    back = clrs_torch.as_numpy(clrs_torch.as_torch(feedback, dtype=torch.float64))
    for point, expected in zip(back.features.hints, feedback.features.hints, strict=True):
        assert isinstance(point.data, np.ndarray)
        np.testing.assert_array_equal(point.data, expected.data)
    parameter = torch.ones(1, 2, requires_grad=True)
    assert clrs_torch.as_numpy([DataPoint("pi", "node", "scalar", parameter)])[0].data.tolist() == [[1, 1]]


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_workers_draw_different_samples(method):
    dataset = clrs_torch.IterableDataset("insertion_sort", n=6, batch=4, seed=3, transform=PERMUTATIONS)
    loader = DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context=method)
    drawn = take(loader, 8)
    # The loader takes turns: worker 0, worker 1, ..
    keys = [positions(feedback) for feedback in drawn]
    assert len({key.numpy().tobytes() for key in keys}) == 8

    sampler, _ = clrs_rs.build_sampler("insertion_sort", -1, seed=3, length=6, track_max_steps=False)
    for key in keys[::2]:
        np.testing.assert_array_equal(key.numpy(), positions(sampler.next(4)).astype(np.float32))
    # The same again.
    for key, again in zip(keys, take(loader, 8), strict=True):
        assert torch.equal(key, positions(again))


def test_ranks_draw_different_samples(monkeypatch):
    first = [positions(next(iter(clrs_torch.IterableDataset("minimum", n=4, batch=2, rank=rank)))) for rank in range(4)]
    assert len({key.numpy().tobytes() for key in first}) == 4
    monkeypatch.setenv("RANK", "2")
    assert torch.equal(positions(next(iter(clrs_torch.IterableDataset("minimum", n=4, batch=2)))), first[2])


def test_rank_of_torch_distributed(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        assert clrs_torch.IterableDataset("minimum", n=4).rank == 0
    finally:
        torch.distributed.destroy_process_group()


def test_errors_come_before_workers_start():
    with pytest.raises(clrs_rs.errors.UnknownAlgorithmError, match="did you mean `bfs`"):
        clrs_torch.IterableDataset("bsf")
    with pytest.raises(clrs_rs.errors.UnknownOptionError, match="grpah"):
        clrs_torch.IterableDataset("bfs", grpah="tree")
    with pytest.raises(ValueError, match="at least 1"):
        clrs_torch.IterableDataset("bfs", batch=0)
    with pytest.raises(ValueError, match="no sizes"):
        clrs_torch.IterableDataset("bfs", n=[])


def test_collate_pads_to_the_longest_sample():
    samples = clrs_rs.load("clrs30", "bfs", "val")
    loader = DataLoader(samples, batch_size=10, collate_fn=clrs_torch.collate, shuffle=False)
    batches = list(loader)
    assert [len(batch.features.lengths) for batch in batches] == [10, 10, 10, 2]
    expected = clrs_torch.as_torch(samples.feedback(range(10)))
    # The same from batches of one sample, from batches of several, and from different sets.
    parts = [samples.feedback([index]) for index in range(10)]
    mixed = [*clrs_rs.load("clrs30", "bfs", "val")[:3], samples.feedback(range(3, 8)), *samples[8:10]]
    for batch in (batches[0], clrs_torch.collate(parts), clrs_torch.collate(mixed)):
        for found, truth in zip(
            (*batch.features.inputs, *batch.features.hints, *batch.outputs),
            (*expected.features.inputs, *expected.features.hints, *expected.outputs),
            strict=True,
        ):
            assert torch.equal(found.data, truth.data), found
        assert torch.equal(batch.features.lengths, expected.features.lengths)


def test_collate_refuses_different_sizes_and_probes():
    four, five = (clrs_rs.sample("bfs", n=n, batch=1).feedback() for n in (4, 5))
    with pytest.raises(clrs_rs.errors.BatchError, match="differ in size"):
        clrs_torch.collate([four, five])
    with pytest.raises(ValueError, match="different probes|zip"):
        clrs_torch.collate([four, clrs_rs.sample("dfs", n=4, batch=1).feedback()])
    with pytest.raises(clrs_rs.errors.BatchError, match="no samples"):
        clrs_torch.collate([])


def outputs_of_all_types():
    """Outputs with random logits: all algorithms, with and without permutations."""
    random = np.random.RandomState(0)
    for algorithm in clrs_rs.CLRS_30_ALGS:
        sampler, spec = clrs_rs.build_sampler(algorithm, 8, seed=1, length=6)
        spec, batches = PERMUTATIONS(spec, iter([sampler.next(4)]))
        for point in next(batches).outputs:
            nodes = point.data.shape[1:2]  # one more than the size for optimal_bst
            shape = point.data.shape + (nodes if point.type_ == "pointer" else ())
            yield algorithm, spec, point, random.normal(size=shape).astype(np.float32)


def test_losses_are_those_of_dm_clrs(clrs):
    from clrs._src import losses

    types = set()
    for algorithm, _, point, logits in outputs_of_all_types():
        theirs = clrs.DataPoint(point.name, point.location, point.type_, jax.numpy.asarray(point.data))
        expected = losses.output_loss(theirs, logits, nb_nodes=point.data.shape[1] if point.data.ndim > 1 else 0)
        tensor = torch.tensor(logits, requires_grad=True)
        found = clrs_torch.loss(clrs_torch.as_torch([point])[0], tensor)
        np.testing.assert_allclose(found.item(), float(expected), rtol=1e-5, err_msg=algorithm)
        found.backward()
        assert torch.isfinite(tensor.grad).all()
        types.add(point.type_)
    assert types >= {"mask", "mask_one", "categorical", "pointer", "permutation_pointer"}


def test_scores_are_those_of_dm_clrs(clrs):
    from clrs._src import decoders

    by_algorithm = itertools.groupby(outputs_of_all_types(), key=lambda item: item[0])
    for algorithm, items in by_algorithm:
        items = list(items)
        spec = items[0][1]
        points = [point for _, _, point, _ in items]
        logits = {point.name: values for _, _, point, values in items}
        theirs = [clrs.DataPoint(point.name, point.location, point.type_, point.data) for point in points]
        decided = decoders.postprocess(
            spec, {name: jax.numpy.asarray(values) for name, values in logits.items()}, 0.1, 50, True
        )
        expected = clrs.evaluate(theirs, decided)
        tensors = {name: torch.tensor(values, requires_grad=True) for name, values in logits.items()}
        found = clrs_torch.evaluate(spec, clrs_torch.as_torch(points), tensors)
        np.testing.assert_allclose(found["score"], float(expected["score"]), rtol=1e-6, err_msg=algorithm)


def test_orders_without_transform_are_scored_as_pointers():
    dataset = clrs_torch.IterableDataset("insertion_sort", n=5, batch=3)
    feedback = next(iter(dataset))
    logits = {"pred": torch.nn.functional.one_hot(feedback.outputs[0].data, 5).float()}
    assert clrs_torch.evaluate(dataset.spec, feedback.outputs, logits)["score"] == 1.0
    assert clrs_torch.loss(feedback.outputs[0], 20 * logits["pred"]).item() < 1e-6


def test_types_that_no_network_predicts_have_no_loss():
    with pytest.raises(ValueError, match="soft_pointer"):
        clrs_torch.loss(DataPoint("pi", "node", "soft_pointer", torch.ones(1, 2, 2)), torch.ones(1, 2, 2))
