#!/usr/bin/python3
"""What it costs in idle workers that a search decides the same in whatever order trials end: idle.py [--trials N] [--seeds N]

Simulates searches by ASHA over 1, 3 and 9 of 9 rounds in virtual time. A round of a trial takes 1, or by its setting up to
`--spread` times longer, evenly in the logarithm (trees of depth 10 take about five times as long as those of depth 3).
`podere` are the steps that podere.Study has to do with `--parallel`; `usual` promotes whenever a trial is among the best
third of those that are done, and otherwise begins a new one, as Ray and Optuna do. Prints one line of JSON for each number
of workers, with medians over the seeds of the share of time in which workers were idle until the last one ended, and of
the time in all. Needs Podere's package in PYTHONPATH. Example: bench/idle.py --trials 64 --spread 5
"""
import argparse
import heapq
import json
import random
import statistics

import podere

RUNGS = (1, 3, 9)
ETA = 3
WORKERS = (2, 4, 8)


class Setting:
    """A trial: how long a round of it takes, and its score after a rung. The same for both searches."""

    def __init__(self, seed, trial, spread):
        chance = random.Random(f"{seed} {trial}")
        self.seconds = spread ** chance.random()
        self.quality = chance.random()
        self.noises = [chance.gauss(0, 0.2 / budget) for budget in RUNGS]

    def score(self, rung):
        return self.quality + self.noises[rung]


class PodereSearch:
    def __init__(self, seed, n_trials, parallel):
        self.study = podere.Study({"x": (0.0, 1.0)}, n_trials, search="random", schedule="asha", most=RUNGS[-1],
                                  least=RUNGS[0], seed=seed, parallel=parallel)
        self.begun = set()

    def next(self):
        for step in self.study.ask():
            if (step.trial, step.rung) not in self.begun:
                self.begun.add((step.trial, step.rung))
                return step, step.trial, step.rung
        return None

    def end(self, step, score):
        self.study.tell(step, score)


class UsualSearch:
    def __init__(self, _seed, n_trials, _parallel):
        self.n_trials, self.n_begun = n_trials, 0
        self.scores = [{} for _ in RUNGS]
        self.promoted = [set() for _ in RUNGS]

    def next(self):
        for rung in reversed(range(len(RUNGS) - 1)):
            best = sorted(self.scores[rung], key=self.scores[rung].get, reverse=True)[:len(self.scores[rung]) // ETA]
            for trial in best:
                if trial not in self.promoted[rung]:
                    self.promoted[rung].add(trial)
                    return (trial, rung + 1), trial, rung + 1
        if self.n_begun == self.n_trials:
            return None
        self.n_begun += 1
        return (self.n_begun - 1, 0), self.n_begun - 1, 0

    def end(self, step, score):
        trial, rung = step
        self.scores[rung][trial] = score


def simulate(search, n_workers, seed, spread):
    """The idle share of the workers' time, and the time."""
    now, busy, at_work = 0.0, 0.0, []
    while True:
        while len(at_work) < n_workers and (begun := search.next()):
            step, trial, rung = begun
            setting = Setting(seed, trial, spread)
            seconds = setting.seconds * (RUNGS[rung] - (RUNGS[rung - 1] if rung else 0))
            busy += seconds
            heapq.heappush(at_work, (now + seconds, trial, rung, step, setting.score(rung)))
        if not at_work:
            return 1 - busy / (n_workers * now), now
        now, _, _, step, score = heapq.heappop(at_work)
        search.end(step, score)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--spread", type=float, default=5)
    parser.add_argument("--parallel", type=int, default=8)
    options = parser.parse_args()
    for n_workers in WORKERS:
        facts = {"bench": "idle", "trials": options.trials, "workers": n_workers, "spread": options.spread,
                 "parallel": options.parallel}
        for name, search in (("podere", PodereSearch), ("usual", UsualSearch)):
            runs = [simulate(search(seed, options.trials, options.parallel), n_workers, seed, options.spread)
                    for seed in range(options.seeds)]
            facts[f"{name}_idle"] = round(statistics.median(idle for idle, _ in runs), 4)
            facts[f"{name}_time"] = round(statistics.median(time for _, time in runs), 1)
        print(json.dumps({**facts, "time_ratio": round(facts["podere_time"] / facts["usual_time"], 3)}), flush=True)


if __name__ == "__main__":
    main()
