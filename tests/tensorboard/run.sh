#!/usr/bin/env bash
# tests/tensorboard/run.sh PROGRAM: what PROGRAM writes with --tensorboard, in TensorBoard itself and a real browser. Puts
# the newest TensorBoard of PyPI into a virtual environment, build/tensorboard, if there is none yet. Screenshots lie in
# build/tensorboard/seen; that of the documentation is time-series.png.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
[[ -x build/tensorboard/bin/pip ]] || /usr/bin/python3 -m venv build/tensorboard
[[ -x build/tensorboard/bin/tensorboard ]] || build/tensorboard/bin/pip -q install --disable-pip-version-check tensorboard
mkdir -p build/tensorboard/seen
export CI=true PODERE=$program TENSORBOARD=$PWD/build/tensorboard/bin/tensorboard SEEN=$PWD/build/tensorboard/seen
exec /usr/bin/python3 -B -m pytest -q -p no:cacheprovider tests/tensorboard
