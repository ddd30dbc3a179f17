"""The room kube against a real API server."""

import os
import subprocess

from conftest import cannot, started


def test_the_client_and_a_real_api_server_understand_each_other():
    program = os.environ.get("KUBE_CLUSTER_TEST") or cannot("KUBE_CLUSTER_TEST does not name the program")
    with started("client", "--nodes", "2") as cluster:  # of its own: parts of it are killed
        cluster.kubeconfig("student")
        subprocess.run([program], check=True, timeout=600, env={
            **os.environ, "PODERE_TEST_CLUSTER": str(cluster.folder),
            "PODERE_TEST_KUBECTL": str(cluster.programs / "kubectl")})
