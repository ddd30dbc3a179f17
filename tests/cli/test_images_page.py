"""docs/images.md: its first ten minutes and how Python reads what is written, typed as they stand there."""

import csv
import os
import pathlib
import re
import subprocess
import sys

from conftest import PODERE, needed

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs/images.md").read_text()
SECTION = re.search(r"\n## Ten minutes.*?(?=\n## )", PAGE, re.DOTALL)[0]
READING = re.findall(r"```python\n(import h5py\n.*?)```", PAGE, re.DOTALL)


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


def test_python_reads_what_is_written(podere):
    needed("h5py")
    needed("pandas")
    podere.done("generate", "sem", "--images", 20, "--seed", 5, "-o", "first")
    (podere.folder / "first/zz.tif").write_text("no picture")
    podere.done("classify", "first", "--model", ROOT / "data/micrographs.onnx", "--labels", ROOT / "data/micrographs.txt",
                "-o", "labels.h5")
    printed, table = (subprocess.run([sys.executable, "-c", text], cwd=podere.folder, capture_output=True, text=True,
                                     check=True).stdout
                      for text in (READING[0], READING[1] + "print(table.to_csv(index=False))"))
    lines = [line.split() for line in printed.splitlines()]
    assert len(lines) == 20 and all(picture.startswith(label + "/") for picture, label, _ in lines)
    *rows, text = csv.DictReader(table.splitlines())
    assert [(row["picture"], row["label"]) for row in rows] == [tuple(line[:2]) for line in lines]
    assert all(float(row["pixel_size_nm"]) > 0 and not row["error"] for row in rows)
    assert text["picture"] == "zz.tif" and text["label"] == "" and "zz.tif: is a text" in text["error"]
