#!/usr/bin/env bash
# tests/python/uproot.sh FOLDER: puts uproot, which Debian has not, from PyPI into FOLDER, unless it is there. Exit code 3
# if it is not to be had.
set -euo pipefail
uproot=5.7.7
[[ -d $1/uproot-$uproot.dist-info ]] && exit
rm -rf "$1" "$1.venv"
trap 'rm -rf "$1.venv"' EXIT
/usr/bin/python3 -m venv "$1.venv"
# With Debian's NumPy.
"$1.venv/bin/pip" -q install --disable-pip-version-check --no-deps --target "$1" "uproot==$uproot" awkward==2.14.0 \
  awkward_cpp==57 cramjam==2.14.0 fsspec==2026.9.0 xxhash==4.1.0 importlib_metadata==8.5.0 zipp packaging typing_extensions || exit 3
