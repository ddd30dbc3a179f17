"""docs/images.md: its first ten minutes, typed as they stand there."""

import os
import pathlib
import re
import subprocess

from conftest import PODERE

ROOT = pathlib.Path(__file__).parents[2]
SECTION = re.search(r"\n## Ten minutes.*?(?=\n## )", (ROOT / "docs/images.md").read_text(), re.DOTALL)[0]


def shows(output, shown):
    """Whether the lines are those of the page, where ... stands for any."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in shown.splitlines())
    return re.fullmatch(pattern or r"(?:.*\n)*", output)


def test_ten_minutes_lead_to_labels_of_your_own(tmp_path):
    (tmp_path / "data").symlink_to(ROOT / "data")
    path = f"{pathlib.Path(PODERE).resolve().parent}:{os.environ['PATH']}"
    consoles = "".join(re.findall(r"```console\n(.*?)```", SECTION, re.DOTALL))
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", consoles, re.MULTILINE)
    assert len(commands) == 8
    for command, shown in commands:
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")})
        assert done.returncode == 0, done.stderr
        assert shows(done.stdout, shown), (command, done.stdout)
    assert (tmp_path / "others.html").exists() and (tmp_path / "others.h5").exists()
