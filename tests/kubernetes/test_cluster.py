"""The test cluster is what tests of the operator take it for."""

import contextlib
import datetime
import json
import os
import signal
import socket
import subprocess
import time

from conftest import VERSION, started
from live import wait_until


def pod(name, node, command="sleep infinity", grace=30, **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}, **metadata},
            "spec": {"nodeSelector": {"podere.test/node": node}, "terminationGracePeriodSeconds": grace,
                     "containers": [{"name": "main", "image": "podere.test/busybox:1", "imagePullPolicy": "Never",
                                     "args": ["-c", command]}]}}


def run_pod(cluster, namespace, *arguments, **options):
    """Starts a pod; its address once it is ready."""
    made = pod(*arguments, **options)
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=made)
    name = made["metadata"]["name"]
    cluster.kubectl("-n", namespace, "wait", "--for=condition=Ready", "--timeout=60s", f"pod/{name}")
    return cluster.get(f"pod/{name}", namespace)["status"]["podIP"]


def seconds_of(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


def answer(address):
    """Of nc, which between two that it answers does not listen."""
    with contextlib.suppress(ConnectionError), socket.create_connection((address, 7000), timeout=10) as connection:
        return connection.recv(5)


def test_the_api_server_has_the_version_that_was_built(cluster):
    assert json.loads(cluster.kubectl("get", "--raw", "/version"))["gitVersion"] == VERSION
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in cluster.get("nodes", selector="podere.test/node=real")
            } <= {VERSION}


def test_a_user_may_do_what_was_granted_and_no_more(cluster, namespace):
    def may_list(of):
        return cluster.kubectl("-n", of, "get", "pods", user="student", check=False)

    refused = may_list(namespace)
    assert refused.returncode == 1 and 'User "student" cannot list resource "pods"' in refused.stderr
    cluster.kubectl("-n", namespace, "create", "rolebinding", "students", "--clusterrole=view", "--user=student")
    wait_until(lambda: may_list(namespace).returncode == 0, "granted")
    assert "Forbidden" in may_list("default").stderr
    assert "Forbidden" in cluster.kubectl("-n", namespace, "delete", "pod", "any", user="student", check=False).stderr


def test_a_service_account_is_known_by_its_token(cluster, namespace):
    token = cluster.kubectl("-n", namespace, "create", "token", "default").strip()
    settings = json.loads(cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    settings["users"][0]["user"] = {"token": token}
    config = cluster.folder / "token.kubeconfig"
    config.write_text(json.dumps(settings))
    whoami = subprocess.run([cluster.programs / "kubectl", "--kubeconfig", config, "auth", "whoami", "-o", "json"],
                            capture_output=True, text=True, check=True).stdout
    assert json.loads(whoami)["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:default"


def test_200_pods_are_spread_over_fake_nodes_and_run(cluster, namespace):
    template = {key: value for key, value in pod("crowd", "fake").items() if key in ("metadata", "spec")}
    cluster.kubectl("-n", namespace, "create", "-f", "-", given={
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "crowd"},
        "spec": {"replicas": 200, "selector": {"matchLabels": {"app": "crowd"}}, "template": template}})
    cluster.kubectl("-n", namespace, "rollout", "status", "--timeout=120s", "deployment/crowd")
    pods = cluster.get("pods", namespace)
    assert [p["status"]["phase"] for p in pods] == ["Running"] * 200
    assert len({p["status"]["podIP"] for p in pods}) == 200
    assert len({p["spec"]["nodeName"] for p in pods}) == 100


def test_a_pod_too_large_for_any_node_stays_pending_and_says_why(cluster, namespace):
    giant = pod("giant", "fake")
    giant["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "17"}}
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=giant)
    cluster.kubectl("-n", namespace, "wait", "--for=condition=PodScheduled=False", "--timeout=60s", "pod/giant")
    condition, = cluster.get("pod/giant", namespace)["status"]["conditions"]
    assert condition["reason"] == "Unschedulable" and "100 Insufficient cpu" in condition["message"]


def test_a_pod_on_a_fake_node_ends_with_its_grace_period_or_when_it_says(cluster, namespace):
    run_pod(cluster, namespace, "stubborn", "fake", grace=5)
    run_pod(cluster, namespace, "quick", "fake", grace=600, annotations={"podere.test/ends-after": "1"})
    cluster.kubectl("-n", namespace, "delete", "pod", "stubborn", "quick", "--wait=false")
    ends = {p["metadata"]["name"]: seconds_of(p["metadata"]["deletionTimestamp"])
            for p in cluster.get("pods", namespace)}
    assert set(ends) == {"stubborn", "quick"}
    wait_until(lambda: "stubborn" not in str(cluster.get("pods", namespace)), "stubborn is gone")
    assert time.time() >= ends["stubborn"]
    wait_until(lambda: not cluster.get("pods", namespace), "quick is gone")
    assert time.time() < ends["quick"]


def test_a_real_process_is_asked_to_end_and_drains(real_node, namespace):
    run_pod(real_node, namespace, "executor", "real", grace=60, command="""
        trap 'echo asked; sleep 2; echo saved; exit 0' TERM; echo works; while :; do sleep 0.1; done""")
    log = subprocess.Popen(real_node.kubectl_command("-n", namespace, "logs", "-f", "executor"), text=True,
                           stdout=subprocess.PIPE)
    assert log.stdout.readline() == "works\n"
    real_node.kubectl("-n", namespace, "delete", "pod", "executor", "--wait=false")
    end = seconds_of(real_node.get("pod/executor", namespace)["metadata"]["deletionTimestamp"])
    assert log.communicate(timeout=60)[0] == "asked\nsaved\n"
    wait_until(lambda: not real_node.get("pods", namespace), "the pod is gone")
    assert time.time() < end, "it had to be killed"


def test_a_real_process_that_does_not_listen_is_killed_when_its_grace_is_over(real_node, namespace):
    run_pod(real_node, namespace, "deaf", "real", grace=3, command="trap '' TERM; while :; do sleep 0.1; done")
    real_node.kubectl("-n", namespace, "delete", "pod", "deaf", "--wait=false")
    end = seconds_of(real_node.get("pod/deaf", namespace)["metadata"]["deletionTimestamp"])
    wait_until(lambda: not real_node.get("pods", namespace), "the pod is gone")
    assert time.time() >= end


def test_pods_find_and_reach_each_other_and_are_reached_from_here(real_node, namespace):
    real_node.kubectl("-n", namespace, "create", "-f", "-", given={
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "farm"},
        "spec": {"clusterIP": "None", "selector": {"app": "answers"}, "ports": [{"port": 7000}]}})
    address = run_pod(real_node, namespace, "answers", "real", command="while :; do echo here | nc -l -p 7000; done")
    run_pod(real_node, namespace, "asks", "real")

    def in_pod(command):
        return real_node.kubectl("-n", namespace, "exec", "asks", "--", "sh", "-c", command, check=False).stdout

    name = f"farm.{namespace}.svc.cluster.local"
    wait_until(lambda: address in in_pod(f"nslookup {name}"), "the name resolves")
    wait_until(lambda: in_pod(f"nc {name} 7000") == "here\n", "the pod answers")
    wait_until(lambda: answer(address) == b"here\n", "it answers from outside")


def test_a_pod_reaches_the_api_server_as_its_service_account(real_node, namespace):
    run_pod(real_node, namespace, "inside", "real")
    secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
    answer = real_node.kubectl("-n", namespace, "exec", "inside", "--", "sh", "-c", f"""
        wget -q -O - --no-check-certificate --header "Authorization: Bearer $(cat {secrets}/token)" \
            https://$KUBERNETES_SERVICE_HOST/version""")
    assert json.loads(answer)["gitVersion"] == VERSION


def test_a_part_that_is_killed_comes_back_with_all_it_knew(cluster, namespace):
    cluster.kubectl("-n", namespace, "create", "configmap", "kept", "--from-literal=key=value")
    cluster.do("down", "etcd")
    wait_until(lambda: cluster.call("status").returncode == 3, "the API server misses etcd")
    assert "etcd: down" in cluster.call("status").stdout
    cluster.do("up", "etcd")
    wait_until(lambda: cluster.call("status").returncode == 0, "the API server answers")
    assert cluster.get("configmap/kept", namespace)["data"] == {"key": "value"}


def test_a_node_that_was_lost_comes_back_and_starts_its_pods_again(real_node, namespace):
    def restarts():
        status, = real_node.get("pod/again", namespace)["status"]["containerStatuses"]
        return status["restartCount"] if status["ready"] else None

    run_pod(real_node, namespace, "again", "real")
    assert restarts() == 0
    real_node.do("down", "node")
    real_node.do("up", "node")
    wait_until(lambda: restarts() == 1, "it runs again")
    assert real_node.kubectl("-n", namespace, "exec", "again", "--", "echo", "here") == "here\n"


def left_by(cluster, subnet):
    """Whatever is on this machine because of the cluster."""
    processes = subprocess.run(["pgrep", "-f", str(cluster.folder)], capture_output=True, text=True).stdout.split()
    links = subprocess.run(["ip", "-4", "route"], capture_output=True, text=True).stdout
    cgroups = subprocess.run(["find", "/sys/fs/cgroup", "-name", f"podere-{cluster.name}"], capture_output=True,
                             text=True).stdout.split()
    return processes, f"{subnet}." in links, cgroups, cluster.folder.exists()


def test_a_second_cluster_whose_supervisor_is_killed_leaves_nothing(cluster):
    root = os.geteuid() == 0
    with started("second", "--nodes", "1", *(["--kubelet"] if root else [])) as second:
        subnet = next(line for line in (second.folder / "settings").read_text().splitlines()
                      if " subnet=" in line).split('"')[1]
        assert left_by(second, subnet)[1] == root
        os.kill(int((second.folder / "supervisor.pid").read_text()), signal.SIGKILL)
        second.do("stop")
        wait_until(lambda: left_by(second, subnet) == ([], False, [], False), "nothing is left", 20)
    assert cluster.call("status").returncode == 0
