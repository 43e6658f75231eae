"""The tutorials of the documentation run from beginning to end."""

import pathlib

import nbclient
import nbformat
import pytest

FOLDER = pathlib.Path(__file__).parents[3] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    resources = {"metadata": {"path": tmp_path}}
    # A busy machine takes its time to start a kernel.
    client = nbclient.NotebookClient(notebook, timeout=300, startup_timeout=300, resources=resources)
    client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and any(cell.outputs for cell in code)
    outputs = [output for cell in code for output in cell.outputs if output.output_type in ("execute_result", "display_data")]
    # Objects that show themselves as HTML do.
    for output in outputs:
        if "EvalReport(" in output.data["text/plain"]:
            assert "<table" in output.data["text/html"]
        elif "Trace(" in output.data["text/plain"]:
            assert "<iframe srcdoc=" in output.data["text/html"]


def test_notebooks_are_listed_and_have_no_outputs():
    assert len(NOTEBOOKS) == 3
    listed = (FOLDER.parent / "README.md").read_text()
    for path in NOTEBOOKS:
        assert f"(notebooks/{path.name})" in listed
        cells = nbformat.read(path, as_version=4).cells
        assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")
