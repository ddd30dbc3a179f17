#!/usr/bin/env bash
# tests/python/polars.sh FOLDER: puts Polars, which Debian has not, from PyPI into FOLDER, unless it is there. Exit code 3
# if it is not to be had.
set -euo pipefail
version=2.1.0
[[ -d $1/polars-$version.dist-info ]] && exit
rm -rf "$1" "$1.venv"
trap 'rm -rf "$1.venv"' EXIT
/usr/bin/python3 -m venv "$1.venv"
"$1.venv/bin/pip" -q install --disable-pip-version-check --target "$1" "polars==$version" || exit 3
