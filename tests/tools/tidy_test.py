"""tools/tidy.py remembers in what nothing was found, and nothing else."""
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLEAN = "int twice(int x) { return 2 * x; }\n"
FAULTY = "#include <memory>\nint* none() { return 0; }\n"  # modernize-use-nullptr


@pytest.fixture
def tidy(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "source.cc"
    (tmp_path / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(tmp_path), "command": f"c++ -std=c++20 -o source.o -c {source}", "file": str(source)}]))

    def run(text):
        source.write_text(text)
        done = subprocess.run([ROOT / "tools/tidy.py", tmp_path, source, f"--config-file={ROOT / '.clang-tidy'}"],
                              capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, len(list((tmp_path / "cache").rglob("*")))

    return run


def test_what_is_clean_is_looked_at_once(tidy):
    assert tidy(CLEAN)[0] == 0
    _, _, n_kept = tidy(CLEAN)
    assert tidy(CLEAN) == (0, "", n_kept)
    assert n_kept > 0


def test_what_was_found_is_found_again(tidy):
    for _ in range(2):
        code, said, n_kept = tidy(FAULTY)
        assert (code, n_kept) == (1, 0) and "modernize-use-nullptr" in said


def test_a_comment_makes_it_look_again(tidy):
    assert tidy("#include <memory>\nint* none() { return 0; }  // NOLINT(modernize-use-nullptr)\n")[0] == 0
    assert tidy(FAULTY)[0] == 1
