"""Questions and answers of batches of one sample."""

from clrs_rs import _core
from clrs_rs.samplers import Feedback
from clrs_rs.specs import CLRS_30_ALGS

__all__ = ["CLRS_TASKS_WITH_HINTS", "format_clrs_example"]

#: Algorithms whose hints can be traced.
CLRS_TASKS_WITH_HINTS = [name for name in CLRS_30_ALGS if name != "segments_intersect"]


def format_clrs_example(algo: str, sample: Feedback, use_hints: bool = False) -> tuple[str, str]:
    """Question and answer of a batch of one sample without padding.

    >>> import clrs_rs as clrs
    >>> sampler, _ = clrs.build_sampler("minimum", -1, seed=0, length=3, track_max_steps=False, truncate_decimals=2)
    >>> format_clrs_example("minimum", sampler.next(1))
    ('minimum:\\nkey: [0.54 0.71 0.6]\\nmin:\\n', '0\\n\\n')
    """
    features, outputs = sample
    samples = _core.Samples.from_feedback(algo, features.inputs, features.hints, outputs, features.lengths)
    return _core.format_text(samples, 0, "text@2.0.3", use_hints, None)
