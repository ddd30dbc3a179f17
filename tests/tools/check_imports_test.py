"""Circles among the modules of a package are found, and nothing else counts as one."""
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_imports.py"

SOUND = {
    "__init__.py": "from .c import C\nfrom .deep import D\n",
    "_core.pyi": "import json\n",
    "a.py": "from . import _core\nimport json\n",
    "b.py": "from . import _core, a\nfrom .a import A\n",
    "c.py": "import p.b\n",
    "deep/__init__.py": "from .d import D\n",
    "deep/d.py": "from .. import b\nfrom ..c import C\n",
}


@pytest.fixture
def check(tmp_path):
    """Runs the check on the sound package with some files replaced; gives exit code and output."""

    def run(changes=None):
        for name, text in {**SOUND, **(changes or {})}.items():
            path = tmp_path / "p" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, tmp_path / "p"], capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


def test_a_package_without_circles_passes(check):
    assert check() == (0, "check_imports: no circles among the 7 modules of p\n")


@pytest.mark.parametrize(
    "circle, changes",
    [
        ("p/a.py:2: imports in a circle: p.b > p.a > p.b", {"a.py": "\nfrom .b import B\n"}),
        ("p/a.py:1: imports in a circle: p.c > p.b > p.a > p.c", {"a.py": "import p.c\n"}),
        (
            "p/a.py:3: imports in a circle: p.b > p.a > p.b",
            {"a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .b import B\n"},
        ),
        ("p/a.py:2: imports in a circle: p.b > p.a > p.b", {"a.py": "def f():\n    from . import b\n"}),
        ("p/a.py:1: imports in a circle: p > p.c > p.b > p.a > p", {"a.py": "from . import C\n"}),
        ("p/a.py:1: imports in a circle: p > p.c > p.b > p.a > p", {"a.py": "import p\n"}),
        ("p/deep/d.py:1: imports in a circle: p.deep > p.deep.d > p.deep", {"deep/d.py": "from . import D\n"}),
    ],
)
def test_a_circle_is_named_with_the_import_that_closes_it(check, circle, changes):
    code, output = check(changes)
    assert code == 1 and circle in output.splitlines(), output


def test_the_modules_of_this_package_are_in_no_circle():
    done = subprocess.run([sys.executable, CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
