"""Old words are found wherever they are: in names, texts and file names. What is called so elsewhere passes."""
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_words.py"


@pytest.fixture
def check(tmp_path):
    """Runs the check on a folder with these files; gives the exit code and the lines of its output."""

    def run(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, tmp_path], capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    return run


@pytest.mark.parametrize("line, word", [
    ("// Nobody waits for it.", "nobody"), ("bool is_told_ = false;", "told"), ("TEST(Client, TellsThat) {", "tells"),
    ("constexpr int kNobodyAnswers = 5;", "nobody"), ("class RowParcel;", "parcel"), ("int WISHES = 3;", "wishes"),
    ('error("the job goes on")', "goes on"), ("void go_on();", "go on"), ("void giveBack();", "give back"),
    ("it takes them back", "takes them back"), ("in lent room", "lent"), ("// it is said below", "is said"),
    ("struct Continuation;", "continuation"), ("enum class Optimiser;", "optimiser"), ("n_neighbours", "neighbours"),
    ("void standardise_rows();", "standardise"), ("LabelledRows rows;", "labelled"), ("what was learnt", "learnt"),
    ("do this by hand", "by hand"), ("the name stands in the file", "stands in"), ("DOORBELL", "doorbell"),
    ("a worker hears of it", "hears"),
])
def test_an_old_word_is_found_with_what_to_say(check, line, word):
    code, (breach,) = check({"podere/base/a.h": f"#pragma once\n{line}\n"})
    assert code == 1 and breach.startswith(f"podere/base/a.h:2: {word} -> ")


@pytest.mark.parametrize("line", [
    "takes 3 s, is taken from a file, and so on", "he said that it is back again", "NaN stands for a missing value",
    "parallelism and organisms", "a promise to raise an advised noise", "a silent storyteller", "hotels and talents",
    'visit("optimiser", self.optimizer);', "| `--no-standardise` | old spelling |", "goes only forward",
])
def test_what_only_looks_so_and_what_is_called_so_elsewhere_pass(check, line):
    assert check({"podere/base/a.h": line}) == (0, ["check_words: no old words"])


def test_words_of_some_places_pass_there_alone(check):
    files = {"docs/farms.md": "`lendingLimit`\n", "tests/kubernetes/a.py": 'user = "nobody"\n'}
    assert check(files)[0] == 0
    assert check({**files, "podere/farm/a.cc": '"nobody" lendingLimit'})[1] == [
        "podere/farm/a.cc:1: nobody -> say which: no process, another user, the client that",
        "podere/farm/a.cc:1: lending -> borrow, lender"]


def test_names_of_files_are_read_too_and_pictures_are_not(check):
    code, breaches = check({"podere/neural/parcel.h": "\n", "docs/told.png": "told", "data/a.gz": "told"})
    assert code == 1 and breaches == ["podere/neural/parcel.h:1: parcel (its name) -> shard message"]


def test_every_line_of_a_file_is_reported(check):
    code, breaches = check({"README.md": "told\n\nIt tells whoever.\n"})
    assert code == 1 and [breach.split(" -> ")[0] for breach in breaches] == [
        "README.md:1: told", "README.md:3: tells", "README.md:3: whoever"]


def test_of_a_clone_only_what_git_knows_is_read(check, tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert check({"build/a.h": "// told\n"}) == (0, ["check_words: no old words"])
    subprocess.run(["git", "-C", tmp_path, "add", "build/a.h"], check=True)
    assert check({})[0] == 1
