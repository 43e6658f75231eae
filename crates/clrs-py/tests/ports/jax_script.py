"""A script for dm-clrs and JAX, as projects write them: transformed batches, a jitted step over feedback, and scores."""

import clrs
import jax
import jax.numpy as jnp
import numpy as np
from clrs._src import decoders, samplers

LENGTH = 8
rng = np.random.RandomState(0)
sampler, spec = clrs.build_sampler("insertion_sort", num_samples=128, seed=1, length=LENGTH)


def iterate(batch_size):
    while True:
        yield sampler.next(batch_size)


batches = clrs.process_random_pos(iterate(16), rng)
spec, batches = clrs.process_permutations(spec, batches, enforce_permutations=False)


def logits(params, features):
    inputs = {point.name: point.data for point in features.inputs}
    nodes = jnp.stack([inputs["pos"], inputs["key"]], -1)
    hidden = jnp.tanh(nodes @ params["encode"])
    pairs = jnp.tanh(hidden[:, :, None] @ params["from"] + hidden[:, None] @ params["to"])
    return pairs @ params["score"]


@jax.jit
def train_step(params, feedback):
    def loss(params):
        predicted = jax.nn.log_softmax(logits(params, feedback.features))
        truth = jax.nn.one_hot(feedback.outputs[0].data, LENGTH)
        return -jnp.mean(jnp.sum(truth * predicted, -1))

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda parameter, gradient: parameter - 0.3 * gradient, params, gradients), value


keys = jax.random.split(jax.random.PRNGKey(0), 4)
params = {
    "encode": jax.random.normal(keys[0], (2, 16)),
    "from": jax.random.normal(keys[1], (16, 16)) * 0.3,
    "to": jax.random.normal(keys[2], (16, 16)) * 0.3,
    "score": jax.random.normal(keys[3], (16,)) * 0.3,
}
for step in range(30):
    feedback = next(batches)
    assert isinstance(feedback, samplers.Feedback)
    params, loss = train_step(params, feedback)
    print(step, f"{float(loss):.6f}", feedback.features.lengths.sum(), [point.name for point in feedback.features.hints])

test_sampler, _ = clrs.build_sampler("insertion_sort", 32, seed=7, length=LENGTH)
_, test = clrs.process_permutations(clrs.SPECS["insertion_sort"], iter([test_sampler.next()]), False)
feedback = next(test)
raw = {"pred": logits(params, feedback.features)}
predictions = decoders.postprocess(spec, raw, sinkhorn_temperature=0.1, sinkhorn_steps=10, hard=True)
scores = clrs.evaluate(feedback.outputs, predictions)
print({name: f"{float(score):.6f}" for name, score in scores.items()})
print([array.shape for array in jax.tree.leaves(jax.tree.map(jnp.asarray, feedback.features))])
