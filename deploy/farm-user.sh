#!/bin/sh
# deploy/farm-user.sh NAMESPACE/FARM WHO... | kubectl apply -f -
# Lets others work with one farm: look at it, scale it, and log in to its executors by its key, which they may read by name.
# WHO is a user as the cluster knows him, group:NAME, or serviceaccount:NAME of that namespace. Each has a binding of his
# own, so that others may be added; to revoke it: deploy/farm-user.sh NAMESPACE/FARM WHO | kubectl delete -f -
set -eu
usage="usage: $0 NAMESPACE/FARM WHO..., each a user, group:NAME or serviceaccount:NAME"
name='[a-z0-9]([-a-z0-9.]*[a-z0-9])?'
[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
echo "$1" | grep -qxE "$name/$name" || { echo "'$1' is not NAMESPACE/FARM; $usage" >&2; exit 2; }
namespace=${1%/*} farm=${1#*/}
shift

for who; do
  echo "$who" | grep -qxE '[A-Za-z0-9._:@+-]+' ||
    { echo "'$who' is no name of a user: letters, digits and . _ : @ + - are allowed" >&2; exit 2; }
  api="apiGroup: rbac.authorization.k8s.io, kind"
  case $who in
    serviceaccount:*) subject="{kind: ServiceAccount, name: '${who#*:}', namespace: $namespace}" ;;
    group:*) subject="{$api: Group, name: '${who#*:}'}" ;;
    *) subject="{$api: User, name: '$who'}" ;;
  esac
  cat <<YAML
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: 'podere-farm-user:$farm:$who', namespace: $namespace}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: podere-farm-user}
subjects: [$subject]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: 'podere-farm:$farm:$who', namespace: $namespace}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: podere-farm-$farm}
subjects: [$subject]
YAML
done
cat <<YAML
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: podere-farm-$farm, namespace: $namespace}
rules:
- {apiGroups: [podere.dev], resources: [farms/scale], resourceNames: [$farm], verbs: [get, update, patch]}
- {apiGroups: [""], resources: [secrets], resourceNames: [podere-farm-$farm], verbs: [get]}
YAML
