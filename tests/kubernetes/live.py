"""A real Kubernetes cluster on this machine, and the operator on it: what tests and benchmarks here begin with."""

import contextlib
import functools
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml
from api import Api

HERE = pathlib.Path(__file__).parent
DEPLOY = HERE.parents[1] / "deploy"


# Where the API server has each kind.
CORE, FARMS = "api/v1", "apis/podere.dev/v1alpha1"
KINDS = {"pod": CORE, "node": CORE, "event": CORE, "secret": CORE, "configmap": CORE, "resourcequota": CORE,
         "lease": "apis/coordination.k8s.io/v1", "clusterrole": "apis/rbac.authorization.k8s.io/v1",
         "farm": FARMS, "farmmanager": FARMS, "whatif": FARMS}


class Missing(Exception):
    """Something that it takes is not on this machine."""


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.1)
    return found


class Cluster:
    def __init__(self, name):
        self.name = name

    def call(self, command, *arguments, **options):
        return subprocess.run([HERE / "cluster.sh", command, "--name", self.name, *arguments], text=True,
                              capture_output=True, **options)

    def do(self, command, *arguments):
        done = self.call(command, *arguments, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, *arguments):
        """Ends with this process, however that ends."""
        started = self.call("start", "--owner", str(os.getpid()), *arguments)
        if started.returncode == 3:
            raise Missing(started.stderr)
        assert started.returncode == 0, started.stderr
        self.folder = pathlib.Path(started.stdout.strip()).parent
        settings = (self.folder / "settings").read_text()
        self.programs = pathlib.Path(re.search('programs="(.*)"', settings)[1])

    @functools.cache
    def kubeconfig(self, user=None):
        return self.do("kubeconfig", *([user] if user else []))

    def kubectl_command(self, *arguments, user=None):
        return [self.programs / "kubectl", "--kubeconfig", self.kubeconfig(user), *arguments]

    def kubectl(self, *arguments, user=None, given=None, check=True):
        done = subprocess.run(self.kubectl_command(*arguments, user=user), text=True, capture_output=True,
                              input=given if given is None or isinstance(given, str) else json.dumps(given))
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout if check else done

    @functools.cached_property
    def api(self):
        return Api(self)

    def get(self, what, namespace=None, selector=""):
        """An object, `kind/name`, or all of a kind, `kinds`: without a process, since tests ask again and again."""
        kind, _, name = what.partition("/")
        kind = kind if name else kind.removesuffix("s")
        path = f"/{KINDS[kind]}/{f'namespaces/{namespace}/' if namespace else ''}{kind}s"
        if name:
            return self.api.get(f"{path}/{name}")
        return self.api.get(f"{path}?{urllib.parse.urlencode({'labelSelector': selector})}")["items"]

    def know_farms(self):
        """Installs the kinds Farm and FarmManager."""
        self.kubectl("apply", "-f", DEPLOY / "chart/crds")
        self.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/farms.podere.dev",
                     "crd/farmmanagers.podere.dev", "crd/whatifs.podere.dev")

    def know_users(self):
        """The roles that deploy/operator.yaml has for users."""
        roles = [found for found in yaml.safe_load_all((DEPLOY / "operator.yaml").read_text())
                 if found["kind"] == "ClusterRole" and not found["metadata"]["name"].startswith("podere-operator")]
        self.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": roles})

    def operator_user(self):
        """The kubeconfig of the user `operator`, who may do what deploy/operator.yaml says and is seen by --audit."""
        rights = [found for found in yaml.safe_load_all((DEPLOY / "operator.yaml").read_text())
                  if found["kind"] in ("Namespace", "ClusterRole", "Role")]
        self.kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": rights})
        role = ["--user=operator", "-o", "yaml", "--dry-run=client"]
        for given in (["clusterrolebinding", "operator", "--clusterrole=podere-operator"],
                      ["clusterrolebinding", "operator-farms", "--clusterrole=podere-operator-farms"],
                      ["rolebinding", "operator", "--role=podere-operator", "-n", "podere"]):
            self.kubectl("apply", "-f", "-", given=self.kubectl("create", *given, *role))
        return pathlib.Path(self.kubeconfig("operator"))


@contextlib.contextmanager
def started(name, *arguments):
    cluster = Cluster(f"{name}-{os.getpid()}")
    try:
        cluster.start(*arguments)
        yield cluster
    finally:
        cluster.do("stop")


class Operator:
    """The program, and what it says."""

    def __init__(self, cluster, *arguments, lease="podere-operator", kubeconfig=None):
        self.log = cluster.folder / f"operator-{time.monotonic_ns()}.log"
        program = os.environ.get("PODERE")
        if not program:
            raise Missing("PODERE does not name the program")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [program, "operator", "--kubeconfig", kubeconfig or cluster.kubeconfig(), "--listen", "127.0.0.1:0",
                 "--lease", lease, *arguments], stderr=log, stdout=log)

    def said(self):
        return self.log.read_text()

    def wait_for(self, words, seconds=20):
        wait_until(lambda: words in self.said() or self.process.poll() is not None, f"{words}: {self.said()}", seconds)
        assert words in self.said(), self.said()
        return self

    def url(self):
        self.wait_for("answers /livez")
        return re.search(r"(http://\S+) answers", self.said())[1]

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url() + path, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.get("/metrics")[1], re.MULTILINE)
        return float(found[1]) if found else 0

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def operating(cluster, *arguments, **options):
    operator = Operator(cluster, *arguments, **options)
    try:
        yield operator
        if operator.process.poll() is None:
            operator.process.terminate()
            assert operator.process.wait(timeout=20) == 0, operator.said()
    finally:
        if operator.process.poll() is None:
            operator.kill()
