#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real queue at the rates of many recorders: one process publishes, others pull and sleep.

fleet_queue.py TASK.json runs one of the processes; fleet-scale.py starts them. A task is a
publisher or a number of loops, and each writes what it has seen into a file.
"""

import asyncio
import http.client
import json
import random
import sys
import time

from fleet_model import speech
from fleet_rig import Store
from fleet_watch import QueueClient, name_take

# One take in so many has its recording in the store.
SHARE = 100


class Bodies(Store):
    """The store with conditions, as workers use it."""

    def send(self, method, key, body=None, condition=False):
        link = getattr(self.own, "link", None)
        if link is None:
            link = self.own.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        link.request(method, f"/{self.bucket}/chaos/{key}", body,
                     {"If-None-Match": "*"} if condition else {})
        answer = link.getresponse()
        answer.read()
        return answer.status


def begin(store, take, key):
    """What a worker does before the audio."""
    store.send("GET", f"results/{take}.json")
    store.send("GET", key)
    store.names(f"attempts/{take}/")
    store.send("PUT", f"attempts/{take}/1.json", b'{"worker":"x"}', True)


def settle(store, take):
    """What it does after the mark."""
    store.send("PUT", f"results/{take}.txt", b"heard\n")
    store.send("PUT", f"attempts/{take}/1.json", b'{"worker":"x","outcome":"text"}')


async def work(client, store, task, seen):
    """One slot of a worker that sleeps in the place of a service, until the end."""
    pulls, answers = client.line(), client.line()
    while time.monotonic() < task["end"]:
        reply, body = await client.pull(pulls, 2)
        got = time.monotonic()
        if not reply:
            continue
        message = json.loads(body)
        take, number = message["id"], int(message["id"][-11:])
        chance = random.Random(f"{task['seed']}/{number}")
        audio, row = speech(chance), chance.choice(task["rows"])
        service = task["factor"] * audio
        times = None
        if task["factor"] and number % SHARE == 0:
            at = [time.monotonic()]
            for do in (lambda: begin(store, take, message["key"]),
                       lambda: store.send("GET", f"takes/{number}.wav"), None,
                       lambda: store.send("PUT", f"results/{take}.json", b"{}", True),
                       lambda: settle(store, take)):
                if do:
                    await asyncio.to_thread(do)
                else:
                    await asyncio.sleep(row[2] + service)
                at.append(time.monotonic())
            done, planned = at[4], at[4] - got
            times = [later - earlier for earlier, later in zip(at, at[1:])]
        else:
            planned = row[0] + row[1] + row[2] + row[3] + service if task["factor"] else 0
            await asyncio.sleep(planned)
            done = time.monotonic()
            await asyncio.sleep(row[4] if task["factor"] else 0)
        asked = time.monotonic()
        await client.ask(answers, reply, b"+ACK")
        acked = time.monotonic()
        seen.append([number, got, done, asked, acked, done - got - planned,
                     int(reply.split(".")[4]), times])


async def loops(task):
    client, seen = await QueueClient().open(task["queue"]), []
    store = Bodies(task["store"])
    await asyncio.gather(*(work(client, store, task, seen) for _ in range(task["count"])))
    return seen


async def publish(task):
    """Publishes takes at random moments, each when its recording is stored if it has one."""
    client, chance = await QueueClient().open(task["queue"]), random.Random(task["seed"])
    store, seen, running, lines = Bodies(task["store"]), [], set(), []

    async def one(number):
        take, key, body = name_take(number)
        stored = 0.0
        if task["factor"] and number % SHARE == 0:
            began = time.monotonic()
            length = int(speech(random.Random(f"{task['seed']}/{number}")) * 16_000) * 2
            await asyncio.to_thread(
                store.send, "PUT", f"takes/{number}.wav", random.randbytes(length), True)
            await asyncio.to_thread(store.send, "PUT", key, b"{}", True)
            stored = time.monotonic() - began
        line = lines.pop() if lines else client.line()
        began = time.monotonic()
        taken = await client.publish(line, take, body)
        lines.append(line)
        seen.append([number, began, taken, stored])

    at = task["begin"]
    for number in range(task["count"]):
        at += chance.expovariate(task["rate"]) if task["rate"] else 0
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        # Without a rate, so many are on their way at a time.
        while not task["rate"] and len(running) >= 200:
            await asyncio.sleep(0.001)
        running.add(job := asyncio.ensure_future(one(number)))
        job.add_done_callback(running.discard)
    await asyncio.gather(*running)
    return seen


def main():
    with open(sys.argv[1]) as file:
        task = json.load(file)
    seen = asyncio.run(publish(task) if task["role"] == "publish" else loops(task))
    with open(task["seen"], "w") as file:
        json.dump(seen, file)


if __name__ == "__main__":
    main()
