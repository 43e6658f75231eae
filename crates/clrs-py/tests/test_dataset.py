"""`create_dataset` gives the batches that dm-clrs reads with TensorFlow."""

import itertools
import subprocess
import sys

import clrs_rs
import numpy as np
import pytest

from conftest import assert_same_array, assert_same_feedback, assert_same_points

NAMES = ["bfs", "insertion_sort", "lcs_length", "segments_intersect"]


def program(*arguments):
    """Runs the program `clrs` of the package."""
    subprocess.run([sys.executable, "-m", "clrs_rs", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The val sets of the benchmark in the native store and as TFDS."""
    root = tmp_path_factory.mktemp("data")
    native, tfds = root / "native", root / "CLRS30_v1.0.0"
    program("generate", "--quiet", "--benchmark", "clrs30", "--algorithms", ",".join(NAMES), "--out", native)
    for path in native.glob("*_val.arrow"):
        program("export", path, "--format", "tfds", "--out", tfds)
    return native, tfds


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_those_of_dm_clrs(clrs, folders, name):
    native, tfds = folders
    dataset, num_samples, spec = clrs.create_dataset(str(tfds), name, "val", 10)
    expected = list(itertools.islice(dataset.as_numpy_iterator(), 5))
    for folder in (tfds, str(native), "clrs30"):
        ours, ours_num_samples, ours_spec = clrs_rs.create_dataset(folder, name, "val", 10)
        assert (ours_num_samples, ours_spec) == (num_samples, spec)
        assert ours_spec is clrs_rs.SPECS[name]
        for iterator in (iter(ours), ours.as_numpy_iterator()):
            for theirs, found in zip(expected, iterator, strict=False):
                assert_same_feedback(theirs, found, name, folder)


@pytest.mark.parametrize("name", ["bfs", "insertion_sort"])
def test_chunks_are_those_of_dm_clrs(clrs, folders, name):
    _, tfds = folders
    theirs, spec = clrs.create_chunked_dataset(str(tfds), name, "val", 4, 6)
    ours, ours_spec = clrs_rs.create_chunked_dataset(tfds, name, "val", 4, 6)
    assert ours_spec == spec
    for _ in range(8):
        assert_same_feedback(next(theirs), next(ours), name)


def test_the_first_version_of_the_benchmark_has_its_own_spec():
    _, num_samples, spec = clrs_rs.create_dataset("clrs30@1.0.0", "quickselect", "train", 4)
    assert num_samples == 1000
    assert "pivot" not in spec
    dataset, _, spec = clrs_rs.create_dataset("clrs30@1.0.0", "insertion_sort", "test", 4)
    assert spec["pred"] == ("output", "node", "pointer")
    assert next(iter(dataset)).outputs[0].type_ == "pointer"


def test_names_of_the_published_dataset(clrs):
    assert clrs_rs.get_clrs_folder() == clrs.get_clrs_folder()
    assert clrs_rs.get_dataset_gcp_url() == clrs.get_dataset_gcp_url()


def test_iterators_are_independent_of_each_other():
    dataset, _, _ = clrs_rs.create_dataset("clrs30", "minimum", "val", 3)
    first, second = iter(dataset), iter(dataset)
    next(first)
    assert_same_feedback(next(iter(dataset)), next(second), "minimum")
    assert "minimum" in repr(dataset)


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (OSError, "bfs_val.arrow", ("", "bfs", "val", 4)),
        (OSError, "No such file", ("missing", "bfs", "val", 4)),
        (OSError, "features.json", ("tfds", "dijkstra", "val", 4)),
        (NotImplementedError, "did you mean `bfs`", ("clrs30", "bsf", "val", 4)),
        (ValueError, "unknown split `valid`", ("clrs30", "bfs", "valid", 4)),
        (ValueError, "unknown benchmark", ("clrs30@7", "bfs", "val", 4)),
        (ValueError, "batch_size", ("clrs30", "bfs", "val", 0)),
    ],
)
def test_sets_that_cannot_be_opened_are_errors(folders, tmp_path, error, message, arguments):
    folder, *others = arguments
    (tmp_path / "tfds" / "clrs_dataset").mkdir(parents=True)
    folder = folder if folder.startswith("clrs30") else tmp_path / folder
    with pytest.raises(error, match=message) as raised:
        clrs_rs.create_dataset(folder, *others)
    assert isinstance(raised.value, (clrs_rs.errors.ClrsError, ValueError))


def test_a_corrupt_set_is_an_error(tmp_path):
    path = clrs_rs.sample("bfs", n=4, batch=3).save(tmp_path, "val")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(clrs_rs.errors.StoreError, match="bfs_val.arrow"):
        clrs_rs.create_dataset(tmp_path, "bfs", "val", 1)
