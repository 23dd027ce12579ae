#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How large a fleet must be: measured where that is possible, simulated where it is not.

fleet-scale.py measure|queue|runs|simulate|all [--programs FOLDER] [--out FOLDER] [--seeds N]

measure   one real worker: the seconds, requests and messages of a take
queue     a real queue at the rate of 10,000 recorders, and 200 loops that sleep measured times
runs      five runs of four real workers, whose service sleeps
simulate  10,000 recorders, from what the others have found; it refuses to when the simulation
          differs from Erlang's formula or from the five runs
all       everything, with figures of this machine alone

The first three need nats-server and the folder of `utter-work`; all need `make peers`. They use
loopback alone, and end only what they have started. What they find goes to OUT/fleet-scale.json;
`simulate` reads that, or with --from another such file.
"""

import argparse
import dataclasses
import json
import multiprocessing
import os
import signal
import sys
import time

import fleet_measure
from fleet_measure import RATE
from fleet_model import Case, Simulation, erlang_c, interval, percentile, student

HERE = os.path.dirname(os.path.abspath(__file__))
options = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
options.add_argument("command", choices=["measure", "queue", "runs", "simulate", "all"])
options.add_argument("--programs", help="the folder of utter-work")
options.add_argument("--out", default=os.path.join(os.path.dirname(HERE), ".build", "fleet-scale"))
options.add_argument("--from", dest="source", help="figures that `simulate` reads")
options.add_argument("--seed", type=int, default=27)
options.add_argument("--seeds", type=int, default=20, help="repetitions of each simulated case")
options.add_argument("--seconds", type=int, default=180, help="of each part of `queue`")
options.add_argument("--short", action="store_true", help="fewer takes: to try it, not to believe")
options.add_argument("--keep", action="store_true", help="keep the folders with the logs")

TOLERANCE = 0.02
NOT_MODELLED = """not modelled:
  - networks and stores other than those that were measured; one row adds a time to each request
  - stores and queues that slow down under the load of a whole fleet, or refuse it
  - takes that wait in a recorder, or for the worker that looks for what only the store has
  - limits of a service, answers 429 and 503, and a service that slows down when it is busy
  - longer audio that takes longer to download; recordings of hours; days that differ
  - clocks, versions, operators, whole places that fail at once"""


def one(pair):
    case, seed = pair
    return Simulation(case, seed).run()


def repeat(pool, case, seeds, name):
    """What each of many seeds finds."""
    return pool.map(one, [(case, f"{name}/{seed}") for seed in range(seeds)], chunksize=1)


def of(results, name):
    return interval([result[name] for result in results])


def show(mean, half, scale=1.0, digits=3):
    return f"{mean * scale:.{digits}f} ± {half * scale:.{digits}f}"


# The gates

def erlang(pool, chosen):
    """Whether the same code without failures and with exponential times is M/M/c."""
    print("gate 1: the simulation, simulated, beside Erlang's formula for M/M/c", flush=True)
    is_good = True
    for servers, load, end, is_strict in ((4, 3.2, 40_000, True), (200, 190, 1_000, False)):
        case = Case(workers=servers, rate=load, warm_up=200, end=end, tail=0)
        results = repeat(pool, case, 2 * chosen.seeds if is_strict else chosen.seeds, "erlang")
        share = erlang_c(load, servers)
        for name, words, true in (("waited", "share that waits", share),
                                  ("wait mean", "mean wait, s", share / (servers - load))):
            mean, half = of(results, name)
            off = mean / true - 1
            good = abs(off) <= TOLERANCE if is_strict else abs(mean - true) <= half
            is_good &= good
            print(f"  {servers} servers at {load / servers:.0%}, {words}: formula {true:.5f}, "
                  f"simulated {show(mean, half, digits=5)}, {off:+.2%}: "
                  f"{'ok' if good else 'FAIL'}, {'within 2 %' if is_strict else 'in the interval'}",
                  flush=True)
    return is_good


METRICS = [("wait 50", 2, 0.5), ("wait 95", 2, 0.95), ("stay 50", 3, 0.5), ("stay 95", 3, 0.95)]


def four(pool, chosen, figures):
    """Whether four simulated workers lie inside the spread of five runs of four real ones."""
    print("gate 2: four workers, real and simulated; seconds", flush=True)
    runs, rows = figures["runs"], figures["measure"]["rows"]
    cut, count = runs["cut"], len(runs["takes"][0])
    case = Case(workers=4, rate=runs["rate"], factor=runs["factor"], rows=rows, takes=count,
                warm_up=cut, end=float("inf"))
    results = repeat(pool, case, 10 * chosen.seeds, "four")
    # No gates: the same arrivals and lengths as in each run, and then the same seconds beside the
    # service, too, so that a busy machine can be told from a wrong simulation.
    traces = [("the same arrivals and lengths", [
                  [row[:2] for row in run] for run in runs["takes"]]),
              ("and the same seconds beside the service", [
                  [row[:2] + [max(0, row[3] - row[2] - runs["factor"] * row[1])] for row in run]
                  for run in runs["takes"]])]
    same = [(words, [repeat(pool, dataclasses.replace(case, takes=None, trace=trace),
                            chosen.seeds, "same") for trace in each]) for words, each in traces]
    is_good = True
    for name, column, share in METRICS:
        real = [percentile(sorted(row[column] for row in run[cut:]), share)
                for run in runs["takes"]]
        mean, half = of(results, name)
        good = min(real) <= mean <= max(real)
        is_good &= good
        print(f"  {name.replace(' ', ' p')}: real " + " ".join(f"{value:.3f}" for value in real)
              + f"; simulated {show(mean, half)}: {'ok' if good else 'FAIL'}, inside "
              f"{min(real):.3f} to {max(real):.3f}")
        for words, results_of_runs in same:
            print(f"    {words}, simulated: " + " ".join(
                f"{of(each, name)[0]:.3f}" for each in results_of_runs), flush=True)
    return is_good


# What follows

def describe(results):
    parts = ["wait p50/p95/p99 " + " / ".join(
        show(*of(results, f"wait {share}"), digits=2) for share in (50, 95, 99)),
        "stay " + " / ".join(show(*of(results, f"stay {share}"), digits=2)
                             for share in (50, 95, 99)),
        f"longest {of(results, 'longest stay')[0]:.0f}",
        f"busy {show(*of(results, 'busy'), scale=100, digits=1)} %"]
    more = [f"{words} {of(results, name)[0]:.1f}" for name, words in (
        ("deaths of workers", "deaths of workers"), ("retries", "takes tried again"),
        ("dead takes", "dead takes"), ("open", "not done at the end")) if of(results, name)[0]]
    return "; ".join(parts + more)


def extrapolate(pool, chosen, figures):
    """10,000 recorders; each line says that it is simulated."""
    rows = figures["measure"]["rows"]
    overhead = sum(sum(row) for row in rows) / len(rows)
    seeds = chosen.seeds
    print(f"\n10,000 recorders, a take a minute: {RATE:.1f} takes/s of 20 s in the mean; a take "
          f"holds a slot for 20 s x factor + {overhead:.3f} s; seconds, with 95 % intervals of "
          f"{seeds} seeds")
    usual = Case(workers=200, rate=RATE, factor=0.04, rows=rows, failures=0.01, life=86_400,
                 warm_up=100, end=400, tail=70)
    print("the real queue with 200 sleeping loops, beside 200 simulated ones without failures:")
    for real in figures["queue"]:
        if not real["factor"]:
            continue
        case = dataclasses.replace(usual, factor=real["factor"], failures=0, life=0,
                                   warm_up=30, end=real["takes"] / RATE)
        results = repeat(pool, case, seeds, "loops")
        for name, _, share in METRICS + [("wait 99", 2, 0.99)]:
            seen = real[name.split()[0]][f"p{share * 100:.0f}"]
            values = [result[name] for result in results]
            print(f"  factor {real['factor']}, busy {real['busy']:.1%}, {name.replace(' ', ' p')}: "
                  f"loops, measured, {seen:.4f}; simulated {show(*interval(values), digits=4)}, "
                  f"from {min(values):.4f} to {max(values):.4f}", flush=True)
    print("steady, with 1 % of calls failing and each worker dying once a day:")
    for workers, factor in ((200, 0.03), (200, 0.04), (200, 0.046), (200, 0.051), (200, 0.056),
                            (200, 0.06), (100, 0.02), (400, 0.1), (2_000, 0.5)):
        load = RATE * (20 * factor + overhead)
        if load > 0.99 * workers:
            print(f"  simulated: {workers} workers, factor {factor}: never settles, since it "
                  f"needs {load:.0f}")
            continue
        case = dataclasses.replace(usual, workers=workers, factor=factor)
        if factor > 0.1:
            case = dataclasses.replace(case, warm_up=300, end=600, tail=200)
        print(f"  simulated: {workers} workers, factor {factor}: "
              + describe(repeat(pool, case, seeds, "steady")), flush=True)
    case = dataclasses.replace(usual, round_trip=0.03)
    print("  simulated: 200 workers, factor 0.04, 30 ms more for each of eight requests: "
          + describe(repeat(pool, case, seeds, "far")), flush=True)
    print("a morning: from half of it to all in 20 minutes, half more for a minute each ten "
          "minutes; half an hour, less five minutes of warm-up:")
    morning = dataclasses.replace(usual, shape=("morning",), warm_up=300, end=1_800)
    for words, case in (
            ("200 workers throughout", morning),
            ("an autoscaler, 90 to 200 workers at 80 %", dataclasses.replace(morning, least=90)),
            ("an autoscaler, 90 to 300 workers at 65 %", dataclasses.replace(
                morning, least=90, workers=300, aim=0.65))):
        results = repeat(pool, case, seeds, "morning")
        print(f"  simulated: {words}: {describe(results)}; worker hours "
              f"{show(*of(results, 'worker hours'), digits=1)}", flush=True)


def simulate(chosen, figures):
    print(f"simulate: figures of {figures['machine']}; {figures['when']}; "
          f"t = {student(chosen.seeds - 1):.3f}")
    with multiprocessing.Pool() as pool:
        is_good = erlang(pool, chosen)
        is_good = four(pool, chosen, figures) and is_good
        print(NOT_MODELLED)
        if not is_good:
            print("fleet-scale: error: the simulation is not what was measured: see FAIL above",
                  file=sys.stderr)
            return 1
        extrapolate(pool, chosen, figures)
    return 0


def machine():
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{os.cpu_count()} cores, {models[0] if models else 'unknown'}"


def write(path, figures):
    """A list of rows is one line: so a difference can be read."""
    with open(path, "w") as file:
        parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in figures.items()]
        file.write("{" + ",\n".join(parts) + "}\n")


def main():
    chosen = options.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    chosen.nodes, chosen.workers = 1, 4
    chosen.programs = os.path.abspath(chosen.programs) if chosen.programs else None
    os.makedirs(chosen.out, exist_ok=True)
    path, figures = os.path.join(chosen.out, "fleet-scale.json"), {}
    if chosen.command == "simulate":
        path = chosen.source or path
    if os.path.exists(path) and chosen.command != "all":
        with open(path) as file:
            figures = json.load(file)
    every = ["measure", "queue", "runs", "simulate"]
    wanted = every if chosen.command == "all" else [chosen.command]
    if "simulate" in wanted and chosen.seeds < 20 and not chosen.short:
        raise SystemExit("fleet-scale: error: --seeds is at least 20, or it is --short")
    if wanted != ["simulate"] and not chosen.programs:
        raise SystemExit("fleet-scale: error: --programs names the folder of utter-work")
    for name in wanted:
        if name == "simulate":
            missing = {"measure", "queue", "runs"} - figures.keys()
            if missing:
                raise SystemExit(f"fleet-scale: error: {path} has no {', '.join(sorted(missing))}")
            return simulate(chosen, figures)
        figures["machine"] = machine()
        if name != "measure" and "measure" not in figures:
            raise SystemExit(f"fleet-scale: error: {name} needs what measure finds")
        figures[name] = (fleet_measure.measure(chosen) if name == "measure" else getattr(
            fleet_measure, name)(chosen, figures["measure"]["rows"]))
        figures.setdefault("when", {})[name] = (
            f"{time.strftime('%Y-%m-%d')}, load {os.getloadavg()[2]:.1f}")
        write(path, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
