"""deploy/images: what can be checked of the images without building them."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy/images/Dockerfile"
OF_EVERY_DEBIAN = {"libc6", "libgcc-s1", "libstdc++6"}  # the last two: of libfmt9


def instructions():
    """(name, arguments) of each, comments left out and continued lines joined."""
    text = re.sub(r"(?m)^\s*#.*\n", "", DOCKERFILE.read_text()).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def stages():
    """What each stage is made from, and its instructions."""
    found = {}
    for name, arguments in instructions():
        if name == "FROM":
            base, _, stage = re.fullmatch(r"(\S+)( AS (\w+))", arguments).groups()
            found[stage] = (base, [])
        elif found:
            found[stage][1].append((name, arguments))
    return found


def packages(stage):
    base, steps = stages()[stage]
    text = " ".join(arguments for name, arguments in steps if name == "RUN")
    named = re.search(r"apt-get install -y --no-install-recommends ([^&]*)&&", text)
    return (set(named[1].split()) if named else set()) | (packages(base) if base in stages() else set())


def test_every_instruction_is_one():
    known = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD", "EXPOSE"}
    assert {name for name, _ in instructions()} <= known
    for _, command in (step for step in instructions() if step[0] == "RUN"):
        subprocess.run(["sh", "-nc", command], check=True)


def test_stages_are_made_from_what_is_there():
    known = ["${BASE}"]
    for stage, (base, steps) in stages().items():
        assert base in known
        for name, arguments in steps:
            for source in re.findall(r"--from=(\w+)", arguments):
                assert name == "COPY" and source in known
        known.append(stage)
    assert {"operator", "executor", "notebook"} <= set(known)


def test_what_is_copied_is_there():
    for _, arguments in (step for step in instructions() if step[0] == "COPY" and "--from" not in step[1]):
        *sources, _ = shlex.split(arguments)
        for source in sources:
            assert (ROOT / source).exists(), source


def test_none_runs_as_root_in_them():
    for stage in "operator", "executor", "notebook":
        users = [arguments for name, arguments in stages()[stage][1] if name == "USER"]
        assert users[-1] == "1000:1000", stage


def test_what_is_copied_is_enough_to_configure_the_build(tmp_path):
    copied = [shlex.split(arguments) for name, arguments in stages()["build"][1] if name == "COPY"]
    for *sources, _ in copied:
        for source in (ROOT / source for source in sources):
            place = tmp_path / source.relative_to(ROOT)
            place.parent.mkdir(exist_ok=True)
            shutil.copytree(source, place) if source.is_dir() else shutil.copy(source, place)
    [commands] = [command for name, command in stages()["build"][1] if name == "RUN" and "cmake --build" in command]
    configure = commands.split("&&")[0]
    done = subprocess.run(["sh", "-c", configure], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif("PODERE" not in os.environ, reason="PODERE does not name the program")
@pytest.mark.parametrize("suffix", ["", "-hdf5"])
def test_the_libraries_of_the_programs_are_in_each(suffix):
    program = os.environ["PODERE"] + suffix
    needed = re.findall(r"NEEDED.*\[(.+)\]", subprocess.check_output(["readelf", "-d", program], text=True))
    places = dict(re.findall(r"(\S+) => (\S+)", subprocess.check_output(["ldd", program], text=True)))
    for library in set(needed) & set(places):
        path = os.path.realpath(places[library])
        owners = subprocess.run(["dpkg", "-S", path, path.removeprefix("/usr")], capture_output=True, text=True).stdout
        owner = re.match(r"([^:]+):", owners)
        assert owner and owner[1] in packages("program") | OF_EVERY_DEBIAN, f"{library}: {owners}"


def test_the_chart_and_the_images_are_of_the_programs_version():
    version = re.search(r"project\(podere VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    chart = (ROOT / "deploy/chart/Chart.yaml").read_text()
    assert re.findall(r"(?m)^(?:version|appVersion): (\S+)", chart) == [version, version]
    for file in (ROOT / "deploy").rglob("*.yaml"):
        assert set(re.findall(r"podere-(?:operator|executor|notebook):([0-9.]+)", file.read_text())) <= {version}, file


@pytest.mark.parametrize("names, words", [
    ("Ada\n", "'Ada' is no name"), ("a" * 41, "is no name"), ("ada\nalan\nada\n", "'ada' is there twice"),
    ("ada lovelace\n", "'ada lovelace'"), ("# none\n\n", "no names in it"), ("a;b\n", "'a;b'")])
def test_a_course_refuses_names_that_cannot_be(tmp_path, names, words):
    students = tmp_path / "students.txt"
    students.write_text(names)
    done = subprocess.run([ROOT / "deploy/examples/course/course.sh", students], capture_output=True, text=True)
    assert done.returncode == 2 and words in done.stderr and not done.stdout
