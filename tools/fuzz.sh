#!/usr/bin/env bash
# tools/fuzz.sh BUILD: runs each fuzz target of the build directory for FUZZ_SECONDS (60), from what it has found before
# (kept in BUILD/corpus) and from tests/fuzz/<target> where that is. An input that breaks it is left in BUILD/found.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/$1
shopt -s nullglob
targets=("$build"/fuzzers/*)
((${#targets[@]})) || { echo "fuzz: no targets in $build/fuzzers" >&2; exit 1; }

export ASAN_OPTIONS=fast_unwind_on_malloc=0 LSAN_OPTIONS=suppressions=$PWD/tools/sanitizers/lsan.supp:print_suppressions=0
mkdir -p "$build/found"
for target in "${targets[@]}"; do
  name=$(basename "$target")
  seeds=(tests/fuzz/"$name")
  [[ -d ${seeds[0]} ]] || seeds=()
  mkdir -p "$build/corpus/$name"
  log=$build/$name.log
  echo "fuzz: $name for ${FUZZ_SECONDS:=60} s"
  "$target" -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "${seeds[@]}" >"$log" 2>&1 ||
    { tail -n 60 "$log"; echo "fuzz: $name found a fault; its input is in $build/found" >&2; exit 1; }
  grep -E 'DONE|number_of_executed_units' "$log"
done
