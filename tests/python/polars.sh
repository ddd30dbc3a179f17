#!/usr/bin/env bash
# tests/python/polars.sh FOLDER: puts Polars and pyarrow, which Debian has not, and Dask from PyPI into FOLDER, unless they
# are there. Exit code 3 if they are not to be had.
set -euo pipefail
polars=2.1.0
pyarrow=15.0.2 # the last for Debian's NumPy
dask=2024.2.1  # the last for Debian's pandas
[[ -d $1/polars-$polars.dist-info && -d $1/pyarrow-$pyarrow.dist-info && -d $1/dask-$dask.dist-info ]] && exit
rm -rf "$1" "$1.venv"
trap 'rm -rf "$1.venv"' EXIT
/usr/bin/python3 -m venv "$1.venv"
install=("$1.venv/bin/pip" -q install --disable-pip-version-check --target "$1")
"${install[@]}" "polars==$polars" "dask==$dask" || exit 3
"${install[@]}" --no-deps "pyarrow==$pyarrow" || exit 3 # with Debian's NumPy
