"""Questions and answers: the strings of dm-clrs, the verifier, and rewards."""

import itertools
import random
import re

import clrs_rs
import numpy as np
import pytest
from clrs_rs import text

#: Sorting equal keys, which truncated numbers may be, depends on the CPU in dm-clrs.
TIES = {"activity_selector", "task_scheduling", "dijkstra", "mst_prim", "mst_kruskal", "graham_scan"}

SETTINGS = [
    {"algos_and_lengths": {"bfs": [4, 5], "minimum": [4, 5, 6]}, "seed": 0},
    {"algos_and_lengths": {"insertion_sort": [5, 16], "kmp_matcher": [10]}, "seed": 7, "use_hints": True},
    {"algos_and_lengths": {"dfs": [8], "lcs_length": [6]}, "seed": 3, "num_decimals_in_float": None},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=["default", "hints", "all decimals"])
def test_rows_are_those_of_clrs_generator(clrs, settings):
    from clrs._src.clrs_text import huggingface_generators
    from clrs_rs._src.clrs_text.huggingface_generators import clrs_generator

    # Theirs uses the global random numbers while it runs, ours does not.
    expected = huggingface_generators.clrs_generator(**settings, num_samples=300)
    found = clrs_generator(**settings, num_samples=300)
    count = 0
    for theirs, ours in zip(expected, found, strict=True):
        assert ours == theirs
        assert list(ours) == list(theirs)
        count += 1
    assert count == 300


def test_generator_leaves_global_random_numbers_alone():
    random.seed(5)
    expected = random.random()
    random.seed(5)
    next(text.generator({"bfs": [4]}))
    assert random.random() == expected


def test_generator_starts_anywhere():
    settings = {"algos_and_lengths": {"bfs": [4, 5], "quickselect": [6]}, "seed": 2}
    rows = list(text.generator(**settings, num_samples=50))
    assert list(text.generator(**settings, num_samples=20, start=30)) == rows[30:]
    assert list(itertools.islice(text.generator(**settings), 50)) == rows


@pytest.mark.parametrize("algorithm", clrs_rs.CLRS_30_ALGS)
def test_format_clrs_example_is_that_of_dm_clrs(clrs, algorithm):
    from clrs._src.clrs_text import clrs_utils

    decimals = None if algorithm in TIES else 3
    options = {"seed": 5, "length": 9, "track_max_steps": False, "truncate_decimals": decimals}
    theirs, _ = clrs.build_sampler(algorithm, -1, **options)
    ours, _ = clrs_rs.build_sampler(algorithm, -1, **options)
    for _ in range(5):
        expected, sample = theirs.next(1), ours.next(1)
        for hints in (False, True):
            if algorithm not in ("graham_scan", "jarvis_march"):
                # Coordinates with all decimals differ in the last digit between math libraries.
                sample_text = clrs_rs.clrs_text.clrs_utils.format_clrs_example(algorithm, sample, hints)
                assert sample_text == clrs_utils.format_clrs_example(algorithm, expected, hints)
            # Batches of dm-clrs are formatted, too.
            found = clrs_rs.clrs_text.clrs_utils.format_clrs_example(algorithm, expected, hints)
            assert found == clrs_utils.format_clrs_example(algorithm, expected, hints)


@pytest.mark.parametrize("format", ["text@2.0.3", "text@2.0.1", "text@1"])
def test_what_is_formatted_is_right(format):
    for algorithm in clrs_rs.CLRS_30_ALGS:
        for hints in (False, True):
            rows = text.sample(algorithm, n=6, count=3, seed=1, hints=hints, format=format)
            samples = clrs_rs.sample(algorithm, n=6, batch=3, seed=1)
            for row, sample in zip(rows, samples, strict=True):
                assert (row.algorithm, row.size, row.seed) == (algorithm, 6, 1)
                assert text.format(sample, hints=hints, format=format) == (row.question, row.answer)
                verdict = text.verify(row.question, row.answer, row.answer)
                assert verdict.valid and verdict.exact_match and verdict.element_accuracy == 1.0, (algorithm, verdict)
                assert text.parse(row.question).algorithm == algorithm


def test_predictions_are_formatted():
    first, second = clrs_rs.sample("bfs", n=6, batch=2, seed=1)
    example = text.format(first, predicted=second)
    assert example.question == text.format(first).question
    assert example.answer == text.format(second).answer
    (larger,) = clrs_rs.sample("bfs", n=7, batch=1)
    with pytest.raises(text_error(), match="the prediction has 7 nodes, the sample 6"):
        text.format(first, predicted=larger)


def test_questions_are_parsed_into_problems():
    task = text.parse("dijkstra:\ns: 1, A: [[0.0 0.5], [0.5 0.0]], initial_trace: [0 1]\ntrace | pi:\n")
    assert (task.algorithm, task.nodes, task.hints, task.format) == ("dijkstra", 2, True, "text@2.0.3")
    output = {"pi": [1, 1]}
    assert clrs_rs.check(task.algorithm, task.problem, output)
    assert task.verify(task.reference).exact_match


def test_traces_are_compared_step_by_step():
    (row,) = text.sample("insertion_sort", n=4, count=1, hints=True, decimals=2)
    steps, _, output = row.answer.partition(" | ")
    wrong = row.answer.replace(steps, re.sub(r"[1-9]", "0", steps, count=1))
    verdict = text.verify(row.question, wrong)
    assert verdict.valid and not verdict.exact_match
    assert verdict.trace.first_divergence == 1 and "step 1" in verdict.trace.failure
    assert text.verify(row.question, row.answer).trace.first_divergence is None
    assert text.verify(row.question, output).parsed is False


class MockPolicy:
    """A model that knows the algorithm, but prefers other right answers, and sometimes thinks aloud."""

    def answer(self, question, turn):
        task = text.parse(question)
        if turn % 3 == 2:
            return f"Let me think. {task.reference}"
        if turn % 3 == 1:
            return task.reference
        weights = np.array(task.problem["weights"])
        tree = np.array([int(node) for node in task.reference.strip().strip("[]").split()])
        depth = np.zeros(len(tree), int)
        for node in range(len(tree)):
            parent = node
            while parent != tree[parent]:
                parent = tree[parent]
                depth[node] += 1
        for node in range(len(tree)):
            others = [p for p in range(len(tree)) if weights[p, node] and depth[p] + 1 == depth[node] and p != tree[node]]
            if others:
                tree[node] = others[0]
                return f"[{' '.join(map(str, tree))}]"
        return None


def test_a_policy_with_other_right_answers_is_rewarded_for_validity_only():
    policy, scores = MockPolicy(), []
    for turn, row in enumerate(text.generator({"bfs": [10]}, num_samples=150, seed=4)):
        answer = policy.answer(row["question"], turn)
        if answer is not None:
            rewards = [text.reward(row["question"], answer, kind=kind) for kind in ("valid", "exact")]
            scores.append((turn % 3, *rewards))
    others = [score[1:] for score in scores if score[0] == 0]
    assert len(others) > 5, "some graphs have several breadth-first trees"
    assert set(others) == {(1.0, 0.0)}
    assert {score[1:] for score in scores if score[0] == 1} == {(1.0, 1.0)}
    assert {score[1:] for score in scores if score[0] == 2} == {(0.0, 0.0)}


def test_errors_name_what_is_wrong():
    question = "minimum:\nkey: [0.7 0.2]\nmin:\n"
    with pytest.raises(text_error(), match="not a question"):
        text.reward("minimum of [1 2]?", "1")
    with pytest.raises(text_error(), match="unknown text format"):
        text.sample("bfs", format="text@9")
    with pytest.raises(text_error(), match="did you mean"):
        text.parse("minimim:\nkey: [0.7 0.2]\nmin:\n")
    with pytest.raises(text_error(), match="reference answer"):
        text.verify(question, "1", reference="[")
    with pytest.raises(ValueError, match="'valid' or 'exact'"):
        text.reward(question, "1", kind="correct")
    with pytest.raises(text_error(), match="nothing|no algorithms"):
        text.generator({})
    with pytest.raises(clrs_rs.errors.UnknownAlgorithmError):
        text.generator({"bsf": [4]})
    with pytest.raises(clrs_rs.errors.ArgumentError, match=r"`algos_and_lengths\['bfs'\]\[0\]` must be at least 1, not 0"):
        text.generator({"bfs": [0]})


def text_error():
    return clrs_rs.errors.TextError


def test_no_answer_stops_the_process():
    generator = np.random.RandomState(0)
    questions = [row["question"] for row in text.generator({"bfs": [5], "insertion_sort": [5]}, num_samples=10, use_hints=True)]
    letters = list("[](),| 0123456789.-e\n\x00é𝄞")
    for turn in range(2000):
        answer = "".join(generator.choice(letters, size=generator.randint(0, 60)))
        assert text.reward(questions[turn % 10], answer) in (0.0, 1.0)
        try:
            text.parse(answer)
        except clrs_rs.errors.TextError:
            pass
