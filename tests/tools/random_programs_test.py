"""tests/random: how its programs are asked."""

import pathlib
import subprocess
import sys

import pytest

PROGRAMS = pathlib.Path(__file__).parents[1] / "random"


@pytest.mark.parametrize("name", ["faults", "models", "tables"])
def test_help_needs_no_libraries_and_names_the_option_for_one_round_again(name):
    bare = [sys.executable, "-S", "-B"]  # without what is installed beside the standard library
    result = subprocess.run([*bare, PROGRAMS / f"{name}.py", "--help"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "--only" in result.stdout and "--rounds" in result.stdout
