#!/usr/bin/python3
"""Models of other programs beside Podere's: foreign_models.py PODERE [--folder FOLDER] [--only WORDS...].

Puts each version of XGBoost, LightGBM, CatBoost and scikit-learn that VERSIONS names into a folder of its own in FOLDER
(9 GB), trains models with it (foreign_model_makers.py says which), converts them with `podere convert` or
`podere.from_sklearn`, and predicts rows with missing values, unseen categories, and numbers at thresholds and beside
them. Predictions must be equal to 1e-6. Prints each model that differs, a table of what is refused and one line of JSON;
ends with 1 if a model differs. A version that cannot be installed is named.

The old versions need Python 3.8, the others 3.11 (PYTHON3_8 and PYTHON3_11 say where they are, if not on PATH).
scikit-learn needs the Podere of build/release/python, or one that is installed. 20 minutes on 2 cores.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-6  # relative to predictions above 1

BASES = {  # Python, and what comes with all versions that use it
    "old": ("3.8", ["numpy==1.19.5", "scipy==1.5.4", "pandas==1.1.5", "six", "scikit-learn==0.23.2"]),
    "middle": ("3.11", ["numpy==1.26.4", "scipy==1.11.4", "pandas==2.1.4", "six", "joblib", "threadpoolctl"]),
    "new": ("3.11", ["numpy", "scipy", "pandas", "six", "joblib", "threadpoolctl", "narwhals", "packaging"]),
}
VERSIONS = {
    "xgboost": {"old": "0.90 1.0.2 1.1.1 1.2.1 1.3.3 1.4.2 1.5.2 1.6.2", "middle": "1.7.6 2.0.3",
                "new": "2.1.4 3.0.5 3.1.3 3.2.0"},
    "lightgbm": {"old": "2.0.12 2.1.2 2.2.3 2.3.1 3.0.0 3.1.1 3.2.1 3.3.5", "middle": "4.0.0 4.1.0 4.2.0 4.3.0 4.4.0",
                 "new": "4.5.0 4.6.0 4.7.0"},
    "catboost": {"old": "0.20.2 0.22 0.24.4 0.26.1 1.0.6 1.1.1", "middle": "1.2 1.2.3 1.2.5", "new": "1.2.7 1.2.8 1.2.10"},
    "scikit-learn": {"middle": "1.2.2 1.3.2 1.4.2", "new": "1.5.2 1.6.1 1.7.2 1.8.0 1.9.1"},
}


def note(text):
    print(f"foreign_models: {text}", file=sys.stderr, flush=True)


def pip(python, *arguments):
    return subprocess.run([python, "-m", "pip", "-q", "install", "--disable-pip-version-check", "--only-binary=:all:",
                           *arguments], capture_output=True, text=True)


def base_python(folder, base):
    """The Python of a base, which is made if it is not there yet; None if it is not to be had."""
    version, packages = BASES[base]
    python = folder / base / "bin/python"
    if not (folder / base / "done").exists():
        command = os.environ.get("PYTHON" + version.replace(".", "_")) or shutil.which("python" + version)
        if not command or subprocess.run([command, "-m", "venv", "--clear", folder / base]).returncode != 0:
            note(f"there is no Python {version} with venv: versions that need it are left out")
            return None
        installed = pip(python, *packages)
        if installed.returncode != 0:
            sys.exit(f"foreign_models: {installed.stderr.strip()}")
        (folder / base / "done").touch()
    return python


def install(folder, python, program, version):
    """The folder of a version of a program, or None."""
    place = folder / f"{program}-{version}"
    if not place.exists():
        note(f"installing {program} {version}")
        installed = pip(python, "--no-deps", "--target", f"{place}.part", f"{program}=={version}")
        if installed.returncode != 0:
            note(f"{program} {version} is not to be had: {installed.stderr.strip().splitlines()[-1]}")
            return None
        os.rename(f"{place}.part", place)
    return place


def make(folder, python, place, program, version):
    """What was made of a version: the lines of foreign_model_makers.py."""
    models = folder / "models" / f"{program}-{version}"
    shutil.rmtree(models, ignore_errors=True)
    podere = HERE.parent / "build/release/python"
    made = subprocess.run([python, HERE / "foreign_model_makers.py", program, models], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{podere}", "OMP_NUM_THREADS": "1"})
    if made.returncode != 0:
        note(f"{program} {version} ended early: {made.stderr.strip().splitlines()[-1]}")
    lines = [json.loads(line) for line in made.stdout.splitlines() if line.startswith("{")]
    return [{"program": program, "version": version, "folder": models, **line} for line in lines]


def numbers_in(path):
    with open(path) as file:
        return [[float(number) for number in line.split(",")] for line in file]


def largest_difference(found, expected):
    if len(found) != len(expected) or any(len(f) != len(e) for f, e in zip(found, expected)):
        return float("inf")
    return max(abs(f - e) / max(1, abs(e)) if f == f and e == e else float(f == f or e == e)
               for of_row, of_row_expected in zip(found, expected) for f, e in zip(of_row, of_row_expected))


def compare(podere, model):
    """Adds to `model` how it went: "refused" with the reason, or "difference"."""
    def run(*arguments):
        result = subprocess.run([podere, *arguments], cwd=model["folder"], capture_output=True, text=True)
        line = (result.stderr.strip().splitlines() or [""])[-1] if result.returncode != 0 else ""
        if result.returncode not in (0, 2):
            return f"ended with {result.returncode}: {line}", True
        return line, result.returncode != 0

    if "skipped" in model or "refused" in model:
        return
    converted = model["model"]
    if model["format"] != "object":
        converted = "converted.json"
        target = [] if model["target"] is None else ["--target", str(model["target"])]
        line, failed = run("convert", model["model"], "-o", converted, *target)
        if failed:
            model["refused"] = re.sub(r"^podere: (\S+: )?", "", line)
            return
    line, failed = run("predict", converted, model["rows"], "-o", "predictions.csv")
    if failed:
        model["difference"], model["why"] = float("inf"), line
        return
    model["difference"] = largest_difference(numbers_in(model["folder"] / "predictions.csv"),
                                             numbers_in(model["folder"] / model["expected"]))


class Tally:
    """How many models were equal, which differ, and which were refused and why."""

    def __init__(self):
        self.counts = collections.Counter(models=0, equal=0, differing=0, refused=0)
        self.equal_of = collections.Counter()
        self.versions = collections.defaultdict(list)
        self.refused_by_reason = collections.Counter()
        self.refused = collections.defaultdict(lambda: collections.defaultdict(set))  # program, reason: version: cases

    def add(self, model):
        program, version = model["program"], model["version"]
        name = f"{program} {version}, {model['case']}"
        if "skipped" in model:
            note(f"{name}: skipped: {model['skipped'].splitlines()[0]}")
            return
        self.counts["models"] += 1
        if "refused" in model:
            self.counts["refused"] += 1
            # The same for all thresholds and counts.
            reason = re.sub(r"(?<= at )[-+.e\d]+(?=,)|\d+(?= (outputs|targets|classes))", "N", model["refused"])
            self.refused[program, reason][version].add(model["case"])
            self.refused_by_reason[f"{program}: {reason}"] += 1
        elif model["difference"] <= TOLERANCE:
            self.counts["equal"] += 1
            self.equal_of[program] += 1
        else:
            self.counts["differing"] += 1
            print(f"differs: {name}, {model['format']}, by {model['difference']:.3g} {model.get('why', '')} "
                  f"({model['folder'] / model['model']})", flush=True)

    def report(self):
        for (program, reason), by_version in sorted(self.refused.items()):
            cases = sorted(set().union(*by_version.values()))
            print(f"refused: {program} {' '.join(by_version)}: {reason} ({', '.join(cases)})")
        print(json.dumps({"bench": "foreign_models", **self.counts, "equal_of": self.equal_of, "versions": self.versions,
                          "refused_by_reason": self.refused_by_reason}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("podere", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent / "build/foreign-models")
    parser.add_argument("--only", nargs="*", default=[], help="programs, or programs with versions such as xgboost-2.0.3")
    options = parser.parse_args()
    folder, podere = options.folder.resolve(), options.podere.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    for program, base, version in [(program, base, version) for program, of_bases in VERSIONS.items()
                                   for base, of_base in of_bases.items() for version in of_base.split()]:
        if options.only and not {program, f"{program}-{version}"} & set(options.only):
            continue
        python = base_python(folder, base)
        place = python and install(folder, python, program, version)
        if not place:
            continue
        tally.versions[program].append(version)
        models = make(folder, python, place, program, version)
        for model in models:
            compare(podere, model)
            tally.add(model)
        note(f"{program} {version} done: {dict(tally.counts)}")
    tally.report()
    return 1 if tally.counts["differing"] else 0


if __name__ == "__main__":
    sys.exit(main())
