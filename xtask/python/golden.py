"""The form of golden files: JSON whose numbers are exact, one array per line.

Numbers are the shortest decimals that give the same double back; whole ones have no point, NaN is null. An array says its dtype
and shape and gives its values flat, in C order.
"""
import json
import math

import numpy as np


def array(data):
    data = np.asarray(data)
    return {"dtype": str(data.dtype), "shape": list(data.shape), "values": numbers(data)}


def numbers(data):
    return [number(x) for x in np.asarray(data).ravel().tolist()]


def number(x):
    if isinstance(x, float):
        if math.isnan(x):
            return None
        negative_zero = x == 0.0 and math.copysign(1.0, x) < 0.0
        return int(x) if x.is_integer() and not negative_zero else x
    return x


def point(stage, of):
    """A data point of the reference."""
    return {"stage": stage, "name": of.name, "location": of.location, "type": of.type_, **array(of.data)}


def batch(feedback):
    """A feedback of the reference: its data points in the order of a spec (inputs, outputs, hints), and what goes with them."""
    features = feedback.features
    stages = (("input", features.inputs), ("output", feedback.outputs), ("hint", features.hints))
    recorded = {"arrays": [point(stage, of) for stage, points in stages for of in points]}
    for name in ("lengths", "is_first", "is_last"):
        if hasattr(features, name):
            recorded[name] = array(getattr(features, name))
    return recorded


def text(value):
    """JSON with a line for each thing that holds no other."""
    return _text(value, "") + "\n"


def _text(value, indent):
    if not _holds_objects(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(name)}: {_text(item, inner)}" for name, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}"
    lines = [inner + _text(item, inner) for item in value]
    return "[\n" + ",\n".join(lines) + "\n" + indent + "]"


def _holds_objects(value):
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(item, dict) or _holds_objects(item) for item in items)
