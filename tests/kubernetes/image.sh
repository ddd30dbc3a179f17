#!/usr/bin/env bash
# tests/kubernetes/image.sh NAME:TAG COMMAND PATH...: a container image of one layer on standard output, in the form
# that `docker save` writes and `cluster.sh load` reads. A PATH that is a folder gives what is in it, a file itself, both
# at the image's root. COMMAND is what runs in a container that names no other.
set -euo pipefail
(($# >= 3)) || { echo "usage: $0 NAME:TAG COMMAND PATH..." >&2; exit 2; }
image=$1 command=$2
shift 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
members=()
for path; do
  if [[ -d $path ]]; then members+=(-C "$path" .); else members+=(-C "$(dirname "$path")" "$(basename "$path")"); fi
done
tar --create --file "$work/layer.tar" --owner 0 --group 0 --numeric-owner --mtime @0 --sort name "${members[@]}"
layer=$(sha256sum "$work/layer.tar" | cut -d ' ' -f 1)
cat >"$work/config.json" <<JSON
{"architecture": "$(dpkg --print-architecture)", "os": "linux", "config": {"Entrypoint": ["$command"],
 "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$layer"]}}
JSON
echo "[{\"Config\": \"config.json\", \"RepoTags\": [\"$image\"], \"Layers\": [\"layer.tar\"]}]" >"$work/manifest.json"
tar --create --file - --mtime @0 -C "$work" manifest.json config.json layer.tar
