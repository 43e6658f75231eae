"""Programs that train models: dm-clrs's own ``examples/run.py``, ours, and ``clrs train`` with the same settings."""

import pathlib
import re
import subprocess
import sys

import pytest

import clrs_rs

# Small enough for a test, and large enough that the network learns.
FLAGS = {
    "algorithms": "bfs",
    "train_lengths": "4,7,11",
    "processor_type": "mpnn",
    "hidden_size": "32",
    "batch_size": "16",
    "train_steps": "201",
    "eval_every": "50",
    "learning_rate": "0.003",
}
RECIPE = {
    "algorithms": ["bfs"],
    "lengths": [4, 7, 11],
    "processor": "mpnn",
    "hidden": 32,
    "batch_size": 16,
    "steps": 201,
    "eval_every": 50,
    "learning_rate": 0.003,
    "val_samples": 64,
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """The benchmark's test set where run.py expects it, so that it is not downloaded."""
    path = tmp_path_factory.mktemp("dataset")
    folder = path / clrs_rs.get_clrs_folder()
    program = [sys.executable, "-m", "clrs_rs", "generate", "--benchmark", "clrs30", "--algorithms", "bfs"]
    subprocess.run([*program, "--out", str(folder)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def run(program, dataset, checkpoints, **flags):
    """Test score that a program logs."""
    flags = FLAGS | {"dataset_path": str(dataset), "checkpoint_path": str(checkpoints)} | flags
    arguments = [f"--{name}={value}" for name, value in flags.items()]
    result = subprocess.run([sys.executable, *program, *arguments], capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stderr[-3000:]
    log = result.stdout + result.stderr
    found = re.search(r"\(test\) algo bfs : .*'score': ([0-9.e-]+)", log)
    assert found, log[-3000:]
    return float(found[1])


def test_run_py_of_dm_clrs_trains_our_model_to_the_score_of_clrs_train(dataset, tmp_path):
    clrs = pytest.importorskip("clrs")
    original = pathlib.Path(clrs.__file__).parent / "examples" / "run.py"
    copy = tmp_path / "run.py"
    text, count = re.subn("(?m)^import clrs$", "import clrs_rs as clrs", original.read_text(encoding="utf-8"))
    assert count == 1
    copy.write_text(text, encoding="utf-8")
    theirs = run([str(copy), "--logtostderr"], dataset, tmp_path / "theirs")
    # The same samples and the same initial parameters: the same bits.
    ours = run(["-m", "clrs_rs.examples.run"], dataset, tmp_path / "ours")
    assert ours == theirs
    assert (tmp_path / "theirs" / "best.pkl").read_bytes() == (tmp_path / "ours" / "best.pkl").read_bytes()

    scores = []
    for seed in range(3):
        report = clrs_rs.train(out=tmp_path / f"run{seed}", seed=seed, data_seed=seed, **RECIPE)
        assert report.reason == "completed"
        [evaluation] = clrs_rs.evaluate_run(report.run)
        scores.append(evaluation.score)
    # Other samples and other initial parameters: the same up to the noise of seeds.
    assert min(scores) - 0.1 < theirs < max(scores) + 0.1, (theirs, scores)
    assert theirs > 0.8


@pytest.mark.parametrize("flags", [{"chunked_training": "true", "chunk_length": "4"}, {"algorithms": "kmp_matcher,bfs", "train_lengths": "4,16"}])
def test_our_program_trains_in_chunks_and_on_several_algorithms(flags, dataset, tmp_path):
    small = {"train_steps": "3", "eval_every": "2", "hidden_size": "8", "batch_size": "4"}
    # The benchmark's test set of the string matcher is not in the folder, and is generated.
    path = tmp_path / "nothing" if "kmp_matcher" in flags.get("algorithms", "") else dataset
    assert 0 <= run(["-m", "clrs_rs.examples.run"], path, tmp_path, **small, **flags) <= 1


def test_flags_are_those_of_dm_clrs():
    clrs = pytest.importorskip("clrs")
    from clrs_rs.examples import run as ours

    original = pathlib.Path(clrs.__file__).parent / "examples" / "run.py"
    expected = set(re.findall(r"DEFINE_\w+\('(\w+)'", original.read_text(encoding="utf-8")))
    parser = ours._parser()
    assert {action.dest for action in parser._actions} - {"help"} == expected
    parse = parser.parse_args
    assert parse([]).use_ln is True and parse(["--nouse_ln"]).use_ln is False and parse(["--use_ln=false"]).use_ln is False
    assert parse(["--use_lstm"]).use_lstm is True and parse(["--train_lengths", "4,-1"]).train_lengths == [4, -1]
