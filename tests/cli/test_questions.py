"""docs/README.md: each command of its consoles gives what the page shows."""

import os
import pathlib
import re
import subprocess

import pytest
from conftest import PODERE

ROOT = pathlib.Path(__file__).parents[2]
CONSOLES = re.findall(r"```console\n(.*?)```", (ROOT / "docs/README.md").read_text(), re.DOTALL)


def commands(console):
    """(command, what is shown below it) of each."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", console, re.MULTILINE)


@pytest.mark.parametrize("console", CONSOLES, ids=lambda console: commands(console)[-1][0])
def test_commands_give_what_the_page_shows(tmp_path, console):
    (tmp_path / "data").symlink_to(ROOT / "data")
    path = f"{pathlib.Path(PODERE).resolve().parent}:{os.environ['PATH']}"
    for command, shown in commands(console):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PATH": path})
        assert done.returncode == (2 if shown.startswith("podere: ") else 0), done.stderr
        assert not shown or done.stdout + done.stderr == shown
