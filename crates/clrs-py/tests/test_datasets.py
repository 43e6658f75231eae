"""Hugging Face datasets: from Parquet, from generators, streamed, and of texts."""

import itertools
import subprocess
import sys

import clrs_rs
import clrs_rs.datasets as clrs_datasets
import datasets
import numpy as np
import pytest
from torch.utils.data import DataLoader


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Nothing is left in the home directory."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    datasets.disable_progress_bars()


def run(*arguments):
    subprocess.run([sys.executable, "-m", "clrs_rs", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("algorithm", ["bfs", "lcs_length", "task_scheduling", "bridges"])
def test_rows_are_those_of_parquet_files(tmp_path, algorithm):
    run("generate", "--algorithms", algorithm, "-n", 7, "--count", 10, "--seed", 3, "--out", tmp_path / "store")
    run("export", tmp_path / "store", "--format", "parquet", "--out", tmp_path / "parquet")
    files = [str(path) for path in (tmp_path / "parquet").glob("*.parquet")]
    expected = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=str(tmp_path / "cache"))
    found = clrs_datasets.dataset(algorithm, n=7, count=10, seed=3)
    assert found.num_rows == expected.num_rows == 10
    assert set(found.column_names) == set(expected.column_names)
    for ours, theirs in zip(found, expected, strict=True):
        assert {name: np.asarray(value).tolist() for name, value in ours.items()} == {
            name: np.asarray(value).tolist() for name, value in theirs.items()
        }
    for name in expected.column_names:
        value, other = np.asarray(found[0][name]), np.asarray(expected[0][name])
        assert value.shape == other.shape, name


def test_generators_make_datasets():
    arguments = {"algorithm": "bfs", "n": 5, "count": 20, "seeds": [1, 2], "options": {"p": 0.3}}
    rows = datasets.Dataset.from_generator(clrs_datasets.generator, gen_kwargs=arguments)
    assert rows.num_rows == 40
    samples = clrs_rs.sample("bfs", n=5, batch=20, seed=2, p=0.3)
    for row, sample in zip(rows.select(range(20, 40)), samples, strict=True):
        assert row["output/pi"] == sample.outputs["pi"].tolist()
        assert row["hint/pi_h"] == sample.hints["pi_h"].tolist() and row["steps"] == sample.steps
    text = datasets.Dataset.from_generator(
        clrs_rs.text.generator, gen_kwargs={"algos_and_lengths": {"bfs": [4]}, "num_samples": 30}
    )
    assert text.num_rows == 30 and text.column_names == ["text", "question", "answer", "algo_name", "length", "use_hints"]


def test_streams_give_each_worker_its_own_seeds():
    stream = clrs_datasets.stream("minimum", n=4, seeds=[0, 1], hints=False)
    assert stream.num_shards == 2
    loader = DataLoader(stream.with_format("torch"), batch_size=64, num_workers=2)
    first, second = itertools.islice(loader, 2)
    for batch, seed in zip((first, second), (0, 1), strict=True):
        keys = [sample.inputs["key"] for sample in clrs_rs.sample("minimum", n=4, batch=64, seed=seed)]
        np.testing.assert_allclose(batch["input/key"].numpy(), np.array(keys), rtol=1e-6)


def test_texts_are_streamed():
    stream = clrs_datasets.text({"bfs": [4, 5], "minimum": [6]}, seeds=[3], use_hints=True)
    expected = list(clrs_rs.text.generator({"bfs": [4, 5], "minimum": [6]}, num_samples=40, seed=3, use_hints=True))
    assert list(stream.take(40)) == expected
    assert list(stream.skip(10).take(30)) == expected[10:]
    assert isinstance(clrs_rs.text.dataset({"bfs": [4]}), datasets.IterableDataset)
    sharded = clrs_rs.text.dataset({"bfs": [4]}, seeds=[0, 1, 2], num_samples=5)
    assert sharded.num_shards == 3 and len(list(sharded)) == 15
    # Streams continue where they were saved.
    iterator = iter(stream)
    for _ in range(7):
        next(iterator)
    state = stream.state_dict()
    again = clrs_datasets.text({"bfs": [4, 5], "minimum": [6]}, seeds=[3], use_hints=True)
    again.load_state_dict(state)
    assert next(iter(again)) == expected[7]
