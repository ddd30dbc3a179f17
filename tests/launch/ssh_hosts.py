"""Hosts with a real sshd for as long as a test needs them: network namespaces on one bridge, each with processes, a host
name and shared memory of its own, and all files in common as on a cluster. Needs root, iproute2 and openssh-server."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

NETWORK = "10.78.0"
SSHD = "/usr/sbin/sshd"

SSHD_CONFIGURATION = """\
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
MaxStartups 100
"""

# A host of its own: it ends with all its processes when the first of them does.
HOST = """\
hostname {name}
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mkdir /run/sshd
exec {sshd} -D -e -f {folder}/sshd_config
"""

SSH_HOST = """\
Host {name}
  HostName {address}
"""
SSH_CONFIGURATION = """\
Host *
  User root
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Host:
    def __init__(self, folder, name, number, driver):
        self.folder, self.name, self.driver = folder, name, driver
        self.address = f"{NETWORK}.{number + 2}"
        self.namespace = f"{driver}{number}"
        self.process = None

    def start(self):
        script = HOST.format(name=self.name, sshd=SSHD, folder=self.folder)
        with open(self.folder / f"{self.name}.log", "a") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", self.namespace, "unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child",
                 "--mount-proc", "sh", "-euc", script], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        end = time.monotonic() + 10
        while "Server listening" not in (self.folder / f"{self.name}.log").read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"no sshd: {(self.folder / f'{self.name}.log').read_text()}")
            time.sleep(0.02)

    def memory(self):
        """Names of files in its shared memory. Empty folders of killed executors stay until the next ones come."""
        return [name for _, _, names in os.walk(f"/proc/{self.process.pid}/root/dev/shm") for name in names]

    def processes(self, name=""):
        """Command lines by process id of what runs there besides sshd, as this machine numbers processes."""
        found = {}
        for pid in call("ip", "netns", "pids", self.namespace).split():
            with contextlib.suppress(OSError):
                arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
                if arguments[0] and "unshare" not in arguments[0] and "sshd" not in arguments[0] and name in arguments:
                    found[int(pid)] = arguments
        return found

    def stop(self):
        """As if it lost power: all its processes are gone at once."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process = None
        (self.folder / f"{self.name}.log").unlink()
        for pid in call("ip", "netns", "pids", self.namespace).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        for path in pathlib.Path("/tmp").glob(f"ompi.{self.name}.*"):  # as starting it anew does
            shutil.rmtree(path)


class Hosts:
    def __init__(self, folder):
        self.folder = folder
        self.driver = f"podere{os.getpid()}-"
        # Names of their own, by which to find the files that Open MPI leaves.
        self.north, self.south = self.hosts = [Host(folder, f"{name}{os.getpid()}", number, self.driver)
                                               for number, name in enumerate(("north", "south"))]
        self.address_of_none = f"{NETWORK}.99"
        self.ssh = f"ssh -F {folder}/ssh_config"
        self.inside = ["ip", "netns", "exec", self.driver]

    def make(self):
        for name in ("key", "host_key", "other_key"):
            call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name))
        (self.folder / "sshd_config").write_text(SSHD_CONFIGURATION.format(folder=self.folder))
        host_key = (self.folder / "host_key.pub").read_text()
        configuration, known = "", ""
        call("ip", "netns", "add", self.driver)
        call("ip", "-n", self.driver, "link", "set", "lo", "up")
        call("ip", "-n", self.driver, "link", "add", "bridge", "type", "bridge")
        call("ip", "-n", self.driver, "address", "add", f"{NETWORK}.1/24", "dev", "bridge")
        call("ip", "-n", self.driver, "link", "set", "bridge", "up")
        for host in self.hosts:
            configuration += SSH_HOST.format(name=host.name, address=host.address)
            known += f"{host.address} {host_key}"
            call("ip", "netns", "add", host.namespace)
            call("ip", "-n", host.namespace, "link", "set", "lo", "up")
            call("ip", "-n", self.driver, "link", "add", host.name, "type", "veth", "peer", "name", "net0", "netns",
                 host.namespace)
            call("ip", "-n", self.driver, "link", "set", host.name, "master", "bridge", "up")
            call("ip", "-n", host.namespace, "address", "add", f"{host.address}/24", "dev", "net0")
            call("ip", "-n", host.namespace, "link", "set", "net0", "up")
            host.start()
        configuration += SSH_HOST.format(name="down", address=self.address_of_none)
        (self.folder / "ssh_config").write_text(configuration + SSH_CONFIGURATION.format(folder=self.folder))
        (self.folder / "known_hosts").write_text(known)

    def bring_up(self):
        for host in self.hosts:
            if host.process is None:
                host.start()

    def wait_until_idle(self, seconds=10):
        end = time.monotonic() + seconds
        while found := {host.name: host.processes() for host in self.hosts if host.processes()}:
            if time.monotonic() > end:
                raise AssertionError(f"left behind: {found}")
            time.sleep(0.05)

    def files_left(self):
        """Open MPI's, on all hosts."""
        session_folders = [str(path) for host in self.hosts for path in pathlib.Path("/tmp").glob(f"ompi.{host.name}.*")]
        return session_folders + [name for host in self.hosts for name in host.memory()]

    def end(self):
        for host in self.hosts:
            host.stop()
            subprocess.run(["ip", "netns", "del", host.namespace], capture_output=True)
        subprocess.run(["ip", "netns", "del", self.driver], capture_output=True)


@contextlib.contextmanager
def ssh_hosts(folder):
    hosts = Hosts(pathlib.Path(folder))
    try:
        hosts.make()
        yield hosts
    finally:
        hosts.end()
