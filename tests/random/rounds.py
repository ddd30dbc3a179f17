"""What the programs of random rounds share: options, one line a round, a summary, and exit code 1 on findings."""

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import traceback

PODERE = os.environ.get("PODERE", "build/release/bin/podere")


class Finding(Exception):
    """Podere did what it should not: its words say what, and the command with which it did."""


class Answer:
    """What a command of Podere gave."""

    def __init__(self, arguments, folder):
        self.arguments = [str(argument) for argument in arguments]
        done = subprocess.run([PODERE, *self.arguments], cwd=folder, capture_output=True, text=True, timeout=300)
        self.code, self.out, self.error = done.returncode, done.stdout, done.stderr
        if self.code not in (0, 2):
            raise Finding(f"exit code {self.code} of {self}")
        if self.code == 2 and (self.error.count("\n") != 1 or not self.error.startswith("podere: ")):
            raise Finding(f"a refusal that is not one line of {self}")

    @property
    def json(self):
        if self.code != 0:
            raise Finding(f"refused: {self}")
        return json.loads(self.out)

    def __str__(self):
        return f"`podere {shlex.join(self.arguments)}`: {self.error.strip()[-900:]}"


def asked(description):
    """What the command line asks for. To be called before libraries are imported that --help can do without."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", type=int, help="this round alone, whose files stay")
    return parser.parse_args()


def run(one_round, options):
    """Runs one_round(random, folder) -> line many times, each from (seed, round) alone; never returns."""
    found = 0
    rounds = range(options.rounds) if options.only is None else [options.only]
    for number in rounds:
        with tempfile.TemporaryDirectory(prefix="podere-round-") as folder:
            if options.only is not None:
                folder = tempfile.mkdtemp(prefix="podere-round-")
                print(folder)
            log = []
            try:
                one_round(random.Random(f"{options.seed} {number}"), folder, log)
                result = "ok"
            except Finding as finding:
                result = f"FOUND {finding}"
            except Exception:  # a fault of this program, or a hang
                result = "FAILED " + traceback.format_exc()
            found += result != "ok"
            print(f"--seed {options.seed} --only {number}: {', '.join(log)}: {result}", flush=True)
    print(f"{len(rounds)} rounds, {found} with findings")
    sys.exit(1 if found else 0)
