#!/usr/bin/env python3
"""Holds the rule of the rooms: check_rooms.py [root]. The floors are the table in podere/README.md.

A room includes headers of itself and of rooms on lower floors; only comm includes <mpi.h>; headers of the project are
included as "podere/<room>/..."; rooms that show how one is added lie in examples/, and keep the same rules (other
folders there make programs of their own); only podere/catalog names an algorithm of examples/; outside of io, columns, source and the options of the command line nothing names a
file format in the table of podere/source/readers.cc; only the tables of podere/tree/objective.cc and
podere/exchange/objectives.cc name objectives of trees; a room names in its CMakeLists.txt the rooms whose headers it
includes, and no other than lower ones; the table and the folders name the same rooms. Prints each breach as file:line: what.
"""
import re
import sys
from pathlib import Path

FLOOR_ROW = re.compile(r"^\|\s*(\d+)\s*\|\s*`(\w+)`\s*\|")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
DEPENDS = re.compile(r"podere_room\(\s*(\w+)(?:\s+DEPENDS\s+([\w\s]*?))?(?:\s+(?:LIBRARIES|TEST_LIBRARIES|TESTS_ALONE)\b[^)]*)?\s*\)")
MPI_ROOM = "comm"
FOLDERS = ("podere", "examples")  # of rooms
CATALOG = "catalog"
READERS = Path("podere/source/readers.cc")  # the table of file formats
READER = re.compile(r"^\s+(\w+)_reader\(\),", re.MULTILINE)
ROOMS_OF_READERS = {"io", "columns", "source"}
OBJECTIVE = re.compile(r"\bObjective::k\w+")
OBJECTIVES = {"options.h", "objective.cc", "objectives.cc"}  # names, what sets each apart, names of other programs
OPTIONS = "arguments.cc"  # of the command line: those of each format


def read_floors(readme: Path) -> tuple[dict[str, int], dict[str, int]]:
    """The floor of each room, and the line that says so."""
    rows = [(FLOOR_ROW.match(text), line) for line, text in enumerate(readme.read_text().splitlines(), 1)]
    return {row[2]: int(row[1]) for row, _ in rows if row}, {row[2]: line for row, line in rows if row}


def read_depends(cmake: Path) -> dict[str, int]:
    """The rooms that the podere_room() call names, each with its line."""
    if not cmake.exists():
        return {}
    text = re.sub(r"#.*", "", cmake.read_text())
    call = DEPENDS.search(text)
    if not call or call[2] is None:
        return {}
    return {word[0]: text.count("\n", 0, call.start(2) + word.start()) + 1 for word in re.finditer(r"\w+", call[2])}


def breach_of_floors(room: str, used: str, floors: dict[str, int]) -> str | None:
    if used not in floors:
        return f"unknown room '{used}'"
    if used != room and floors[used] >= floors[room]:
        return f"'{room}' (floor {floors[room]}) may not use '{used}' (floor {floors[used]})"
    return None


def check_include(path: Path, room: str, header: str, floors: dict[str, int], depends: dict[str, int]) -> str | None:
    if header == "mpi.h":
        return None if room == MPI_ROOM else f"only '{MPI_ROOM}' may include <mpi.h>"
    folder = header.split("/")[0]
    if folder not in FOLDERS:
        return f'"{header}" is not written as "podere/<room>/..."' if (path.parent / header).exists() else None
    used = header.split("/")[1]
    if folder == "examples" and used != room and room != CATALOG:
        return f"only '{CATALOG}' may include what lies in examples/"
    breach = breach_of_floors(room, used, floors)
    if not breach and used != room and used not in depends:
        return f"'{room}' includes '{used}' and its CMakeLists.txt does not name it in DEPENDS"
    return breach


def read_formats(root: Path) -> list[str]:
    table = root / READERS
    formats = READER.findall(table.read_text()) if table.exists() else []
    return [name for name in formats if (root / "podere" / "io" / f"{name}.h").exists()]


def check_formats(folder: Path, formats: list[str]):
    """What names a format where no format may be named: a header of its reader, or its name as a text."""
    name = "|".join(formats)
    named = re.compile(rf'"(?:podere/io/({name})(?:_\w+)?\.h|({name}))"')
    for path in sorted(p for p in folder.rglob("*") if p.suffix in {".h", ".cc"}):
        if path.name == OPTIONS or path.stem.endswith("_test"):
            continue
        for line, text in enumerate(path.read_text().splitlines(), 1):
            found = named.search(text)
            if found:
                yield path, line, f"names the format '{found[1] or found[2]}', which only io, source and {OPTIONS} may"


def check_room(folder: Path, floors: dict[str, int]):
    room, cmake = folder.name, folder / "CMakeLists.txt"
    depends = read_depends(cmake)
    for used, line in depends.items():
        breach = breach_of_floors(room, used, floors)
        if breach:
            yield cmake, line, breach
    for path in sorted(p for p in folder.rglob("*") if p.suffix in {".h", ".cc"}):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            include = INCLUDE.match(text)
            breach = include and check_include(path, room, include[1], floors, depends)
            if breach:
                yield path, line, breach


def check_objectives(folder: Path):
    for path in sorted(p for p in folder.rglob("*") if p.suffix in {".h", ".cc"}):
        if path.name in OBJECTIVES or path.stem.endswith("_test") or path.stem.startswith("test_"):
            continue
        for line, text in enumerate(path.read_text().splitlines(), 1):
            named = OBJECTIVE.search(text)
            if named:
                yield path, line, f"names {named[0]}: ask traits_of() of podere/tree/objective.h instead"


def is_program(folder: Path) -> bool:
    """Whether it lies in examples/ and builds programs that are no part of Podere."""
    cmake = folder / "CMakeLists.txt"
    return folder.parent.name == "examples" and cmake.exists() and "podere_room(" not in cmake.read_text()


def check(root: Path):
    readme = root / "podere" / "README.md"
    floors, lines = read_floors(readme)
    folders = {folder.name: folder for rooms in FOLDERS if (root / rooms).exists()
               for folder in (root / rooms).iterdir() if any(folder.glob("*.*")) and not is_program(folder)}
    formats = read_formats(root)
    for room in sorted(floors.keys() - folders.keys()):
        yield readme, lines[room], f"room '{room}' has a floor but no folder"
    for room, folder in sorted(folders.items()):
        if room in floors:
            yield from check_room(folder, floors)
            yield from check_objectives(folder)
            if formats and room not in ROOMS_OF_READERS:
                yield from check_formats(folder, formats)
        else:
            yield folder, 1, f"unknown room '{room}': give it a floor in podere/README.md"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    breaches = [f"{path.relative_to(root)}:{line}: {what}" for path, line, what in check(root)]
    print("\n".join(breaches) or "check_rooms: every room keeps to its floor")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
