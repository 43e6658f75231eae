"""dm-clrs's network on one batch: parameters, loss, gradients and predictions as named arrays.

A *case* is a dictionary of settings (`DEFAULTS`; the flags of `clrs.examples.run` under shorter names). Randomness that another
program cannot reproduce is removed: parameters are recorded, dropout is off, the teacher-forcing probability is 0 or 1, and the
Sinkhorn operator gets no Gumbel noise.
"""
import functools
import json
import os

from parity_cases import PRED_AS_INPUT, STRINGS
from reference import VERSIONS, arrays, build, np, samplers, samples, quiet_stderr

with quiet_stderr():
    import jax
    import optax
    from clrs._src import baselines, decoders, processors

RECORDED_WITH = VERSIONS | {"jax": jax.__version__}

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
    "data": "generalist",
}
"""The defaults of `clrs.examples.run`, except for random positions. `size` is the size given to the sampler: run.py adds a quarter
for the string matchers. `track_max_steps` pads to the longest of 1,000 samples, as run.py does; without it, to the longest of the
batch. With `data` "canonical" the batch is the first of the benchmark's training set, padded like the set; at sizes other than
its 16 nodes, the first samples of the test set's stream."""

HINT_MODES = {"encoded_decoded": (True, True), "decoded_only": (False, True), "none": (False, False)}
RARE_EDGES = ("articulation_points", "bridges", "mst_kruskal", "bipartite_matching")
NOISE = 0.05
PERTURBATION = 1e-6
MAX_UNSTEADINESS = 2e-5
TRIES = 20

PHASES = ("training", "evaluation")
"""The phases of a case that are recorded and timed."""

GUMBEL = False
"""Whether the logits of permutations get noise in training."""


# In training dm-clrs adds Gumbel noise to the logits of permutations. Other programs cannot reproduce it, so it is removed.
def _without_noise(log_sinkhorn):
    def without_noise(*args, noise_rng_key, **options):
        return log_sinkhorn(*args, noise_rng_key=noise_rng_key if GUMBEL else None, **options)

    return without_noise


decoders.log_sinkhorn = _without_noise(decoders.log_sinkhorn)


def compile_fast():
    """Reduces compile time, which dominates for small networks. Must be called before any computation."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_use_fusion_emitters=false"
    jax.config.update("jax_disable_most_optimizations", True)


def complete(settings):
    """A case with all settings; unknown ones are an error."""
    unknown = settings.keys() - DEFAULTS.keys()
    if unknown:
        raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
    case = DEFAULTS | settings
    if case["teacher_forcing"] not in (0.0, 1.0):
        raise ValueError("teacher_forcing must be 0 or 1: other programs cannot reproduce random draws")
    return case


class Batches:
    """The training batches of one algorithm as in `clrs.examples.run`, and the spec after the transforms."""

    def __init__(self, case):
        random = np.random.RandomState(case["seed"])
        random.randint(2**32, dtype=np.int64)  # run.py draws the network's seed first
        algorithm, size = case["algorithm"], case["size"]
        p = tuple(0.1 + 0.1 * i for i in range(9))
        if algorithm in RARE_EDGES:
            p = tuple(np.array(p) / 2)
        options = {"p": p, "track_max_steps": case["track_max_steps"]}
        if algorithm in STRINGS:
            options["length_needle"] = -min(8, (size - 1) // 2)  # run.py has 8; smaller if the text is short
        if case["data"] == "canonical":
            count_and_seed = (1000, 1) if size == 16 else (case["batch"], 3)
            sampler, spec = build(algorithm, *count_and_seed, size)
            batches = iter(lambda: samples(sampler.next(), range(case["batch"])), None)
        else:
            sampler, spec = build(algorithm, -1, random.randint(2**32, dtype=np.int64), size, **options)
            batches = iter(lambda: sampler.next(case["batch"]), None)
        if case["random_pos"]:
            batches = samplers.process_random_pos(batches, random)
        if case["pred_as_input"] and algorithm in PRED_AS_INPUT:
            spec, batches = samplers.process_pred_as_input(spec, batches)
        self.spec, self.batches = samplers.process_permutations(spec, batches, case["permutations"])

    def next(self):
        return next(self.batches)


def build_model(case, specs, batches, grad_clip=1.0):
    """dm-clrs's model of one or several algorithms, with its initial parameters."""
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
        grad_clip_max_norm=grad_clip,
        dropout_prob=0.0,
        hint_teacher_forcing=case["teacher_forcing"],
        hint_repred_mode=case["feedback"],
        nb_msg_passing_steps=case["message_steps"],
    )
    model.init([batch.features for batch in batches], case["seed"] + 1)
    return model


def perturbed(case, params):
    """Adds noise to every parameter, so that none is zero and every gradient depends on them.

    Memory networks truncate encodings to integers and look them up in tables that are initialized to zero. Both are scaled up
    there; otherwise all encodings would be 0 and all memories would have the same weight.
    """
    random = np.random.RandomState(case["seed"])
    memory = case["processor"].startswith("memnet")

    def change(module, name, value):
        noise = random.normal(size=value.shape)
        if memory and "_enc_" in module:
            return single(3.0 * value + (1.0 if name == "b" else NOISE) * noise)
        table = memory and name in ("query_biases", "stories_biases", "memory_contents", "output_biases")
        return single(value + (10.0 * NOISE if table else NOISE) * noise)

    return {module: {name: change(module, name, of[name]) for name in sorted(of)} for module, of in sorted(params.items())}


class CompiledModel:
    """A model whose computations are compiled once."""

    def __init__(self, case, spec, batch, phases=PHASES):
        self.spec, self.phases = spec, phases
        self.model = build_model(case, [spec], [batch])
        self.evaluate = jax.jit(self._evaluate)

    def _evaluate(self, params, features):
        return self.model.net_fn.apply(
            params, None, [features], repred=True, algorithm_index=0, return_hints=True, return_all_outputs=False
        )

    def results(self, params, batch):
        """Loss and gradients of training; outputs before and after hard postprocessing, and hints, of evaluation."""
        named = {}
        if "training" in self.phases:
            loss, gradients = self.model.jitted_grad(params, jax.random.PRNGKey(0), batch, 0)
            named |= {"loss": loss} | {f"grad/{name}": value for name, value in flat(gradients)}
        if "evaluation" in self.phases:
            raw, hints = self.evaluate(params, batch.features)
            hard = decoders.postprocess(self.spec, raw, sinkhorn_temperature=0.1, sinkhorn_steps=50, hard=True)
            named |= {f"eval/{name}": value for name, value in raw.items()}
            named |= {f"hard/{name}": point.data for name, point in hard.items()}
            named |= {f"eval_hint/{name}": np.stack([of[name] for of in hints]) for name in (hints or [{}])[0]}
        return {name: single(value) for name, value in named.items()}

    def unsteadiness(self, case, params, batch, expected):
        """Relative change of the gradients when parameters change in the seventh digit. It is large if there is a near-tie.

        Two correct programs may resolve a near-tie of a maximum, relu, threshold or argmax differently.
        """
        random = np.random.RandomState(case["seed"] + 1000)
        gradient = [name for name in expected if name.startswith("grad/")]
        norm = np.sqrt(sum(np.square(expected[name], dtype=np.float64).sum() for name in gradient))
        worst = 0.0 if not gradient or np.isfinite(norm) and norm > 0.0 else np.inf
        for _ in range(3):
            found = self.results(jax.tree_util.tree_map(functools.partial(perturbed_slightly, random), params), batch)
            if gradient:
                change = sum(np.square(found[name].astype(np.float64) - expected[name]).sum() for name in gradient)
                worst = max(worst, float(np.sqrt(change) / norm))
            for name, value in expected.items():
                if name.startswith(("eval", "hard")) and not np.allclose(found[name], value, rtol=1e-3, atol=1e-3):
                    worst = max(worst, 1.0)
        return worst


def flat(params):
    return [(f"{module}/{name}", value) for module, of in params.items() for name, value in of.items()]


def single(value):
    return np.array(value, np.float32, order="C")


def perturbed_slightly(random, value):
    return (value * (1.0 + PERTURBATION * random.normal(size=value.shape))).astype(np.float32)


def batch_arrays(batch, prefix=""):
    return {prefix + name: single(value) for name, value in arrays(batch).items()}


def nodes(batch):
    return next(point.data.shape[1] for point in batch.features.inputs if point.location != "graph")


def search(case, tries, attempt):
    """Result of `attempt` for the first seed without near-ties, or for the steadiest. It returns its unsteadiness first."""
    best = None
    for seed in range(case["seed"], case["seed"] + max(tries, 1)):
        found = attempt(case | {"seed": seed}, tries > 0)
        if best is None or found[0] < best[0]:
            best = found
        if not found[0] > MAX_UNSTEADINESS:
            break
    if np.isinf(best[0]):
        raise ValueError(f"no seed from {case['seed']} on gives a finite gradient other than 0: {case}")
    return best[1:]


def record(settings, tries=TRIES, phases=PHASES):
    """Arrays and metadata of a case. With `tries` 0 the seed is taken as it is. Without phases, only parameters and the batch are
    recorded, and dm-clrs computes nothing that grows with the batch."""
    compiled = None

    def attempt(case, measure):
        nonlocal compiled
        source = Batches(case)
        batch = source.next()
        if compiled is None:
            # The initial parameters do not depend on the number of samples.
            compiled = CompiledModel(case, source.spec, batch if phases else samples(batch, [0]), phases)
        else:  # keeps compiled functions
            compiled.model.init([batch.features], case["seed"] + 1)
        params = perturbed(case, compiled.model.params)
        found = compiled.results(params, batch)
        unsteadiness = compiled.unsteadiness(case, params, batch, found) if measure else np.nan
        named = {f"param/{name}": single(value) for name, value in flat(params)} | batch_arrays(batch) | found
        return unsteadiness, named, metadata(case, source.spec, unsteadiness)

    return search(complete(settings), tries, attempt)


def record_training(settings, tries=TRIES, steps=20):
    """Training steps of dm-clrs, from its initial parameters."""

    def attempt(case, measure):
        source = Batches(case)
        batches = [source.next() for _ in range(steps)]
        model = build_model(case, [source.spec], batches[:1])
        initial = model.params
        losses, after = train(model, initial, batches)
        unsteadiness = 0.0 if measure else np.nan
        if measure:
            random = np.random.RandomState(case["seed"] + 1000)
            found, _ = train(model, jax.tree_util.tree_map(functools.partial(perturbed_slightly, random), initial), batches)
            unsteadiness = float(np.abs(found / losses - 1.0).max())
        named = {f"param/{name}": single(value) for name, value in flat(initial)}
        for step, batch in enumerate(batches):
            named |= batch_arrays(batch, f"{step}/")
        named |= {"losses": losses} | {f"after/{name}": single(value) for name, value in flat(after)}
        return unsteadiness, named, metadata(case, source.spec, unsteadiness)

    return search(complete(settings), tries, attempt)


def train(model, params, batches):
    model.params = params
    model.opt_state = model.opt.init(params)
    losses = np.array([model.feedback(jax.random.PRNGKey(0), batch, 0) for batch in batches], np.float32)
    return losses, model.params


def record_optimizer(settings, tries=TRIES, steps=20):
    """Updates of dm-clrs's optimizer, with gradients on both sides of the clipping norm and some that are zero."""
    del tries  # updates have no ties
    random = np.random.RandomState(settings["seed"])
    draw = lambda scale: {
        "matrix": single(scale * random.normal(size=(3, 4))),
        "vector": single(scale * random.normal(size=5)),
        "single": single(scale * random.normal(size=1)),
    }
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale(-1e-3))
    params = draw(1.0)
    state = optimizer.init(params)
    named = {f"param/{name}": value for name, value in params.items()}
    for step in range(steps):
        gradients = draw(10.0 ** random.uniform(-3.0, 1.0))
        if step % 5 == 3:
            gradients["vector"][:] = 0.0
        updates, state = optimizer.update(gradients, state)
        params = optax.apply_updates(params, updates)
        named |= {f"{step}/grad/{name}": value for name, value in gradients.items()}
        named |= {f"{step}/param/{name}": single(value) for name, value in params.items()}
    return named, {"settings": json.dumps(settings), "versions": json.dumps(RECORDED_WITH)}


def metadata(case, spec, unsteadiness):
    return {
        "algorithm": case["algorithm"],
        "settings": json.dumps(case),
        "spec": json.dumps([[name, *of] for name, of in spec.items()]),
        "unsteadiness": f"{unsteadiness:.1e}",
        "versions": json.dumps(RECORDED_WITH),
    }
