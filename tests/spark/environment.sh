#!/usr/bin/env bash
# tests/spark/environment.sh [FOLDER]: a virtual environment with PySpark, of PyPI, in FOLDER (~/.cache/podere/spark if
# none is named), unless it is there; prints its Python. NumPy, SciPy, scikit-learn and pytest are Debian's. Exit code 3
# if it is not to be had, or if there is no Java.
set -euo pipefail
pyspark=4.0.1
pyarrow=15.0.2 # the last for Debian's NumPy
pandas=2.2.3   # the last for it, too
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/podere/spark}
command -v java >/dev/null || { echo "spark: there is no Java" >&2; exit 3; }
mark=$folder/pyspark-$pyspark-pyarrow-$pyarrow-pandas-$pandas
if [[ ! -e $mark ]]; then
  mkdir -p "$(dirname "$folder")"
  exec 9>"$folder.lock"
  flock 9 # another test may be making it
  if [[ ! -e $mark ]]; then
    rm -rf "$folder"
    /usr/bin/python3 -m venv --system-site-packages "$folder"
    install=("$folder/bin/pip" -q install --disable-pip-version-check)
    "${install[@]}" --no-deps "pyarrow==$pyarrow" "pandas==$pandas" tzdata pytz py4j==0.10.9.9 >&2 || exit 3
    "${install[@]}" --no-deps --no-build-isolation "pyspark==$pyspark" >&2 || exit 3
    touch "$mark"
  fi
fi
echo "$folder/bin/python"
