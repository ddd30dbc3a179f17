#!/usr/bin/env bash
# packaging/deb.sh BUILD FOLDER: puts a Debian package of the program and the Python package that the build tree BUILD holds
# into FOLDER, for this release of Debian or Ubuntu.
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake -S "$(dirname "$0")" -B "$scratch" --log-level=NOTICE -DPODERE_BUILD="$build" >"$scratch/log" ||
  { cat "$scratch/log" >&2; exit 1; }
(cd "$scratch" && cpack >log 2>&1) || { cat "$scratch/log" >&2; exit 1; }
mv "$scratch"/*.deb "$folder"
ls "$folder"/podere_*.deb
