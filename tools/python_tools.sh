#!/usr/bin/env bash
# Prints the folder of the programs that a list of requirements [python_tools.txt] names, from PyPI, for all clones alike.
# Takes 10 s the first time, and whenever the list has changed. Exit code 3 if they are not to be had.
set -euo pipefail
list=${1:-$(dirname "$0")/python_tools.txt}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/podere
tools=$cache/python-tools-$(sha256sum "$list" | head -c 8)
mkdir -p "$cache"
exec 9>"$cache/python-tools.lock"
flock 9 # another clone may be at it
if [[ ! -e $tools/complete ]]; then
  rm -rf "$tools"
  /usr/bin/python3 -m venv "$tools" 1>&2
  "$tools/bin/pip" -q install --disable-pip-version-check -r "$list" 1>&2 || exit 3
  touch "$tools/complete"
fi
echo "$tools/bin"
