"""Scores of dm-clrs's `evaluate` and `evaluate_hints`: golden/scores.json.

The name of a case says what it tests. Predictions are soft where a network's are. NaN scores are null; a case that dm-clrs
rejects has an `error` instead of a `result`.
"""
import numpy as np

import golden_format
from reference import VERSIONS, evaluation, probing

NODES = 4


def record():
    with np.errstate(all="ignore"):
        return {
            "versions": VERSIONS,
            "outputs": [output_case(*case) for case in output_cases()],
            "hints": [hint_case(*case) for case in hint_cases()],
        }


def output_case(name, truth, predictions):
    truth = [probing.DataPoint(*data_point) for data_point in truth]
    predictions = {data_point[0]: probing.DataPoint(*data_point) for data_point in predictions}
    case = {
        "name": name,
        "truth": [golden_format.point("output", data_point) for data_point in truth],
        "predictions": [golden_format.point("output", data_point) for data_point in predictions.values()],
    }
    try:
        scores = evaluation.evaluate(tuple(truth), predictions)
    except ValueError as error:
        return case | {"error": str(error)}
    return case | {"result": {score: golden_format.number(float(value)) for score, value in scores.items()}}


def hint_case(name, lengths, truth, predictions):
    truth = [probing.DataPoint(*data_point) for data_point in truth]
    predictions = [{data_point[0]: probing.DataPoint(*data_point) for data_point in step} for step in predictions]
    lengths = np.array(lengths, dtype=np.float64)
    scores = evaluation.evaluate_hints(tuple(truth), lengths, predictions)
    return {
        "name": name,
        "lengths": golden_format.array(lengths),
        "truth": [golden_format.point("hint", data_point) for data_point in truth],
        "predictions": [[golden_format.point("hint", data_point) for data_point in step.values()] for step in predictions],
        "result": {
            score: golden_format.numbers(value) if score.endswith("_along_time") else golden_format.number(float(value))
            for score, value in scores.items()
        },
    }


def one_hot(classes, count):
    return np.eye(count)[np.asarray(classes)]


def soft(random, shape):
    """Like a network's predictions, with few decimals, so that ties and values of exactly one half occur."""
    return np.round(random.uniform(size=shape), 2)


def output_cases():
    random = np.random.RandomState(11)

    def of_type(location, kind, truth, prediction, name="x"):
        return [(name, location, kind, np.asarray(truth))], [(name, location, kind, np.asarray(prediction))]

    def mask(truth, prediction, location="node"):
        return of_type(location, "mask", np.array(truth, dtype=np.float64), prediction)

    yield "mask: F1 of the positive class", *mask([[1, 1, 0, 0], [1, 0, 1, 0]], [[0.9, 0.2, 0.8, 0.1], [0.7, 0.3, 0.6, 0.4]])
    yield "mask: masked-out cells do not count", *mask(
        [[1, -1, 0, -1], [1, 0, -1, 0]], [[0.9, 0.9, 0.8, 0.1], [0.2, 0.3, 0.6, 0.4]]
    )
    yield "mask: a prediction of exactly one half is neither", *mask([[1, 1, 0]], [[0.5, 1.0, 0.5]])
    yield "mask: only halves, some positive", *mask([[1, 0]], [[0.5, 0.5]])
    yield "mask: no positives, none predicted", *mask([[0, 0, -1]], [[0.1, 0.4, 0.9]])
    yield "mask: no positives, some predicted", *mask([[0, 0, 0]], [[0.1, 0.6, 0.9]])
    yield "mask: positives, none predicted", *mask([[1, 0, 1]], [[0.1, 0.4, 0.3]])
    yield "mask: all found, nothing else", *mask([[1, 0, 1]], [[0.9, 0.4, 0.8]])
    yield "mask: all cells are masked out", *mask([[-1, -1], [-1, -1]], [[0.9, 0.1], [0.6, 0.2]])
    yield "mask: of edges", *mask(random.randint(-1, 2, (3, NODES, NODES)), soft(random, (3, NODES, NODES)), "edge")
    yield "mask: of graphs", *mask([1, 0, 1, 1], [0.9, 0.8, 0.3, 0.7], "graph")
    yield "mask: many cells", *mask(random.randint(-1, 2, (40, 33)), soft(random, (40, 33)))

    hard = one_hot([0, 3, 1], NODES)
    yield "mask_one: the largest is meant", *of_type("node", "mask_one", hard, [[0.5, 0.4, 0, 0], [9, -1, 2, 8], [-3, -1, -2, -4.0]])
    yield "mask_one: the first of equals is meant", *of_type(
        "node", "mask_one", hard, [[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1.0]]
    )
    masked = np.array([[1, 0, 0, 0], [0, -1, 0, 1], [0, 0, 1, 0.0]])
    yield "mask_one: masked-out rows do not count", *of_type("node", "mask_one", masked, soft(random, (3, NODES)))
    yield "mask_one: all rows are masked out", *of_type("node", "mask_one", np.full((2, NODES), -1.0), soft(random, (2, NODES)))

    classes = one_hot(random.randint(0, 3, (3, NODES)), 3)
    yield "categorical: of nodes", *of_type("node", "categorical", classes, soft(random, classes.shape))
    yield "categorical: of graphs", *of_type("graph", "categorical", one_hot([2, 0, 1], 3), soft(random, (3, 3)))
    table = one_hot(random.randint(0, 3, (2, NODES, NODES)), 4)
    table[:, :, 0] = table[:, 3] = [0, 0, 0, -1]
    yield "categorical: of edges, with a class for cells that are masked out", *of_type(
        "edge", "categorical", table, soft(random, table.shape)
    )
    yield "categorical: all cells are masked out", *of_type(
        "node", "categorical", np.full((2, 3, 3), -1.0), soft(random, (2, 3, 3))
    )

    yield "pointer: of nodes", *of_type("node", "pointer", [[0, 0, 1, 2], [1, 1, 1, 1]], [[0, 0, 1, 1], [1, 2, 1, 3]])
    yield "pointer: integers as floats", *of_type("node", "pointer", [[0, 0, 1, 2]], [[0.0, 1.0, 1.0, 2.0]])
    yield "pointer: of edges", *of_type(
        "edge", "pointer", random.randint(0, 2, (3, NODES, NODES)), random.randint(0, 2, (3, NODES, NODES))
    )
    for count in (7, 100, 1000):
        pair = random.uniform(size=count), random.uniform(size=count)
        yield f"scalar: mean squared error of {count}", *of_type("graph", "scalar", *pair)
    yield "scalar: of nodes", *of_type("node", "scalar", random.uniform(size=(9, 16)), random.uniform(size=(9, 16)))

    cycle = one_hot([[3, 0, 1, 2], [1, 2, 3, 0]], NODES)
    first = one_hot([0, 3], NODES)
    truth = [("pred", "node", "permutation_pointer", cycle), ("pred_mask", "node", "mask_one", first)]
    yield "permutation_pointer: the masked node points to itself", truth, truth
    yield "permutation_pointer: soft rows and a soft mask", truth, [
        ("pred", "node", "permutation_pointer", soft(random, cycle.shape)),
        ("pred_mask", "node", "mask_one", np.array([[0.6, 0.1, 0.7, 0.2], [0.5, 0.2, 0.3, 0.4]])),
    ]

    right = of_type("node", "mask_one", hard, hard, "start")
    partly = of_type("node", "mask_one", hard, one_hot([0, 0, 1], NODES), "end")
    masked = of_type("node", "mask_one", np.full((3, NODES), -1.0), hard, "end")
    yield "several outputs: the score is the mean of theirs", right[0] + partly[0], right[1] + partly[1]
    yield "several outputs: one that is not a number spoils the mean", right[0] + masked[0], right[1] + masked[1]
    order = [[0, 0, 1, 2]]
    yield "should_be_permutation: has no score", *of_type("node", "should_be_permutation", order, order)


def hint_cases():
    random = np.random.RandomState(12)

    def predict(kind, shape):
        return random.randint(0, 2, shape) if kind == "pointer" else soft(random, shape)

    def hints(lengths, steps, permutation=False):
        """One hint of every kind; zeros from a sample's length on, as dm-clrs pads."""
        node, edge = (steps, len(lengths), NODES), (steps, len(lengths), NODES, NODES)
        truth = [
            ("s", "node", "scalar", random.uniform(size=node)),
            ("g", "graph", "scalar", random.uniform(size=node[:2])),
            ("m", "node", "mask", random.randint(-1, 2, node).astype(float)),
            ("o", "node", "mask_one", one_hot(random.randint(0, NODES, node[:2]), NODES)),
            ("c", "node", "categorical", one_hot(random.randint(0, 3, node), 3)),
            ("p", "node", "pointer", random.randint(0, NODES, node).astype(float)),
            ("q", "edge", "pointer", random.randint(0, 2, edge).astype(float)),
        ]
        if permutation:
            truth += [
                ("r", "node", "permutation_pointer", one_hot(random.randint(0, NODES, node), NODES)),
                ("r_mask", "node", "mask_one", one_hot(random.randint(0, NODES, node[:2]), NODES)),
            ]
        for _, _, _, data in truth:
            for sample, length in enumerate(lengths):
                data[length:, sample] = 0.0
        predictions = [
            [(name, location, kind, predict(kind, data.shape[1:])) for name, location, kind, data in truth]
            for _ in range(1, steps)
        ]
        return lengths, truth, predictions

    yield "samples of one length", *hints([4, 4, 4], 4)
    yield "samples of unequal lengths", *hints([5, 2, 3, 1], 5)
    yield "padding beyond the longest sample scores 0 and counts nothing", *hints([3, 2], 6)
    yield "every sample has one step: nothing to divide by", *hints([1, 1], 2)
    yield "many steps", *hints([21, 15, 9, 3], 21)
    yield "a permutation and its mask", *hints([4, 3], 4, permutation=True)
