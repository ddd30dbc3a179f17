"""What a round does, drawn from its seed and number alone."""
import dataclasses
import os
import random

ROOT = os.geteuid() == 0
SURE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 4}  # so many losses, all the same way, leave a group of so many something smaller to try


# What may happen during a job, and during the commands of a session: start, load, train, predict, evaluate.
EVENTS = {"train": "start start read read train train checkpoint write time time", "predict": "start read write time time",
          "evaluate": "start read time time",
          "session": ["start start time", "read read time", "train train checkpoint checkpoint write time time", "write time", "time"]}


@dataclasses.dataclass
class Fault:
    step: int  # which command of the round
    when: str  # start, read, train, checkpoint, write, or time: the event it waits for
    after: float  # seconds after that; of time: a share of the undisturbed duration
    what: str  # a signal; STOP is ended by CONT after `lasts` seconds, if that is given
    whom: str  # executor, some, executors, mpirun, driver (in a session its server), client, all
    pick: int = 0
    lasts: float = 0

    def __str__(self):
        lasts = f" for {self.lasts:.1f} s" if self.lasts else ""
        return f"{self.what}{lasts} {self.whom} at {self.step}:{self.when}+{self.after:.2f}"


@dataclasses.dataclass
class Plan:
    kind: str
    options: list
    data: str
    executors: str
    cores: int
    session: bool
    checkpoint: str = ""  # "", plain, full, empty, truncated, text, other, fifo, folder, device
    files: int = 0  # ulimit -n
    address_mb: int = 0  # ulimit -v
    memory: float = 0  # limit of all processes, in multiples of what one executor needs
    load: int = 0
    faults: list = dataclasses.field(default_factory=list)

    def __str__(self):
        shape = f"{'session ' if self.session else ''}{self.kind} {' '.join(self.options)} {self.data} --executors {self.executors}"
        names = ("checkpoint", "files", "address_mb", "memory", "load")
        settings = "".join(f", {name} {getattr(self, name)}" for name in names if getattr(self, name))
        return f"{shape} --cores {self.cores}{settings}; {', '.join(map(str, self.faults)) or 'no faults'}"

    def most(self):
        return int(self.executors.rpartition(":")[2])

    def losses_to_survive(self):
        low = int(self.executors.rpartition(":")[0] or 1)
        return SURE[self.most() - low + 1]


def draw_training(r):
    if r.random() < 0.6:
        options = ["gbt", "--trees", str(r.choice([20, 60, 150])), "--depth", str(r.randint(3, 6))]
        options += r.choice([[], ["--subsample", "0.7"], ["--growth", "best-first", "--max-leaves", "20"], ["--low-memory"],
                             ["--validation-fraction", "0.2"], ["--objective", "squared-error"]])
    else:
        options = ["nn", "--layers", r.choice(["10", "30,20"]), "--epochs", str(r.choice([2, 6]))]
        options += r.choice([[], ["--optimizer", "sgd"], ["--dropout", "0.2"], ["--optimizer", "lbfgs"],
                             ["--validation-fraction", "0.2"]])
    return options + ["--checkpoint-every", r.choice(["0.05", "0.3", "2"])]


def draw_faults(r, plan):
    def fault(what, whom, lasts=0.0):
        step = r.choice([0, 1, 2, 2, 2, 2, 3, 4]) if plan.session else 0
        moments = EVENTS["session"][step] if plan.session else EVENTS[plan.kind]
        when = r.choice(moments.split())
        after = {"time": r.uniform(0, 1.1), "train": r.uniform(0, 2)}.get(when, r.choice([0, r.uniform(0, 0.3)]))
        return Fault(step, when, after, what, whom, r.randrange(5), lasts)

    theme = r.choices(["kills", "pauses", "stops", "driver", "asked", "files", "memory", "address", "disk", "checkpoint", "frozen"],
                      [40, 9, 4, 16, 5, 4, 7, 2, 4, 7, 2])[0]
    losing = [fault(r.choice(["KILL"] * 4 + ["TERM"]), r.choice(["executor"] * 5 + ["some", "executors", "mpirun"]))
              for _ in range(r.choice([1, 1, 2, 2, 3, 4]))]
    if theme == "kills":
        plan.faults, plan.load = losing, r.choice([0] * 14 + [4])
    elif theme == "pauses":
        plan.faults = [fault("STOP", r.choice(["executor", "executors", "mpirun", "driver"]), r.uniform(0.2, 6))] + losing[:1]
    elif theme == "stops":
        plan.faults = [fault("STOP", r.choice(["executor"] * 4 + ["mpirun"]))]
        plan.faults[0].when, plan.faults[0].after = r.choice([("start", 0), ("start", 0.02), (plan.faults[0].when, plan.faults[0].after)])
    elif theme == "driver":
        plan.faults = losing[:r.choice([0, 0, 1])] + [fault("KILL", r.choice(["driver", "driver", "client", "all"]))]
    elif theme == "asked":
        plan.faults = [fault(r.choice(["TERM", "INT", "HUP", "USR1"]), "client")]
    elif theme == "frozen":
        plan.faults = [fault("STOP", r.choice(["all", "driver"]), r.uniform(33, 45))]
    elif theme == "files":
        plan.files = r.randint(6, 90)
    elif theme == "address":
        plan.address_mb = r.randint(100, 900)
    elif theme == "memory" and ROOT:
        plan.memory, plan.executors = r.uniform(0.8, 2), str(r.randint(2, 5))
    elif theme == "disk" and ROOT:
        plan.checkpoint, plan.faults = "full", losing[:1]
    elif plan.kind == "train":
        plan.checkpoint = r.choice(["empty", "truncated", "truncated", "text", "other", "other", "fifo", "folder", "device"])
    plan.faults.sort(key=lambda each: each.step)


def draw(seed, number):
    r = random.Random(f"{seed} {number}")
    high = r.choice([1, 2, 2, 3, 3, 4, 5])
    low = r.choice([0, 0, 0, r.randint(1, high)])
    data = r.choice(["t.csv", "t.csv", "t.csv.gz", "collider:20000?seed=5"])
    plan = Plan(r.choice(["train"] * 5 + ["predict", "evaluate"]), draw_training(r), data, f"{low}:{high}" if low else str(high),
                r.choice([1, 1, 2]), r.random() < 0.3)
    if plan.session and "--low-memory" in plan.options:
        plan.options.remove("--low-memory")  # tables of sessions are in memory
    plan.checkpoint = r.choice(["", "plain"]) if plan.kind == "train" else ""
    draw_faults(r, plan)
    return plan
