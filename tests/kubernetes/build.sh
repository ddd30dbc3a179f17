#!/usr/bin/env bash
# tests/kubernetes/build.sh: builds the programs of the test cluster from their Go modules, which programs/go.mod names,
# into a folder outside of the tree, unless they are there, and prints that folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/podere

version=$(sed -n 's|^\tk8s.io/kubernetes v||p' "$here/programs/go.mod")
sources=$(cat "$here"/programs/* "$here/pause.c" "${BASH_SOURCE[0]}" | sha256sum | cut -c 1-8)
folder=$cache/kubernetes-$version-$sources
built() { [[ -e $folder ]] && echo "$folder"; }
built && exit
go=$("$here/go.sh")

mkdir -p "$cache"
exec 9>"$cache/kubernetes.lock"
flock 9
built && exit
new=$cache/kubernetes.new
rm -rf "$new"
mkdir "$new"
trap 'rm -rf "$new"' EXIT
echo "test cluster: building Kubernetes $version, once; this takes minutes" >&2

# What is compiled on the way takes gigabytes and is of no use afterwards; the modules stay in Go's own cache.
export CGO_ENABLED=0 GOFLAGS='' GOCACHE=$new/compiled
cd "$here/programs"
"$go" list -deps . >/dev/null 2>"$new/modules.log" ||
  { tail -n 3 "$new/modules.log" >&2; echo "test cluster: its Go modules are not to be had" >&2; exit 3; }
about=k8s.io/component-base/version
"$go" build -o "$new/kubernetes" -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags="-s -w -X $about.gitVersion=v$version
  -X $about.gitMajor=1 -X $about.gitMinor=$(cut -d . -f 2 <<<"$version")" .
rm -rf "$new/compiled"
for name in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kwok coredns kubectl; do
  ln -s kubernetes "$new/$name"
done
"${CC:-cc}" -static -Os -s -o "$new/pause" "$here/pause.c"
"$here/image.sh" podere.test/pause:1 /pause "$new/pause" >"$new/pause.tar"
mv "$new" "$folder"
built
