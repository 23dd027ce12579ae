# SPDX-License-Identifier: Apache-2.0
"""The measured half of fleet-scale.py: one worker, the queue, and five runs of four workers."""

import asyncio
import collections
import concurrent.futures
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
import wave

from fleet_model import COLUMNS, percentile, speech
from fleet_rig import ROOT, Carrier, free_ports
from fleet_watch import (QueueClient, Rig, processor_seconds, resident_megabytes, until)

RECORDERS, TAKES_A_MINUTE = 10_000, 1
RATE = RECORDERS * TAKES_A_MINUTE / 60
HERE = os.path.dirname(os.path.abspath(__file__))


def quantiles(values, shares=(50, 95, 99)):
    values = sorted(values)
    return {f"p{share}": round(percentile(values, share / 100), 5) for share in shares}


def table(title, values):
    print(f"  {title}: " + ", ".join(
        f"{name} {1_000 * value:.1f} ms" for name, value in quantiles(values).items()), flush=True)


def wait_for(task, limit=30):
    """Runs something of the rig's loop, and waits for it."""
    return asyncio.run_coroutine_threadsafe(task, Carrier.loop).result(limit)


def numbers_of(port):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("GET", "/metrics")
    text = link.getresponse().read().decode()
    return {name: float(value) for name, value in re.findall(r"(?m)^([a-z_]\S*) (\S+)$", text)}


class Publisher:
    """Publishes takes on one connection."""

    def __init__(self, rig):
        self.client = wait_for(QueueClient().open(rig.node_ports[0]))

        async def line():
            return self.client.line()
        self.line = wait_for(line())

    def publish(self, take, body):
        """When it was published."""
        began = time.monotonic()
        wait_for(self.client.publish(self.line, take, body))
        return began


# One worker

def stages(rig, takes):
    """A row of seconds for each take: see `COLUMNS`."""
    watch, queue = rig.watch, rig.queue_watch
    notes = collections.defaultdict(dict)
    for began, ended, kind, take, _, _ in watch.notes:
        # The audio's name has no take in it; the next one is meant.
        notes[take].setdefault(kind, []).append((began, ended))
    audios = sorted(notes[None].get("GET audio", []))
    order = sorted((queue.delivered[take], take) for take in takes if take in queue.acks)
    rows = []
    for place, (got, take) in enumerate(order):
        asked, acked = queue.acks[take]
        whole, answered, _ = rig.service.calls[take][-1]
        mark = notes[take]["PUT mark"][-1][1]
        mine = [audio for audio in audios if got <= audio[0] and audio[1] <= whole]
        following = order[place + 1][0] - acked if place + 1 < len(order) else 0.0
        if mine:
            rows.append([round(value, 5) for value in (
                mine[-1][0] - got, mine[-1][1] - mine[-1][0], whole - mine[-1][1],
                mark - answered, asked - mark, acked - asked, following)])
    return rows


def count_requests(rig, takes, since):
    counts, sizes = collections.Counter(), collections.Counter()
    for began, _, kind, take, sent, got in rig.watch.notes[since:]:
        if take in takes or kind == "GET audio":
            counts[kind] += 1
            sizes["bytes to the store"] += sent
            if kind != "GET audio":
                sizes["bytes from the store, without audio"] += got
    return ({kind: round(count / len(takes), 3) for kind, count in sorted(counts.items())},
            {kind: round(count / len(takes)) for kind, count in sizes.items()})


def submitted(rig):
    """What `submit` asks of the store for one file."""
    before = len(rig.watch.notes)
    rig.submit(rig.make_files(range(20), age=3_600))
    counts = collections.Counter(note[2] for note in rig.watch.notes[before:] if note[3])
    return {kind: count / 20 for kind, count in sorted(counts.items())}


def fill(rig, publisher, first, count):
    chance, takes = random.Random(first), []
    for number in range(first, first + count):
        manifest = rig.put_audio(number, speech(chance))
        take, body = rig.put_manifest(number, manifest)
        publisher.publish(take, body)
        takes.append(take)
    return takes


def stop(child):
    child.terminate()
    child.wait(60)


def measure(chosen):
    factor, count = 0.01, 60 if chosen.short else 200
    rig, found = Rig(chosen, factor), {"takes": count}
    try:
        rig.begin()
        rig.run("check")
        found["submit"] = submitted(rig)
        wait = rig.worker(1, "--drain")
        wait.wait(120)
        publisher = Publisher(rig)
        takes, before = fill(rig, publisher, 1_000, count), len(rig.watch.notes)
        rig.queue_watch.counts.clear()
        child = rig.worker()
        until(lambda: set(takes) <= rig.queue_watch.acks.keys(), 600)
        messages = dict(rig.queue_watch.counts)
        stop(child)
        found["rows"] = stages(rig, takes)
        found["requests"], found["bytes"] = count_requests(rig, set(takes), before)
        found["messages"] = {kind: round(value / count, 3) for kind, value in messages.items()}
        print(f"measure: one worker, {count} takes, one slot")
        for place, name in enumerate(COLUMNS):
            table(name, [row[place] for row in found["rows"]])
        found.update(plain(rig, publisher, count))
        found.update(look(rig, 600))
        found["page"] = pages(rig)
    finally:
        rig.end()
    found["recogniser"] = recogniser(chosen)
    for name, value in found.items():
        if name != "rows":
            print(f"  {name}: {value}")
    return found


def plain(rig, publisher, count):
    """The same without proxies between: by the worker's own counts."""
    rig.look_at(rig.store.port, rig.node_ports[0])
    takes, port = fill(rig, publisher, 100_000, count), free_ports(1)[0]
    child = rig.worker(1, "--metrics", f"127.0.0.1:{port}")
    until(lambda: numbers_of(port)['utter_jobs_total{result="done"}'] >= count, 600, 0.5)
    numbers, used = numbers_of(port), processor_seconds(child.pid)
    slept = [call[1] - call[0] for take in takes for call in rig.service.calls[take]]
    found = {"without proxies": {
        "overhead of a take, s": round(
            numbers["utter_job_work_seconds_total"] / count - statistics.fmean(slept), 5),
        "processor seconds of a take": round(used / count, 5),
        "resident MB": round(resident_megabytes(child.pid), 1)}}
    stop(child)
    return found


def look(rig, count):
    """How fast the look for new takes puts into the queue what only the store has."""
    chance, port = random.Random(3), free_ports(1)[0]
    manifest = rig.put_audio(200_000, 20 + chance.random())
    child = rig.worker(1, "--metrics", f"127.0.0.1:{port}", "--look", "12s")
    time.sleep(3)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: rig.put_manifest(number, manifest),
                      range(200_000, 200_000 + count)))
    seen, began = [], time.monotonic()
    while time.monotonic() - began < 40 and (not seen or seen[-1][1] < count):
        seen.append((time.monotonic(), numbers_of(port)["utter_published_total"]))
        time.sleep(0.02)
    moving = [(later[0] - earlier[0], later[1] - earlier[1])
              for earlier, later in zip(seen, seen[1:]) if later[1] > earlier[1]]
    stop(child)
    busy, taken = sum(each[0] for each in moving), sum(each[1] for each in moving)
    return {"looks, takes a second": round(taken / busy, 1) if busy else None}


def pages(rig, count=3_000):
    """The seconds of a page of 1,000 names."""
    place = f"/{rig.store.bucket}/pages/takes/"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: rig.store.ask("PUT", f"{place}{number:06d}.json", b"{}"),
                      range(count)))
    times = []
    for last in ["", "000999.json", "001999.json"] * 3:
        began = time.monotonic()
        rig.store.ask("GET", f"/{rig.store.bucket}?list-type=2&max-keys=1000&prefix=pages/takes/"
                      f"&start-after=pages/takes/{last}")
        times.append(time.monotonic() - began)
    return {"names": 1_000, "median, s": round(statistics.median(times), 4)}


def recogniser(chosen):
    """What the recogniser of this package needs for a second of audio, with a small grammar."""
    port, path = free_ports(1)[0], f"{ROOT}/samples/go-forward.wav"
    with wave.open(path) as sound, open(path, "rb") as file:
        length, body = sound.getnframes() / sound.getframerate(), file.read()
    child = subprocess.Popen(
        [f"{chosen.programs}/utter-endpoint", "serve", "--port", str(port), "--grammar",
         f"{ROOT}/samples/grammar/demo.gram"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def once():
        try:
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            began = time.monotonic()
            link.request("POST", "/recognize", body, {"Content-Type": "audio/wav"})
            answer = link.getresponse()
            answer.read()
            return time.monotonic() - began if answer.status == 200 else None
        except OSError:
            return None
    try:
        until(once, 30)
        times = [took for _ in range(10) if (took := once())]
    finally:
        child.kill()
        child.wait()
    return {"audio, s": round(length, 2), "median, s": round(statistics.median(times), 3),
            "seconds a second of audio": round(statistics.median(times) / length, 3)}


# The queue

def queue(chosen, rows):
    found = []
    for factor, seconds in ((0.04, chosen.seconds), (0.056, chosen.seconds), (0, 0)):
        rig = Rig(chosen, 0)
        try:
            rig.begin()
            rig.run("check")
            found.append(queue_case(rig, rows, factor, seconds))
        finally:
            rig.end()
    return found


def queue_case(rig, rows, factor, seconds):
    """200 loops in four processes; without a factor they do not sleep, and takes come at once."""
    begin, count = time.monotonic() + 3, int(RATE * seconds) if factor else 20_000
    task = {"queue": rig.node_ports[0], "store": rig.store.port, "rows": rows, "factor": factor,
            "seed": rig.chosen.seed, "begin": begin, "rate": RATE if factor else 0}
    tasks = [{**task, "role": "publish", "count": count}] + [
        {**task, "role": "loops", "count": 50, "end": begin + (seconds + 25 if factor else 40)}
        for _ in range(4)]
    children, used = [], processor_seconds(rig.nodes[0].pid)
    for number, one in enumerate(tasks):
        one["seen"] = rig.path("queue", f"seen-{number}.json")
        with open(rig.path("queue", f"task-{number}.json"), "w") as file:
            json.dump(one, file)
        children.append(rig.start(f"loops-{number}", sys.executable, f"{HERE}/fleet_queue.py",
                                  file.name))
    for child in children:
        if child.wait(seconds + 120):
            raise RuntimeError("a process of the queue's test failed: see --keep")
    used = processor_seconds(rig.nodes[0].pid) - used
    seen = []
    for one in tasks:
        with open(one["seen"]) as file:
            seen.append(json.load(file))
    published, worked = seen[0], [row for each in seen[1:] for row in each]
    at = {number: began for number, began, _, _ in published}
    late = [row for row in worked if at[row[0]] >= begin + min(30, seconds / 4)]
    first, last = min(at.values()), max(at.values())
    held = sum(row[4] - row[1] for row in late)
    bodies = [row[7] for row in worked if row[7]]
    result = {
        "factor": factor, "takes": len(published), "worked": len({row[0] for row in worked}),
        "delivered again": sum(row[6] > 1 for row in worked),
        "published a second": round(len(at) / (last - first), 1),
        "worked a second": round(len(worked) / (max(row[4] for row in worked) - first), 1),
        "busy": round(held / 200 / (last - begin - min(30, seconds / 4)), 4) if factor else None,
        "publish": quantiles([row[2] for row in published]),
        "wait": quantiles([row[1] - at[row[0]] for row in late]),
        "stay": quantiles([row[2] - at[row[0]] for row in late]),
        "ack": quantiles([row[4] - row[3] for row in late]),
        "sleeps too long by": quantiles([row[5] for row in late if not row[7]]),
        "processor seconds of nats-server a take": round(used / len(published), 6),
        "resident MB of nats-server": round(resident_megabytes(rig.nodes[0].pid), 1),
        "bodies": len(bodies)}
    if bodies:
        result["store"] = {name: quantiles([times[place] for times in bodies])
                           for name, place in (("before", 0), ("download", 1), ("mark", 3),
                                               ("after", 4))}
        result["store"]["recording and manifest"] = quantiles(
            [row[3] for row in published if row[3]])
    print("queue: " + json.dumps(result), flush=True)
    return result


# Five runs of four workers

def runs(chosen, rows):
    factor, count, found = 0.04, 110 if chosen.short else 330, []
    hold = statistics.fmean(sum(row) for row in rows) + factor * 20
    rate = 0.8 * 4 / hold
    for number in range(5):
        rig, chance = Rig(chosen, factor), random.Random(1_000 * chosen.seed + number)
        try:
            rig.begin()
            rig.run("check")
            lengths = [speech(chance) for _ in range(count)]
            manifests = [rig.put_audio(place, length) for place, length in enumerate(lengths)]
            publisher, workers = Publisher(rig), [rig.worker() for _ in range(4)]
            time.sleep(3)
            at = start = time.monotonic()
            arrivals = {}
            for place, manifest in enumerate(manifests):
                at += chance.expovariate(rate)
                time.sleep(max(0.0, at - time.monotonic()))
                take, body = rig.put_manifest(place, manifest)
                arrivals[take] = publisher.publish(take, body)
            until(lambda: arrivals.keys() <= rig.queue_watch.acks.keys(), 300)
            marks = {}
            for _, ended, kind, take, _, _ in rig.watch.notes:
                if kind == "PUT mark":
                    marks.setdefault(take, ended)
            found.append([[round(value, 4) for value in (
                began - start, length, rig.queue_watch.delivered[take] - began,
                marks[take] - began)] for (take, began), length in zip(arrivals.items(), lengths)])
            for worker in workers:
                stop(worker)
        finally:
            rig.end()
        kept = found[-1][count // 10:]
        print(f"runs: run {number + 1} of 5, four workers, {count} takes:", flush=True)
        table("wait", [row[2] for row in kept])
        table("stay", [row[3] for row in kept])
    return {"factor": factor, "rate": round(rate, 5), "cut": count // 10, "takes": found}
