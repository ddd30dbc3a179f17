#!/usr/bin/env bash
# tests/kubernetes/helm.sh ARGUMENTS...: Helm, built from its Go module when it is called for the first time: the version
# that helm/go.mod names, into the folder where build.sh puts the programs of the test cluster.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/podere

version=$(sed -n 's|.*helm.sh/helm/v3 v\([0-9.]*\).*|\1|p' "$here/helm/go.mod")
kubernetes=$(sed -n 's|.*k8s.io/client-go v0\.\([0-9]*\).*|\1|p' "$here/helm/go.mod") # 1.x, of which it takes itself to be
program=$cache/helm-$version-$(cat "$here"/helm/* "${BASH_SOURCE[0]}" | sha256sum | cut -c 1-8)

build() {
  local go
  go=$("$here/go.sh")
  echo "test cluster: building Helm $version, once" >&2
  cd "$here/helm"
  export CGO_ENABLED=0 GOFLAGS='' GOCACHE=$new/compiled
  rm -rf "$new"
  mkdir -p "$new"
  "$go" list -deps helm.sh/helm/v3/cmd/helm >/dev/null 2>"$new/modules.log" ||
    { tail -n 3 "$new/modules.log" >&2; echo "test cluster: Helm's Go modules are not to be had" >&2; exit 3; }
  local of=helm.sh/helm/v3/pkg
  "$go" build -o "$new/helm" -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags="-s -w
    -X helm.sh/helm/v3/internal/version.version=v$version
    -X $of/chartutil.k8sVersionMajor=1 -X $of/chartutil.k8sVersionMinor=$kubernetes
    -X $of/lint/rules.k8sVersionMajor=1 -X $of/lint/rules.k8sVersionMinor=$kubernetes" helm.sh/helm/v3/cmd/helm
  mv "$new/helm" "$program"
}

if [[ ! -e $program ]]; then
  mkdir -p "$cache"
  (
    flock 9
    new=$program.new
    trap 'rm -rf "$new"' EXIT
    [[ -e $program ]] || build >&2
  ) 9>"$cache/helm.lock"
fi
exec "$program" "$@"
