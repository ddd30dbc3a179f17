#!/usr/bin/env bash
# supervise.sh FOLDER [PART]: the parent of all processes of the cluster in FOLDER, or the parent of one part. Each dies
# with its parent, even if that was killed, so that the supervisor's end is the cluster's.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/settings"
cd "$folder"
export PATH=$programs:$PATH

set_command() { # of a part
  local url=https://127.0.0.1:$etcd_port peer=http://127.0.0.1:$peer_port
  local of_controllers=(--kubeconfig "$folder/admin.kubeconfig" --leader-elect=false --secure-port=0
    --kube-api-qps=1000 --kube-api-burst=2000)
  case $1 in
    etcd)
      command=(etcd --data-dir="$folder/etcd" --unsafe-no-fsync --log-level=warn
        --listen-client-urls="$url" --advertise-client-urls="$url" --client-cert-auth
        --trusted-ca-file="$folder/ca.crt" --cert-file="$folder/server.crt" --key-file="$folder/server.key"
        --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" --initial-cluster="default=$peer") ;;
    apiserver)
      command=(kube-apiserver --bind-address=127.0.0.1 --secure-port="$api_port" --advertise-address="$host_address"
        --client-ca-file="$folder/ca.crt" --tls-cert-file="$folder/server.crt"
        --tls-private-key-file="$folder/server.key" --authorization-mode=Node,RBAC --allow-privileged
        --enable-admission-plugins=NodeRestriction --service-cluster-ip-range="$subnet.128.0/18"
        --service-account-issuer=https://kubernetes.default.svc.cluster.local
        --service-account-key-file="$folder/tokens.crt" --service-account-signing-key-file="$folder/tokens.key"
        --etcd-servers="$url" --etcd-cafile="$folder/ca.crt" --etcd-certfile="$folder/admin.crt"
        --etcd-keyfile="$folder/admin.key" --kubelet-certificate-authority="$folder/ca.crt"
        --kubelet-client-certificate="$folder/admin.crt" --kubelet-client-key="$folder/admin.key"
        --kubelet-preferred-address-types=InternalIP
        ${audit:+--audit-policy-file="$here/audit.yaml" --audit-log-path="$folder/audit.log"}) ;;
    controllers)
      command=(kube-controller-manager "${of_controllers[@]}" --use-service-account-credentials
        --root-ca-file="$folder/ca.crt" --service-account-private-key-file="$folder/tokens.key"
        --cluster-signing-cert-file="$folder/ca.crt" --cluster-signing-key-file="$folder/ca.key") ;;
    scheduler) command=(kube-scheduler "${of_controllers[@]}") ;;
    kwok)
      command=(kwok --kubeconfig="$folder/admin.kubeconfig" --config="$here/fake_nodes.yaml"
        --cidr="$subnet.64.0/18") ;;
    relay) # the real node and its pods reach the API server, which listens on loopback only, through this
      command=(socat "TCP-LISTEN:$api_port,bind=$host_address,freebind,fork,reuseaddr" "TCP:127.0.0.1:$api_port") ;;
    node) command=("$here/node.sh" "$folder") ;;
  esac
}

# Runs a part, and again when it has ended, unless it is held down.
keep() {
  local command
  set_command "$1"
  while :; do
    if [[ ! -e $1.down ]]; then
      setpriv --pdeathsig KILL "${command[@]}" >>"$1.log" 2>&1 &
      echo $! >"$1.pid"
      wait $! || true
      rm -f "$1.pid"
    fi
    sleep 0.2
  done
}

supervise() {
  local part
  echo $$ >supervisor.pid
  for part in $parts; do
    # These two end if they cannot reach it soon.
    [[ $part != controllers ]] || until kubectl --kubeconfig admin.kubeconfig get --raw /readyz; do sleep 0.1; done
    setpriv --pdeathsig KILL "$0" "$folder" "$part" &
  done
  setpriv --pdeathsig KILL tail -f /dev/null ${owner:+--pid "$owner"}
  setsid "$here/cluster.sh" stop --name "$(basename "$folder")" &
  wait
}

if (($# > 1)); then keep "$2"; else supervise; fi
