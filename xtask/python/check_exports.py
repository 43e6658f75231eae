"""Compares exported sets of the benchmark with dm-clrs: `python check_exports.py FOLDER`.

FOLDER contains `npz/NAME.npz`, `safetensors/NAME.safetensors`, `parquet/NAME.parquet` and a TFDS root `CLRS30_v1.0.0/`, where
NAME is `ALGORITHM_SPLIT` of `clrs30@2.0.3`. The npz files determine the sets; other formats that are missing are skipped:

    clrs generate --benchmark clrs30 --algorithms bfs,bridges --out FOLDER/native
    for format in npz safetensors parquet; do clrs export FOLDER/native --format $format --out FOLDER/$format; done
    clrs export FOLDER/native --format tfds --out FOLDER/CLRS30_v1.0.0

All values are compared with samples of dm-clrs, bit for bit (within two units in the last index where they depend on sine,
cosine or arc tangent). The TFDS folder is compared with the one that dm-clrs's builder writes: records, their order,
shards, features, and the batches that `clrs.create_dataset` reads from them. Parquet is compared only if `datasets` is installed.
"""
import glob
import json
import os
import struct
import sys
import tempfile

# No progress bars in logs.
os.environ.setdefault("TQDM_DISABLE", "1")
os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")

import numpy as np

STAGES = ("input", "output", "hint")

# Points of hulls depend on sin, cos and atan2, which differ between math libraries by a unit in the last index.
ROUNDED = {f"{algorithm}_{split}" for algorithm in ("graham_scan", "jarvis_march") for split in ("train", "val", "test")}
ROUNDED_PROBES = {"input/x", "input/y", "hint/atans", "input_x", "input_y", "hint_atans"}


def arrays(feedback):
    """The arrays of a `Feedback`, by the names that exports use."""
    stages = (feedback.features.inputs, feedback.outputs, feedback.features.hints)
    named = {f"{stage}/{probe.name}": np.asarray(probe.data) for stage, probes in zip(STAGES, stages) for probe in probes}
    return named | {"lengths": np.asarray(feedback.features.lengths)}


def equal(name, probe, expected, found):
    """Whether values are the same: bit for bit, or up to the math library."""
    if name in ROUNDED and probe in ROUNDED_PROBES:
        return (np.abs(expected - found) <= 2 * np.spacing(np.maximum(np.abs(expected), np.abs(found)))).all()
    return expected.tobytes() == found.tobytes()


def assert_same(name, expected, found):
    """Asserts that both have the same names, dtypes, shapes and values."""
    assert expected.keys() == found.keys(), (name, expected.keys() ^ found.keys())
    for key, array in expected.items():
        other = np.asarray(found[key])
        assert array.dtype == other.dtype, (name, key, array.dtype, other.dtype)
        assert array.shape == other.shape, (name, key, array.shape, other.shape)
        assert equal(name, key, array, other), (name, key, "values differ")


def read_safetensors(path):
    """Reads a file without the safetensors library, which checks the format independently."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        assert size % 8 == 0
        header = json.loads(file.read(size))
        data = file.read()
    spec = json.loads(header.pop("__metadata__")["clrs.header"])["spec"]
    found = {}
    for name, tensor in header.items():
        start, end = tensor["data_offsets"]
        dtype = {"F64": "<f8", "I64": "<i8"}[tensor["dtype"]]
        found[name] = np.frombuffer(data[start:end], dtype).reshape(tensor["shape"])
    assert {f"{probe['stage']}/{probe['name']}" for probe in spec} | {"lengths"} == found.keys()
    return found


def check_parquet(name, path, expected, types):
    """Compares the rows, which are ragged, as `parquet.rs` describes them."""
    import datasets

    rows = datasets.load_dataset("parquet", data_files=path, split="train", cache_dir=tempfile.mkdtemp())
    for probe, feature in rows.features.items():
        shape = getattr(feature, "shape", None)
        axes = expected[probe].ndim - 1 if probe in expected else 0
        if types.get(probe) == "categorical":
            axes -= 1
        assert shape is None or len(shape) == axes, (probe, feature)
        assert axes < 2 or shape is not None, (probe, feature, "not declared as an array")
    rows = rows.with_format("numpy", dtype=np.float64)  # the default is float32
    assert len(rows) == len(expected["lengths"])
    for index, row in enumerate(rows):
        steps = int(expected["lengths"][index])
        assert row["steps"] == steps
        for probe, array in expected.items():
            if probe == "lengths":
                continue
            array = array[:steps, index] if probe.startswith("hint/") else array[index]
            if types[probe] == "categorical":
                array = np.where(array[..., -1] == -1, -1, array.argmax(-1))
            found = np.asarray(row[probe], np.float64)
            assert found.shape == array.shape, (path, probe, index, found.shape, array.shape)
            assert equal(name, probe, array.astype(np.float64), found), (path, probe, index)


def records(folder, tf):
    """Name and records of each shard of a TFDS folder."""
    for path in sorted(glob.glob(os.path.join(folder, "*.tfrecord-*"))):
        shard = [tf.train.Example.FromString(record.numpy()) for record in tf.data.TFRecordDataset(path)]
        yield os.path.basename(path), shard


def same_features(name, expected, found):
    """Whether two records have the same features."""
    if name not in ROUNDED:
        return expected == found
    expected, found = expected.features.feature, found.features.feature
    values = lambda feature: np.asarray(feature.float_list.value or feature.int64_list.value, np.float32)
    pairs = [(probe, values(expected[probe]), values(found[probe])) for probe in expected]
    return expected.keys() == found.keys() and all(equal(name, *pair) for pair in pairs)


def narrow(found):
    """Converts to float32 as in records: a unit in the last place depends on the dtype."""
    return {name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in found.items()}


def read_json(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def check_tfds(root, name, algorithm, split):
    """Compares a folder with one that dm-clrs's builder writes, file by file, and through dm-clrs's client."""
    import tensorflow as tf
    from clrs._src import dataset

    import clrs

    with tempfile.TemporaryDirectory() as reference:
        dataset.CLRSDataset(data_dir=reference, config=name).download_and_prepare()
        folders = [os.path.join(base, "clrs_dataset", name, "1.0.0") for base in (reference, root)]
        for file in ("features.json", "dataset_info.json"):
            expected, found = (read_json(folder, file) for folder in folders)
            assert expected == found, (name, file)
        expected, found = (list(records(folder, tf)) for folder in folders)
        assert [(file, len(shard)) for file, shard in expected] == [(file, len(shard)) for file, shard in found], name
        for (file, shard), (_, other) in zip(expected, found):
            for index, (record, other_record) in enumerate(zip(shard, other)):
                assert same_features(name, record, other_record), (file, index)
        del expected, found

        batches = [clrs.create_dataset(base, algorithm, split, 5) for base in (reference, root)]
        assert batches[0][1] == batches[1][1]
        pairs = zip(*(samples.as_numpy_iterator() for samples, _, _ in batches))
        for (expected, found), _ in zip(pairs, range(2 + batches[0][1] // 5)):
            assert_same(name, narrow(arrays(expected)), narrow(arrays(found)))


def main(folder):
    import clrs
    from clrs._src import samplers, specs

    try:
        import datasets  # noqa: F401
        has_datasets = True
    except ImportError:
        has_datasets = False
        print("parquet is skipped: `datasets` is not installed")

    paths = sorted(glob.glob(os.path.join(folder, "npz", "*.npz")))
    assert paths, f"{folder} contains no npz/NAME.npz"
    for path in paths:
        name = os.path.basename(path)[: -len(".npz")]
        algorithm, split = name.rsplit("_", 1)
        settings = samplers.CLRS30[split]
        multiplier = 1 if split == "train" else specs.CLRS_30_ALGS_SETTINGS[algorithm]["num_samples_multiplier"]
        samples = settings["num_samples"] * multiplier
        sampler, spec = clrs.build_sampler(algorithm, seed=settings["seed"], num_samples=samples, length=settings["length"])
        expected = arrays(sampler.next())
        types = {f"{stage}/{probe}": kind for probe, (stage, _, kind) in spec.items()}
        with np.load(path) as found:
            assert_same(name, expected, dict(found))
        checked = ["npz"]
        path = os.path.join(folder, "safetensors", f"{name}.safetensors")
        if os.path.exists(path):
            assert_same(name, expected, read_safetensors(path))
            checked.append("safetensors")
        path = os.path.join(folder, "parquet", f"{name}.parquet")
        if os.path.exists(path) and has_datasets:
            check_parquet(name, path, expected, types)
            checked.append("parquet")
        root = os.path.join(folder, "CLRS30_v1.0.0")
        if os.path.exists(os.path.join(root, "clrs_dataset", name)):
            check_tfds(root, name, algorithm, split)
            checked.append("tfds")
        print(f"{name}: {', '.join(checked)} equal", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
