#!/usr/bin/env bash
# tools/lint.sh BUILD: formatting (mended by make format), floors of the rooms, clang-tidy with the commands of the
# configured build directory (mended by tools/lint.sh BUILD --fix). With LINT_SINCE=commit, clang-tidy looks only at
# sources changed since then. All parts run; the exit code is 1 if one found something.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
fix=${2:-}
found=0

echo "lint: formatting"
git ls-files -z '*.h' '*.cc' | xargs -0 clang-format-14 --dry-run --Werror || found=1

echo "lint: rooms"
tools/check_rooms.py || found=1

echo "lint: clang-tidy"
checks=()
if [[ -n ${LINT_SINCE:-} ]]; then
  sources=$(git diff --name-only --diff-filter=d "$LINT_SINCE" -- '*.cc')
else
  sources=$(git ls-files '*.cc')
  checks=(--checks=-performance-unnecessary-value-param)  # half of the time, so asked of changed sources alone
fi
# Tests are left out: gtest's macros take half of the time and give most of the false alarms. Fuzz targets are no part
# of this build. Fixing one file at a time keeps two fixes off one header.
sources=$(grep -vE '_(test|fuzz)\.cc$' <<<"$sources")
[[ -z $sources ]] ||
  xargs -P "$([[ $fix ]] && echo 1 || nproc)" -n 1 clang-tidy-14 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option "${checks[@]}" $fix <<<"$sources" 2> >(
    grep -vE '^[0-9]+ warnings? (generated|treated as error)|^Suppressed|^$' >&2) || found=1

((found)) || echo "lint: nothing found"
exit $found
