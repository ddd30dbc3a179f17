"""A real Slurm of one node for as long as a test needs it: munged, slurmctld and slurmd on ports and sockets of their
own, with all they write in one folder. No systemd, no cgroups; needs root."""

import contextlib
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import time

CONFIGURATION = """\
ClusterName=podere
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=2
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=60 State=UP
PartitionName=closed Nodes={host} MaxTime=60 State=DOWN
"""


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Cluster:
    def __init__(self, folder, cpus):
        self.folder = folder
        self.cpus = cpus
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def call(self, *command, timeout=20):
        return subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True,
                              timeout=timeout)

    def job_state(self, job):
        shown = self.call("scontrol", "show", "job", str(job)).stdout
        return next((word[len("JobState="):] for word in shown.split() if word.startswith("JobState=")), "GONE")


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} after {seconds} s")
        time.sleep(0.05)


@contextlib.contextmanager
def slurm_cluster(folder, cpus=4):
    folder = pathlib.Path(folder)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname().split(".")[0]
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host, ports=free_ports(2), cpus=cpus))
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    cluster = Cluster(folder, cpus)
    environment = {**os.environ, **cluster.environment}
    daemons = []

    def start(name, *command):
        with open(folder / f"{name}.out", "w") as out:
            daemons.append(subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True))

    try:
        start("munged", "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
              f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed",
              "--num-threads=2")
        wait_for((folder / "munge.socket").exists, "munged does not run")
        start("slurmctld", "slurmctld", "-D", "-i")
        start("slurmd", "slurmd", "-D", "-N", host)
        wait_for(lambda: "idle" in cluster.call("sinfo", "-h", "-o", "%t").stdout, "the node is not idle")
        yield cluster
    finally:
        cluster.call("scancel", "--state=RUNNING")
        cluster.call("scancel", "--state=PENDING")
        with contextlib.suppress(RuntimeError):
            wait_for(lambda: not cluster.call("squeue", "-h").stdout.strip(), "jobs run", 5)
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in daemons:
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
