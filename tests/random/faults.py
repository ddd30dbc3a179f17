#!/usr/bin/python3
"""Random faults against random jobs of podere.

    tests/random/faults.py --podere build/release/bin/podere --seed 1 --rounds 200
    tests/random/faults.py --podere build/release/bin/podere --seed 1 --only 17     # that round alone

A round draws a job (training, predicting or evaluating, with executors of its own or in a session), a setting (checkpoint,
limits of files and memory, load, a full disk) and faults (signals to executors, mpirun or the driver, each at a moment of the
job), and does them. It must end in time, either with the same bits as the undisturbed run of one executor or with one line that
says what is wrong; no process and no file may be left that the next run does not remove; and the same command, after its
driver was killed, must succeed from the checkpoint. What is drawn depends on seed and number of the round alone; when
things happen depends on the machine too. As root, each round sees a /dev/shm of its own, small disks and memory limits are among
the settings, and files left in /dev/shm are found; else these are left out.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import processes
from plans import ROOT, Plan, draw

IN_TIME_S = 240  # a busy machine; a stopped executor may take ten times 30 s more
STOPPED_S = 400
NOTES = re.compile(r"^podere: (warning: |lost |executors waited)|the first line (names|is)|checkpoint \S+ is empty|no checkpoint could be written|resum|"
                   r"^session \S+:|^\d+ of [\d,]+ (trees|epochs|iterations|steps)")
DISTURBING = ("KILL", "TERM", "STOP")


class Place:
    """A folder in which a round, or an undisturbed run, takes place, with a temporary folder and a /dev/shm of its own."""

    def __init__(self, shared, name, podere):
        self.podere, self.shared = podere, shared
        self.folder = shared / name
        for each in ("out", "tmp", "shm", "run", "log"):
            (self.folder / each).mkdir(parents=True)
        self.token = f"{os.getpid()}-{name}"
        self.environment = {**os.environ, "PODERE_FAULTS": self.token, "TMPDIR": str(self.folder / "tmp"),
                            "XDG_RUNTIME_DIR": str(self.folder / "run")}
        self.group = Path("/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup") / f"podere-faults-{self.token}"
        self.undo, self.n_started = [], 0

    def path(self, name):
        return self.folder / "out" / name

    def limit_memory(self, n_bytes=None):
        self.group.mkdir()
        self.undo.append(self.end_group)
        if n_bytes:
            old = self.group / "memory.limit_in_bytes"
            (old if old.exists() else self.group / "memory.max").write_text(str(n_bytes))

    def end_group(self):
        for _ in range(1000):  # until the last process is reaped
            try:
                return self.group.rmdir()
            except OSError:
                time.sleep(0.02)

    def most_memory(self):
        old = self.group / "memory.max_usage_in_bytes"
        return int((old if old.exists() else self.group / "memory.peak").read_text())

    def small_disk(self):
        disk = self.path("full")
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "full", disk], check=True)
        self.undo.append(lambda: subprocess.run(["umount", "-l", disk], check=True))

    def start(self, arguments, plan=None):
        """Starts the command; its output goes to files, so that a process left behind cannot make us wait."""
        before = ""
        if ROOT:
            before += f"mount --bind {self.folder / 'shm'} /dev/shm && "
        if self.group.exists():
            before += f"echo $$ >{self.group}/cgroup.procs && "
        if plan and plan.files:
            before += f"ulimit -n {plan.files} && "
        if plan and plan.address_mb:
            before += f"ulimit -v {plan.address_mb * 1024} && "
        command = (["unshare", "-m", "--propagation", "private"] if ROOT else []) + ["sh", "-c", before + 'exec "$@"', "sh"]
        self.n_started += 1
        with open(self.folder / f"log/{self.n_started}.out", "wb") as out, open(self.folder / f"log/{self.n_started}.err", "wb") as err:
            return subprocess.Popen([*command, self.podere, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                    cwd=self.folder / "out", env=self.environment)

    def said(self):
        return tuple((self.folder / f"log/{self.n_started}.{each}").read_text(errors="replace") for each in ("out", "err"))

    def left(self):
        found = [path for where in ("tmp", "shm", "run") for path in (self.folder / where).glob("**/*") if path.name != "podere"]
        found += [path for path in self.path("").iterdir() if ".part-" in path.name]
        return sorted(str(path.relative_to(self.folder)) for path in found)

    def remove(self):
        for each in reversed(self.undo):
            each()
        shutil.rmtree(self.folder)


def steps_of(plan):
    """The commands of a round: name and arguments. Their results are files, and what evaluate prints."""
    shape = ["--executors", plan.executors, "--cores", str(plan.cores)]
    data = plan.data if ":" in plan.data else f"../../{plan.data}"
    train = ["train", plan.options[0], data, "--label", "label", *plan.options[1:], "-o", "model.json"]
    if ":" in plan.data:
        del train[3:5]
    if plan.checkpoint:
        train += ["--checkpoint", "full/ck" if plan.checkpoint == "full" else "/dev/null" if plan.checkpoint == "device" else "ck"]
    apply = {"predict": ["predict", "../../model.json", data, "-o", "p.csv"], "evaluate": ["evaluate", "../../model.json", data, "--json"]}
    if not plan.session:
        return [(plan.kind, {"train": train, **apply}[plan.kind] + shape)]
    load = ["session", "load", "s", data, "--as", "all"] + ([] if ":" in plan.data else ["--label", "label"])
    of_table = [[("table:all" if each == data else each) for each in command if each not in ("--label", "label")] for command in (train, *apply.values())]
    return [("start", ["session", "start", "s", *shape]), ("load", load), *zip(("train", "predict", "evaluate"), [c + ["--session", "s"] for c in of_table])]


def result_of(place, name):
    if name in ("train", "predict"):
        return hashlib.sha256(place.path({"train": "model.json", "predict": "p.csv"}[name]).read_bytes()).hexdigest()
    if name == "evaluate":
        return {key: value for key, value in json.loads(place.said()[0]).items() if key in ("log_loss", "auc", "accuracy", "confusion")}
    return None


class Reference:
    """What undisturbed runs with one executor give, and the files that rounds start from."""

    def __init__(self, shared, podere):
        self.shared, self.podere, self.lock, self.known = shared, podere, threading.Lock(), {}
        for command in (["generate", "higgs", "--events", "30000", "--header", "-o", "t.csv"],
                        ["train", "gbt", "t.csv", "--label", "label", "--trees", "10", "-o", "model.json"]):
            subprocess.run([podere, *command], cwd=shared, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["gzip", "-k", "-1", "t.csv"], cwd=shared, check=True)

    def of(self, plan):
        """By step: what it gives; and seconds, most memory, and what a killed driver leaves as its checkpoint."""
        options = [each for i, each in enumerate(plan.options) if "--checkpoint-every" not in plan.options[max(0, i - 1):i + 1]]
        key = json.dumps([options, plan.data])
        with self.lock:
            if key not in self.known:
                self.known[key] = self.measure(Plan("train", options, plan.data, "1", 1, False), f"reference-{len(self.known)}")
            return self.known[key]

    def measure(self, plan, name):
        place, found = Place(self.shared, name, self.podere), {}
        if ROOT:
            place.limit_memory()
        for plan.kind in ("train", "predict", "evaluate"):
            (step, arguments), = steps_of(plan)
            began = time.monotonic()
            if place.start(arguments).wait():
                sys.exit(f"undisturbed {plan}: {place.said()[1]}")
            found[step] = result_of(place, step)
            found[step, "seconds"] = time.monotonic() - began
        found["bytes"] = place.most_memory() if ROOT else 0
        plan.kind, plan.checkpoint = "train", "plain"
        process = place.start(steps_of(plan)[0][1] + ["--checkpoint-every", "0.01"])
        while process.poll() is None and not place.path("ck").exists():
            time.sleep(0.002)
        process.kill()
        process.wait()
        found["checkpoint"] = place.path("ck").read_bytes() if place.path("ck").exists() else b""
        processes.end_all(place.token)
        place.remove()
        return found


class Round:
    def __init__(self, reference, seed, number):
        self.seed, self.number, self.plan, self.reference = seed, number, draw(seed, number), reference
        self.is_loaded = False
        self.findings, self.done, self.errors, self.notes, self.n_losses = [], [], [], set(), 0
        self.place = Place(reference.shared, f"r{number}", reference.podere)
        self.group = processes.Processes(self.place.token)

    def prepare(self):
        plan, ck = self.plan, self.place.path("ck")
        self.expected = self.reference.of(plan)
        if plan.memory:
            self.place.limit_memory(int(plan.memory * self.expected["bytes"]))
        other = dataclasses.replace(plan, data="t.csv", options=["gbt", "--trees", "40", "--depth", "4", "--learning-rate", "0.3"])
        content = {"empty": b"", "text": b"a line of text\n", "truncated": self.expected["checkpoint"][:-20]}
        if plan.checkpoint in content:
            ck.write_bytes(content[plan.checkpoint])
        elif plan.checkpoint == "other":
            ck.write_bytes(self.reference.of(other)["checkpoint"])
        elif plan.checkpoint == "fifo":
            os.mkfifo(ck)
        elif plan.checkpoint == "folder":
            ck.mkdir()
        elif plan.checkpoint == "full":
            self.place.small_disk()

    def run_step(self, name, arguments, faults):
        """Runs one command, does its faults, and says how it ended: "ok", "refused", "failed" or "killed"."""
        process = self.place.start(arguments, self.plan)
        usual = self.expected.get((name, "seconds"), 0) * self.plan.most() ** 0.7 + 0.1
        moments = processes.Moments(self.group, process, self.place.folder, self.plan.data, usual)
        limit = time.monotonic() + IN_TIME_S + STOPPED_S * any(each.what == "STOP" for each in faults) + sum(each.lasts for each in faults)
        while process.poll() is None:
            if faults and moments.came(faults[0]):
                self.done += moments.do(faults.pop(0))
            moments.end_pauses()
            if time.monotonic() > limit:
                self.findings.append(f"{name} did not end in time: {self.group.describe()}")
                processes.end_all(self.place.token)
                process.wait()
                return "killed"
            time.sleep(0.004)
        moments.end_pauses(all_of_them=True)
        return self.judge(name, process.returncode)

    def judge(self, name, code):
        out, err = self.place.said()
        lines = [line for line in err.splitlines() if line.strip()]
        self.notes |= {line for line in lines if NOTES.search(line)}
        self.n_losses += sum(line.startswith("podere: lost ") for line in lines)
        errors = [line for line in lines if not NOTES.search(line) or ("given up" in line)]
        if code == 0:
            try:
                same = result_of(self.place, name) == self.expected.get(name)
            except OSError as why:
                same = self.findings.append(f"{name} ended with 0, but {why}")
            if not same:
                self.findings.append(f"{name}: other bits")
            self.findings += [f"{name}: standard error holds {errors}"] if errors else []
            return "ok"
        if code == -signal.SIGKILL or (code < 0 and any(each.startswith(signal.Signals(-code).name[3:] + " client") for each in self.done)):
            return "killed"  # perhaps before it listened to signals
        self.errors += errors
        if self.plan.memory and self.plan.session and "killed by signal 9" in err and not any(each.startswith("podere: given up") for each in errors):
            return "killed"  # the session's driver, for want of memory
        if len(errors) != 1 or not errors[0].startswith("podere: "):
            self.findings.append(f"{name} ended with {code} and {len(errors)} lines: {errors}")
        return "refused" if code == 2 else "failed"

    def run(self):
        began = time.monotonic()
        self.prepare()
        load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(self.plan.load)]
        try:
            self.outcome = self.run_steps()
            self.look_around()
        finally:
            for each in load:
                each.kill()
                each.wait()
            processes.end_all(self.place.token)
        self.seconds = time.monotonic() - began
        if not self.findings:
            self.place.remove()
        return self

    def run_steps(self):
        faults, ends = list(self.plan.faults), []
        for index, (name, arguments) in enumerate(steps_of(self.plan)):
            mine = [each for each in faults if each.step == index]
            ends.append(self.run_step(name, arguments, mine))
            if ends[-1] != "ok":
                break
            self.is_loaded = self.is_loaded or name == "load"
        hit = [each for each in self.done if each.split()[0] in DISTURBING]
        asked = [each for each in self.plan.faults if each.whom in ("client", "driver", "all")]
        settings = self.plan.files or 0 < self.plan.memory < 1.4 or self.plan.address_mb or self.plan.checkpoint in ("truncated", "text", "other", "fifo", "folder", "device")
        if ends[-1] != "ok" and not asked and not settings and len(hit) <= self.plan.losses_to_survive() and not self.findings:
            self.findings.append(f"gave up after {len(hit)} losses: {self.errors}")
        if ends[-1] == "refused" and not settings:
            self.findings.append(f"refused: {self.errors}")
        if ends[-1] == "ok" and self.plan.checkpoint in ("fifo", "folder", "device") and "train" in [s[0] for s in steps_of(self.plan)]:
            self.findings.append(f"a checkpoint that is a {self.plan.checkpoint} was accepted")
        if any(each.what == "KILL" for each in asked) and not self.findings:
            ends += ["again:"] + self.run_again()
        if self.plan.session:
            process = self.place.start(["session", "stop", "s"])
            process.wait(IN_TIME_S)
        return " ".join(ends)

    def run_again(self):
        """The same commands, undisturbed: they must succeed, from the checkpoint where there is one."""
        if not self.group.wait_until(lambda group: not group.orphans(self.plan.session), 30):
            self.findings.append(f"a killed driver left {self.group.describe()}")
        if self.plan.session and len(self.findings) == 0 and self.group.alive("server") and not self.is_loaded:
            self.run_step("stop", ["session", "stop", "s"], [])
        had_checkpoint = self.plan.checkpoint == "plain" and self.place.path("ck").exists()
        alive = self.group.alive("server")
        ends = []
        for name, arguments in steps_of(self.plan):
            if alive and name in ("start", "load"):
                continue
            ends.append(self.run_step(name, arguments, []))
            if ends[-1] != "ok":
                self.findings.append(f"{name} after a killed driver: {self.errors}")
                break
            if name == "train" and had_checkpoint and "resum" not in self.place.said()[1]:
                self.findings.append("does not say that it resumes from the checkpoint")
        return ends

    def look_around(self):
        if not self.group.wait_until(lambda group: not group.alive(), 30):
            self.findings.append(f"processes are left: {self.group.describe()}")
        left = self.place.left()
        if self.outcome.split()[-1] == "ok" and self.plan.checkpoint == "plain" and self.place.path("ck").exists():
            left.append("out/ck")
        if left and "killed" not in self.outcome.split()[-1:]:
            self.findings.append(f"files are left: {left}")

    def line(self):
        what = f"seed {self.seed} --only {self.number}: {self.plan} | done: {', '.join(self.done) or 'nothing'} | {self.outcome}, "
        what += f"{self.n_losses} losses, {self.seconds:.1f} s"
        return what + "".join(f"\n  {each}" for each in self.errors) + "".join(f"\n  FOUND {each}" for each in self.findings)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--podere", type=os.path.abspath, default="build/release/bin/podere")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first round")
    parser.add_argument("--only", type=int, help="this round alone")
    parser.add_argument("--jobs", type=int, default=1, help="rounds at a time")
    parser.add_argument("--folder", help="where rounds take place [the temporary folder]; those that found something stay there")
    arguments = parser.parse_args()
    shared = Path(tempfile.mkdtemp(prefix="faults-", dir=arguments.folder))
    reference = Reference(shared, arguments.podere)
    numbers = [arguments.only] if arguments.only is not None else range(arguments.first, arguments.first + arguments.rounds)
    found, errors, notes = [], set(), set()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for one in pool.map(lambda number: Round(reference, arguments.seed, number).run(), numbers):
            print(one.line(), flush=True)
            found += [one.number] if one.findings else []
            errors |= {re.sub(r"\d+(\.\d+)?", "N", line) for line in one.errors}
            notes |= {re.sub(r"\d+(\.\d+)?", "N", line) for line in one.notes}
    print("\nerrors:", *sorted(errors), "\nnotes:", *sorted(notes), sep="\n  ")
    print(f"\n{len(numbers)} rounds, {len(found)} found something: {found}" if found else f"\n{len(numbers)} rounds, nothing found")
    shutil.rmtree(shared) if not found else print(f"their folders are in {shared}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
