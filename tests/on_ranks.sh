#!/bin/bash
# tests/on_ranks.sh N PROGRAM: the tests of a program on N ranks. Once more if all of them passed and mpirun failed all the
# same, as it did on a busy machine: it waits two seconds for the farewell of a rank, then calls its end an error.
set -u
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
words=$(mktemp)
trap 'rm -f "$words"' EXIT

run() {
  mpirun -n "$1" "$2" 2>&1 | tee "$words"
  return "${PIPESTATUS[0]}"
}

run "$@" && exit 0
status=$?
# Ranks above 0 print failures only: the file and the line, then what.
if ! grep -qF '[  PASSED  ]' "$words" || grep -v ': Skipped$' "$words" |
  grep -q 'FAILED\|\.cc:[0-9]*:\|Sanitizer\|runtime error\|exited on signal'; then
  exit "$status"
fi
echo "on_ranks.sh: all tests passed, and mpirun failed ($status): once more"
run "$@"
