"""The programs of examples/patterns/, as a reader of docs/course.md runs them. PATTERNS names the folder of the programs."""
import os
import pathlib
import re
import subprocess

import pytest

PATTERNS = pathlib.Path(os.environ.get("PATTERNS", pathlib.Path(__file__).parents[2] / "build/release/examples/patterns"))
SOURCES = pathlib.Path(__file__).parents[2] / "examples/patterns"
WORKERS = (1, 2, 3)


def with_threads(program, n):
    return subprocess.run([PATTERNS / program], env={**os.environ, "OMP_NUM_THREADS": str(n), "OMP_DYNAMIC": "false"},
                          capture_output=True, text=True, timeout=60, check=True).stdout


def test_a_loop_by_threads_does_each_row_once():
    sums = set()
    for n in WORKERS:
        steps, rows = re.fullmatch(r"(\d+) steps in \d+\.\d+ s, rows by thread:((?: \d+)+)\n", with_threads("loop", n)).groups()
        rows = [int(word) for word in rows.split()]
        assert len(rows) == n and sum(rows) == 600
        sums.add(steps)
    assert len(sums) == 1


def test_a_reduction_of_integers_has_the_same_bits_on_any_number_of_threads_and_one_of_doubles_has_not():
    doubles, integers = {}, {}
    for n in WORKERS:
        line = re.fullmatch(rf"{n} threads: sum of doubles (\S+), of integers (\S+)\n", with_threads("reduction", n))
        doubles[n], integers[n] = line.groups()
    assert len(set(integers.values())) == 1 and len(set(doubles.values())) > 1
    harmonic = 16.695311365859852  # of ten million terms
    assert all(float(text) == pytest.approx(harmonic, abs=1e-9) for text in [*doubles.values(), *integers.values()])


def test_an_all_reduce_of_integers_trains_the_same_line_on_any_number_of_ranks_and_one_of_doubles_does_not():
    numbers = r"y = (\S+) x \+ (\S+)"
    doubles, integers = set(), set()
    for n in WORKERS:
        printed = subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(n), PATTERNS / "all_reduce"],
                                 capture_output=True, text=True, timeout=60, check=True).stdout
        lines = re.findall(rf"^rank (\d+) of {n}: {numbers} by doubles, {numbers} by integers$", printed, re.MULTILINE)
        assert sorted(int(rank) for rank, *_ in lines) == list(range(n))
        assert len({tuple(line) for _, *line in lines}) == 1, "all ranks have the same line"
        doubles.add(lines[0][1:3])
        integers.add(lines[0][3:5])
    assert len(integers) == 1 and len(doubles) > 1
    [(slope, offset)] = integers
    assert 2.7 < float(slope) < 3 and -1 < float(offset) < -0.99


@pytest.mark.parametrize("program", ["loop", "reduction", "all_reduce"])
def test_what_a_program_says_of_podere_is_there(program):
    """The files that its comment names."""
    comment = re.sub(r"\n// ?", " ", (SOURCES / f"{program}.cc").read_text().split("#include")[0])
    named = re.findall(r"podere/\w+/\w+\.(?:h|cc)", comment)
    assert named and all((SOURCES.parents[1] / path).is_file() for path in named)
