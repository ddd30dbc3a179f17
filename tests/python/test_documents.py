"""What documents show runs as it stands, and is whole."""
import doctest
import inspect
import pathlib
import re
import subprocess
import sys

import podere
import pytest
from podere import _gbt

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
ESTIMATORS = [podere.GBTClassifier, podere.GBTRegressor]


def test_the_example_of_the_page_runs(tmp_path):
    example, = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    done = subprocess.run([sys.executable, "-W", "error", "-c", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) > 0.9
    assert podere.GBTClassifier().load_model(tmp_path / "cancer.json").n_features_in_ == 30


def test_the_examples_of_the_docstrings_hold():
    assert doctest.testmod(_gbt).failed == 0


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
