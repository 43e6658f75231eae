"""Values of classes: pickles, copies, pages for notebooks, refused arguments."""

import copy
import html
import inspect
import json
import pathlib
import pickle
import re
import subprocess
import sys

import clrs_rs
import numpy as np
import pytest

from conftest import ALGORITHMS, assert_same_feedback

COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy, "copy": copy.copy}


@pytest.fixture(params=COPIES)
def copied(request):
    return COPIES[request.param]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_samples_are_copied_with_all_values(name):
    samples = clrs_rs.sample(name, n=6, batch=5, seed=2)
    for copied in COPIES.values():
        again = copied(samples)
        assert (again.algorithm, again.spec, len(again)) == (name, samples.spec, 5)
        assert_same_feedback(samples.feedback(), again.feedback(), name)
        assert again[1].trace().to_json() == samples[1].trace().to_json()


def test_samples_of_different_sizes_are_copied(copied, tmp_path):
    first, second = (clrs_rs.sample("bfs", n=n, batch=2, seed=1) for n in (4, 7))
    assert [sample.nodes for sample in (*copied(first), *copied(second))] == [4, 4, 7, 7]
    # A sample, its values, and the samples of an algorithm in Python.
    run = copied(first[1])
    np.testing.assert_array_equal(run.hints["pi_h"], first[1].hints["pi_h"])
    assert run.check()
    assert list(copied(first[1].outputs)) == ["pi"]


def test_damaged_pickles_of_samples_are_refused():
    function, (algorithm, spec, extents, columns) = clrs_rs.sample("bfs", n=4, batch=2)._samples.__reduce__()
    for damaged in (
        (algorithm, "{", extents, columns),
        (algorithm, spec, extents[:1], columns),
        (algorithm, spec, extents, columns[:-1]),
        (algorithm, spec, extents, [column[:-1] for column in columns]),
        (algorithm, spec, extents, [column + 100 for column in columns]),
        (algorithm, spec, extents, ["text" for _ in columns]),
    ):
        with pytest.raises(clrs_rs.errors.DataPointError, match="the pickled samples are damaged"):
            function(*damaged)


def test_traces_reports_and_tasks_are_copied(copied):
    trace = clrs_rs.trace("bfs", n=5, seed=1)
    assert copied(trace).to_json() == trace.to_json()
    np.testing.assert_array_equal(copied(trace).hints["pi_h"], trace.hints["pi_h"])
    model = clrs_rs.Model("bfs", processor="mpnn", hidden=8, lengths=[4], batch_size=2, val_samples=2)
    report = model.train(steps=1)
    assert copied(report) == report
    assert dict(copied(model.recipe)) == dict(model.recipe)
    assert copied(clrs_rs.CheckResult(False, "why")) == clrs_rs.CheckResult(False, "why")
    [evaluation] = model.evaluate(sizes=[4], count=2, hints=True, trajectories=[0])
    again = copied(evaluation)
    assert (again.score, again.hints) == (evaluation.score, evaluation.hints)
    assert again.trajectories[0].to_json() == evaluation.trajectories[0].to_json()
    np.testing.assert_array_equal(again.trajectories[0].probabilities("pi")[0], evaluation.trajectories[0].probabilities("pi")[0])
    task = copied(clrs_rs.text.parse("minimum:\nkey: [0.7 0.2 0.2]\nmin:\n"))
    assert task.verify("1").exact_match
    assert copied(task.verify("1")) == task.verify("1")
    assert copied(clrs_rs.text.sample("bfs", n=4, count=1)) == clrs_rs.text.sample("bfs", n=4, count=1)


def page_of(value):
    """The document in the frame of a notebook's view, and its traces."""
    view = value._repr_html_()
    [source] = re.findall(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts allow-downloads"', view)
    page = html.unescape(source)
    # The program has the template, too, for pages that it saves.
    data = re.search(r'<script type="application/json" id="trace-data">(.*?)</script>', page, re.DOTALL).group(1)
    return view, page, json.loads(data)


def test_notebooks_show_the_explorer(tmp_path):
    trace = clrs_rs.trace("insertion_sort", {"key": [5, 2, 4]})
    view, page, data = page_of(trace)
    # The page of `clrs trace --html`, for the same problem.
    (tmp_path / "problem.json").write_text(json.dumps(trace.problem))
    command = [sys.executable, "-m", "clrs_rs", "trace", "insertion_sort", "--problem", tmp_path / "problem.json", "--html"]
    subprocess.run([*command, tmp_path / "page.html"], check=True)
    assert page == (tmp_path / "page.html").read_text()
    assert data["documents"][0]["text"]["title"] == "Insertion sort"
    # Nothing is loaded: the policy forbids it.
    assert "default-src 'none'" in page and not re.search(r"<(script|img|link)[^>]* (src|href)=.(http|//)", page)
    # Without scripts: what it is, the inputs and the outputs.
    assert "insertion_sort: 3 nodes, 3 steps" in view
    assert "pred: [2 1 1]" in view.split("</iframe>")[1]


def test_notebooks_show_samples_and_predictions():
    sample = clrs_rs.sample("bfs", n=5, batch=2, seed=1)[1]
    _, _, data = page_of(sample)
    assert data["documents"][0]["trace"] == json.loads(sample.trace().to_json())
    model = clrs_rs.Model("bfs", processor="mpnn", hidden=8, lengths=[4], batch_size=2, val_samples=2)
    [evaluation] = model.evaluate(sizes=[5], count=2, trajectories=[1])
    view, _, data = page_of(evaluation.trajectories[0])
    predictions = data["documents"][0]["trace"]["predictions"]
    assert {probe["name"] for probe in predictions} >= {"pi", "pi_h", "reach_h"}
    assert "predicted outputs:" in view


def test_scripts_in_names_stay_data():
    feedback = clrs_rs.build_sampler("bfs", 1, seed=0, length=3)[0].next()
    name = '"></iframe><script>alert(1)</script>'
    view = clrs_rs.Samples.from_feedback(name, feedback)[0]._repr_html_()
    assert "<script" not in view and view.count("</iframe>") == 1
    _, page, data = page_of(clrs_rs.Samples.from_feedback(name, feedback)[0])
    assert "<script>alert" not in page and data["documents"][0]["text"]["title"] == name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clrs_rs.sample("bfs", lenght=4), "bfs has no option `lenght`"),
        (lambda: clrs_rs.sample("bfs", grahp="tree"), "did you mean `graph`"),
        (lambda: clrs_rs.trace("bfs", grahp="tree"), "did you mean `graph`"),
        (lambda: clrs_rs.trace("insertion_sort", {"key": [2, 1]}, n=4), "`n` is for random problems"),
        (lambda: clrs_rs.trace("insertion_sort", {"key": [2, 1]}, low=4), "`low` is for random problems"),
        (lambda: clrs_rs.text.sample("bfs", grahp="tree"), "did you mean `graph`"),
        (lambda: clrs_rs.build_sampler("bfs", 2, lenght=4, strict=True), "did you mean `length`"),
        (lambda: clrs_rs.recipe(hiden=4), "did you mean `hidden`"),
        (lambda: clrs_rs.Model("bfs", hiden=4), "did you mean `hidden`"),
        (lambda: clrs_rs.train(out="never", hiden=4), "did you mean `hidden`"),
        (lambda: clrs_rs.evaluate_run("never", counts=4), "did you mean `count`"),
        (lambda: tiny_model().evaluate(size=[4]), "did you mean `sizes`|has no argument `size`"),
        (lambda: tiny_model().evaluate(seed=4), "`seed` is for new samples"),
        (lambda: tiny_model().evaluate(count=4, split="test"), "`count` is for new samples"),
        (lambda: tiny_model().evaluate(sizes=[4], options={"grahp": "tree"}), "did you mean `graph`"),
    ],
)
def test_unknown_arguments_are_refused_with_a_suggestion(call, message):
    with pytest.raises(clrs_rs.errors.ClrsError, match=message):
        call()


def tiny_model():
    return clrs_rs.Model("bfs", processor="mpnn", hidden=4, lengths=[4], batch_size=2, val_samples=2)


def test_no_function_of_the_modern_face_drops_arguments():
    """Keyword arguments are named in signatures, or are options that are checked above."""
    checked = {"sample", "trace", "recipe", "train", "evaluate_run", "build_sampler"}
    for name in clrs_rs.__all__:
        function = getattr(clrs_rs, name)
        if inspect.isfunction(function):
            kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds or name in checked, name


def test_training_in_memory_ends_early_as_in_a_run_directory(tmp_path):
    fields = {
        "processor": "mpnn", "hidden": 4, "lengths": [4], "batch_size": 2, "val_samples": 4, "steps": 40, "eval_every": 2,
        "patience": 3, "learning_rate": 1e-9,
    }  # fmt: skip
    model = clrs_rs.Model("bfs", **fields)
    found = model.train()
    expected = clrs_rs.train(out=tmp_path / "run", algorithms=["bfs"], **fields)
    assert (found.reason, found.step, found.best) == (expected.reason, expected.step, expected.best)
    assert found.reason == "early_stopping"
    # The best parameters are those of the best checkpoint.
    saved = clrs_rs.open_run(tmp_path / "run", "best")
    assert model.best().step == saved.step == found.best[0]
    for module, arrays in saved.params.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, model.best().params[module][name])
    # It is over, as in a run that is resumed.
    assert model.train().reason == clrs_rs.train(out=tmp_path / "run", resume=True).reason == "early_stopping"
    with pytest.raises(clrs_rs.errors.ModelError, match="has not been validated"):
        tiny_model().best()


def test_names_of_the_migration_page_exist():
    page = (pathlib.Path(__file__).parents[3] / "docs/migration.md").read_text()
    table = page.partition("## Name by name")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `clrs.")]
    same = [name for first, second in rows if second.startswith("the same") for name in re.findall(r"`(clrs\.[\w.]+)`", first)]
    assert len(same) > 60
    import clrs_rs._src  # noqa: F401

    for name in same:
        value = clrs_rs
        for part in name.split(".")[1:]:
            value = getattr(value, part)
