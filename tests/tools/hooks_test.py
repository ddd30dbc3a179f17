"""The pre-commit hook that `make hooks` installs looks at what is staged, and at nothing else."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = [".clang-format", "Makefile", "tools/check_rooms.py", "tools/hooks/pre-commit"]
ROOMS = """| floor | room | owns |
|---|---|---|
| 1 | `tree` | trees |
| 0 | `base` | all else |
"""
SOUND, UNFORMATTED = "int one() { return 1; }\n", "int one(){return 1;}\n"
BREACH = '#include "podere/tree/grow.h"\n'


class Clone:
    """A small tree of rooms with the hook, in a repository of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "TMPDIR": str(folder.parent)}
        for role in "AUTHOR", "COMMITTER":
            self.environment |= {f"GIT_{role}_NAME": "Ada", f"GIT_{role}_EMAIL": "ada@example.org"}
        for name in KEPT:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        self.write("podere/README.md", ROOMS)
        self.write("podere/base/CMakeLists.txt", "podere_room(base)\n")
        self.write("podere/base/one.cc", SOUND)
        self.write("podere/tree/CMakeLists.txt", "podere_room(tree DEPENDS base)\n")
        self.write("podere/tree/grow.h", '#include "podere/base/one.h"\n')
        self.git("init", "-q")
        self.git("add", "-A")
        subprocess.run(["make", "-s", "hooks"], cwd=folder, env=self.environment, check=True)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def stage(self, name, text):
        self.write(name, text)
        self.git("add", "--", name)

    def git(self, *arguments):
        return subprocess.check_output(["git", *arguments], cwd=self.folder, env=self.environment, text=True)

    def commit(self, *arguments, folder=None, **environment):
        """Exit code, and what the hook said."""
        done = subprocess.run(["git", "commit", "-q", "-m", "A change", *arguments], cwd=folder or self.folder,
                              env={**self.environment, **environment}, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stderr


@pytest.fixture
def clone(tmp_path):
    """With a first commit, which the hook let pass. The hook leaves nothing in the temporary folder."""
    (tmp_path / "clone").mkdir()
    made = Clone(tmp_path / "clone")
    assert made.commit() == (0, "")
    yield made
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tmp.")] == []


def test_an_unformatted_file_is_named_once_with_what_mends_it(clone):
    clone.stage("podere/base/one.cc", UNFORMATTED * 3)
    clone.stage("podere/base/two words.h", UNFORMATTED)
    code, said = clone.commit()
    assert code == 1
    assert said == ("pre-commit: not formatted (make format fixes them; then git add):\n"
                    "  podere/base/one.cc\n  podere/base/two words.h\n")


def test_what_else_clang_format_says_is_shown(clone):
    clone.stage(".clang-format", "NoSuchOption: 1\n")
    clone.stage("podere/base/one.cc", SOUND * 2)
    code, said = clone.commit()
    assert code == 1 and "NoSuchOption" in said


def test_a_link_is_not_formatted(clone):
    (clone.folder / "link.cc").symlink_to("nowhere")
    clone.git("add", "-A")
    assert clone.commit() == (0, "")


def test_a_breach_of_the_floors_is_refused_as_the_check_says_it(clone):
    clone.stage("podere/base/one.cc", BREACH)
    code, said = clone.commit()
    assert code == 1
    assert said == "podere/base/one.cc:1: 'base' (floor 0) may not use 'tree' (floor 1)\npre-commit: a room does not keep to its floor\n"


@pytest.mark.parametrize("bad", [UNFORMATTED, BREACH])
def test_what_is_staged_counts_and_not_what_lies_in_the_work_tree(clone, bad):
    clone.stage("podere/base/one.cc", bad)
    clone.write("podere/base/one.cc", SOUND)
    assert clone.commit()[0] == 1
    clone.git("add", "podere")
    clone.stage("podere/base/two.cc", SOUND)
    clone.write("podere/base/two.cc", bad)
    clone.write("podere/base/three.cc", bad)
    before = clone.git("status", "--porcelain")
    assert clone.commit() == (0, "")
    assert clone.git("status", "--porcelain") == before.replace("AM", " M")
    assert (clone.folder / "podere/base/two.cc").read_text() == bad


def test_a_commit_of_named_files_checks_what_it_will_hold(clone):
    clone.stage("podere/base/two.cc", UNFORMATTED)
    clone.write("podere/base/one.cc", SOUND * 2)
    assert clone.commit("podere/base/one.cc") == (0, "")
    clone.write("podere/base/one.cc", BREACH)
    assert clone.commit("podere/base/one.cc")[0] == 1
    assert clone.commit("--all")[0] == 1


def test_what_was_there_before_is_left_alone(clone):
    clone.stage("podere/base/two.cc", UNFORMATTED)
    assert clone.commit("--no-verify") == (0, "")
    clone.stage("notes.md", "text")
    assert clone.commit() == (0, "")
    clone.git("mv", "podere/base/one.cc", "podere/base/won.cc")
    clone.git("rm", "-q", "podere/base/two.cc")
    assert clone.commit() == (0, "")
    clone.git("rm", "-q", "podere/tree/CMakeLists.txt")
    assert clone.commit()[0] == 1, "what is deleted counts for the floors"


def test_it_works_in_another_work_tree_and_in_a_subfolder(clone):
    clone.git("worktree", "add", "-q", "../other")
    other = clone.folder.parent / "other"
    (other / "podere/base/one.cc").write_text(UNFORMATTED)
    assert clone.commit("--all", folder=other / "podere/tree")[0] == 1
    (other / "podere/base/one.cc").write_text(SOUND * 2)
    assert clone.commit("--all", folder=other / "podere/tree") == (0, "")


@pytest.mark.parametrize("tool, bad", [("clang-format-14", UNFORMATTED), ("python3", BREACH)])
def test_without_a_tool_it_says_which_and_checks_the_rest(clone, tmp_path, tool, bad):
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in reversed(os.environ["PATH"].split(":")):
        for path in Path(folder).glob("*") if folder else ():
            if path.name != tool:
                (tools / path.name).unlink(missing_ok=True)
                (tools / path.name).symlink_to(path)
    clone.stage("podere/base/one.cc", UNFORMATTED if bad == BREACH else BREACH)
    assert clone.commit(PATH=str(tools))[0] == 1
    clone.stage("podere/base/one.cc", bad)
    code, said = clone.commit(PATH=str(tools))
    assert code == 0
    assert said.startswith(f"pre-commit: {tool} is missing") and said.count("\n") == 1
