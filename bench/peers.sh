#!/usr/bin/env bash
# Puts the newest releases of the peers into a virtual environment, build/peers (1 GB), if they are not there yet.
# A peer that cannot be had is named, and measured as Debian packages it or not at all: bench/trees.py says which.
# To have newer ones: rm -r build/peers.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -x build/peers/bin/pip ]] || /usr/bin/python3 -m venv build/peers

# xgboost-cpu is xgboost without 300 MB for graphics cards.
declare -A package=(
  [numpy]=numpy [pyarrow]=pyarrow [xgboost]=xgboost-cpu [lightgbm]=lightgbm [sklearn]=scikit-learn [pyspark]=pyspark
  [pandas]=pandas [optuna]=optuna [flaml]=flaml [ray]='ray[tune]' [faiss]=faiss-cpu)
for module in numpy pyarrow xgboost lightgbm sklearn pyspark pandas optuna flaml ray faiss; do
  build/peers/bin/python -c "import $module" 2>/dev/null && continue
  echo "peers: installing ${package[$module]}" >&2
  build/peers/bin/pip -q install --disable-pip-version-check --use-pep517 "${package[$module]}" >&2 ||
    echo "peers: ${package[$module]} is not to be had" >&2
done
