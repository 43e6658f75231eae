"""Trains a baseline model: ``python -m clrs_rs.examples.run``, with the flags of dm-clrs's ``clrs.examples.run``.

Samples are drawn on the fly, the model is validated every ``--eval_every`` steps, the best one is saved and, at the end,
evaluated on the benchmark's test set. Two things differ from dm-clrs 2.0.3: the sizes of the string matchers do not leak into
the algorithms after them, and the test set is generated if it is not in ``--dataset_path``.
"""

import argparse
import dataclasses
import itertools
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import clrs_rs as clrs

_LOG = logging.getLogger("clrs_rs.examples.run")

#: Processors that dm-clrs's program offers.
_PROCESSORS = (
    "deepsets", "mpnn", "pgn", "pgn_mask", "triplet_mpnn", "triplet_pgn", "triplet_pgn_mask", "gat", "gatv2", "gat_full",
    "gatv2_full", "gpgn", "gpgn_mask", "gmpnn", "triplet_gpgn", "triplet_gpgn_mask", "triplet_gmpnn",
)  # fmt: skip

#: Algorithms whose hint ``pred_h`` never changes, and can be an input.
_FIXED_ORDER = (
    "binary_search", "minimum", "find_maximum_subarray", "find_maximum_subarray_kadane", "matrix_chain_order", "lcs_length",
    "optimal_bst", "activity_selector", "task_scheduling", "naive_string_matcher", "kmp_matcher", "jarvis_march",
)  # fmt: skip

_STRINGS = ("naive_string_matcher", "kmp_matcher")

#: Algorithms with very long trajectories on dense graphs.
_SPARSE = ("articulation_points", "bridges", "mst_kruskal", "bipartite_matching")

_HINTS = {"encoded_decoded": (True, True), "decoded_only": (False, True), "none": (False, False)}


def main(arguments: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Trains and evaluates; returns the test scores of each algorithm."""
    flags = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    random = np.random.RandomState(flags.seed)
    keys = itertools.count(int(random.randint(2**32, dtype=np.int64)))
    tasks = [_task(name, flags, random) for name in flags.algorithms]
    encode_hints, decode_hints = _HINTS[flags.hint_mode]
    settings: dict[str, Any] = dict(
        processor_factory=clrs.get_processor_factory(
            flags.processor_type, use_ln=flags.use_ln, nb_triplet_fts=flags.nb_triplet_fts, nb_heads=flags.nb_heads
        ),
        hidden_dim=flags.hidden_size,
        encode_hints=encode_hints,
        decode_hints=decode_hints,
        encoder_init=flags.encoder_init,
        use_lstm=flags.use_lstm,
        learning_rate=flags.learning_rate,
        grad_clip_max_norm=flags.grad_clip_max_norm,
        checkpoint_path=flags.checkpoint_path,
        freeze_processor=flags.freeze_processor,
        dropout_prob=flags.dropout_prob,
        hint_teacher_forcing=flags.hint_teacher_forcing,
        hint_repred_mode=flags.hint_repred_mode,
        nb_msg_passing_steps=flags.nb_msg_passing_steps,
    )
    specs = [task.spec for task in tasks]
    eval_model = clrs.models.BaselineModel(specs, [next(task.validation) for task in tasks], **settings)
    train_model: clrs.models.BaselineModel = eval_model
    if flags.chunked_training:
        train_model = clrs.models.BaselineModelChunked(specs, [next(task.training) for task in tasks], **settings)
    train_model.init(None, flags.seed + 1)

    seen = [0] * len(tasks)
    best = -1.0
    for step in range(flags.train_steps):
        for index, task in enumerate(tasks):
            feedback = next(task.training)
            algorithm_index = (step % len(flags.train_lengths), index) if flags.chunked_training else index
            loss = train_model.feedback(next(keys), feedback, algorithm_index)
            features = feedback.features
            seen[index] += int(np.sum(features.is_last)) if flags.chunked_training else len(features.lengths)
            _LOG.info("Algo %s step %i current loss %f, current_train_items %i.", task.name, step, loss, seen[index])
        if step % flags.eval_every == 0:
            eval_model.params = train_model.params  # type: ignore[assignment]
            scores = []
            for index, task in enumerate(tasks):
                found = _evaluate(eval_model, index, task.validation, task.validation_count)
                _LOG.info("(val) algo %s step %d: %s", task.name, step, found)
                scores.append(found["score"])
            if step == 0 or sum(scores) > best:
                _LOG.info("Checkpointing best model, average score %.3f", sum(scores) / len(scores))
                best = sum(scores)
                train_model.save_model("best.pkl")

    _LOG.info("Restoring best model from checkpoint...")
    eval_model.restore_model("best.pkl", only_load_processor=False)
    results = {}
    for index, task in enumerate(tasks):
        results[task.name] = _evaluate(eval_model, index, task.test, task.test_count)
        _LOG.info("(test) algo %s : %s", task.name, results[task.name])
    return results


@dataclasses.dataclass
class _Task:
    """The samples of one algorithm."""

    name: str
    spec: clrs.Spec
    training: Iterator[Any]
    validation: Iterator[Any]
    validation_count: int
    test: Iterator[Any]
    test_count: int


def _task(name: str, flags: argparse.Namespace, random: np.random.RandomState) -> _Task:
    lengths = list(flags.train_lengths)
    if name in _STRINGS:
        # One size for text and pattern together; only the length of the pattern varies. Chunked training carries a state per
        # size, so the number of sizes stays.
        longest = max(lengths)
        longest = longest * 5 // 4 if longest > 0 else longest
        lengths = [longest] * (len(lengths) if flags.chunked_training else 1)
    probabilities = tuple((0.1 + 0.1 * tenth) / (2 if name in _SPARSE else 1) for tenth in range(9))
    options: dict[str, Any] = {"p": probabilities, "length_needle": flags.length_needle}
    if flags.length_needle == 0:
        del options["length_needle"]
    multiplier = clrs.CLRS_30_ALGS_SETTINGS.get(name, {"num_samples_multiplier": 1})["num_samples_multiplier"]

    def sets(split: str, sizes: list[int], samples: int, batch_size: int, random_pos: bool, **sampler_options: Any) -> Any:
        streams, counts = [], 0
        for size in sizes:
            if size < 0:
                stream, count, spec = clrs.create_dataset(_dataset(flags.dataset_path), name, split, batch_size)
                stream = iter(stream.as_numpy_iterator())
            else:
                count = clrs.CLRS30[split]["num_samples"] * samples
                seed = int(random.randint(2**32, dtype=np.int64))
                sampler, spec = clrs.build_sampler(name, num_samples=count, seed=seed, length=size, **sampler_options)
                stream = iter(lambda sampler=sampler: sampler.next(batch_size), None)  # type: ignore[misc]
            if random_pos:
                stream = clrs.process_random_pos(stream, random)
            if flags.enforce_pred_as_input and name in _FIXED_ORDER:
                spec, stream = clrs.process_pred_as_input(spec, stream)
            spec, stream = clrs.process_permutations(spec, stream, flags.enforce_permutations)
            if split == "train" and flags.chunked_training:
                stream = clrs.chunkify(stream, flags.chunk_length)
            streams.append(stream)
            counts += count
        # The sizes take turns.
        return map(next, itertools.cycle(streams)), counts, spec

    training, _, _ = sets("train", lengths, -1, flags.batch_size, flags.random_pos, **options)
    validation, validation_count, _ = sets("val", [max(flags.train_lengths)], 2 * multiplier, 32, flags.random_pos, **options)
    test, test_count, spec = sets("test", [-1], 2 * multiplier, 32, False)
    return _Task(name, spec, training, validation, validation_count, test, test_count)


def _dataset(path: str) -> str:
    """The folder of the benchmark, if there is one, or its name: then it is generated."""
    folder = os.path.join(path, clrs.get_clrs_folder())
    return folder if os.path.isdir(folder) else "clrs30"


def _evaluate(model: clrs.models.BaselineModel, index: int, stream: Iterator[Any], count: int) -> dict[str, Any]:
    """Scores of all samples of a set together."""
    outputs, predictions, samples = [], [], 0
    while samples < count:
        feedback = next(stream)
        outputs.append(feedback.outputs)
        predictions.append(model.predict(None, feedback.features, index)[0])
        samples += feedback.outputs[0].data.shape[0]

    def joined(points: Sequence[clrs.DataPoint]) -> clrs.DataPoint:
        first = points[0]
        return clrs.DataPoint(first.name, first.location, first.type_, np.concatenate([point.data for point in points]))

    truth = [joined(points) for points in zip(*outputs)]
    predicted = {name: joined([batch[name] for batch in predictions]) for name in predictions[0]}
    return {name: float(score) for name, score in clrs.evaluate(truth, predicted).items()}


class _Flag(argparse.Action):
    """A boolean flag in the forms of absl: ``--flag``, ``--noflag``, ``--flag=false``."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        negated = [f"--no{option[2:]}" for option in option_strings]
        super().__init__([*option_strings, *negated], dest, nargs="?", **options)

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        value = True if values is None else words.get(str(values).lower())
        if value is None:
            parser.error(f"{option_string}: expected true or false, not {values}")
        is_negated = option_string not in (None, f"--{self.dest}")
        setattr(namespace, self.dest, value != is_negated)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m clrs_rs.examples.run",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )

    def names(text: str) -> list[str]:
        return [name.strip() for name in text.split(",") if name.strip()]

    def lengths(text: str) -> list[int]:
        return [int(length) for length in names(text)]

    scratch = os.path.join(tempfile.gettempdir(), "CLRS30")
    add = parser.add_argument
    add("--algorithms", type=names, default=["bfs"], help="algorithms to train on, comma-separated")
    add("--train_lengths", type=lengths, default=[4, 7, 11, 13, 16], help="training sizes; -1 is the benchmark's training set")
    add("--length_needle", type=int, default=-8, help="length of the pattern of string matchers; random up to -L if negative, 0 for a quarter of the text")
    add("--seed", type=int, default=42, help="seed of samples and parameters")
    add("--random_pos", action=_Flag, default=True, help="draw random positions")
    add("--enforce_permutations", action=_Flag, default=True, help="predict permutations with the Sinkhorn operator")
    add("--enforce_pred_as_input", action=_Flag, default=True, help="make constant predecessor hints inputs")
    add("--batch_size", type=int, default=32, help="samples per training batch")
    add("--chunked_training", action=_Flag, default=False, help="train on chunks of trajectories")
    add("--chunk_length", type=int, default=16, help="steps per chunk")
    add("--train_steps", type=int, default=10000, help="training steps")
    add("--eval_every", type=int, default=50, help="steps between validations")
    add("--test_every", type=int, default=500, help="not used, as in dm-clrs")
    add("--hidden_size", type=int, default=128, help="size of hidden vectors")
    add("--nb_heads", type=int, default=1, help="attention heads")
    add("--nb_msg_passing_steps", type=int, default=1, help="processor steps per algorithm step")
    add("--learning_rate", type=float, default=0.001, help="learning rate")
    add("--grad_clip_max_norm", type=float, default=1.0, help="maximum gradient norm; 0 does not clip")
    add("--dropout_prob", type=float, default=0.0, help="dropout probability")
    add("--hint_teacher_forcing", type=float, default=0.0, help="probability of reading true hints in training")
    add("--hint_mode", choices=list(_HINTS), default="encoded_decoded", help="use of hints")
    add("--hint_repred_mode", choices=["soft", "hard", "hard_on_eval"], default="soft", help="how predicted hints are read")
    add("--use_ln", action=_Flag, default=True, help="layer normalization in the processor")
    add("--use_lstm", action=_Flag, default=False, help="an LSTM behind the processor")
    add("--nb_triplet_fts", type=int, default=8, help="features per triplet of nodes")
    add("--encoder_init", choices=["default", "xavier_on_scalars"], default="xavier_on_scalars", help="initialization of encoders")
    add("--processor_type", choices=_PROCESSORS, default="triplet_gmpnn", help="processor")
    add("--checkpoint_path", default=scratch, help="directory of checkpoints")
    add("--dataset_path", default=scratch, help="directory of the benchmark")
    add("--freeze_processor", action=_Flag, default=False, help="do not train the processor")
    return parser


if __name__ == "__main__":
    main()
