"""Every error is a ClrsError, of the class that Python or dm-clrs raise, with words that name what is wrong."""

import math
import pathlib

import clrs_rs
import numpy as np
import pytest

from clrs_rs import errors

from conftest import FOREIGN

@pytest.fixture(scope="module")
def batch():
    return clrs_rs.build_sampler("bfs", 8, seed=1, length=6)[0].next(4)


@pytest.fixture(scope="module")
def model(batch):
    factory = clrs_rs.get_processor_factory("mpnn", use_ln=True, nb_triplet_fts=0)
    model = clrs_rs.models.BaselineModel(clrs_rs.SPECS["bfs"], batch, factory, hidden_dim=4, encode_hints=True)
    model.init(None, 1)
    return model


@pytest.fixture(scope="module")
def trained():
    return clrs_rs.Model("bfs", processor="mpnn", hidden=4, lengths=[4], batch_size=2, val_samples=2).snapshot()


def raises(kinds, message, call):
    """Calls, and compares the error."""
    with pytest.raises(errors.ClrsError, match=message or None) as caught:
        call()
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        assert isinstance(caught.value, kind), type(caught.value)
    text = str(caught.value).replace("TOML parse error at line", "")  # a file has lines
    assert not FOREIGN.search(text), text


MATCHING = clrs_rs.trace("bipartite_matching", n=4).problem
DEADLINE = {"weight": [0.5], "deadline": [2**40]}

#: Class, message, call.
ARGUMENTS = [
    (NotImplementedError, "unknown algorithm `bsf`; did you mean `bfs`", lambda: clrs_rs.sample("bsf")),
    (TypeError, "`algorithm` must be a str, not 3", lambda: clrs_rs.sample(3)),
    (ValueError, "`n` must be at least 1, not -4", lambda: clrs_rs.sample("bfs", n=-4)),
    (TypeError, "`n` must be an integer, not 4.5", lambda: clrs_rs.sample("bfs", n=4.5)),
    (TypeError, "`n` must be an integer, not '4'", lambda: clrs_rs.sample("bfs", n="4")),
    (ValueError, "`batch` must be at least 1, not 0", lambda: clrs_rs.sample("bfs", batch=0)),
    (ValueError, "`seed` must be from 0 to 4294967295, not -1", lambda: clrs_rs.sample("bfs", seed=-1)),
    (ValueError, "`seed` must be from 0 to", lambda: clrs_rs.sample("bfs", seed=2**40)),
    (MemoryError, "more than the memory limit", lambda: clrs_rs.sample("floyd_warshall", n=64, batch=10**9)),
    (ValueError, "more than the limit of 4 GB", lambda: clrs_rs.sample("floyd_warshall", n=1000)),
    (TypeError, "`p` must be a number, a str or a list of numbers, not dict", lambda: clrs_rs.sample("bfs", p={})),
    (ValueError, "p", lambda: clrs_rs.sample("bfs", p=[math.nan])),
    (TypeError, "bfs has no option `q`", lambda: clrs_rs.sample("bfs", q=1)),
    (TypeError, "`name` must be a str, not None", lambda: clrs_rs.build_sampler(None, 3, length=4)),
    (TypeError, "`num_samples` must be an integer", lambda: clrs_rs.build_sampler("bfs", "3", length=4)),
    (TypeError, "`length` must be an integer", lambda: clrs_rs.build_sampler("bfs", 3, length=4.0)),
    (ValueError, "`length` must be at least 0", lambda: clrs_rs.build_sampler("bfs", 3, length=-4)),
    (TypeError, "missing a required argument: 'length'", lambda: clrs_rs.build_sampler("bfs", 3)),
    (ValueError, "`seed` is not a seed of NumPy", lambda: clrs_rs.build_sampler("bfs", 3, length=4, seed=-1)),
    (ValueError, "Batch size 9 > dataset size 8.", lambda: clrs_rs.build_sampler("bfs", 8, length=4)[0].next(9)),
    ((ValueError, AssertionError), "`batch_size` is required", lambda: clrs_rs.build_sampler("bfs", -1, length=4)[0].next()),
    (TypeError, "`batch_size` must be an integer", lambda: clrs_rs.build_sampler("bfs", 8, length=4)[0].next("3")),
    (TypeError, "`problem` must be a dict, not list", lambda: clrs_rs.trace("bfs", [1])),
    (ValueError, "`weights` is missing$", lambda: clrs_rs.trace("bfs", {})),
    (ValueError, "expected a list, found 3$", lambda: clrs_rs.trace("bfs", {"weights": 3, "source": 0})),
    (ValueError, "the matrix is not 1 x 1$", lambda: clrs_rs.trace("bfs", {"weights": [[0, 1]], "source": 0})),
    (ValueError, 'expected a number, found "x"$', lambda: clrs_rs.trace("bfs", {"weights": [[0, "x"], [1, 0]], "source": 0})),
    (ValueError, "expected an integer that is not negative, found -1$", lambda: clrs_rs.trace("bfs", {"weights": [[0]], "source": -1})),
    (ValueError, "found 0.5$", lambda: clrs_rs.trace("bfs", {"weights": [[0]], "source": 0.5})),
    (ValueError, "expected a list, found a dict$", lambda: clrs_rs.trace("insertion_sort", {"key": {"a": 1}})),
    (ValueError, "expected a list, found None$", lambda: clrs_rs.trace("insertion_sort", {"key": None})),
    (ValueError, "it has no `extra`, but `weights` and `source`$", lambda: clrs_rs.trace("bfs", {"weights": [[0]], "source": 0, "extra": 1})),
    (ValueError, "a list has too many elements$", lambda: clrs_rs.trace("graham_scan", {"points": [[0, 0, 0]]})),
    (ValueError, "expected a list of 2 elements, found one of 1$", lambda: clrs_rs.trace("graham_scan", {"points": [[0]]})),
    (ValueError, "expected a list of 2 elements, found 0.5$", lambda: clrs_rs.trace("graham_scan", {"points": [0.5]})),
    (ValueError, "expected a list of 2 elements, found 3$", lambda: clrs_rs.trace("bipartite_matching", MATCHING | {"edges": [3]})),
    (ValueError, "expected an integer from 0 to 4294967295, found 1099511627776$", lambda: clrs_rs.trace("task_scheduling", DEADLINE)),
    (TypeError, r"`algorithm` must be a str, not list", lambda: clrs_rs.trace([], {})),
    (TypeError, r"`replace` must be True or False", lambda: clrs_rs.sample("bfs", 4, 1).save("never", "train", np.zeros(2))),
    (TypeError, r"`hints` must be True or False", lambda: clrs_rs.text.sample("bfs", 4, 1, hints=np.zeros(2))),
    (TypeError, r"`hints` must be True or False", lambda: clrs_rs.text.format(clrs_rs.sample("bfs", 4, 1)[0], hints=np.zeros(2))),
    (RuntimeError, "no sample of 64 points without three", lambda: clrs_rs.sample("graham_scan", 64, 1, truncate_decimals=1)),
    (ValueError, "not finite", lambda: clrs_rs.trace("insertion_sort", {"key": [math.nan]})),
    (ValueError, "object is not an array or a number", lambda: clrs_rs.trace("insertion_sort", {"key": object()})),
    (ValueError, "", lambda: clrs_rs.trace("insertion_sort", {"key": []})),
    (ValueError, "this output is missing", lambda: clrs_rs.check("insertion_sort", {"key": [2, 1]}, {})),
    (ValueError, "3 values, expected 2", lambda: clrs_rs.check("insertion_sort", {"key": [2, 1]}, {"pred": [1, 1, 1]})),
    (ValueError, "not an array", lambda: clrs_rs.check("insertion_sort", {"key": [2, 1]}, {"pred": ["a", "b"]})),
    (ValueError, "invalid for its type", lambda: clrs_rs.check("insertion_sort", {"key": [2, 1]}, {"pred": [0.5, 7]})),
    (TypeError, "`output` must be a dict, not list", lambda: clrs_rs.check("insertion_sort", {"key": [2, 1]}, [1, 1])),
    (FileNotFoundError, "", lambda: clrs_rs.load("/does/not/exist", "bfs", "train")),
    (TypeError, "`folder` must be a path", lambda: clrs_rs.load(3, "bfs", "train")),
    (ValueError, "split", lambda: clrs_rs.load("clrs30", "bfs", "tset")),
    (ValueError, "clrs30@9", lambda: clrs_rs.load("clrs30@9", "bfs", "test")),
    (ValueError, "`batch_size` must be at least 1", lambda: clrs_rs.create_dataset("clrs30", "bfs", "val", 0)),
    (ValueError, "`chunk_length` must be at least 1", lambda: next(clrs_rs.chunkify(iter([]), 0))),
    (TypeError, "`feedback` must be a Feedback, not 3", lambda: next(clrs_rs.chunkify(iter([3]), 4))),
    (TypeError, "`feedback` must be a Feedback, not None", lambda: clrs_rs.Samples.from_feedback("bfs", None)),
    (TypeError, "expected a list of DataPoints, found int", lambda: clrs_rs.evaluate(3, {})),
    (TypeError, "predictions must be a dict", lambda: clrs_rs.evaluate([], [])),
    (TypeError, "the prediction of `pi` must be a DataPoint", lambda: clrs_rs.evaluate([], {"pi": np.zeros(3)})),
    (ValueError, "a pointer is not a node", lambda: clrs_rs.predecessor_to_cyclic_predecessor_and_first([0.5])),
    (ValueError, "not an array of", lambda: clrs_rs.predecessor_to_cyclic_predecessor_and_first("text")),
    ((ValueError, KeyError), "the spec has no probe `pi`", lambda: clrs_rs.decoders.postprocess({}, {"pi": np.zeros(3)}, 0.1, 5, True)),
    (ValueError, "`kind` must be 'valid' or 'exact', not 'x'", lambda: clrs_rs.text.reward("minimum:\nkey: [1]\nmin:\n", "0", "x")),
    (ValueError, "", lambda: clrs_rs.text.parse("no question")),
    (ValueError, "", lambda: clrs_rs.text.sample("bfs", format="text@9")),
    (TypeError, "`algos_and_lengths` must be a dict", lambda: clrs_rs.text.generator([("bfs", 4)])),
    (TypeError, r"`algos_and_lengths\['bfs'\]` must be a list of sizes, not 4", lambda: clrs_rs.text.generator({"bfs": 4})),
    (ValueError, "", lambda: clrs_rs.text.generator({})),
    (ValueError, "unknown recipe `papr-2022`", lambda: clrs_rs.recipe("papr-2022")),
    (TypeError, "`hidden` must be a str, a number or a list of them, not dict", lambda: clrs_rs.recipe(hidden={})),
    (ValueError, "hidden", lambda: clrs_rs.recipe(hidden="many")),
    (ValueError, "hidden", lambda: clrs_rs.recipe(hidden=-3)),
    (ValueError, "learning_rate", lambda: clrs_rs.recipe(learning_rate=math.nan)),
    (ValueError, "", lambda: clrs_rs.Model([])),
    (TypeError, "`algorithms` must be a name or a list of names, not 3", lambda: clrs_rs.Model(3)),
    (NotImplementedError, "unknown algorithm `bsf`; did you mean `bfs`", lambda: clrs_rs.recipe(algorithms=["bsf"])),
    (TypeError, "`callback` must be a function, not 3", lambda: clrs_rs.train(out="never", callback=3)),
    (ValueError, "mpn", lambda: clrs_rs.Model("bfs", processor="mpn")),
    (FileNotFoundError, "", lambda: clrs_rs.open_run("/does/not/exist")),
    (TypeError, "`run` must be a path", lambda: clrs_rs.open_run(3)),
    (FileNotFoundError, "", lambda: clrs_rs.train(out="/does/not/exist", resume=True)),
    (ValueError, "a run is resumed with its own recipe", lambda: clrs_rs.train(out="x", resume=True, hidden=3)),
    (ValueError, "`x` is not a processor|x", lambda: clrs_rs.models.BaselineModel(*network("x"))),
    (ValueError, "`nb_heads` must be at least 1", lambda: clrs_rs.get_processor_factory("gat", True, 0, nb_heads=0)),
    (TypeError, "`kind` must be a str", lambda: clrs_rs.get_processor_factory(3, True, 0)),
    (ValueError, "`hidden_dim` must be at least 1", lambda: clrs_rs.models.BaselineModel(*network(), hidden_dim=0)),
    (TypeError, "`hidden_dim` must be an integer", lambda: clrs_rs.models.BaselineModel(*network(), hidden_dim="x")),
    (ValueError, "`learning_rate` must be a finite number, not nan", lambda: clrs_rs.models.BaselineModel(*network(), learning_rate=math.nan)),
    (ValueError, "`encoder_init` must be", lambda: clrs_rs.models.BaselineModel(*network(), encoder_init="x")),
    (ValueError, "`hint_repred_mode` must be", lambda: clrs_rs.models.BaselineModel(*network(), hint_repred_mode="x")),
    (ValueError, "", lambda: clrs_rs.models.BaselineModel(*network(), dropout_prob=7.0)),
    (TypeError, "`processor_factory` must come from", lambda: clrs_rs.models.BaselineModel(*network()[:2], len)),
    (TypeError, "`spec` must be a spec", lambda: clrs_rs.models.BaselineModel(3, *network()[1:])),
    (TypeError, "`name` must be a str", lambda: clrs_rs.register_algorithm(3, {}, len, clrs_rs.samplers.SortingSampler)),
    (ValueError, "is not a name", lambda: clrs_rs.register_algorithm("a b", {}, len, clrs_rs.samplers.SortingSampler)),
    (TypeError, "`spec` must be a dict", lambda: clrs_rs.register_algorithm("x", 3, len, clrs_rs.samplers.SortingSampler)),
    (ValueError, "the matrix is not 2 x 2$", lambda: clrs_rs.algorithms.bfs(np.zeros((2, 3)), 0)),
    (ValueError, "", lambda: clrs_rs.algorithms.bfs(np.zeros((2, 2)), 5)),
    (ValueError, "letters must be", lambda: clrs_rs.algorithms.kmp_matcher(np.array([0, 9]), np.array([0]))),
]  # fmt: skip


def network(processor="mpnn"):
    feedback = clrs_rs.build_sampler("bfs", 2, seed=1, length=4)[0].next()
    return clrs_rs.SPECS["bfs"], feedback, clrs_rs.get_processor_factory(processor, use_ln=True, nb_triplet_fts=0)


@pytest.mark.parametrize(("kinds", "message", "call"), ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments(kinds, message, call):
    raises(kinds, message, call)


#: What replaces the data of a point, and the message.
DATA = [
    (None, "not an array of"),
    ("text", "not an array of"),
    (np.array(["a", "b"]), "not an array of"),
    (np.zeros((4, 6), complex), "complex128 is not an array of real numbers"),
    ([[1], [2, 3]], "is not an array of numbers"),
    (np.zeros(0), "shape"),
    (np.zeros((6, 4)), "shape"),
    (np.full((4, 6), math.nan), "invalid value"),
    (np.full((4, 6), 6), "invalid value"),
    (np.full((4, 6), -1), "invalid value"),
]


@pytest.mark.parametrize(("data", "message"), DATA, ids=range(len(DATA)))
def test_data_of_points(data, message, batch):
    damaged = batch._replace(outputs=[clrs_rs.DataPoint("pi", "node", "pointer", data)])
    raises(ValueError, f"`pi`.*({message})", lambda: clrs_rs.Samples.from_feedback("bfs", damaged))


def test_batches_of_models(batch, model, trained, tmp_path):
    features = batch.features
    raises(TypeError, "`feedback` must be a Feedback, not None", lambda: model.feedback(0, None))
    raises(TypeError, "`features` must be Features, not 3", lambda: model.predict(0, 3))
    raises(TypeError, "`feedback.outputs` must be a list of DataPoints, not 3", lambda: model.feedback(0, batch._replace(outputs=3)))
    for call in (
        lambda damaged: model.feedback(0, damaged),
        lambda damaged: clrs_rs.models.BaselineModel(clrs_rs.SPECS["bfs"], damaged, network()[2]),
        lambda damaged: next(clrs_rs.process_permutations(clrs_rs.SPECS["bfs"], iter([damaged]), True)[1]),
        lambda damaged: next(clrs_rs.process_random_pos(iter([damaged]), np.random.RandomState(0))),
    ):
        raises(TypeError, r"outputs\[0\]` must be a DataPoint, not 3", lambda: call(batch._replace(outputs=[3])))
    raises(TypeError, "`feedback.outputs` must be a list of DataPoints, not", lambda: model.feedback(0, batch._replace(outputs=iter([]))))
    for key in ({"seed": 1}, "1", 1.5):
        raises(TypeError, "`rng_key` must be a key of JAX, an integer or a generator", lambda: model.feedback(key, batch))
    raises(ValueError, "the output `pi` is missing", lambda: model.feedback(0, batch._replace(outputs=[])))
    chunk = next(clrs_rs.chunkify(iter([batch] * 9), 3))
    raises(TypeError, "chunks are for BaselineModelChunked", lambda: model.feedback(0, chunk))
    for call in (
        lambda: model.predict(0, chunk.features),
        lambda: trained.predict(chunk.features),
        lambda: trained.predict(chunk),
        lambda: clrs_rs.Samples.from_feedback("bfs", chunk),
        lambda: next(clrs_rs.chunkify(iter([chunk]), 2)),
        lambda: next(clrs_rs.process_pred_as_input({}, iter([chunk]))[1]),
    ):
        raises(TypeError, "chunk", call)
    lengths = batch._replace(features=features._replace(lengths="text"))
    raises(ValueError, "`lengths`", lambda: model.feedback(0, lengths))
    raises(ValueError, "`algorithm_index` must be from 0 to 0", lambda: model.feedback(0, batch, 3))
    raises(TypeError, "`algorithm_index` must be an integer", lambda: model.feedback(0, batch, "x"))
    raises(ValueError, "arrays by module and name", lambda: setattr(model, "params", 3))
    raises(ValueError, "", lambda: setattr(model, "params", {}))
    raises(ValueError, "not one of Adam", lambda: setattr(model, "opt_state", 3))
    raises(TypeError, "list of gradients", lambda: model.update_model_params_accum({}))
    raises(ValueError, "arrays by module and name", lambda: model.update_model_params_accum([3]))
    model.checkpoint_path = str(tmp_path)
    raises(FileNotFoundError, "missing.pkl", lambda: model.restore_model("missing.pkl"))
    raises(TypeError, "`file_name` must be a path", lambda: model.restore_model(3))
    (tmp_path / "file").write_bytes(b"damaged")
    raises(ValueError, "not a file of save_model", lambda: model.restore_model("file"))
    raises(OSError, "", lambda: model.save_model("file/model.pkl"))
    raises(TypeError, "`batch` must be Features", lambda: trained.predict(3))
    raises(ValueError, "dfs", lambda: trained.predict(batch, "dfs"))
    raises(TypeError, "`algorithm` must be a str, not 3", lambda: trained.predict(batch, 3))
    raises(TypeError, "`options` must be a dict, not 3", lambda: trained.evaluate(sizes=[4], options=3))
    for name in ("hints", "reuse"):
        raises(TypeError, f"`{name}` must be True or False, not ndarray", lambda: trained.evaluate(sizes=[4], **{name: np.zeros(2)}))
    for name in ("return_hints", "return_all_outputs"):
        raises(TypeError, f"`{name}` must be True or False, not ndarray", lambda: model.predict(0, features, **{name: np.zeros(2)}))
    for name in ("encode_hints", "decode_hints", "use_lstm", "freeze_processor"):
        flags = {name: np.zeros(2)}
        raises(TypeError, f"`{name}` must be True or False, not ndarray", lambda: clrs_rs.models.BaselineModel(*network(), **flags))
    raises(ValueError, r"`sizes\[0\]` must be at least 1", lambda: trained.evaluate(sizes=[0]))
    raises(TypeError, "`sizes` must be a list of sizes, not 4", lambda: trained.evaluate(sizes=4))
    raises(ValueError, "`steps` must be 'oracle', 'max' or 'fixpoint'", lambda: trained.evaluate(sizes=[4], steps="all"))
    raises(ValueError, "`batch_size` must be at least 1", lambda: trained.evaluate(sizes=[4], batch_size=0))
    raises(ValueError, "", lambda: trained.evaluate(sizes=[4], count=2, trajectories=[9]))
    raises(ValueError, "dfs", lambda: trained.evaluate(sizes=[4], algorithms=["dfs"]))
    raises(MemoryError, "GB", lambda: trained.evaluate(sizes=[4], count=10**12))
    raises(TypeError, "bfs has no option `graf`", lambda: trained.evaluate(sizes=[4], options={"graf": 1}))
    raises(ValueError, "not a directory, and not a version of the benchmark", lambda: trained.evaluate(data="/does/not/exist"))


def test_damaged_files(tmp_path):
    samples = clrs_rs.sample("bfs", n=4, batch=3)
    path = samples.save(tmp_path, "train")
    whole = path.read_bytes()
    raises(OSError, "already exists", lambda: samples.save(tmp_path, "train"))
    half = len(whole) // 2
    for damaged in (b"", b"text", whole[:half], whole[:half] + b"\xff" * 500 + whole[half + 500 :]):
        path.write_bytes(damaged)
        raises(OSError, "bfs_train", lambda: clrs_rs.load(tmp_path, "bfs", "train"))
    raises(FileNotFoundError, "dfs_train", lambda: clrs_rs.load(tmp_path, "dfs", "train"))
    run = tmp_path / "run"
    fields = {"algorithms": ["bfs"], "hidden": 4, "lengths": [4], "batch_size": 2, "val_samples": 2, "steps": 1}
    clrs_rs.train(out=run, **fields)
    raises(OSError, "contains a run already", lambda: clrs_rs.train(out=run, **fields))
    for file in run.glob("*.safetensors"):
        file.write_bytes(b"damaged")
    raises(OSError, "", lambda: clrs_rs.open_run(run))
    recipe = tmp_path / "recipe.toml"
    for text in ("hidden = ", "hiden = 3", "hidden = 'x'", "\0", "hidden = {}"):
        recipe.write_text(text)
        raises(ValueError, "", lambda: clrs_rs.recipe(recipe))
    recipe.write_bytes(b"\xff\xfe")
    raises(ValueError, "cannot read the recipe", lambda: clrs_rs.recipe(recipe))
    raises(ValueError, "cannot read the recipe", lambda: clrs_rs.recipe(pathlib.Path(tmp_path)))
    raises(OSError, "", lambda: clrs_rs.train(out=recipe / "run", **fields))


def test_every_exception_inherits_from_what_others_raise():
    for name in errors.__all__:
        exception = getattr(errors, name)
        if issubclass(exception, errors.ClrsError) and exception is not errors.ClrsError:
            others = [base for base in exception.__mro__ if base.__module__ == "builtins" and base not in (Exception, BaseException, object)]
            assert others, name


def test_arrays_that_do_not_fit_into_memory_are_refused(tmp_path):
    # More than the memory of any machine: those that fit would be allocated.
    raises(MemoryError, "GB", lambda: clrs_rs.sample("floyd_warshall", n=64, batch=4).feedback([0] * 10**6))
    stream, _ = clrs_rs.build_sampler("floyd_warshall", -1, seed=1, length=128, track_max_steps=False)
    raises(MemoryError, "GB", lambda: stream.next(10**9))
    stream, _ = clrs_rs.build_sampler("bfs", -1, seed=1, length=6)
    before, stream.max_steps = stream.max_steps, 10**13
    raises(MemoryError, "GB", lambda: stream.next(1))
    stream.max_steps = before
    assert stream.next(1).outputs


def test_numbers_beyond_the_largest_are_refused_by_the_largest():
    raises(ValueError, "`length` must be at most", lambda: clrs_rs.build_sampler("bfs", 1, seed=1, length=2**70))
    raises(ValueError, "`dtype` must be a type of floating-point numbers", lambda: clrs_rs.sample("bfs", n=4).feedback(dtype=np.int32))
    raises(ValueError, "no text has", lambda: clrs_rs.text.parse("\ud800", "1"))
