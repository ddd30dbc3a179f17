#!/usr/bin/env bash
# node.sh FOLDER: the node with a real kubelet of the cluster in FOLDER, a host of its own: its network, processes and
# mounts are in namespaces, so that all of them go with its first process, and /run, /var/lib and /var/log are its own.
# It and its pods are reached from outside at their addresses.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/settings"
group=podere-$(basename "$folder")

credentials() {
  source "$here/certificates.sh"
  certificate kubelet /CN=real "IP:$node_address,DNS:real"
  user real /O=system:nodes/CN=system:node:real "$host_address"
  user proxy /CN=system:kube-proxy "$host_address"
  user coredns /O=system:masters/CN=coredns "$host_address"
}

cgroups() { # one for the pods in each hierarchy; there is one in all on a newer host
  local hierarchy file
  for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*/; do
    mountpoint -q "$hierarchy" && [[ -e $hierarchy/cgroup.procs ]] || continue
    [[ ! -e $hierarchy/$group ]] || find "$hierarchy/$group" -depth -type d -exec rmdir {} + # of this node's last life
    mkdir -p "$hierarchy/$group"
    for file in cpuset.cpus cpuset.mems; do # empty in a new one of the old kind, which then takes no process
      [[ ! -e $hierarchy/cgroup.clone_children || ! -e $hierarchy/$file ]] ||
        cat "$hierarchy/$file" >"$hierarchy/$group/$file"
    done
  done
}

network() { # a cable to the host, on which it ends as pd-$subnet
  local outside=(nsenter --net="/proc/$PPID/ns/net") link=pd-${subnet#10.}
  "${outside[@]}" ip link add "$link" type veth peer name eth0 netns $$
  "${outside[@]}" ip address add "$host_address/30" dev "$link"
  "${outside[@]}" ip link set "$link" up
  "${outside[@]}" ip route add "$subnet.0.0/16" via "$node_address"
  ip link set lo up
  ip address add "$node_address/30" dev eth0
  ip link set eth0 up
  ip route add default via "$host_address"
  echo 1 >/proc/sys/net/ipv4/ip_forward
}

mounts() {
  mount --make-rshared /
  mkdir -p "$folder"/node/{lib,log}
  rm -rf "$folder/node/lib/cni" # the last life's, too: addresses of pods that ended with it
  mount -t tmpfs tmpfs /run
  mount --bind "$folder/node/lib" /var/lib
  mount --bind "$folder/node/log" /var/log
  mkdir -p /run/podere/cni
}

configure() {
  cat >/run/podere/containerd.toml <<TOML
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "podere.test/pause:1"
  restrict_oom_score_adj = true  # lowering it is not allowed everywhere
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/run/podere/cni"
TOML
  cat >/run/podere/cni/pods.conflist <<JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$subnet.0.0/18"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
JSON
  cat >/run/podere/kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $node_address
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $folder/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $folder/kubelet.crt
tlsPrivateKeyFile: $folder/kubelet.key
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$group
clusterDNS: [$node_address]
clusterDomain: cluster.local
resolvConf: ""
failSwapOn: false
evictionHard: {nodefs.available: "0%", imagefs.available: "0%", memory.available: "0%"}  # the disk is others' too
imageGCHighThresholdPercent: 100
YAML
  cat >/run/podere/proxy.yaml <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: real
bindAddress: $node_address
clientConnection: {kubeconfig: $folder/proxy.kubeconfig}
healthzBindAddress: $node_address:10256
metricsBindAddress: $node_address:10249
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}  # not a namespace's to set
YAML
  cat >/run/podere/Corefile <<COREFILE
cluster.local in-addr.arpa {
  bind $node_address
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $folder/coredns.kubeconfig
    ttl 0
  }
}
COREFILE
}

first_process() { # of the node; when one of its four ends, the node ends
  mounts
  configure
  containerd --config /run/podere/containerd.toml >>"$folder/containerd.log" 2>&1 &
  until ctr version >/dev/null 2>&1; do sleep 0.1; done
  ctr --namespace k8s.io images import "$programs/pause.tar" >/dev/null
  kubelet --config /run/podere/kubelet.yaml --kubeconfig "$folder/real.kubeconfig" --hostname-override real \
    --node-ip "$node_address" --node-labels podere.test/node=real >>"$folder/kubelet.log" 2>&1 &
  kube-proxy --config /run/podere/proxy.yaml >>"$folder/proxy.log" 2>&1 &
  coredns -conf /run/podere/Corefile >>"$folder/coredns.log" 2>&1 &
  wait -n
}

case ${2:-} in
  '')
    credentials
    cgroups
    exec unshare --net "$0" "$folder" in-network ;;
  in-network)
    network
    exec unshare --pid --fork --kill-child --mount-proc "$0" "$folder" in-all ;;
  in-all) first_process ;;
esac
