#!/usr/bin/env python3
"""tools/tidy.py BUILD SOURCE [--fix]: clang-tidy on one source that the configured build directory compiles.

Source and headers in which it found nothing are remembered in ~/.cache/podere/tidy (XDG_CACHE_HOME in place of ~/.cache), by what
the preprocessor makes of them, comments included, the options and the version: only what has changed is looked at.
"""
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

TIDY, CLANG = "clang-tidy-14", "clang++-14"
FEW = re.compile(r"^\d+ warnings? (generated|treated as error)|^Suppressed|^$")


def preprocessed(build, source):
    """What the compiler sees, with comments (NOLINT) and names of files below the checkout, or None where it does not compile."""
    entries = json.loads((build / "compile_commands.json").read_text())
    entry = next(e for e in entries if Path(e["directory"], e["file"]) == source)
    words = [w for w in shlex.split(entry["command"])[1:] if w != "-c"]
    if "-o" in words:
        del words[words.index("-o"):words.index("-o") + 2]
    run = subprocess.run([CLANG, *words, "-E", "-CC", "-w", "-Wno-unknown-warning-option"], cwd=entry["directory"],
                         capture_output=True, check=False)
    return None if run.returncode else run.stdout + " ".join(words).encode()


def main():
    build, source, *fix = sys.argv[1:]
    build, source = Path(build).resolve(), Path(source)
    root = Path(__file__).resolve().parents[1]
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "podere/tidy"
    text = preprocessed(build, source)
    mark = None
    if text is not None:
        version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
        checks = (root / ".clang-tidy").read_bytes()
        mark = kept / hashlib.sha256(version + checks + text.replace(str(root).encode(), b".")).hexdigest()
        if mark.exists():
            mark.touch()
            return 0
    run = subprocess.run([TIDY, "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", *fix, str(source)],
                         capture_output=True, text=True, check=False)
    sys.stdout.write(run.stdout)
    sys.stderr.writelines(line + "\n" for line in run.stderr.splitlines() if not FEW.match(line))
    if run.returncode == 0 and not run.stdout.strip() and mark:
        kept.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return 1 if run.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
