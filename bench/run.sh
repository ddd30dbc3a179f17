#!/usr/bin/env bash
# The benchmarks that docs/performance.md quotes, less those of trees (trees.sh): one JSON line a measurement.
# BENCH_DIRECTORY keeps the generated tables (2 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
export BENCH_DIRECTORY=${BENCH_DIRECTORY:-${TMPDIR:-/tmp}/podere-bench}
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE  # where set, they halve a peer's speed
bin=build/release/bench

mkdir -p "$BENCH_DIRECTORY"
for threads in 1 2; do "$bin/generate_bench" --threads "$threads" --directory "$BENCH_DIRECTORY"; done
/usr/bin/python3 bench/csv_peers.py "$bin/csv_bench" --directory "$BENCH_DIRECTORY"
for _ in 1 2 3; do
  build/release/bin/podere doctor --json | jq -c '{bench: "start", executors: 2, found: (.findings[] | select(.name == "2 executors").found)}'
done
