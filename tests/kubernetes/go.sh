#!/usr/bin/env bash
# tests/kubernetes/go.sh: prints the path of a Go that is new enough to build the programs of the test cluster.
set -euo pipefail
needed=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' "$(dirname "$0")/programs/go.mod")
for go in "$(command -v go || true)" /usr/lib/go-*/bin/go; do # Debian's versions lie side by side, off the PATH
  [[ -x $go ]] || continue
  found=$(GOTOOLCHAIN=local "$go" env GOVERSION)
  [[ $(printf '%s\n' "$needed" "${found#go}" | sort --version-sort | head -n 1) != "$needed" ]] || { echo "$go"; exit; }
done
echo "test cluster: needs Go $needed or newer: tools/setup.sh kubernetes" >&2
exit 3
