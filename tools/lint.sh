#!/usr/bin/env bash
# tools/lint.sh BUILD: formatting (mended by make format), floors of the rooms, words, the Python package (circles of imports, ruff,
# mypy; the latter two are left out where PyPI is not to be had, but not in CI), clang-tidy over what the configured build
# directory compiles (mended by tools/lint.sh BUILD --fix); of preset lint that is a room at a time, which takes a third.
# What clang-tidy found nothing in is not looked at again while it stays the same (tidy.py).
# All parts run; the exit code is 1 if one found something.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
fix=${2:-}
found=0

echo "lint: formatting"
git ls-files -z '*.h' '*.cc' | xargs -0 clang-format-14 --dry-run --Werror || found=1

echo "lint: rooms"
tools/check_rooms.py || found=1

echo "lint: words"
tools/check_words.py || found=1

echo "lint: Python"
tools/check_imports.py || found=1
if python_tools=$(tools/python_tools.sh); then
  "$python_tools/ruff" check --quiet python/podere tools || found=1
  "$python_tools/mypy" --no-error-summary || found=1
else
  echo "lint: ruff and mypy are not to be had, so the Python package is not checked by them" >&2
  [[ -z ${CI:-} ]] || found=1
fi

echo "lint: clang-tidy"
# Tests are left out: gtest's macros take half of the time and give most of the false alarms. Fuzz targets are no part
# of these builds. Fixing one file at a time keeps two fixes off one header.
sources=$(sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/compile_commands.json" | grep -E "^$PWD/(podere|bench)/|/Unity/" |
  grep -vE '_test(\.cc|\.dir/)' | sort -u)
[[ -z $sources ]] ||
  xargs -P "$([[ $fix ]] && echo 1 || nproc)" -n 1 tools/tidy.py "$build" $fix <<<"$sources" || found=1

((found)) || echo "lint: nothing found"
exit $found
