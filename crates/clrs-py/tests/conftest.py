"""What the tests share: dm-clrs, and exact comparisons with it."""

import os
import re
import warnings

# TensorFlow, which dm-clrs imports, is talkative.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import clrs_rs
import numpy as np
import pytest

#: Points of hulls depend on sine, cosine and arc tangent, which differ between math libraries in the last bit.
ROUNDED = {(algorithm, probe) for algorithm in ("graham_scan", "jarvis_march") for probe in ("x", "y", "atans")}

ALGORITHMS = list(clrs_rs.SPECS)

#: Words of the libraries between Python and the engine, which mean nothing to users.
FOREIGN = re.compile(
    r"argument '|invalid type|invalid value:|at line \d|missing field|trailing characters|expected an? (array|tuple) of|"
    r"cannot be interpreted|can't convert|cannot be converted|object cannot be|is not an instance of|failed to extract|unwrap|"
    r"panicked|__\w+__|has no attribute"
)


@pytest.fixture(scope="session")
def clrs():
    """The installed dm-clrs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import clrs
    return clrs


@pytest.fixture(scope="module", autouse=True)
def unregister():
    """Removes the algorithms that tests and documentation register."""
    checks = clrs_rs.extension._CHECKS
    tables = (clrs_rs.specs._SPECS, clrs_rs.CLRS_30_ALGS_SETTINGS, clrs_rs.samplers.SAMPLERS, vars(clrs_rs.algorithms), checks)
    before = [set(table) for table in tables]
    yield
    for table, names in zip(tables, before, strict=True):
        for name in set(table) - names:
            del table[name]


def assert_same_array(expected, found, message, rounded=False):
    """Same type, shape and bits; or, for values that depend on the math library, almost."""
    expected, found = np.asarray(expected), np.asarray(found)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), message
    if rounded:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=str(message))
    else:
        assert found.tobytes() == expected.tobytes(), message


def assert_same_points(expected, found, message):
    """Same container, names, locations, types and arrays."""
    assert type(found) is type(expected), message
    assert len(found) == len(expected), message
    for theirs, ours in zip(expected, found, strict=True):
        assert (ours.name, ours.location, ours.type_) == (theirs.name, theirs.location, theirs.type_), message
        rounded = (message[0], ours.name) in ROUNDED
        assert_same_array(theirs.data, ours.data, (*message, ours.name), rounded)


def assert_same_feedback(expected, found, *message):
    """Same features, chunked or not, and outputs. The first part of the message is the name of the algorithm."""
    assert found.features._fields == expected.features._fields, message
    for field in expected.features._fields:
        theirs, ours = getattr(expected.features, field), getattr(found.features, field)
        if field in ("inputs", "hints"):
            assert_same_points(theirs, ours, (*message, field))
        else:
            assert_same_array(theirs, ours, (*message, field))
    assert_same_points(expected.outputs, found.outputs, (*message, "outputs"))
