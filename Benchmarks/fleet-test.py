#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fleet under faults, and an audit of what became of each take.

fleet-test.py PROGRAMS [--takes N] [--workers N] [--nodes 1|3] [--seed S] [--short]

PROGRAMS is the folder of `utter-work`. A real store (SeaweedFS) and a real queue (nats-server, one
node or three) stand behind networks that fail on purpose; the service is a stand-in whose answer
follows from the audio, and which keeps a ledger of its calls by their Idempotency-Key. Faults come
at random by the seed. At the end the store's own listing is compared with the ledger. It needs
nats-server and `make peers`; it uses loopback alone, and ends only what it has started.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

from fleet_rig import LEASE, Fleet, text_of

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
options.add_argument("programs")
options.add_argument("--takes", type=int)
options.add_argument("--workers", type=int, default=6)
options.add_argument("--nodes", type=int, default=1, choices=[1, 3])
options.add_argument("--seed", type=int, default=27)
options.add_argument("--short", action="store_true", help="a minute, with 120 takes")
options.add_argument("--keep", action="store_true", help="keep the folder with the logs")

CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <sys/time.h>
int clock_gettime(clockid_t clock, struct timespec *at) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, at);
    if (clock == CLOCK_REALTIME) at->tv_sec += 86400;
    return result;
}
time_t time(time_t *at) {
    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec; at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


class Chaos:
    """Faults at random, each of which ends by itself."""

    def __init__(self, fleet):
        self.fleet, self.random = fleet, fleet.random
        self.timers, self.busy = [], set()

    def later(self, seconds, what, do):
        """Ends a fault; meanwhile there is no other of its kind."""
        self.busy.add(what)

        def end():
            do()
            self.busy.discard(what)
        timer = threading.Timer(seconds, end)
        timer.start()
        self.timers.append(timer)

    def settle(self):
        for timer in self.timers:
            timer.join()

    def one(self):
        fleet, chance = self.fleet, self.random
        kind = chance.choice(["kill", "kill", "kill", "stop", "stop", "queue", "wipe", "cut",
                              "double", "double", "store", "store", "away"])
        if {"queue": "queue", "wipe": "queue", "cut": "queue", "store": "store"}.get(
                kind, kind) in self.busy - {"stop", "kill", "double"}:
            return
        slots = [slot for slot in fleet.workers if slot not in fleet.stopped]
        if kind == "kill" and slots:
            slot = chance.choice(slots)
            fleet.kill_worker(slot)
            fleet.start_worker(slot)
        elif kind == "stop" and len(slots) > 2:
            slot = chance.choice(slots)
            child = fleet.workers[slot]
            fleet.stopped.add(slot)
            child.send_signal(signal.SIGSTOP)

            def go(slot=slot, child=child):
                child.send_signal(signal.SIGCONT)
                fleet.stopped.discard(slot)
            self.later(LEASE + chance.uniform(1, 4), f"stop-{slot}", go)
        elif kind in ("queue", "wipe"):
            numbers = [chance.randrange(len(fleet.nodes))]
            if kind == "wipe" and chance.random() < 0.4:
                numbers = list(range(len(fleet.nodes)))
            for number in numbers:
                fleet.kill_node(number)

            def up():
                for number in numbers:
                    fleet.start_node(number, is_wiped=kind == "wipe")
            self.later(chance.uniform(0.2, 3), "queue", up)
        elif kind == "cut":
            links = fleet.links if chance.random() < 0.7 else [chance.choice(fleet.links)]

            def mend():
                for link in links:
                    link.is_cut = False
            for link in links:
                link.is_cut = True
                link.cut()
            self.later(chance.uniform(1, LEASE + 2), "queue", mend)
        elif kind == "double":
            for take in chance.sample(sorted(fleet.keys), min(5, len(fleet.keys))):
                body = ('{"id":"%s","key":"%s"}' % (take, fleet.keys[take])).encode()
                # A subject of another name: the stream has no right to refuse it.
                fleet.ask_queue(f"utter.takes.{take}.{chance.randrange(1 << 30)}", body, False)
            fleet.ask_queue("utter.takes.odd", chance.randbytes(40).hex().encode(), False)
            fleet.ask_queue("utter.takes.none", b'{"id":"20250101-000000-aaaaaaaaaaaa","key":'
                            b'"takes/2025-01-01/20250101-000000-aaaaaaaaaaaa.json"}', False)
            fleet.faults["double"] += 4
        elif kind == "store":
            mood = chance.choice(["503", "409", "slow", "broken", "lost"])
            fleet.store_link.mood = mood

            def calm():
                fleet.store_link.mood = None
            self.later(chance.uniform(1, 4), "store", calm)
            kind = f"store {mood}"
        elif kind == "away":
            fleet.service.is_away = True

            def back():
                fleet.service.is_away = False
            self.later(chance.uniform(0.5, 2), "away", back)
        else:
            return
        fleet.faults[kind] += 1


class Audit:
    def __init__(self, fleet):
        self.fleet, self.passed, self.failed = fleet, 0, 0

    def check(self, is_right, words, more=""):
        self.passed, self.failed = self.passed + bool(is_right), self.failed + (not is_right)
        print(f"  {'ok  ' if is_right else 'FAIL'}  {words}" + (f": {more}" if more != "" else ""))

    def read(self):
        fleet, store = self.fleet, self.fleet.store
        self.keys = {key.split("/")[-1][:-5]: key for key in fleet.manifests()}
        self.marked = fleet.marks()
        names = collections.defaultdict(list)
        for key in store.names("attempts/"):
            if key.count("/") == 2:
                names[key.split("/")[1]].append(key)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.manifests = dict(zip(self.keys, pool.map(store.json, self.keys.values())))
            self.marks = dict(zip(self.marked, pool.map(
                lambda take: store.json(f"results/{take}.json"), self.marked)))
            flat = [(take, key) for take in names for key in names[take]]
            self.notes = collections.defaultdict(dict)
            for (take, key), note in zip(flat, pool.map(lambda pair: store.json(pair[1]), flat)):
                self.notes[take][int(key.split("/")[-1][:-5])] = note or {}

    def run(self):
        self.read()
        fleet, check = self.fleet, self.check
        takes = set(self.keys)
        check(self.marked == takes, "each manifest has one mark, and no mark is without one",
              f"{len(takes)} manifests, {len(self.marked)} marks"
              + "".join(f"\n        {take} {self.notes[take]}" for take in sorted(
                  takes ^ self.marked)[:3]))
        expected = {take: self.expected(take) for take in takes}
        wrong = [take for take, text in expected.items() if text is not None
                 and (self.marks.get(take) or {}).get("text") != text]
        check(not wrong, "texts are right",
              f"{sum(t is not None for t in expected.values()) - len(wrong)} right"
              + "".join(f"\n        {self.marks.get(take)} {self.notes[take]}" for take in wrong[:3]))
        dead = {take for take, mark in self.marks.items() if (mark or {}).get("outcome") == "death"}
        poisoned = {take for take, text in expected.items() if text is None}
        check(dead == poisoned, "deaths are the poisoned takes",
              f"{len(dead)} of {len(poisoned)}" + "".join(
                  f"\n        {take}: {self.marks.get(take)} {self.notes[take]}"
                  for take in sorted(dead ^ poisoned)[:3]))
        for take in sorted(poisoned):
            print(f"        {take}: {(self.marks.get(take) or {}).get('reason')}")
        self.ledger(takes, poisoned)
        self.follow()

    def expected(self, take):
        fleet, manifest = self.fleet, self.manifests[take] or {}
        text = fleet.expected.get(manifest.get("sha256"))
        return None if take in fleet.poisoned or text in fleet.service.poison else text

    def ledger(self, takes, poisoned):
        calls = self.fleet.service.calls
        counts = collections.Counter(call["end"] for each in calls.values() for call in each)
        good = sum(call["end"] in ("200", None) for each in calls.values() for call in each)
        faults = sum(self.fleet.faults.values())
        # What is in flight when a worker dies, stops or is cut off may be called again: two a slot.
        per_fault = collections.Counter(self.fleet.faults)
        allowed = sum(count * {"kill": 2, "stop": 2, "double": 1}.get(kind.split()[0], 12)
                      for kind, count in per_fault.items())
        print(f"        calls: {sum(counts.values())} = {dict(counts)}; faults: {dict(per_fault)}")
        self.check(good <= len(takes) + allowed,
                   "calls that were answered are no more than takes and what faults had in flight",
                   f"{good} <= {len(takes)} + {allowed}; {faults} faults")
        self.check(good <= len(takes) + faults,
                   "calls that were answered are no more than takes and faults",
                   f"{good} <= {len(takes)} + {faults}")
        self.check(set(calls) <= takes, "each call has the id of a take as its key")
        off, excess, noted, open_notes = [], 0, 0, 0
        for take in takes:
            answered = sum(call["end"] == "200" for call in calls.get(take, []))
            notes = self.notes[take].values()
            doubles = sum(note.get("duplicate") is True for note in notes)
            unended = sum(note.get("ended") is None for note in notes)
            # A death by the service's words has no answer; nor has one without a call.
            extra = answered - ((self.marks.get(take) or {}).get("outcome") == "text")
            excess, noted, open_notes = excess + extra, noted + doubles, open_notes + unended
            if not doubles - unended <= extra <= doubles + unended:
                off.append((take, extra, doubles, unended))
        self.check(not off, "duplicates of the ledger are those that were counted",
                   f"{excess} second answers: {noted} noted, {excess - noted} of {open_notes} tries "
                   "whose worker was killed" + "".join(
                       f"\n        {one} {self.notes[one[0]]} {[c['end'] for c in calls[one[0]]]}"
                       for one in off[:3]))
        told = sum(log.count(": duplicate") for log in self.logs())
        self.check(told >= noted, "workers have told each of them", f"{told} lines")

    def logs(self):
        for name in sorted(os.listdir(self.fleet.path("log", "x")[:-1])):
            if name.startswith("worker"):
                with open(self.fleet.path("log", name), errors="replace") as file:
                    yield file.read()

    def follow(self):
        """One take through everything that names it."""
        best = max(self.keys, key=lambda take: (len(self.notes[take]), take in self.fleet.service.calls))
        print(f"  one take: {self.keys[best]}")
        for number, note in sorted(self.notes[best].items()):
            print(f"    attempts/{best}/{number}.json: {note.get('worker')} {note.get('began')} "
                  f"{note.get('outcome')} {note.get('reason') or ''}")
        for call in self.fleet.service.calls.get(best, []):
            print(f"    service, Idempotency-Key {best}: {call['end']}")
        lines = [line for log in self.logs() for line in log.splitlines() if best in line]
        for line in lines[:12]:
            print("    worker:", line)
        mark = self.marks.get(best) or {}
        print(f"    results/{best}.json: {mark.get('outcome')} {mark.get('text') or mark.get('reason')}"
              f" by {mark.get('worker')}, attempt {mark.get('attempt')}")
        self.check(lines and mark, "a take's id is in keys, notes, calls and the workers' lines")


def wait_until(done, limit, each=1.0):
    began = time.monotonic()
    while time.monotonic() - began < limit:
        if done():
            return time.monotonic() - began
        time.sleep(each)
    return None


def chaos_phase(fleet, audit, takes, is_short):
    paths = fleet.make_files(range(takes), age=1_800)
    poison = fleet.make_files([10**6, 10**6 + 1], age=1_800)
    for path, kind in zip(poison, ("400", "broken")):
        with open(path, "rb") as file:
            fleet.service.poison[fleet.expected[hashlib.sha256(file.read()).hexdigest()]] = kind
    with open(fleet.path("audio", "noise.wav"), "wb") as file:
        file.write(random.Random(5).randbytes(9_000))
    with open(fleet.path("audio", "noise.wav"), "rb") as file:
        fleet.expected[hashlib.sha256(file.read()).hexdigest()] = None
    fleet.put_by_hand(1, sha256="0" * 64)
    fleet.put_by_hand(2, audio="../../etc/passwd")
    fleet.put_by_hand(3, profile="evil.toml", url="http://127.0.0.1:9/")
    for slot in range(fleet.chosen.workers):
        fleet.start_worker(slot)
    began = time.monotonic()
    sender = threading.Thread(target=lambda: (
        fleet.submit(poison + [fleet.path("audio", "noise.wav")] + paths),
        fleet.submit(paths[:takes // 10]), fleet.submit(paths[takes // 2:takes // 2 + 10], False)))
    sender.start()
    chaos, expected, limit = Chaos(fleet), takes + 6, 45 if is_short else 1_500
    while time.monotonic() - began < limit:
        time.sleep(fleet.random.uniform(0.7, 1.8))
        try:
            fleet.keys = {key.split("/")[-1][:-5]: key for key in fleet.manifests()}
            if len(fleet.marks()) >= expected:
                break
        except AssertionError:
            pass
        chaos.one()
    chaos.settle()
    sender.join()
    under = time.monotonic() - began
    more = wait_until(lambda: len(fleet.marks()) >= expected, 180)
    print(f"  {takes} takes, {sum(fleet.faults.values())} faults in {under:.0f} s; "
          f"the rest took {-1 if more is None else more:.0f} s")
    audit.check(more is not None, "all takes have a mark soon after the last fault",
                f"{len(fleet.marks())} of {expected}; the queue: {fleet.queue_state()}")
    if more is None:
        # Whether a look through everything brings them.
        print("  ", fleet.run("check").stderr.decode().strip())
        more = wait_until(lambda: len(fleet.marks()) >= expected, 60)
        audit.check(more is not None, "`check` brings the rest back",
                    f"{len(fleet.marks())} of {expected}; the queue: {fleet.queue_state()}")


def submit_calm(fleet, numbers, queue=True):
    """Submits takes, and says what they are called."""
    before = set(fleet.manifests())
    fleet.submit(fleet.make_files(numbers, age=60), queue)
    return {key.split("/")[-1][:-5] for key in set(fleet.manifests()) - before}


def recovery_phase(fleet, audit):
    """How long nothing is done after the queue's server was away, with takes and without kills."""
    fleet.service.is_kind = True
    slack = fleet.chosen.slack
    for words, is_wiped, limit in (("killed and restarted", False, 20 * slack),
                                   ("wiped", True, 45 * slack)):
        for number in range(len(fleet.nodes)):
            fleet.kill_node(number)
        time.sleep(1)
        for number in range(len(fleet.nodes)):
            fleet.start_node(number, is_wiped)
        base = 2 * 10**6 + is_wiped * 100
        # As an archive does it: the store alone knows of them.
        began = time.monotonic()
        mine = submit_calm(fleet, range(base, base + 10), queue=False)
        taken = wait_until(lambda: mine <= fleet.marks(), 150, 0.25)
        audit.check(taken is not None and taken <= limit,
                    f"the queue was {words}: ten new takes are done within {limit} s",
                    f"{time.monotonic() - began:.1f} s")


def killed_half_phase(fleet, audit, count):
    """Half the workers die at once and do not come back."""
    fleet.service.is_kind = True
    mine = submit_calm(fleet, range(3 * 10**6, 3 * 10**6 + count))
    wait_until(lambda: len(mine & fleet.marks()) > count // 2, 60, 0.2)
    calls = fleet.service.calls
    at = time.monotonic()
    slots = sorted(fleet.workers)[::2]
    for slot in slots:
        fleet.kill_worker(slot)
        del fleet.workers[slot]
    ends = [log for _, log in fleet.kills[-len(slots):]]
    dead = {fleet.worker_name(log) for log in ends}
    wait_until(lambda: mine <= fleet.marks(), 120, 0.3)
    audit.read()
    waits = []
    for take in mine:
        if any(note.get("worker") in dead and note.get("ended") is None
               for note in audit.notes[take].values()):
            done = [call["done"] for call in calls.get(take, []) if call["end"] == "200"
                    and call["done"] > at]
            if done:
                waits.append(max(done) - at)
    print(f"  half of the workers killed: {len(waits)} takes were theirs, and waited p50 "
          f"{percentile(waits, 0.5):.1f} s, p95 {percentile(waits, 0.95):.1f} s, max "
          f"{max(waits, default=0):.1f} s")
    audit.check(mine <= fleet.marks()
                and max(waits, default=0) <= LEASE + 2 * fleet.chosen.slack,
                "no take of a dead worker waits longer than one lease and its work")
    # Calls of those who live, of takes that one worker alone had.
    done = sorted(call["done"] - at for take in mine for call in calls.get(take, [])
                  if call["end"] == "200" and len(audit.notes[take]) == 1
                  and audit.notes[take][1].get("worker") not in dead)
    # What is left for all of them at the end, and the start, are no rate.
    span = min(-done[0], done[-1] * 0.8) if done else 0
    before, after = (sum(low < time <= high for time in done)
                     for low, high in ((-span, 0), (0, span)))
    audit.check(after >= 0.9 * before / fleet.chosen.slack,
                "the survivors go on as fast as before",
                f"{before} takes in {span:.1f} s before, {after} after")


def wrong_clock(fleet):
    """A worker whose clock is a day off; nil when there is no compiler for the shim."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        return None
    source = fleet.path("clock.c")
    with open(source, "w") as file:
        file.write(CLOCK)
    made = subprocess.run([compiler, "-shared", "-fPIC", "-o", fleet.path("clock.so"), source,
                           "-ldl"], capture_output=True)
    if made.returncode:
        return None
    env = fleet.env
    fleet.env = dict(env, LD_PRELOAD=fleet.path("clock.so"))
    fleet.start_worker("clock")
    fleet.env = env
    return fleet.workers.pop("clock")


def main():
    chosen = options.parse_args()
    chosen.programs = os.path.abspath(chosen.programs)
    # Whoever ends it: what it has started goes with it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    # The short form runs beside other work: it looks for what is wrong, and measures nothing.
    chosen.slack = 3 if chosen.short else 1
    chosen.takes = chosen.takes or (120 if chosen.short else 2_000)
    fleet = Fleet(chosen)
    audit = Audit(fleet)
    try:
        print(f"fleet-test: {chosen.takes} takes, {chosen.workers} workers, {chosen.nodes} queue "
              f"nodes, seed {chosen.seed}", flush=True)
        fleet.begin()
        odd = wrong_clock(fleet)
        print("  a worker with a clock a day ahead " + ("runs" if odd else "is skipped: no compiler"))
        chaos_phase(fleet, audit, chosen.takes, chosen.short)
        sys.stdout.flush()
        killed_half_phase(fleet, audit, 160 if chosen.short else 400)
        if odd:
            print("  the worker with the wrong clock:", "runs still" if odd.poll() is None
                  else f"ended with {odd.returncode}")
        recovery_phase(fleet, audit)
        for child in fleet.workers.values():
            child.send_signal(signal.SIGTERM)
        ends = [child.wait(150) for child in fleet.workers.values()]
        audit.check(set(ends) <= {0}, "workers end when asked", ends)
        audit.run()
        done = fleet.run("status")
        print("  " + done.stdout.decode().strip().replace("\n", "\n  "))
    finally:
        fleet.end()
    print(f"{audit.passed} passed, {audit.failed} failed")
    return 1 if audit.failed else 0


if __name__ == "__main__":
    sys.exit(main())
