#!/usr/bin/env bash
# A real Kubernetes cluster on this machine, for tests; README.md beside this file says what it is good for.
set -euo pipefail
usage="usage: tests/kubernetes/cluster.sh COMMAND [--name NAME], any number of clusters, each with its NAME
  start [--nodes N] [--kubelet] [--audit] [--port PORT] [--owner PID]
                   with N fake nodes, and one with a real kubelet (needs root); it ends when process PID does;
                   --audit: the API server writes down what the user \`operator\` asks (audit.log, by audit.yaml)
  stop             ends it, in whatever state it is, and removes all that it left
  status           what runs; exit code 3 if the API server does not answer
  kubeconfig [USER [GROUP]]
                   the path of the administrator's, or of one for a user to whom nothing has been granted
  load IMAGE.tar   gives the real node a container image; image.sh makes one
  down PART, up PART
                   kills a part (status names them) and keeps it down; lets it come back"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/certificates.sh"

refuse() {
  echo "test cluster: $*" >&2
  exit 2
}

kubectl() {
  "$programs/kubectl" --kubeconfig "$folder/admin.kubeconfig" "$@"
}

# wait_for SECONDS COMMAND...: until it succeeds; fails if the time is over.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

free_port() {
  local port
  while port=$(shuf -i 20000-31999 -n 1); (echo >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

free_subnet() { # a 10.x.0.0/16: pods in .0.0/18, fake ones in .64.0/18, services in .128.0/18, the real node is .255.2
  local subnet
  while
    subnet=10.$(shuf -i 128-250 -n 1)
    grep -qF "\"$subnet\"" "$folder"/../*/settings 2>/dev/null || ip -4 route 2>/dev/null | grep -qF "$subnet."
  do :; done
  echo "$subnet"
}

supervisor() { # its process id, if it lives
  local pid
  pid=$(cat "$folder/supervisor.pid" 2>/dev/null) && grep -qsF "$folder" "/proc/$pid/cmdline" && echo "$pid"
}

fake_nodes() {
  local i
  for ((i = 0; i < fake; i++)); do
    cat <<YAML
---
apiVersion: v1
kind: Node
metadata: {name: fake-$i, labels: {podere.test/node: fake, kubernetes.io/hostname: fake-$i}}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}, capacity: {cpu: "16", memory: 64Gi, pods: "110"}}
YAML
  done
}

nodes_ready() {
  local n=$((fake + (${#real} > 0)))
  [[ $(kubectl get nodes -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' |
    grep -c True) == "$n" ]]
}

bring_up() {
  wait_for 60 kubectl get --raw /readyz &&
    { ((fake == 0)) || fake_nodes | kubectl create -f - >"$folder/fake_nodes.log"; } &&
    wait_for 60 kubectl get serviceaccount default &&
    wait_for 90 nodes_ready
}

start() {
  [[ -z $real || $EUID == 0 ]] || refuse "--kubelet needs root"
  ! supervisor >/dev/null || refuse "$name runs already; stop ends it"
  programs=$("$here/build.sh")
  for part in openssl setpriv setsid ${real:+containerd runc iptables ip socat nsenter unshare /usr/lib/cni/bridge}; do
    type "$part" >/dev/null 2>&1 || { echo "test cluster: needs $part: tools/setup.sh kubernetes" >&2; exit 3; }
  done
  stop
  mkdir -p "$folder"
  chmod 700 "$folder"
  local subnet etcd_port peer_port host_address node_address parts
  subnet=$(free_subnet) etcd_port=$(free_port) peer_port=$(free_port) api_port=${port:-$(free_port)}
  host_address=$subnet.255.1 node_address=$subnet.255.2
  parts="etcd apiserver ${real:+relay} controllers scheduler ${real:+node}"
  ((fake == 0)) || parts+=" kwok"
  declare -p programs subnet etcd_port peer_port api_port host_address node_address parts fake real audit owner |
    sed 's/^declare --/declare -g/' >"$folder/settings"

  certificate ca /CN=podere-test
  certificate tokens /CN=tokens
  certificate server /CN=kube-apiserver "IP:127.0.0.1,IP:$host_address,IP:$subnet.128.1,DNS:localhost,DNS:kubernetes,\
DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  user admin /O=system:masters/CN=admin
  setsid --fork "$here/supervise.sh" "$folder" >"$folder/supervisor.log" 2>&1 </dev/null
  if ! bring_up; then
    echo "test cluster: did not come up; the last lines of its logs:" >&2
    tail -n 5 "$folder"/*.log >&2
    stop
    exit 1
  fi
  echo "$folder/admin.kubeconfig"
}

remove_cgroups() { # of the real node, so root's; succeeds if there were none left
  ((EUID != 0)) || [[ -z $(find /sys/fs/cgroup -depth -type d \( -path "*/podere-$name" -o -path "*/podere-$name/*" \) \
    -print -exec rmdir {} \;) ]]
}

# Also what a killed supervisor left: a process that it had just started, cgroups, files.
stop() {
  local pid
  [[ -e $folder ]] || return 0
  for pid in $(supervisor || true) $(cat "$folder"/*.pid 2>/dev/null); do
    while grep -qsF "$folder" "/proc/$pid/cmdline"; do kill -KILL "$pid" 2>/dev/null || sleep 0.05; done
  done
  wait_for 20 remove_cgroups || echo "test cluster: processes are left in the control group podere-$name" >&2
  rm -rf "$folder"
}

status() {
  local part pid
  for part in $parts; do
    if pid=$(cat "$folder/$part.pid" 2>/dev/null); then echo "$part: process $pid"; else echo "$part: down"; fi
  done
  kubectl get --raw /readyz >/dev/null 2>&1 || exit 3
}

in_node() { # with its files, processes and network, as root
  local pid
  pid=$(cat "$folder/node.pid" 2>/dev/null) && pid=$(pgrep -P "$pid") || refuse "$name has no real node, or it is down"
  nsenter --target "$pid" --mount --root --wd --pid --net "$@"
}

(($#)) || { echo "$usage" >&2; exit 2; }
verb=$1
shift
name=default fake=0 real='' audit='' port='' owner='' arguments=()
while (($#)); do
  case $1 in
    --kubelet) real=yes; shift; continue ;;
    --audit) audit=yes; shift; continue ;;
    --name | --nodes | --port | --owner) (($# > 1)) || refuse "$1 needs a value" ;;
    -*) refuse "no option $1; called without arguments it shows its commands" ;;
    *) arguments+=("$1"); shift; continue ;;
  esac
  [[ $1 == --name || $2 =~ ^[0-9]+$ ]] || refuse "$1 is $2, must be a number"
  [[ $2 =~ ^[a-z0-9-]+$ ]] || refuse "$1 is $2, may hold a to z, 0 to 9 and -"
  case $1 in --name) name=$2 ;; --nodes) fake=$2 ;; --port) port=$2 ;; --owner) owner=$2 ;; esac
  shift 2
done
folder=${TMPDIR:-/tmp}/podere-kubernetes-$EUID/$name
set -- "${arguments[@]}"

case $verb in
  start) start; exit ;;
  stop) stop; exit ;;
  status | kubeconfig | load | down | up) ;;
  *) refuse "no command $verb; called without arguments it shows its commands" ;;
esac
[[ -e $folder/settings ]] || { echo "test cluster: $name does not run" >&2; exit 3; }
source "$folder/settings"
known() { [[ " $parts " == *" ${1:-} "* ]] || refuse "no part '${1:-}'; there are: $parts"; }
case $verb in
  status) status ;;
  kubeconfig)
    [[ -z ${1:-} || -e $folder/$1.kubeconfig ]] || user "$1" "${2:+/O=$2}/CN=$1"
    echo "$folder/${1:-admin}.kubeconfig" ;;
  load)
    [[ -r ${1:-} ]] || refuse "cannot read the image '${1:-}'"
    in_node ctr --namespace k8s.io images import - <"$1" ;;
  down)
    known "${1:-}"
    touch "$folder/$1.down"
    ! pid=$(cat "$folder/$1.pid" 2>/dev/null) || kill -KILL "$pid" ;;
  up)
    known "${1:-}"
    rm -f "$folder/$1.down" ;;
esac
