"""Transforms give what dm-clrs's give."""

import clrs_rs
import numpy as np
import pytest

from conftest import ALGORITHMS, assert_same_array, assert_same_feedback


def batches(library, name, length=8, count=8):
    sampler, spec = library.build_sampler(name, count, seed=3, length=length)

    def iterate():
        while True:
            yield sampler.next(4)

    return spec, iterate()


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("enforce", [True, False])
def test_permutations_and_positions(clrs, name, enforce):
    results = []
    for library in (clrs, clrs_rs):
        spec, iterator = batches(library, name)
        iterator = library.process_random_pos(iterator, np.random.RandomState(7))
        results.append(library.process_permutations(spec, iterator, enforce))
    (their_spec, theirs), (our_spec, ours) = results
    assert our_spec == their_spec
    assert list(our_spec) == list(their_spec)
    for _ in range(2):
        assert_same_feedback(next(theirs), next(ours), name)


@pytest.mark.parametrize("name", ["bfs", "binary_search", "naive_string_matcher", "lcs_length", "activity_selector", "quicksort"])
def test_predecessors_as_input(clrs, name):
    (their_spec, theirs), (our_spec, ours) = (
        library.process_pred_as_input(*batches(library, name)) for library in (clrs, clrs_rs)
    )
    assert our_spec == their_spec
    assert list(our_spec) == list(their_spec)
    if name == "quicksort":
        # `pred_h` changes, and the output has the name that the input would get.
        for iterator in (theirs, ours):
            with pytest.raises(AssertionError):
                next(iterator)
    else:
        assert_same_feedback(next(theirs), next(ours), name)


def test_random_positions_come_from_the_generator_of_the_caller(clrs):
    for rng in (np.random.RandomState, np.random.default_rng):
        theirs, ours = (library.process_random_pos(batches(library, "bfs")[1], rng(5)) for library in (clrs, clrs_rs))
        for _ in range(2):
            assert_same_feedback(next(theirs), next(ours), "bfs")


def test_random_positions_change_the_data_point_of_the_sampler(clrs):
    for library in (clrs, clrs_rs):
        sampler, _ = library.build_sampler("bfs", 4, seed=0, length=5)
        transformed = next(library.process_random_pos(iter([sampler.next()]), np.random.RandomState(0)))
        assert transformed.features.inputs[0] is sampler.next().features.inputs[0]


@pytest.mark.parametrize("name", ["bfs", "insertion_sort", "segments_intersect", "quickselect"])
@pytest.mark.parametrize("chunk_length", [3, 16])
def test_chunks(clrs, name, chunk_length):
    theirs, ours = (library.chunkify(batches(library, name)[1], chunk_length) for library in (clrs, clrs_rs))
    for _ in range(6):
        assert_same_feedback(next(theirs), next(ours), name, chunk_length)


def test_chunks_of_transformed_batches(clrs):
    chunks = []
    for library in (clrs, clrs_rs):
        spec, iterator = library.process_permutations(*batches(library, "heapsort"), True)
        chunks.append(library.chunkify(iterator, 5))
    theirs, ours = chunks
    for _ in range(3):
        assert_same_feedback(next(theirs), next(ours), "heapsort")


def test_transforms_of_dm_clrs_accept_our_feedback_and_the_reverse(clrs):
    for source, transforms in ((clrs_rs, clrs), (clrs, clrs_rs)):
        spec, iterator = batches(source, "insertion_sort")
        iterator = transforms.process_random_pos(iterator, np.random.RandomState(1))
        spec, iterator = transforms.process_permutations(spec, iterator, True)
        chunk = next(transforms.chunkify(iterator, 4))
        assert [point.name for point in chunk.outputs] == ["pred", "pred_mask"]


def test_permutation_matrices(clrs):
    probing = __import__("clrs._src.probing", fromlist=["probing"])
    pointers = np.array([[2, 1, 1, 0], [0, 0, 1, 2]])
    matrix = clrs_rs.probing.predecessor_pointers_to_permutation_matrix(pointers)
    assert_same_array(probing.predecessor_pointers_to_permutation_matrix(pointers), matrix, "matrix")
    found = clrs_rs.probing.permutation_matrix_to_predecessor_pointers(matrix)
    np.testing.assert_array_equal(found, probing.permutation_matrix_to_predecessor_pointers(matrix))
    for expected, found in zip(
        probing.predecessor_to_cyclic_predecessor_and_first(pointers),
        clrs_rs.predecessor_to_cyclic_predecessor_and_first(pointers),
        strict=True,
    ):
        assert_same_array(expected, found, "cycle")


def test_invalid_transforms_are_errors():
    with pytest.raises(clrs_rs.errors.ArgumentError, match="`chunk_length` must be at least 1, not 0"):
        next(clrs_rs.chunkify(batches(clrs_rs, "bfs")[1], 0))
    with pytest.raises(ValueError, match="not a node"):
        clrs_rs.predecessor_to_cyclic_predecessor_and_first([0, 5])
    two_sizes = iter([next(batches(clrs_rs, "bfs", length)[1]) for length in (4, 5)])
    with pytest.raises(clrs_rs.errors.TransformError, match="different sizes"):
        list(clrs_rs.chunkify(two_sizes, 100))
