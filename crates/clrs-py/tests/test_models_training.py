"""Recipes, models in memory, run directories, evaluation, predicted trajectories."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import clrs_rs
from clrs_rs import errors

SMALL = {"hidden": 8, "lengths": [5], "batch_size": 4, "val_samples": 4, "eval_every": 3}


def test_recipes_are_mappings_and_refuse_what_they_do_not_know():
    assert clrs_rs.recipes() == ["paper-2022", "generalist-2022"]
    recipe = clrs_rs.recipe("paper-2022", algorithms=["bfs", "dfs"], hidden=64, layer_norm=False)
    assert (recipe["algorithms"], recipe["hidden"], recipe["layer_norm"]) == (["bfs", "dfs"], 64, False)
    assert dict(clrs_rs.recipe(recipe)) == dict(recipe) and len(recipe) == len(dict(recipe))
    assert "hidden=64" in repr(recipe) and "learning_rate" in recipe._repr_html_()
    with pytest.raises(errors.RecipeError, match="unknown field `hiden`; did you mean `hidden`"):
        clrs_rs.recipe(hiden=3)
    with pytest.raises(errors.RecipeError, match="`hidden` must be at least 1, not 0"):
        clrs_rs.recipe(hidden=0)
    with pytest.raises(errors.RecipeError, match="unknown recipe `paper`"):
        clrs_rs.recipe("paper")
    with pytest.raises(errors.UnknownAlgorithmError, match="unknown algorithm `bsf`; did you mean `bfs`"):
        clrs_rs.Model("bsf")
    with pytest.raises(errors.RecipeError, match="unknown processor `mpn`"):
        clrs_rs.Model("bfs", processor="mpn")


def test_a_recipe_is_read_from_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('processor = "gat"\nheads = 2\n')
    assert clrs_rs.recipe(path)["heads"] == 2


def test_a_model_trains_in_memory_and_is_evaluated():
    events = []
    model = clrs_rs.Model(["bfs", "insertion_sort"], processor="pgn", **SMALL)
    report = model.train(steps=6, callback=lambda event: events.append(event))
    assert (report.reason, report.step, model.step) == ("completed", 6, 6)
    steps = [event for event in events if isinstance(event, clrs_rs.StepReport)]
    validations = [event for event in events if isinstance(event, clrs_rs.ValidationReport)]
    assert [step.step for step in steps] == [1, 2, 3, 4, 5, 6] and [validation.step for validation in validations] == [3, 6]
    assert [task.algorithm for task in steps[0].tasks] == ["bfs", "insertion_sort"] and steps[0].loss > 0
    assert report.best == max(((v.step, v.score) for v in validations), key=lambda best: best[1])
    assert model.train(callback=lambda event: False).reason == "stopped"
    assert model.train(callback=lambda event: np.bool_(False)).reason == "stopped"
    assert model.step == 8
    reports = model.evaluate(sizes=[6, 8], count=3, hints=True, trajectories=[0, 2])
    assert [(report.algorithm, report.set) for report in reports] == [
        ("bfs", "n=6"), ("bfs", "n=8"), ("insertion_sort", "n=6"), ("insertion_sort", "n=8"),
    ]  # fmt: skip
    for report in reports:
        assert report.samples == 3 and 0 <= report.validity <= 1 and report.hints and len(report.trajectories) == 2
        assert json.dumps(dataclasses.asdict(dataclasses.replace(report, trajectories=[])))
        assert report.algorithm in report._repr_html_()
    assert "pgn" in repr(model) and "net/mpnn_aggr_clrs_processor/linear" in model.params


def test_validations_of_the_user_do_not_count_for_the_patience():
    model = clrs_rs.Model("bfs", patience=3, **SMALL)
    scores = [model.validate().score for _ in range(5)]
    assert len(set(scores)) == 1
    assert (model.train(steps=1).reason, model.step) == ("completed", 1)


def test_an_interrupted_validation_is_repeated_before_the_next_step(monkeypatch):
    model, events = clrs_rs.Model("bfs", **SMALL), []

    def interrupt():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(model, "validate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.train(steps=9)
    assert model.step == 3
    model.train(steps=1, callback=events.append)
    assert [(type(event), event.step) for event in events] == [
        (clrs_rs.ValidationReport, 3), (clrs_rs.StepReport, 4), (clrs_rs.ValidationReport, 4),
    ]  # fmt: skip


def test_the_best_model_and_snapshots_are_of_the_step_they_claim(monkeypatch):
    """As if another thread took a step meanwhile."""
    model = clrs_rs.Model("bfs", **SMALL)
    stale = model.snapshot()
    model.train_step()
    model._snapshot = stale
    assert model.snapshot().step == 1

    trainer = model._trainer

    class Racing:
        steps = property(lambda self: trainer.steps)
        snapshot, step = trainer.snapshot, trainer.step

        def validate(self):
            report = trainer.validate()
            trainer.step()
            return report

    model._trainer = Racing()
    assert not model.validate().is_best
    with pytest.raises(errors.ModelError, match="has not been validated"):
        model.best()
    model._trainer = trainer
    assert model.validate().is_best and model.best().step == 2


def test_a_model_predicts_batches_of_a_sampler():
    model = clrs_rs.Model("heapsort", **SMALL)
    model.train(steps=2)
    sampler, _ = clrs_rs.build_sampler("heapsort", 4, length=6, seed=2)
    feedback = sampler.next()
    predictions = model.predict(feedback)
    assert {name: point.data.shape for name, point in predictions.items()} == {"pred": (4, 6, 6), "pred_mask": (4, 6)}
    # Outputs are not needed.
    features = model.predict(feedback.features)
    assert all(np.array_equal(features[name].data, point.data) for name, point in predictions.items())
    [report] = model.evaluate([6], count=4, seed=2)
    spec = clrs_rs.SPECS["heapsort"]
    _, batches = clrs_rs.process_permutations(spec, iter([feedback]), True)
    np.testing.assert_allclose(clrs_rs.evaluate(next(batches).outputs, predictions)["score"], report.score)


def test_predicted_trajectories_have_the_values_of_both():
    model = clrs_rs.Model("bfs", **SMALL)
    [report] = model.evaluate([6], count=4, trajectories=[1])
    [trajectory] = report.trajectories
    assert (trajectory.algorithm, trajectory.nodes, list(trajectory.predicted_outputs)) == ("bfs", 6, ["pi"])
    assert trajectory.predicted_outputs["pi"].shape == trajectory.outputs["pi"].shape == (6,)
    hint = trajectory.predicted_hints["pi_h"]
    assert hint.shape == trajectory.hints["pi_h"].shape == (trajectory.steps, 6)
    assert np.array_equal(hint[0], trajectory.hints["pi_h"][0])
    assert len(trajectory.probabilities("pi_h")) == len(hint) and len(trajectory.probabilities("pi_h")[0]) == 0
    np.testing.assert_allclose(trajectory.probabilities("pi")[0].reshape(6, 6).sum(1), 1)
    # The decision is the most probable node.
    np.testing.assert_array_equal(trajectory.probabilities("pi_h")[1].reshape(6, 6).argmax(1), hint[1])
    assert "pi_h" in trajectory._repr_html_() and "of 1" in repr(trajectory)
    for algorithm in ("kmp_matcher", "heapsort", "floyd_warshall"):
        model = clrs_rs.Model(algorithm, hidden=4, lengths=[16], val_samples=2, batch_size=2)
        [report] = model.evaluate([5], count=1, trajectories=[0])
        assert algorithm in report.trajectories[0]._repr_html_()


def test_a_run_is_trained_stopped_resumed_and_evaluated(tmp_path):
    out = tmp_path / "run"
    settings = {"algorithms": ["bfs"], "steps": 7} | SMALL
    stopped = clrs_rs.train(out=out, callback=lambda event: event.step < 4, **settings)
    assert (stopped.reason, stopped.step, stopped.run) == ("stopped", 4, str(out))
    with pytest.raises(errors.RunError, match="run"):
        clrs_rs.train(out=out, **settings)
    with pytest.raises(errors.RecipeError, match="its own recipe"):
        clrs_rs.train(out=out, resume=True, hidden=3)
    resumed = clrs_rs.train(out=out, resume=True)
    assert (resumed.reason, resumed.step) == ("completed", 7)
    complete = clrs_rs.train(out=tmp_path / "complete", **settings)
    assert complete.best == resumed.best
    last, expected = (clrs_rs.open_run(run, "last").params for run in (out, tmp_path / "complete"))
    assert all(np.array_equal(last[module][name], expected[module][name]) for module in expected for name in expected[module])
    [report] = clrs_rs.evaluate_run(out, sizes=[6], count=4)
    assert clrs_rs.evaluate_run(out, sizes=[6], count=4) == [report]
    model = clrs_rs.open_run(out)
    assert model.algorithms == ["bfs"] and model.recipe["hidden"] == 8 and "step" in repr(model)
    with pytest.raises(errors.RunError):
        clrs_rs.open_run(tmp_path)
    with pytest.raises(errors.ModelError, match="not trained on"):
        clrs_rs.evaluate_run(out, sizes=[6], algorithms=["dfs"])


def test_an_exception_of_the_callback_stops_the_run(tmp_path):
    def fail(event):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        clrs_rs.train(out=tmp_path / "run", algorithms=["bfs"], steps=5, callback=fail, **SMALL)
    assert clrs_rs.train(out=tmp_path / "run", resume=True).step == 5


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_stops_a_run_that_can_be_resumed(tmp_path):
    code = f"""
import signal, sys, clrs_rs
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in processes that a shell starts in the background
def callback(event):
    print("step", flush=True)
try:
    clrs_rs.train(out={str(tmp_path / "run")!r}, algorithms=["bfs"], steps=10**6, callback=callback, **{SMALL!r})
except KeyboardInterrupt:
    sys.exit(3)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"step\n"
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 3
    state = json.loads((tmp_path / "run" / "status.json").read_text())
    assert state["status"] == "stopped" and state["step"] >= 1
    assert clrs_rs.open_run(tmp_path / "run", "last").step == state["step"]


def test_an_evaluation_does_not_create_a_deleted_run_again(tmp_path):
    run = tmp_path / "run"
    clrs_rs.train(out=run, algorithms=["bfs"], hidden=4, lengths=[4], batch_size=2, val_samples=2, steps=1)
    model = clrs_rs.open_run(run)
    shutil.rmtree(run)
    assert model.evaluate(sizes=[4], count=2)[0].samples == 2
    assert not run.exists()
