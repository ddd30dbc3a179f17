"""The notebook that needs a Spark runs as it stands, and shows what it says."""
import os
import pathlib
import sys

import nbformat

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
from run_notebooks import NOTEBOOKS, run  # noqa: E402

CHECK = """
assert difference < 1e-7 and found.residuals.max() < 1e-9
assert cosines.min() > 1 - 1e-9 and abs(lengths - 1).max() < 1e-5
assert np.allclose(np.hypot(*projected.T), highest["wave"], rtol=1e-5)
"""


def test_the_notebook_runs_and_both_find_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.environ["PODERE_PACKAGE"])
    notebook = nbformat.read(NOTEBOOKS / "9_spark.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(CHECK))
    run(notebook, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
    assert not list(tmp_path.iterdir()), "leaves files behind"
