"""Who may do what, as docs/security.md has it: on a real API server, by requests with the user's own rights, and in real pods."""

import base64
import json
import os
import re
import subprocess

import pytest
import yaml
from conftest import started
from live import DEPLOY, HERE, operating, wait_until
from test_deploy import rendered
from test_operator import Farms
from test_launch import NOBODY, ROOT, cluster, command, farm, folder, namespace, podere, ready  # noqa: F401

DOCS = ROOT / "docs/security.md"


def test_each_line_of_the_docs_names_its_test():
    there = "".join(path.read_text() for path in HERE.glob("test_*.py"))
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| ") and not line.startswith("| who")]
    assert len(rows) >= 15
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row.rsplit("|", 2)[1])
        assert named, row
        for name in named:
            assert f"\ndef {name}(" in there, name


def allowed(cluster, user, *request, given=None):
    """Whether the API server does it; any other refusal than that of rights is a fault of the test."""
    done = cluster.kubectl(*request, user=user, given=given, check=False)
    assert done.returncode == 0 or "forbidden" in done.stderr.lower(), done.stderr
    return done.returncode == 0


def status_of(cluster, namespace, name="astro"):
    return cluster.get(f"farm/{name}", namespace).get("status", {})


def in_pod(cluster, namespace, pod, script):
    return subprocess.run(cluster.kubectl_command("-n", namespace, "exec", pod, "--", "/bin/sh", "-c", script), text=True,
                          capture_output=True, timeout=60)


def two_executors(cluster, namespace, folder, **changes):
    made = farm("astro", 2, folder)
    made["spec"]["template"]["spec"].update(changes)
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=made)
    wait_until(lambda: ready(cluster, namespace) == 2, "two executors")
    return made


def test_executors_hold_host_key_and_public_key_only(cluster, namespace, folder):
    two_executors(cluster, namespace, folder)
    held = in_pod(cluster, namespace, "astro-0", "cd /etc/podere/keys && stat -L -c '%n %a %u %g' *")
    assert held.stdout.split("\n")[:-1] == [f"ssh-hostkey 440 0 {NOBODY}", f"ssh-publickey 440 0 {NOBODY}"], held
    secret = cluster.get("secret/podere-farm-astro", namespace)
    private = base64.b64decode(secret["data"]["ssh-privatekey"]).decode().splitlines()[3]
    found = in_pod(cluster, namespace, "astro-0", f"grep -rlF '{private}' /etc /tmp /run /var /proc/1/environ; echo done")
    assert found.stdout == "done\n", found


def test_executors_have_no_root_no_token_and_no_capabilities(cluster, namespace, folder):
    two_executors(cluster, namespace, folder)
    said = in_pod(cluster, namespace, "astro-0", "id -u; cat /proc/1/status; ls -d /var/run/secrets /run/secrets").stdout
    assert said.startswith(f"{NOBODY}\n")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert re.search(rf"^{name}:\t0+$", said, re.MULTILINE), said
    assert "NoNewPrivs:\t1\n" in said and "Seccomp:\t2\n" in said and "secrets" not in said


def test_executors_satisfy_the_restricted_pod_security_level(cluster, namespace, folder):
    cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    made = farm("astro", 1, folder)
    spec = made["spec"]["template"]["spec"]
    spec["volumes"] = [volume for volume in spec["volumes"] if volume["name"] == "keys"]
    spec["containers"][0]["volumeMounts"] = spec["containers"][0]["volumeMounts"][-1:]
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=made)
    wait_until(lambda: cluster.get("pods", namespace, "podere.dev/farm=astro"), "the API server takes the pod")


def test_no_executor_can_log_in_to_another(cluster, namespace, folder):
    two_executors(cluster, namespace, folder)
    pods = {pod["metadata"]["name"]: pod["status"]["podIP"] for pod in
            cluster.get("pods", namespace, "podere.dev/farm=astro")}
    options = "-p 2222 -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=10"
    # Every file that the executor can read, tried as a key.
    attempt = f"""
cp /etc/podere/keys/* /tmp/; chmod 600 /tmp/ssh-*
for key in /tmp/ssh-hostkey /tmp/ssh-publickey /tmp/tmp.*/*; do
  for user in nobody root; do
    ssh {options} -i $key $user@{pods['astro-1']} echo reached $user
  done
done 2>&1"""
    tried = in_pod(cluster, namespace, "astro-0", attempt)
    assert "reached" not in tried.stdout and tried.stdout.count("Permission denied (publickey)") >= 4, tried

    secret = cluster.get("secret/podere-farm-astro", namespace)["data"]
    key = folder / "key"
    key.write_bytes(base64.b64decode(secret["ssh-privatekey"]))
    key.chmod(0o600)
    by_driver = ["ssh", "-F", "/dev/null", *options.split(), "-i", key, f"nobody@{pods['astro-1']}", "id", "-u"]
    assert subprocess.run(by_driver, text=True, capture_output=True, timeout=60).stdout == f"{NOBODY}\n"


def test_a_template_cannot_give_executors_the_drivers_key(cluster, namespace, folder):
    made = farm("astro", 1, folder)
    keys = next(v for v in made["spec"]["template"]["spec"]["volumes"] if v["name"] == "keys")
    keys["secret"] |= {"defaultMode": 0o644, "items": [{"key": "ssh-privatekey", "path": "mine"}]}
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=made)
    wait_until(lambda: ready(cluster, namespace) == 1, "an executor")
    assert in_pod(cluster, namespace, "astro-0", "ls /etc/podere/keys").stdout == "ssh-hostkey\nssh-publickey\n"

    made = farm("other", 1, folder)
    made["spec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "podere-farm-other", "key": "ssh-privatekey"}}}]
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=made)
    wait_until(lambda: "would give them the private key" in status_of(cluster, namespace, "other").get("message", ""), "why")
    assert not cluster.get("pods", namespace, "podere.dev/farm=other")


def test_what_executors_run_refuses_root_and_the_drivers_key(tmp_path):
    script = (DEPLOY / "images/podere-executor").read_text()
    done = subprocess.run(["/bin/sh", "-c", script], text=True, capture_output=True)
    assert done.returncode == 2 and "this is root" in done.stderr
    (tmp_path / "ssh-privatekey").write_text("x")
    tmp_path.chmod(0o755)
    for place, words in [(tmp_path, "holds ssh-privatekey"), (tmp_path / "none", "cannot read ssh-hostkey")]:
        for parent in tmp_path.parents[:3]:
            parent.chmod(parent.stat().st_mode | 0o11 if str(parent) != "/" else parent.stat().st_mode)
        done = subprocess.run(["/bin/sh", "-c", script.replace("keys=/etc/podere/keys", f"keys={place}")], text=True,
                              capture_output=True, user=NOBODY, group=NOBODY, extra_groups=[])
        assert done.returncode == 2 and words in done.stderr, done.stderr


def foreign_secret(cluster, namespace, **changes):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "podere-farm-astro", "namespace": namespace, **changes},
            "stringData": {"ssh-privatekey": "x", "ssh-publickey": "x", "ssh-hostkey": "x",
                           "known_hosts": "podere-farm ssh-ed25519 AAAA\n"}}


def trained(cluster, podere, folder, namespace):
    options = ["--trees", 2, "-o", folder / "m.json", "--executors", "1"]
    return subprocess.run(**command(cluster, podere, folder, namespace, *options), capture_output=True, timeout=120)


def test_a_secret_made_beforehand_is_refused(cluster, namespace, folder, podere):
    cluster.kubectl("create", "-f", "-", given=foreign_secret(cluster, namespace))
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 1, folder))
    remedy = f"was not made by the operator, so others may know its keys: kubectl -n {namespace} delete secret podere-farm-astro"
    wait_until(lambda: remedy in status_of(cluster, namespace).get("message", ""), "the status says why")
    assert not cluster.get("pods", namespace, "podere.dev/farm=astro")
    done = trained(cluster, podere, folder, namespace)
    assert done.returncode == 2 and remedy in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    cluster.kubectl("-n", namespace, "delete", "secret", "podere-farm-astro")
    wait_until(lambda: ready(cluster, namespace) == 1, "the operator makes it, and an executor")
    done = trained(cluster, podere, folder, namespace)
    assert done.returncode == 0, done.stderr


def test_a_secret_that_replaced_the_operators_is_refused(cluster, namespace, folder, podere):
    two_executors(cluster, namespace, folder)
    changed = cluster.kubectl("-n", namespace, "patch", "secret/podere-farm-astro", "--type=merge", "-p",
                              '{"stringData": {"ssh-privatekey": "x"}}', check=False)
    assert changed.returncode != 0 and "immutable" in changed.stderr, changed.stderr
    owners = cluster.get("secret/podere-farm-astro", namespace)["metadata"]["ownerReferences"]
    cluster.kubectl("-n", namespace, "delete", "secret", "podere-farm-astro")
    cluster.kubectl("create", "-f", "-", given=foreign_secret(cluster, namespace, ownerReferences=owners))
    done = trained(cluster, podere, folder, namespace)
    assert done.returncode == 2 and "was not made by the operator" in done.stderr, done.stderr


def test_a_farm_user_may_use_one_farm_by_name(cluster, namespace, folder):
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("astro", 0, folder))
    cluster.kubectl("-n", namespace, "create", "-f", "-", given=farm("other", 0, folder))
    cluster.kubectl("-n", namespace, "create", "secret", "generic", "database", "--from-literal=password=x")
    for name in ("astro", "other"):
        wait_until(lambda: status_of(cluster, namespace, name).get("hostKeys"), "the operator")

    def may(*request, given=None):
        return allowed(cluster, "ada", "-n", namespace, *request, given=given)
    assert may("get", "secret/podere-farm-astro", "-o", "name")
    for name in ("database", "podere-farm-other"):
        assert not may("get", f"secret/{name}"), name
    assert not may("get", "secrets") and not may("delete", "secret/podere-farm-astro")
    assert not may("create", "-f", "-", given={"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine"}})
    assert may("scale", "farm/astro", "--replicas=0") and not may("scale", "farm/other", "--replicas=1")
    assert may("get", "farms") and may("get", "pods") and may("get", "events") and may("get", "resourcequotas")
    assert not may("patch", "farm/astro", "--type=merge", "-p", '{"spec": {"minExecutors": 9}}')
    assert not may("patch", "farm/astro", "--subresource=status", "--type=merge", "-p", '{"status": {"hostKeys": []}}')
    assert not may("delete", "farm/astro") and not may("delete", "pod/astro-0") and not may("get", "configmaps")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    assert not may("create", "-f", "-", given=pod)
    assert not may("get", "farms", "-A") and not may("-n", "default", "get", "farms") and not may("get", "nodes")
    given = subprocess.check_output([DEPLOY / "farm-user.sh", f"{namespace}/astro", "ada"], text=True)
    cluster.kubectl("delete", "-f", "-", given=given)
    assert not may("get", "secret/podere-farm-astro"), "revoked"


def test_rights_to_a_farm_are_for_users_groups_and_service_accounts(cluster, namespace):
    given = subprocess.check_output([DEPLOY / "farm-user.sh", f"{namespace}/astro", "bo@example.org", "group:team",
                                     "serviceaccount:notebook"], text=True)
    cluster.kubectl("apply", "-f", "-", given=given)
    for who in (["--as=bo@example.org"], ["--as=any", "--as-group=team"],
                [f"--as=system:serviceaccount:{namespace}:notebook"]):
        asked = cluster.kubectl("-n", namespace, "auth", "can-i", "get", "secret/podere-farm-astro", *who, check=False)
        assert asked.stdout.strip() == "yes", who
        asked = cluster.kubectl("-n", namespace, "auth", "can-i", "get", "secret/any", *who, check=False)
        assert asked.stdout.strip() == "no", who
    for arguments in (["astro", "ada"], ["a/b"], ["a/b", "x'y"], ["a/b/c", "x"], ["a/b", "x y"]):
        done = subprocess.run([DEPLOY / "farm-user.sh", *arguments], text=True, capture_output=True)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, arguments


def test_the_status_of_a_farm_is_the_operators_alone(cluster, namespace, folder):
    cluster.kubectl("-n", namespace, "create", "rolebinding", "eve", "--clusterrole=edit", "--user=eve")
    wait_until(lambda: allowed(cluster, "eve", "-n", namespace, "get", "farms"), "an editor edits farms", 10)
    assert allowed(cluster, "eve", "-n", namespace, "create", "-f", "-", given=farm("astro", 0, folder))
    for what in ("hostKeys", "conditions"):
        assert not allowed(cluster, "eve", "-n", namespace, "patch", "farm/astro", "--subresource=status", "--type=merge",
                           "-p", json.dumps({"status": {what: []}}))


def test_the_operator_may_write_what_it_needs_only(cluster, namespace):
    def may(*request, given=None):
        return allowed(cluster, "operator", *request, given=given)
    assert may("get", "pods", "-A") and may("get", "nodes") and may("get", "farms", "-A") and may("get", "resourcequotas", "-A")
    assert not may("-n", namespace, "create", "quota", "mine", "--hard=pods=1") and not may("get", "limitranges", "-A")
    assert not may("-n", namespace, "get", "secrets") and not may("-n", namespace, "get", "secret/any")
    assert not may("-n", namespace, "delete", "secrets", "--all") and not may("get", "configmaps", "-A")
    assert not may("-n", namespace, "create", "serviceaccount", "mine") and not may("cordon", "real")
    assert not may("-n", namespace, "create", "role", "mine", "--verb=get", "--resource=pods")
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "other", "namespace": "podere"}}
    cluster.kubectl("create", "-f", "-", given=lease)
    assert may("-n", "podere", "get", "lease/podere-operator")
    for request in (["get", "lease/other"], ["get", "leases"], ["delete", "lease/podere-operator"]):
        assert not may("-n", "podere", *request), request
    assert not may("-n", "podere", "patch", "lease/other", "--type=merge", "-p", '{"spec": {"holderIdentity": "me"}}')
    assert not may("-n", "kube-system", "get", "leases") and not may("-n", "kube-node-lease", "get", "lease/real")


def service_account_config(cluster, in_namespace, folder):
    """A kubeconfig of the chart's own service account."""
    token = cluster.kubectl("-n", in_namespace, "create", "token", "podere-operator").strip()
    config = yaml.safe_load(cluster.kubectl("config", "view", "--raw", "--flatten"))
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    path = folder / "operator.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


def test_an_operator_of_some_namespaces_writes_nowhere_else(folder):
    kinds = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    rights = [found for found in rendered("--set", "namespaces={stars,cells}") if found["kind"] in kinds]
    with started("some", "--nodes", "1") as cluster:
        cluster.know_farms()
        for name in ("podere", "stars", "cells", "waves"):
            cluster.kubectl("create", "namespace", name)
        cluster.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": rights})
        for verb, *what in [("create", "pods"), ("delete", "pods"), ("patch", "pods"), ("create", "secrets"),
                            ("create", "events"), ("patch", "farms.podere.dev", "--subresource=status")]:
            for place, answer in [("stars", "yes"), ("cells", "yes"), ("waves", "no"), ("podere", "no")]:
                asked = cluster.kubectl("-n", place, "auth", "can-i", verb, *what, "--as",
                                        "system:serviceaccount:podere:podere-operator", check=False)
                assert asked.stdout.strip() == answer, (verb, what, place)

        config = service_account_config(cluster, "podere", folder)
        with operating(cluster, "--namespace", "podere", kubeconfig=config) as operator:
            assert operator.process.wait(20) == 2, operator.said()
            assert "may not patch farms/status, update farms/finalizers, patch whatifs/status" in operator.said()
        with operating(cluster, "--namespace", "podere", "--namespaces", "stars,waves", kubeconfig=config) as operator:
            assert operator.process.wait(20) == 2, operator.said()
            assert "may not patch farms/status of namespace waves, " in operator.said()
        with operating(cluster, "--namespace", "podere", "--namespaces", "stars,cells", kubeconfig=config) as operator:
            operator.wait_for("knows")
            farms = {name: Farms(cluster, name) for name in ("waves", "stars")}
            farms["waves"].farm("sky", 1, 1)
            farms["stars"].farm("sky", 1, 1)
            farms["stars"].has("sky", 1)
            wait_until(lambda: farms["stars"].status("sky").get("ready") == 1, "its status")
            assert not farms["waves"].pods() and not farms["waves"].status("sky")
            assert "forbidden" not in operator.said() and operator.metric("podere_operator_pass_failures_total") == 0
            assert "resourcequotas" not in operator.said()


def test_an_operator_that_may_not_see_quotas_works_without(folder):
    kinds = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    rights = [found for found in rendered() if found["kind"] in kinds]
    for found in rights:
        if "rules" in found:
            found["rules"] = [rule for rule in found["rules"] if rule["resources"] != ["resourcequotas"]]
    with started("blind", "--nodes", "1") as cluster:
        cluster.know_farms()
        for name in ("podere", "stars"):
            cluster.kubectl("create", "namespace", name)
        cluster.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": rights})
        cluster.kubectl("-n", "stars", "create", "quota", "small", "--hard=pods=1")
        wait_until(lambda: cluster.get("resourcequota/small", "stars").get("status", {}).get("used"), "it counts")
        config = service_account_config(cluster, "podere", folder)
        with operating(cluster, "--namespace", "podere", kubeconfig=config) as operator:
            operator.wait_for("may not list and watch resourcequotas").wait_for("knows")
            farms = Farms(cluster, "stars")
            farms.farm("sky", 2, 2)
            farms.has("sky", 1)
            wait_until(lambda: farms.condition("sky", "Ready").get("reason") == "QuotaExceeded", "as the API server says")
            assert "forbidden" not in operator.said() and operator.metric("podere_operator_pass_failures_total") == 0


def test_a_student_of_the_course_may_use_his_farm_only(cluster):
    names = ["ada", "alan"]
    course = (DEPLOY / "examples/course/student.yaml").read_text()
    for name in names:
        cluster.kubectl("apply", "-f", "-", given=course.replace("STUDENT", name))
    cluster.kubectl("-n", "course-ada", "create", "secret", "generic", "database", "--from-literal=password=x")
    wait_until(lambda: status_of(cluster, "course-ada", "ada").get("hostKeys"), "the operator")

    def may(*request, place="course-ada"):
        return allowed(cluster, "ada", "-n", place, *request)
    assert may("get", "secret/podere-farm-ada", "-o", "name") and may("scale", "farm/ada", "--replicas=1")
    assert may("get", "deployment/notebook") and may("get", "pods") and may("get", "farms")
    assert not may("get", "secret/database") and not may("get", "secrets") and not may("get", "deployments")
    assert not may("patch", "farm/ada", "--type=merge", "-p", '{"spec": {"minExecutors": 9}}')
    assert not may("delete", "resourcequota/course") and not may("delete", "farm/ada")
    for request in (["get", "farm/alan"], ["get", "secret/podere-farm-alan"], ["get", "pods"], ["scale", "farm/alan", "--replicas=0"]):
        assert not may(*request, place="course-alan"), request
    notebook = next(found for found in yaml.safe_load_all(course) if found["kind"] == "Deployment")["spec"]["template"]["spec"]
    assert notebook["securityContext"]["runAsNonRoot"]
    assert notebook["containers"][0]["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    cluster.kubectl("delete", "namespaces", "-l", "course=podere", "--wait=false", "--ignore-not-found")
    cluster.kubectl("delete", "namespace", "course-ada", "course-alan", "--wait=false", "--ignore-not-found")
