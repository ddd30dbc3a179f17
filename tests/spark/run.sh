#!/usr/bin/env bash
# tests/spark/run.sh PROGRAM PACKAGE [OPTIONS OF PYTEST]: podere.spark with a real Spark, of PyPI and on Debian's Java.
# PROGRAM is podere, PACKAGE the folder in which the package podere lies. Exit code 3 if Spark is not to be had; in CI
# that is an error.
set -euo pipefail
cd "$(dirname "$0")"
python=$(./environment.sh) || { (($? == 3)) && [[ ! ${CI:-} ]] && exit 3; echo "spark: CI needs it" >&2; exit 1; }
export PODERE=$1 PODERE_PACKAGE=$2
shift 2
for file in test_*.py; do # a process holds one Spark
  "$python" -B -m pytest -q -p no:cacheprovider --durations=5 "$file" "$@"
done
