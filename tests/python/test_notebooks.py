"""The notebooks run as they stand, and show what they say."""
import pathlib
import re
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))
from run_notebooks import NOTEBOOKS, WITH_SPARK, run  # noqa: E402

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
    "6_fitting": (3, """
losses = {name: model.history_["validation_loss"] for name, model in {**by_depth, **networks}.items()}
assert losses["depth 1"].argmin() > 90 and losses["depth 4"].argmin() + 1 == 34 and losses["depth 10"].argmin() + 1 == 8
assert losses["100 + 100 units"][-1] > 1.3 * losses["100 + 100 units"].min()
assert all(distances["depth 10", kind] > 5 * distances["all three", kind] for kind in ("signal", "background"))
assert measures["depth 10"][0] > 0.999 and measures["depth 10"][2] > np.log(2)
assert max(measures, key=lambda name: measures[name][2]) == "100 + 100 units"
assert min(measures, key=lambda name: measures[name][2]) == "all three" == max(measures, key=lambda name: measures[name][1])
assert same == [True, True]
assert "podere" in page.read_text()
"""),
    "7_scaling": (2, """
assert len(set(sums)) == 1 and set(sums.index) == {"1 executors", "2 executors", "3 executors"}
assert all(0 <= s <= 1 for s in serial.values())
assert agree == dict.fromkeys(names, True) and len(weak) == 2
assert 1 < many / few < 4
"""),
    "8_tuning": (3, """
assert rates["AUC"].iloc[2:5].min() > rates["AUC"].drop(rates.index[2:5]).max()
assert found.score == trials["AUC"].max() > rates["AUC"].max() and set(trials["epochs"]) == {4, 12, 36}
assert max(scores) > 0.57 and abs(on_others - 0.5) < 0.03
assert results["more than default"]["ensemble"] > 3 * results["±"]["ensemble"]
assert 1 < results["more than default"]["best setting"] / results["±"]["best setting"] < 3
assert same
"""),
}


def test_every_notebook_is_checked():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(CHECKS) | WITH_SPARK  # the latter in tests/spark


def test_the_numbers_in_the_text_are_those_that_the_cells_show():
    """Of the notebook whose results have the same bits on every machine."""
    notebook = nbformat.read(NOTEBOOKS / "6_fitting.ipynb", as_version=4)
    text = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    shown = " ".join(str(output) for cell in notebook.cells for output in cell.get("outputs", []))
    numbers = set(re.findall(r"\b0\.\d{3}\b", text)) - {"0.003"}  # a penalty
    assert len(numbers) > 5
    assert not [number for number in numbers if number not in shown]


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
