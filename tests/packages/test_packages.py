"""The wheel and the Debian package of the build tree that the variable BUILD names, as users install them."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ["BUILD"]
MODULES = {path.name for pattern in ("*.py", "*.pyi", "py.typed") for path in (ROOT / "python" / "podere").glob(pattern)}
VERSION = re.search(r"project\(podere VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
TRAINS = """
import podere
with podere.Session(executors=2, cores=1, progress=False) as s:
    model = s.fit(podere.GBTClassifier(n_estimators=5), s.read("collider:1e4"))
print(podere.__version__, podere.__file__)
"""


def run(*command, **environment):
    """What a command prints, in a folder and an environment that know nothing of the sources."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PODERE", "PYTHONPATH", "CI")}
    done = subprocess.run([*map(str, command)], cwd="/", env={**kept, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def deb(tmp_path_factory):
    path = tmp_path_factory.mktemp("deb")
    return run(ROOT / "packaging" / "deb.sh", BUILD, path).strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    command = [ROOT / "packaging" / "wheel.sh", BUILD, tmp_path_factory.mktemp("wheel")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 3 and not os.environ.get("CI"):
        pytest.skip("what packs wheels is not to be had")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_debian_package_names_what_it_needs(deb):
    fields = {name: run("dpkg-deb", "--field", deb, name).strip() for name in ("Package", "Version", "Depends")}
    assert (fields["Package"], fields["Version"]) == ("podere", VERSION)
    needed = {re.match(r"\S+", part)[0] for part in fields["Depends"].split(", ")}
    assert {"openmpi-bin", "python3", "python3-numpy", "python3-scipy", "python3-sklearn", "libopenmpi3", "libc6"} <= needed
    setup = (ROOT / "tools" / "setup.sh").read_text()
    of_wheels = set(re.search(r'\[wheel\]="([^"]*)"', setup)[1].split())
    assert {name for name in needed if not name.startswith("python3")} - {"libc6"} <= of_wheels, "tools/setup.sh wheel"


def test_the_debian_package_has_what_users_install(deb):
    lines = [line.split() for line in run("dpkg-deb", "--contents", deb).splitlines()]
    modes = {words[5].removeprefix("./usr/"): words[0] for words in lines if words[0].startswith("-")}
    package = {name.removeprefix("lib/python3/dist-packages/podere/") for name in modes if "dist-packages" in name}
    module, = package - MODULES
    assert MODULES <= package and re.fullmatch(r"_core\.cpython-3\d+-\S+\.so", module)
    pages = {name for name in modes if name.startswith("share/man/man1/podere")}
    assert {"share/man/man1/podere.1.gz", "share/man/man1/podere-train-gbt.1.gz"} <= pages
    assert set(modes) - {f"lib/python3/dist-packages/podere/{name}" for name in package} - pages == {
        "bin/podere", "bin/podere-hdf5", *(f"share/doc/podere/{name}" for name in ("copyright", "CITATION.cff", "SECURITY.md")),
        "share/bash-completion/completions/podere",
        "share/zsh/vendor-completions/_podere", "share/fish/vendor_completions.d/podere.fish"}
    assert {mode for name, mode in modes.items() if not name.startswith("bin/")} == {"-rw-r--r--"}
    assert modes["bin/podere"] == modes["bin/podere-hdf5"] == "-rwxr-xr-x"


def test_the_debian_package_trains_from_where_it_lies(deb, tmp_path):
    run("dpkg-deb", "--extract", deb, tmp_path)
    assert VERSION in run(tmp_path / "usr/bin/podere", "--version")
    packages = tmp_path / "usr/lib/python3/dist-packages"
    assert run(sys.executable, "-B", "-c", TRAINS, PYTHONPATH=str(packages)).split() == [
        VERSION, str(packages / "podere/__init__.py")]


def test_the_wheel_trains_in_an_environment_of_its_own(wheel, tmp_path):
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", tmp_path)
    pip = pathlib.Path(run(ROOT / "tools" / "python_tools.sh").strip(), "pip")
    run(pip, "-q", "--python", tmp_path / "bin/python", "install", "--disable-pip-version-check", "--no-index", "--no-deps", wheel)
    assert VERSION in run(tmp_path / "bin/podere", "--version")
    version, package = run(tmp_path / "bin/python", "-c", TRAINS).split()
    assert version == VERSION and package.startswith(str(tmp_path))
    installed = {path.name for path in pathlib.Path(package).parent.iterdir()} - {"__pycache__"}
    assert MODULES < installed and len(installed - MODULES) == 1
    shared = {str(path.relative_to(tmp_path / "share")) for path in (tmp_path / "share").rglob("*") if path.is_file()}
    assert {"man/man1/podere.1.gz", "man/man1/podere-train-gbt.1.gz", "bash-completion/completions/podere",
            "zsh/vendor-completions/_podere", "fish/vendor_completions.d/podere.fish"} <= shared


def test_a_build_tree_without_the_package_is_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    done = subprocess.run([ROOT / "packaging" / "deb.sh", tmp_path, tmp_path], capture_output=True, text=True)
    assert done.returncode != 0 and "build the targets podere and podere_core there" in done.stderr
    assert not list(tmp_path.glob("*.deb"))
