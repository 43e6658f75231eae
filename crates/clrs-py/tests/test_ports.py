"""Scripts for dm-clrs run here when their imports change, and print the same."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

SCRIPTS = sorted((pathlib.Path(__file__).parent / "ports").glob("*.py"))


def output(code):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()


def ported(code):
    code = re.sub(r"^import clrs$", "import clrs_rs as clrs", code, flags=re.MULTILINE)
    return re.sub(r"^from clrs\._src import", "from clrs_rs._src import", code, flags=re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_print_the_same(script):
    code = script.read_text()
    changed = ported(code)
    lines = zip(code.splitlines(), changed.splitlines(), strict=True)
    assert all(before == after or before.startswith(("import clrs", "from clrs._src")) for before, after in lines)
    assert "import clrs\n" not in changed and "clrs._src" not in changed.replace("clrs_rs._src", "")
    expected, found = output(code), output(changed)
    assert len(expected) > 20
    assert found == expected


def test_ported_scripts_do_not_load_dm_clrs():
    code = ported(SCRIPTS[0].read_text()) + "\nimport sys\nprint('clrs' in sys.modules, 'tensorflow' in sys.modules)\n"
    assert output(code)[-1] == "False False"
