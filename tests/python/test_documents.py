"""What documents show runs as it stands, and is whole."""
import doctest
import importlib.util
import inspect
import pathlib
import re
import subprocess
import sys

import podere
import pytest
from podere import _gbt, _session

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
ESTIMATORS = [podere.GBTClassifier, podere.GBTRegressor]


def test_the_examples_of_the_page_run(tmp_path):
    printed = []
    of_session, of_estimator, of_explanation = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    headless = "import matplotlib; matplotlib.use('Agg')\n" if importlib.util.find_spec("matplotlib") else ""
    for example in (of_session, headless + of_estimator + (of_explanation if headless else "")):
        done = subprocess.run([sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", example], cwd=tmp_path, capture_output=True,
                              text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, ""), example
        printed.append(done.stdout.split())
    of_session, of_estimator = printed
    assert float(of_session[0]) > 0.8 and of_session[1] == "25", "m_bb says most"
    assert float(of_estimator[0]) > 0.9
    assert podere.GBTClassifier().load_model(tmp_path / "cancer.json").n_features_in_ == 30


def test_the_session_of_the_readme_runs():
    pytest.importorskip("matplotlib")
    example = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert float(done.stdout) > 0.7


def test_the_example_of_the_index_runs(tmp_path):
    example, = re.findall(r"```python\n(.*?)```", (ROOT / "docs/README.md").read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.count("\n") == 3 and (tmp_path / "model.json").exists()


def test_the_reference_is_what_the_docstrings_say():
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "tools/api_reference.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.reference(), "PYTHONPATH=build/release/python tools/api_reference.py writes it again"


def test_the_examples_of_the_docstrings_hold():
    for module in (_gbt, _session):
        tried = doctest.testmod(module)
        assert tried.failed == 0 and tried.attempted > 0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_is_in_the_docstring_and_on_the_page(estimator):
    text = inspect.getdoc(estimator)
    page = PAGE.read_text()
    for name, parameter in inspect.signature(estimator).parameters.items():
        shown = f'"{parameter.default}"' if isinstance(parameter.default, str) else str(parameter.default)
        assert re.search(rf"^{name} : .*, default={re.escape(shown)}$", text, re.M), name
        assert f"`{name}`" in page
    for name, member in inspect.getmembers(estimator, lambda member: isinstance(member, property)):
        assert name.startswith("_") or f"\n{name} : " in text, name
