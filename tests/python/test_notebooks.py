"""The notebooks run as they stand, and show what they say."""
import pathlib
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))
from run_notebooks import NOTEBOOKS, run  # noqa: E402

CHECKS = {
    "1_data": (1, """
for name in frames:
    assert peaks[name, "signal"][0] > 1.5 * peaks[name, "background"][0], "signal has no narrow peak"
    assert 0.8 < peaks[name, "signal"][1] < 1.2
assert 0.8 < peaks["generated", "signal"][0] / peaks["UCI HIGGS", "signal"][0] < 1.25
"""),
    "2_boosted_trees": (3, """
assert measures["auc"] > 0.8 and measures["rows"] == test.n_rows
assert aucs["all"] > aucs["masses"] > aucs["low-level"] > 0.6
assert best[-1][1] == "m_bb"
assert same
"""),
    "3_losing_executors": (0, """
assert len(undisturbed) == 64 and disturbed == undisturbed == again
"""),
    "4_networks": (3, """
assert {len(losses) for losses in network.history_.values()} == {20}
assert network.history_["validation_loss"][-1] < network.history_["validation_loss"][0]
assert aucs["trees"] > aucs["network"] > 0.77 and aucs["perceptron"] > 0.7
assert same
assert accuracies[-1] >= 0.96
"""),
    "5_images": (5, """
assert accuracy >= 0.98
assert 0.6 < closer["right"].mean() < 0.9 < surest_half
assert confusion.sum() == 400 and confusion.trace() == closer["right"].sum()
assert raw["right"].mean() < 0.3 and raw["score"].mean() > 0.95
assert len(without) == len(with_head) == 200 and with_head["right"].mean() > without["right"].mean() + 0.05
"""),
}


def test_every_notebook_is_checked():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(CHECKS)


def kinds_of_outputs(cell):
    """Of what a cell shows besides printed text."""
    return [sorted(output.data) for output in cell.get("outputs", []) if "data" in output]


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_the_notebook_runs_and_shows_what_is_stored_in_it(name, tmp_path):
    n_figures, check = CHECKS[name]
    (tmp_path / "data").symlink_to(NOTEBOOKS.parent / "data")
    (tmp_path / "notebooks").mkdir()
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    stored = [kinds_of_outputs(cell) for cell in notebook.cells]
    notebook.cells.append(nbformat.v4.new_code_cell(check))
    run(notebook, tmp_path / "notebooks")
    assert [kinds_of_outputs(cell) for cell in notebook.cells[:-1]] == stored, "make notebooks stores them anew"
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == n_figures
    assert not list((tmp_path / "notebooks").iterdir()), "leaves files behind"
    if name == "3_losing_executors":
        assert "lost executor" in str(outputs)
