#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages of the groups named: tools/setup.sh build [test] [web] [package] [kubernetes] [bench] [fresh];
# tools/setup.sh wheel is for those who install a wheel.
# Does nothing if they are all there. Without root or sudo it prints what is missing and ends with exit code 2.
set -euo pipefail

declare -A group=(
  [build]="g++ cmake ninja-build libopenmpi-dev openmpi-bin libfmt-dev nlohmann-json3-dev libcli11-dev
           libfast-float-dev libmuparser-dev libarchive-dev libsnappy-dev libzstd-dev liblz4-dev libbrotli-dev
           libflatbuffers-dev flatbuffers-compiler libhdf5-dev liblzf-dev libblosc-dev libtiff-dev libjpeg-dev libpng-dev zlib1g-dev libssl-dev libhwy-dev libeigen3-dev libonnx-dev libprotobuf-dev protobuf-compiler
           libisal-dev python3-dev pybind11-dev python3-numpy python3-scipy
           python3-sklearn jq
           bsdextrautils libcurl4-openssl-dev libmicrohttpd-dev prometheus-cpp-dev libyaml-cpp-dev libtomlplusplus-dev"
  [test]="libgtest-dev librapidcheck-dev python3 python3-pytest python3-pytest-xdist python3-numpy python3-scipy python3-pandas python3-sklearn
          python3-xgboost python3-h5py python3-pil python3-onnx python3-matplotlib python3-nbclient python3-ipykernel procps git clang-14 clang-format-14
          clang-tidy-14 libomp-14-dev libclang-rt-14-dev prometheus python3-prometheus-client python3-hypothesis python3-jsonschema python3-torch python3-venv dpkg-dev
          iproute2 openssl openssh-client openssh-server slurm-wlm munge zsh fish default-jre-headless"
  [package]="python3-venv dpkg-dev"
  # What a wheel needs to run: a Debian package brings them along.
  [wheel]="openmpi-bin python3-venv libarchive13 libblosc1 libbrotli1 libcurl4 libfmt9 libgcc-s1 libhdf5-103-1 libhwy1 libisal2 libjpeg62-turbo liblz4-1 liblzf1 libmicrohttpd12 libmuparser2v5 libonnx1
           libopenmpi3 libpng16-16 libprometheus-cpp-core1.0 libprotobuf32 libsnappy1v5 libssl3 libstdc++6 libtiff6 libyaml-cpp0.7
           libzstd1 zlib1g"
  [kubernetes]="gcc libc6-dev containerd runc containernetworking-plugins iproute2 iptables socat busybox-static
                openssl procps python3 python3-pytest python3-yaml"
  [bench]="libopenblas-dev libxsmm-dev pkg-config python3 python3-torch python3-numpy python3-pandas python3-sklearn python3-xgboost python3-venv openjdk-17-jre-headless"
  [network]="python3 iproute2"
  [tensorboard]="python3 python3-venv python3-pytest python3-numpy python3-pil python3-selenium chromium chromium-driver"
  # Chromium wants a message bus: this one brings no systemd, which a container has no use for.
  [web]="dbus-x11 chromium chromium-driver python3 python3-pytest python3-selenium"
  [fresh]="debootstrap git"
)

packages=()
for name in "$@"; do
  [[ -v "group[$name]" ]] || { echo "setup: no group '$name'; there are: ${!group[*]}" >&2; exit 2; }
  read -r -d '' -a members <<<"${group[$name]}" || true
  packages+=("${members[@]}")
done

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null || true)
  [[ $state == *"installed "* && $state != *"not-installed"* ]] || missing+=("$package")
done
# Any Node will do that has npm, wherever it came from.
if [[ " $* " == *" web "* ]] && ! command -v npm >/dev/null; then
  missing+=(nodejs npm)
fi
# To build Kubernetes any Go will do that is new enough, wherever it came from.
go=golang-1.24-go
if [[ " $* " == *" kubernetes "* ]] && ! "$(dirname "$0")/../tests/kubernetes/go.sh" >/dev/null 2>&1; then
  missing+=("$go")
fi
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if sudo -n true 2>/dev/null || { [[ -t 0 ]] && command -v sudo >/dev/null; }; then
    as_root=(sudo)
  else
    echo "setup: neither root nor sudo; please have these packages installed: ${missing[*]}" >&2
    exit 2
  fi
fi
if ! command -v apt-get >/dev/null; then
  echo "setup: not a Debian or Ubuntu system; please install what these packages hold: ${missing[*]}" >&2
  exit 2
fi

apt_install() { # OPTIONS... PACKAGES...
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq --no-install-recommends install "$@" >/dev/null
}

# Debian 12 has no Go that is new enough. Debian 13's needs nothing else of Debian 13; it comes through lists that are
# read for it alone, so that nothing else ever comes from there.
install_go_of_debian_13() {
  local lists mirror options
  lists=$(mktemp -d)
  mkdir -p "$lists/read/partial"
  chmod 755 "$lists" # apt reads as a user of its own
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
  [[ $mirror ]] || { echo "setup: please install Go 1.24 or newer" >&2; exit 2; }
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$lists/sources.list"
  options=(-o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$lists/read")
  "${as_root[@]}" apt-get -qq "${options[@]}" update
  apt_install "${options[@]}" "$go"
  "${as_root[@]}" rm -rf "$lists"
}

# Daemons among the packages are started by the tests that need them, and not by apt.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
fi

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get -qq update
if [[ ${missing[-1]} == "$go" ]] && ! apt-cache show "$go" >/dev/null 2>&1; then
  install_go_of_debian_13
  unset 'missing[-1]'
fi
((!${#missing[@]})) || apt_install "${missing[@]}"
