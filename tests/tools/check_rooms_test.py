"""Each breach of the rule of the rooms is found, in a tree that has no other."""
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_rooms.py"

SOUND = {
    "podere/README.md": """# Rooms
| floor | room | owns |
|---|---|---|
| 2 | `tree` | trees |
| 2 | `neural` | networks |
| 1 | `comm` | MPI |
| 0 | `base` | all else |
""",
    "podere/base/CMakeLists.txt": "podere_room(base)\n",
    "podere/base/error.h": "#include <string>\n",
    "podere/comm/CMakeLists.txt": "podere_room(comm DEPENDS base LIBRARIES MPI::MPI_C)\n",
    "podere/comm/group.cc": '#include <mpi.h>\n#include "podere/base/error.h"\n',
    "podere/tree/CMakeLists.txt": "podere_room(tree\n  DEPENDS comm\n  base)\n",
    "podere/tree/grow.cc": '#include "podere/tree/grow.h"\n#include "podere/base/error.h"\n',
    "podere/tree/grow.h": '// #include "podere/neural/layer.h"\n#include "podere/comm/group.h"\n',
    "podere/neural/CMakeLists.txt": "podere_room(neural DEPENDS base TEST_LIBRARIES check TESTS_ALONE)\n",
    "podere/neural/layer.h": "",
}


@pytest.fixture
def check(tmp_path):
    """Runs the check on the sound tree with some files replaced (None: left out); gives exit code and output."""

    def run(changes=None):
        for name, text in {**SOUND, **(changes or {})}.items():
            if text is not None:
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).write_text(text)
        done = subprocess.run([sys.executable, CHECK, tmp_path], capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


def test_a_sound_tree_passes(check):
    assert check() == (0, "check_rooms: every room keeps to its floor\n")


def test_programs_in_examples_are_no_rooms(check):
    files = {"examples/patterns/CMakeLists.txt": "add_executable(loop loop.cc)\n", "examples/patterns/loop.cc": "#include <mpi.h>\n"}
    assert check(files) == (0, "check_rooms: every room keeps to its floor\n")
    rooms = {**files, "examples/patterns/CMakeLists.txt": "podere_room(patterns)\n"}
    assert check(rooms) == (1, "examples/patterns:1: unknown room 'patterns': give it a floor in podere/README.md\n")


@pytest.mark.parametrize(
    "breach, changes",
    [
        (
            "podere/base/error.h:2: 'base' (floor 0) may not use 'comm' (floor 1)",
            {"podere/base/error.h": '#pragma once\n#include "podere/comm/group.h"\n'},
        ),
        (
            "podere/tree/grow.cc:1: 'tree' (floor 2) may not use 'neural' (floor 2)",
            {"podere/tree/grow.cc": '  #  include "podere/neural/layer.h"\n'},
        ),
        (
            "podere/tree/grow.cc:1: 'tree' (floor 2) may not use 'neural' (floor 2)",
            {"podere/tree/grow.cc": "#include <podere/neural/layer.h>\n"},
        ),
        (
            "podere/tree/grow_test.cc:3: only 'comm' may include <mpi.h>",
            {"podere/tree/grow_test.cc": "\n\n#include <mpi.h>\n"},
        ),
        (
            "podere/tree/grow.cc:1: unknown room 'forest'",
            {"podere/tree/grow.cc": '#include "podere/forest/grow.h"\n'},
        ),
        (
            "podere/neural/layer.h:1: \"../base/error.h\" is not written as \"podere/<room>/...\"",
            {"podere/neural/layer.h": '#include "../base/error.h"\n'},
        ),
        (
            "podere/neural/layer.h:1: 'neural' includes 'comm' and its CMakeLists.txt does not name it in DEPENDS",
            {"podere/neural/layer.h": '#include "podere/comm/group.h"\n'},
        ),
        (
            "podere/tree/CMakeLists.txt:3: 'tree' (floor 2) may not use 'neural' (floor 2)",
            {"podere/tree/CMakeLists.txt": "podere_room(tree\n  DEPENDS comm base\n  neural LIBRARIES z)\n"},
        ),
        (
            "podere/neural/layer.h:1: only 'catalog' may include what lies in examples/",
            {"podere/README.md": SOUND["podere/README.md"] + "| 1 | `centroid` | an example |\n",
             "examples/centroid/CMakeLists.txt": "podere_room(centroid DEPENDS base)\n",
             "podere/neural/CMakeLists.txt": "podere_room(neural DEPENDS base centroid)\n",
             "podere/neural/layer.h": '#include "examples/centroid/centroid.h"\n'},
        ),
        (
            "podere/forest:1: unknown room 'forest': give it a floor in podere/README.md",
            {"podere/forest/CMakeLists.txt": "podere_room(forest)\n"},
        ),
        (
            "podere/README.md:5: room 'neural' has a floor but no folder",
            {"podere/neural/CMakeLists.txt": None, "podere/neural/layer.h": None},
        ),
    ],
)
def test_a_breach_is_named_with_file_and_line(check, breach, changes):
    assert check(changes) == (1, breach + "\n")


def test_the_rooms_of_this_tree_keep_to_their_floors():
    done = subprocess.run([sys.executable, CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "text, is_breach",
    [
        ('#include "podere/io/csv.h"', True),
        ('#include "podere/io/csv_layout.h"', True),
        ('const bool is_text = format == "csv";', True),
        ('#include "podere/io/write_csv.h"', False),
        ('const char* example = "a.csv";', False),
    ],
)
def test_nothing_but_its_reader_names_a_file_format(check, text, is_breach):
    code, output = check(
        {
            "podere/README.md": SOUND["podere/README.md"] + "| 0 | `io` | files |\n| 1 | `source` | readers |\n",
            "podere/io/CMakeLists.txt": "podere_room(io)\n",
            "podere/io/csv.h": "",
            "podere/source/CMakeLists.txt": "podere_room(source DEPENDS io)\n",
            "podere/source/readers.cc": '#include "podere/io/csv.h"\n  return {\n      csv_reader(),  //\n  };\n',
            "podere/tree/CMakeLists.txt": "podere_room(tree DEPENDS comm base io)\n",
            "podere/tree/plant.cc": text + "\n",
        }
    )
    assert (code == 1) == is_breach
    assert ("podere/tree/plant.cc:1: names the format 'csv'" in output) == is_breach


@pytest.mark.parametrize(
    "file, is_breach", [("plant.cc", True), ("plant_test.cc", False), ("test_plants.h", False), ("objective.cc", False)]
)
def test_only_the_table_of_objectives_names_one(check, file, is_breach):
    code, output = check({f"podere/tree/{file}": "if (objective == Objective::kPoisson) grow();\n"})
    assert (code == 1) == is_breach
    assert (f"podere/tree/{file}:1: names Objective::kPoisson" in output) == is_breach
