#!/usr/bin/env bash
# packaging/wheel.sh BUILD FOLDER: puts a wheel of the package and the program that the build tree BUILD holds into FOLDER,
# for the Python that BUILD was built for. Exit code 3 if what packs wheels is not to be had.
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/.."
tools=$(tools/python_tools.sh)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
settings=(build-dir="$scratch/build" cmake.source-dir=packaging cmake.args=--log-level=NOTICE build.targets=all
  cmake.define.PODERE_BUILD="$build")
"$tools/pip" -q wheel --disable-pip-version-check --no-deps --no-build-isolation --no-index -w "$scratch" \
  "${settings[@]/#/--config-settings=}" .
mv "$scratch"/*.whl "$folder"
ls "$folder"/podere-*.whl
