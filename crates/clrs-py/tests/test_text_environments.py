"""CLRS-Text in reasoning_gym and verifiers: the real packages."""

import asyncio
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import reasoning_gym

import clrs_rs.text.reasoning_gym
import clrs_rs.text.verifiers as clrs_verifiers
import pytest
import verifiers.v1 as vf
from clrs_rs import text

#: Two breadth-first trees are right.
QUESTION = "bfs:\ns: 0, A: [[0 1 1 0], [1 0 0 1], [1 0 0 1], [0 1 1 0]]\npi:\n"
REFERENCE, OTHER = "[0 0 0 1]\n\n", "[0 0 0 2]"


def test_reasoning_gym_creates_and_scores_questions():
    data = reasoning_gym.create_dataset("clrs_text", algorithms={"bfs": [6], "minimum": [5]}, size=20, seed=7)
    expected = list(text.generator({"bfs": [6], "minimum": [5]}, num_samples=20, seed=7))
    entries = list(data)
    assert len(data) == len(entries) == 20
    for index, (entry, row) in enumerate(zip(entries, expected, strict=True)):
        assert (entry["question"], entry["answer"]) == (row["question"], row["answer"])
        assert entry["metadata"]["source_index"] == index and entry == data[index]
        assert data.score_answer(entry["answer"], entry) == 1.0
        assert data.score_answer("no idea", entry) == data.score_answer(None, entry) == 0.0
    assert data.category == "algorithmic"
    assert reasoning_gym.create_dataset("clrs_text", seed=8)[3] != reasoning_gym.create_dataset("clrs_text", seed=9)[3]


def test_reasoning_gym_accepts_any_right_answer():
    entry = {"question": QUESTION, "answer": REFERENCE, "metadata": {}}
    assert reasoning_gym.create_dataset("clrs_text").score_answer(OTHER, entry) == 1.0
    assert reasoning_gym.create_dataset("clrs_text", kind="exact").score_answer(OTHER, entry) == 0.0
    assert reasoning_gym.get_score_answer_fn("clrs_text")(OTHER, entry) == 1.0


def test_reasoning_gym_mixes_and_reseeds():
    part = reasoning_gym.composite.DatasetSpec(name="clrs_text", weight=1, config={"algorithms": {"dfs": [5]}})
    composite = reasoning_gym.create_dataset("composite", size=10, seed=1, datasets=[part])
    entry = composite[0]
    assert entry["question"].startswith("dfs:") and composite.score_answer(entry["answer"], entry) == 1.0
    reseeding = reasoning_gym.dataset.ReseedingDataset(reasoning_gym.create_dataset("clrs_text", size=3, seed=1), chunk_size=3)
    questions = {next(reseeding)["question"] for _ in range(9)}
    assert len(questions) > 6


@pytest.mark.parametrize("wrong", [{"size": 0}, {"kind": "right"}, {"algorithms": {}}])
def test_reasoning_gym_refuses_wrong_settings(wrong):
    with pytest.raises(AssertionError):
        reasoning_gym.create_dataset("clrs_text", **wrong)


def score(task, reply):
    """Records a reply as a rollout does, and scores it."""
    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data), agent=vf.AgentInfo(config=vf.AgentConfig())
    )
    message = vf.AssistantMessage(content=reply)
    trace.nodes.append(vf.MessageNode(message=message, sampled=True))
    asyncio.run(task.score(trace))
    return trace.rewards["correct"].value, trace.metrics["exact_match"], trace.metrics["parsed"]


def test_verifiers_load_and_score_tasks():
    config = clrs_verifiers.ClrsTextConfig(algorithms={"bfs": [6], "minimum": [5]}, seed=7)
    tasks = list(clrs_verifiers.ClrsTextTaskset(config).take(20))
    expected = list(text.generator({"bfs": [6], "minimum": [5]}, num_samples=20, seed=7))
    assert [task.data.idx for task in tasks] == list(range(20))
    assert [task.data.prompt for task in tasks] == [row["question"] for row in expected]
    assert len({task.key for task in tasks}) == 20
    assert score(tasks[0], expected[0]["answer"]) == (1.0, 1.0, 1.0)
    assert score(tasks[0], "no idea") == (0.0, 0.0, 0.0)
    assert asyncio.run(tasks[0].validate(None))


@pytest.mark.parametrize(("kind", "reward"), [("valid", 1.0), ("exact", 0.0)])
def test_verifiers_accept_any_right_answer(kind, reward):
    data = clrs_verifiers.ClrsTextData(prompt=QUESTION, answer=REFERENCE, algorithm="bfs", length=4)
    task = clrs_verifiers.ClrsTextTask(data, clrs_verifiers.ClrsTextTaskConfig(kind=kind))
    assert score(task, OTHER) == (reward, 0.0, 1.0)
    assert score(task, REFERENCE) == (1.0, 1.0, 1.0)
