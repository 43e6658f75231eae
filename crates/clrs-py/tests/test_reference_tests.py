"""dm-clrs's own tests, with nothing changed but the import.

The files are read from the installed package; `clrs._src` becomes `clrs_rs._src`.
"""

import importlib.util
import pathlib
import sys
import types
import unittest

import pytest

#: Files, and the number of tests in each, so that none is lost.
FILES = {
    "samplers_test.py": 167,
    "probing_test.py": 13,
    "evaluation_test.py": 1,
    "dataset_test.py": 10,
    "decoders_test.py": 2,
    "algorithms/divide_and_conquer_test.py": 4,
    "algorithms/dynamic_programming_test.py": 4,
    "algorithms/geometry_test.py": 6,
    "algorithms/graphs_test.py": 13,
    "algorithms/greedy_test.py": 2,
    "algorithms/searching_test.py": 3,
    "algorithms/sorting_test.py": 4,
    "algorithms/strings_test.py": 2,
}


@pytest.mark.parametrize("file", FILES)
def test_tests_of_dm_clrs_pass(clrs, file):
    source = pathlib.Path(importlib.util.find_spec("clrs").origin).parent / "_src" / file
    text = source.read_text().replace("clrs._src", "clrs_rs._src")
    assert "clrs_rs._src" in text
    module = types.ModuleType("reference_" + source.stem)
    sys.modules[module.__name__] = module
    exec(compile(text, str(source), "exec"), module.__dict__)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TestResult()
    suite.run(result)
    failed = [f"{test.id()}\n{traceback}" for test, traceback in result.failures + result.errors]
    assert not failed, "\n\n".join(failed)
    assert result.testsRun == FILES[file]
