#!/usr/bin/env bash
# tools/fuzz.sh BUILD: runs each fuzz target of the build directory for FUZZ_SECONDS (60), as many at a time as there are
# cores, from what it has found before (kept in BUILD/corpus) and from tests/fuzz/<target>: from nothing it would not get
# past the first bytes of a format. A make_seeds.py in that folder writes more. An input that breaks it is left in
# BUILD/found.
set -euo pipefail
cd "$(dirname "$0")/.."
export build=$PWD/$1 FUZZ_SECONDS=${FUZZ_SECONDS:-60}
export ASAN_OPTIONS=intercept_tls_get_addr=0
export LSAN_OPTIONS=suppressions=$PWD/tools/sanitizers/lsan.supp:print_suppressions=0
shopt -s nullglob
targets=("$build"/fuzzers/*)
((${#targets[@]})) || { echo "fuzz: no targets in $build/fuzzers" >&2; exit 1; }
mkdir -p "$build/found"

run() {
  local target=$1 name log
  name=$(basename "$target")
  log=$build/$name.log
  [[ -d tests/fuzz/$name ]] || { echo "fuzz: $name has nothing to begin with in tests/fuzz/$name" >&2; return 1; }
  mkdir -p "$build/corpus/$name" "$build/seeds/$name"
  if [[ -x tests/fuzz/$name/make_seeds.py ]]; then "tests/fuzz/$name/make_seeds.py" "$build/seeds/$name" || return 1; fi
  "$target" -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "tests/fuzz/$name" "$build/seeds/$name" >"$log" 2>&1 ||
    { tail -n 60 "$log"; grep -aE 'what\(\)|no line|ERROR:|runtime error' "$log" | sed "s/^/fuzz: $name: /"
      echo "fuzz: $name found a fault; its input is in $build/found" >&2; return 1; }
  echo "fuzz: $name: $(grep -E '^Done' "$log")"
}
export -f run

echo "fuzz: ${#targets[@]} targets for $FUZZ_SECONDS s each"
printf '%s\0' "${targets[@]}" | xargs -0 -P "$(nproc)" -I '{}' bash -c 'run {}'
