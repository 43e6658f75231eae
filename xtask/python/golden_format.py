"""The format of golden files: JSON with exact numbers, one array per line.

A number is the shortest decimal that parses to the same double; integers have no decimal point, NaN is null. An array has its
dtype, its shape and its values in C order.
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


def point(stage, data_point):
    """A data point of dm-clrs."""
    fields = {"name": data_point.name, "location": data_point.location, "type": data_point.type_}
    return {"stage": stage, **fields, **array(data_point.data)}


def batch(feedback):
    """A `Feedback` of dm-clrs: its data points in the order of a spec (inputs, outputs, hints), lengths or chunk boundaries."""
    features = feedback.features
    stages = (("input", features.inputs), ("output", feedback.outputs), ("hint", features.hints))
    recorded = {"arrays": [point(stage, data_point) for stage, points in stages for data_point in points]}
    for name in ("lengths", "is_first", "is_last"):
        if hasattr(features, name):
            recorded[name] = array(getattr(features, name))
    return recorded


def text(value):
    """JSON with one line per value that contains no objects."""
    return _text(value, "") + "\n"


def _text(value, indent):
    if not _contains_objects(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(name)}: {_text(item, inner)}" for name, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}"
    lines = [inner + _text(item, inner) for item in value]
    return "[\n" + ",\n".join(lines) + "\n" + indent + "]"


def _contains_objects(value):
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(item, dict) or _contains_objects(item) for item in items)
