#!/usr/bin/env bash
# Does a clone build and run where nothing is prepared? tools/fresh_root_test.sh DIRECTORY [command...]
#
# Makes a bare Debian 12 root in DIRECTORY (must not be there yet) with git and make, as on
# any build machine; puts a clone of this repository's HEAD in it; and runs there, as root and in an empty environment, the
# commands given, or make run and then make test. Each command is one argument, run by sh in the clone.
# Packages come from where this machine's own apt takes them. With FRESH_ROOT_TARBALL=file the bare root is kept in
# that file and read from it the next time. Needs root. Mounts and processes end with the script; DIRECTORY stays.
set -euo pipefail

[[ $# -ge 1 && ! -e $1 ]] || { echo "usage: $0 DIRECTORY [command...], DIRECTORY not there yet" >&2; exit 2; }
((EUID == 0)) || { echo "$0: needs root, for debootstrap and chroot" >&2; exit 2; }
repository=$(cd "$(dirname "$0")/.." && pwd)
"$repository/tools/setup.sh" fresh
mkdir -p "$1"
root=$(cd "$1" && pwd)
shift
(($#)) || set -- "make run" "make test"
tarball=${FRESH_ROOT_TARBALL:-}

# In namespaces of their own, so that no mount or process outlives the command.
in_root() {
  unshare --mount --pid --fork --kill-child sh -euc '
    root=$1; shift
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mkdir "$root/outside"
    cd "$root"
    pivot_root . outside # and not chroot, in which no process can have mounts of its own, as containers do
    umount -l /outside
    rmdir /outside
    exec "$@"' sh "$root" /usr/bin/env -i HOME=/root TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${proxies[@]}" "$@"
}
mapfile -t proxies < <(env | grep -iE '^(https?|ftp|no)_proxy=' || true)

if [[ -n $tarball && -e $tarball ]]; then
  echo "fresh root: from $tarball"
  tar -xf "$tarball" -C "$root"
else
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
  echo "fresh root: debootstrap"
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 ||
    { tail -n 20 "$root.log" >&2; exit 1; }

  # How this machine reaches its packages: sources, keys, certificates, names.
  rm -f "$root/etc/apt/sources.list"
  for path in /etc/apt/{sources.list,sources.list.d,trusted.gpg,trusted.gpg.d,keyrings,auth.conf,auth.conf.d} \
    /etc/ssl/certs /usr/share/ca-certificates /usr/local/share/ca-certificates /etc/resolv.conf /etc/hosts; do
    [[ ! -e $path ]] || { mkdir -p "$root$(dirname "$path")" && cp -rLT "$path" "$root$path"; }
  done
  apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90host"
  in_root sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends \
    git make >/dev/null'
  [[ -z $tarball ]] || tar -cf "$tarball" -C "$root" .
fi

git clone --quiet --no-local "$repository" "$root/root/podere"
for command in "$@"; do
  start=$SECONDS
  echo "fresh root: $command"
  in_root sh -c "cd /root/podere && $command"
  echo "fresh root: $command: passed in $((SECONDS - start)) s"
done
