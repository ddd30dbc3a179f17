"""Two network namespaces with a wire of chosen delay and bandwidth between them, and a group of two executors on it.

The wire is a tun device in each namespace, whose packets this process carries to the other after the delay; their rate
is held by `tc tbf`. (netem would delay them too, but not every kernel has it.) Needs root, ip, tc and /dev/net/tun.
"""
import collections
import contextlib
import fcntl
import os
import select
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time

NAMESPACES = ("podere-a", "podere-b")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
MTU = 9000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


def make_end(namespace, address, megabits):
    """One end of the wire: a descriptor that reads what is sent into it."""
    name = f"wire{os.getpid()}"
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    call("ip", "netns", "add", namespace)
    call("ip", "link", "set", name, "netns", namespace)
    inside = ("ip", "-n", namespace)
    call(*inside, "link", "set", name, "name", "wire")
    call(*inside, "link", "set", "lo", "up")
    call(*inside, "address", "add", f"{address}/24", "dev", "wire")
    call(*inside, "link", "set", "wire", "mtu", str(MTU), "txqueuelen", "1000", "up")
    if megabits:
        call("tc", "-n", namespace, "qdisc", "add", "dev", "wire", "root", "tbf", "rate", f"{megabits}mbit",
             "burst", str(2 * MTU), "limit", "8mb")
    return tun


def carry(ends, delay):
    """Carries packets both ways until killed."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))  # a wire does not wait for a core
    to = {ends[0]: ends[1], ends[1]: ends[0]}
    waiting = collections.deque()  # (when due, end, packet): all have the same delay, so they come due in turn
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], timeout)[0]:
            with contextlib.suppress(BlockingIOError):
                while True:
                    waiting.append((time.monotonic() + delay, to[end], os.read(end, 65536)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, packet = waiting.popleft()
            with contextlib.suppress(BlockingIOError, OSError):  # a full queue drops, as in any network
                os.write(end, packet)


class Network:
    def __init__(self, directory):
        self.mpirun = os.path.join(directory, "mpirun")
        agent = os.path.join(directory, "agent")
        self._script(agent, f'shift\nexec ip netns exec {NAMESPACES[1]} unshare --uts sh -c '
                            f'"hostname {NAMESPACES[1]}; $*"')
        settings = {"plm": "rsh", "plm_rsh_agent": agent, "btl": "tcp,self", "btl_tcp_if_include": "10.77.0.0/24",
                    "oob_tcp_if_include": "10.77.0.0/24", "pml": "ob1", "mpi_yield_when_idle": "0",
                    "hwloc_base_binding_policy": "none"}
        exports = "\n".join(f"export OMPI_MCA_{name}={value}" for name, value in settings.items())
        self._script(self.mpirun, f"{exports}\nexport OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
                                  f'exec {shutil.which("mpirun")} --host {",".join(ADDRESSES)} --map-by node "$@"')

    @staticmethod
    def _script(path, text):
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, stat.S_IRWXU)

    def run(self, *command):
        """Standard output of `command` run in the first namespace, where `mpirun -n 2` begins on both."""
        environment = {**os.environ, "PATH": os.path.dirname(self.mpirun) + ":" + os.environ["PATH"]}
        done = subprocess.run(["ip", "netns", "exec", NAMESPACES[0], *command], env=environment, capture_output=True,
                              text=True, timeout=1200)
        if done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stderr.strip()[-500:]}")
        return done.stdout

    @staticmethod
    def bytes_sent():
        """By each end so far, headers included."""
        counters = ("cat", "/sys/class/net/wire/statistics/tx_bytes")
        return [int(subprocess.run(["ip", "netns", "exec", namespace, *counters], check=True, capture_output=True,
                                   text=True).stdout) for namespace in NAMESPACES]


@contextlib.contextmanager
def shaped_network(delay, megabits):
    """`delay` in seconds one way; `megabits` a second each way, 0 for as many as go."""
    wire = 0
    with tempfile.TemporaryDirectory() as directory:
        try:
            ends = [make_end(namespace, address, megabits) for namespace, address in zip(NAMESPACES, ADDRESSES)]
            wire = os.fork()
            if wire == 0:
                try:
                    carry(ends, delay)
                finally:
                    os._exit(1)
            for end in ends:
                os.close(end)
            yield Network(directory)
        finally:
            if wire:
                os.kill(wire, signal.SIGKILL)
                os.waitpid(wire, 0)
            for namespace in NAMESPACES:
                subprocess.run(["ip", "netns", "del", namespace], capture_output=True)
