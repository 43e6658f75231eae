"""The reference's network on one batch: parameters, loss, gradients and predictions as named arrays.

A *case* is a dictionary of settings (`DEFAULTS`, with the names of `clrs.examples.run`'s flags in plainer words). Everything
random that another program cannot draw alike is taken out: parameters are recorded instead of drawn, dropout is off, teacher
forcing is all or nothing, and the Sinkhorn operator gets no Gumbel noise.
"""
import functools
import json

from cases import PRED_AS_INPUT, STRINGS
from reference import VERSIONS, arrays, build, np, samplers, silence

with silence():
    import jax
    import jax.numpy as jnp
    from clrs._src import baselines, decoders, processors

DEFAULTS = {
    "algorithm": "bfs",
    "processor": "triplet_gmpnn",
    "size": 16,
    "batch": 32,
    "hidden": 128,
    "seed": 42,
    "hint_mode": "encoded_decoded",
    "feedback": "soft",
    "teacher_forcing": 0.0,
    "layer_norm": True,
    "heads": 1,
    "triplet_features": 8,
    "init": "xavier_on_scalars",
    "message_steps": 1,
    "lstm": False,
    "permutations": True,
    "pred_as_input": True,
    "random_pos": False,
    "track_max_steps": True,
}
"""Those of `clrs.examples.run`, but for random positions. A size is what the sampler is given: run.py adds a quarter to that of
the string matchers. `track_max_steps` pads to the longest of a thousand samples, as run.py does; without it, to the longest of
the batch."""

HINT_MODES = {"encoded_decoded": (True, True), "decoded_only": (False, True), "none": (False, False)}
RARE_EDGES = ("articulation_points", "bridges", "mst_kruskal", "bipartite_matching")
NOISE = 0.05
ENCODER_SCALE = 3.0
WOBBLE = 1e-6
STEADY = 2e-5
TRIES = 20

# In training the reference adds Gumbel noise to the logits of permutations. Nobody else can draw it, so here it is nought.
_log_sinkhorn = decoders.log_sinkhorn
decoders.log_sinkhorn = lambda *args, noise_rng_key, **options: _log_sinkhorn(*args, noise_rng_key=None, **options)


def complete(settings):
    """A case with nothing left open."""
    unknown = settings.keys() - DEFAULTS.keys()
    if unknown:
        raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
    case = DEFAULTS | settings
    if case["teacher_forcing"] not in (0.0, 1.0):
        raise ValueError("teacher forcing is 0 or 1: coins between cannot be drawn alike")
    return case


class Batches:
    """The batches of one algorithm as `clrs.examples.run` makes them for training, and the spec after the transforms."""

    def __init__(self, case):
        random = np.random.RandomState(case["seed"])
        random.randint(2**32, dtype=np.int64)  # run.py's first draw is for the network's generator
        algorithm, size = case["algorithm"], case["size"]
        p = tuple(0.1 + 0.1 * i for i in range(9))
        if algorithm in RARE_EDGES:
            p = tuple(np.array(p) / 2)
        options = {"p": p, "track_max_steps": case["track_max_steps"]}
        if algorithm in STRINGS:
            options["length_needle"] = -min(8, (size - 1) // 2)  # run.py's 8, where the haystack has room for it
        sampler, spec = build(algorithm, -1, random.randint(2**32, dtype=np.int64), size, **options)
        batches = iter(lambda: sampler.next(case["batch"]), None)
        if case["random_pos"]:
            batches = samplers.process_random_pos(batches, random)
        if case["pred_as_input"] and algorithm in PRED_AS_INPUT:
            spec, batches = samplers.process_pred_as_input(spec, batches)
        self.spec, self.batches = samplers.process_permutations(spec, batches, case["permutations"])

    def next(self):
        return next(self.batches)


def build_model(case, specs, batches):
    """The reference's model over one or several algorithms, a batch of each, with its own initial parameters."""
    encode_hints, decode_hints = HINT_MODES[case["hint_mode"]]
    factory = processors.get_processor_factory(
        case["processor"], use_ln=case["layer_norm"], nb_triplet_fts=case["triplet_features"], nb_heads=case["heads"]
    )
    model = baselines.BaselineModel(
        spec=specs,
        dummy_trajectory=batches,
        processor_factory=factory,
        hidden_dim=case["hidden"],
        encode_hints=encode_hints,
        decode_hints=decode_hints,
        encoder_init=case["init"],
        use_lstm=case["lstm"],
        learning_rate=1e-3,
        grad_clip_max_norm=1.0,
        dropout_prob=0.0,
        hint_teacher_forcing=case["teacher_forcing"],
        hint_repred_mode=case["feedback"],
        nb_msg_passing_steps=case["message_steps"],
    )
    model.init([batch.features for batch in batches], case["seed"] + 1)
    return model


def perturbed(case, params):
    """Every parameter with noise, so that none is at nought and the gradient of each has something to say.

    The memory networks cast encodings to whole numbers: theirs are made larger, or all would be cast to 0.
    """
    random = np.random.RandomState(case["seed"])

    def change(module, value):
        value = value + random.normal(0.0, NOISE, value.shape).astype(np.float32)
        return value * np.float32(ENCODER_SCALE) if case["processor"].startswith("memnet") and "_enc_" in module else value

    return {module: {name: change(module, of[name]) for name in sorted(of)} for module, of in sorted(params.items())}


@functools.cache
def _evaluation(model):
    @jax.jit
    def evaluate(params, features):
        raw, hints = model.net_fn.apply(
            params, None, [features], repred=True, algorithm_index=0, return_hints=True, return_all_outputs=False
        )
        hard = decoders.postprocess(model._spec[0], raw, sinkhorn_temperature=0.1, sinkhorn_steps=50, hard=True)
        stacked = {name: jnp.stack([of[name] for of in hints]) for name in hints[0]} if hints else {}
        return raw, {name: point.data for name, point in hard.items()}, stacked

    return evaluate


def outcome(model, params, batch):
    """Loss and gradients in training; outputs before and after their hard postprocessing, and hints, at evaluation."""
    loss, gradients = model.jitted_grad(params, jax.random.PRNGKey(0), batch, 0)
    raw, hard, hints = _evaluation(model)(params, batch.features)
    named = {"loss": loss} | {f"grad/{name}": value for name, value in flat(gradients)}
    named |= {f"eval/{name}": value for name, value in raw.items()}
    named |= {f"hard/{name}": value for name, value in hard.items()}
    named |= {f"eval_hint/{name}": value for name, value in hints.items()}
    return {name: single(value) for name, value in named.items()}


def flat(params):
    return [(f"{module}/{name}", value) for module, of in params.items() for name, value in of.items()]


def single(value):
    return np.array(value, np.float32, order="C")


def unsteadiness(case, model, params, batch, expected):
    """How far gradients go when parameters change in the seventh digit: far, where something is nearly tied.

    Two right programs may fall on two sides of a tie of max, relu or a threshold, and of an argmax likewise.
    """
    random = np.random.RandomState(case["seed"] + 1000)
    gradient = [name for name in expected if name.startswith("grad/")]
    norm = np.sqrt(sum(np.square(expected[name], dtype=np.float64).sum() for name in gradient))
    worst = 0.0 if np.isfinite(norm) and norm > 0.0 else np.inf
    for _ in range(3):
        wobble = lambda value: (value * (1.0 + WOBBLE * random.normal(size=value.shape))).astype(np.float32)
        found = outcome(model, jax.tree_util.tree_map(wobble, params), batch)
        change = sum(np.square(found[name].astype(np.float64) - expected[name]).sum() for name in gradient)
        worst = max(worst, float(np.sqrt(change) / norm))
        for name, value in expected.items():
            if name.startswith("hard/") and not np.allclose(found[name], value, rtol=1e-3, atol=1e-3):
                worst = np.inf
    return worst


def batch_arrays(batch, prefix=""):
    return {prefix + name: single(value) for name, value in arrays(batch).items()}


def record(settings, tries=TRIES):
    """Arrays and metadata of a case. Seeds are tried until one has no near-ties; the last resort is the steadiest."""
    case, best, model = complete(settings), None, None
    for seed in range(case["seed"], case["seed"] + max(tries, 1)):
        case = case | {"seed": seed}
        source = Batches(case)
        batch = source.next()
        if model is None:
            model = build_model(case, [source.spec], [batch])
        else:
            model.init([batch.features], seed + 1)
        params = perturbed(case, model.params)
        found = outcome(model, params, batch)
        unsteady = unsteadiness(case, model, params, batch, found) if tries else np.nan
        if best is None or unsteady < best[0]:
            named = {f"param/{name}": single(value) for name, value in flat(params)} | batch_arrays(batch) | found
            best = unsteady, named, metadata(case, source.spec, unsteady)
        if not unsteady > STEADY:
            break
    return best[1:]


def metadata(case, spec, unsteady):
    return {
        "algorithm": case["algorithm"],
        "settings": json.dumps(case),
        "spec": json.dumps([[name, *of] for name, of in spec.items()]),
        "unsteadiness": f"{unsteady:.1e}",
        "versions": json.dumps(VERSIONS | {"jax": jax.__version__}),
    }
