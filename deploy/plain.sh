#!/bin/sh
# deploy/plain.sh >deploy/operator.yaml: the chart with its defaults, for those without Helm. HELM names the program.
set -eu
here=$(dirname "$0")
cat <<'YAML'
# Made by deploy/plain.sh of deploy/chart. Put your image in place of podere-operator:0.1.0, then:
# kubectl apply -f deploy/chart/crds
# kubectl wait -f deploy/chart/crds --for=condition=Established
# kubectl apply -f deploy/operator.yaml
# A cluster before Kubernetes 1.30 has no ValidatingAdmissionPolicy; all the rest works there.
apiVersion: v1
kind: Namespace
metadata: {name: podere}
YAML
"${HELM:-$here/../tests/kubernetes/helm.sh}" template podere "$here/chart" --namespace podere \
  --set image=podere-operator:0.1.0 --api-versions admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy
