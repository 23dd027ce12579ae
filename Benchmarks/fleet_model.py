# SPDX-License-Identifier: Apache-2.0
"""A fleet as a discrete-event simulation (SimPy 4), Erlang's formula, and intervals.

What it knows of the real programs are rows of seconds that fleet-scale.py has measured. What it
does not know is said in docs/fleet-figures.md.
"""

import collections
import dataclasses
import math
import random
import statistics

try:
    import simpy
except ImportError:
    raise SystemExit(
        "fleet-scale: error: there is no simpy\nfleet-scale: hint: make peers") from None

# Speech: log-normal, a mean of 20 s, and a coefficient of variation of about one. An assumption.
MEAN_AUDIO, SIGMA, SHORTEST, LONGEST = 20.0, 0.8, 0.5, 180.0
# As docs/fleet.md says: a lease, how often it is extended, tries of one take, the longest pause.
LEASE, EXTENSION, TRIES, LONGEST_PAUSE = 60.0, 20.0, 5, 300.0
# The columns of a measured row, in seconds.
COLUMNS = ("before", "download", "send", "mark", "after", "ack", "next")


def speech(chance):
    """The length of a take, in seconds."""
    length = chance.lognormvariate(math.log(MEAN_AUDIO) - SIGMA ** 2 / 2, SIGMA)
    return min(LONGEST, max(SHORTEST, length))


def percentile(values, share):
    """By linear interpolation; `values` are sorted."""
    if not values:
        return float("nan")
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def erlang_c(load, servers):
    """The share of arrivals that wait, in M/M/c."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def student(freedom, share=0.975):
    """A quantile of Student's distribution, by the integral of its density."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(
        freedom * math.pi)

    def density(at):
        return scale * (1 + at * at / freedom) ** (-(freedom + 1) / 2)

    def below(at, steps=400):
        width = at / steps
        odd = sum(density(width * step) for step in range(1, steps, 2))
        even = sum(density(width * step) for step in range(2, steps, 2))
        return 0.5 + width / 3 * (density(0) + density(at) + 4 * odd + 2 * even)
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return low


def interval(values):
    """The mean of independent values, and half of its 95 % interval."""
    values = [value for value in values if not math.isnan(value)]
    if len(values) < 2:
        return (values[0] if values else float("nan")), float("nan")
    half = student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.fmean(values), half


@dataclasses.dataclass
class Case:
    """What is simulated."""
    workers: int = 4
    slots: int = 1
    # Takes a second at its highest, and the share of it at a moment.
    rate: float = 1.0
    shape: tuple = ("flat",)
    # Service seconds a second of audio; none is an exponential time with a mean of a second.
    factor: float | None = None
    rows: list = dataclasses.field(default_factory=list)
    # Added to each request of the store, in seconds, and how many follow one another.
    round_trip: float = 0.0
    # A call fails so often; a worker dies once in so many seconds, and is back after so many.
    failures: float = 0.0
    life: float = 0.0
    restart: float = 8.0
    # At least so many workers, the share of busy slots it aims at; none is without an autoscaler.
    least: int | None = None
    aim: float = 0.8
    warm_up: float = 0.0
    end: float = 600.0
    # Arrivals, lengths and perhaps own seconds beside the service; none is by chance until the
    # end, and a tail for what runs then.
    trace: list | None = None
    # So many arrive by chance, and no more.
    takes: int | None = None
    tail: float = 120.0


def share_of_peak(shape, now):
    """The share of the highest rate that arrives at a moment."""
    if shape[0] == "flat":
        return 1.0
    if shape[0] == "morning":
        # From a half to all in 20 minutes; half more in one minute of ten.
        rising = min(1.0, 0.5 + 0.5 * now / 1_200)
        return rising * (1.5 if now % 600 < 60 else 1.0)
    raise ValueError(shape)


class Take:
    __slots__ = ("arrival", "audio", "own", "wait", "failures", "done")

    def __init__(self, arrival, audio, own=None):
        self.arrival, self.audio, self.own = arrival, audio, own
        self.wait = self.done = None
        self.failures = 0


class Queue:
    """Messages wait for slots, or slots for messages; what comes back goes before what is new."""

    def __init__(self, env):
        self.env, self.waiting, self.idle = env, collections.deque(), collections.OrderedDict()

    def put(self, take, is_again=False):
        if self.idle:
            _, event = self.idle.popitem(last=False)
            event.succeed(take)
        elif is_again:
            self.waiting.appendleft(take)
        else:
            self.waiting.append(take)

    def get(self):
        event = self.env.event()
        if self.waiting:
            event.succeed(self.waiting.popleft())
        else:
            self.idle[id(event)] = event
        return event

    def forget(self, event):
        self.idle.pop(id(event), None)


class Simulation:
    def __init__(self, case, seed):
        self.case, self.env = case, simpy.Environment()
        self.queue = Queue(self.env)
        # Streams of their own, so that a change of one leaves the others as they are.
        self.arriving, self.serving, self.fate = (random.Random(f"{seed}/{name}") for name in "asf")
        self.takes, self.busy, self.busy_time, self.slot_time = [], 0, 0.0, 0.0
        self.deaths = self.dead = self.retries = self.workers = self.peak_workers = 0
        self.retired, self.slots, self.since = set(), {}, {}

    def run(self):
        case, env = self.case, self.env
        env.process(self.arrive())
        for number in range(case.workers if case.least is None else case.least):
            self.add(number)
        if case.least is not None:
            env.process(self.scale())
        if case.takes is None and case.trace is None:
            env.run(case.end + case.tail)
        else:
            env.run()
        self.slot_time += sum(self.counted(began) for began in self.since.values())
        return self.found()

    def found(self):
        case = self.case
        if case.takes is not None or case.trace is not None:
            takes = self.takes[int(case.warm_up):]
        else:
            takes = [take for take in self.takes if case.warm_up <= take.arrival <= case.end]
        waits = sorted(take.wait for take in takes if take.wait is not None)
        stays = sorted(take.done - take.arrival for take in takes if take.done is not None)
        result = {f"{name} {share}": percentile(values, share / 100)
                  for name, values in (("wait", waits), ("stay", stays)) for share in (50, 95, 99)}
        result["wait mean"] = statistics.fmean(waits)
        result["waited"] = sum(wait > 1e-12 for wait in waits) / len(waits)
        result["longest stay"] = stays[-1]
        result["busy"] = self.busy_time / self.slot_time if self.slot_time else float("nan")
        result["takes"], result["open"] = len(takes), len(takes) - len(stays)
        result["deaths of workers"], result["dead takes"] = self.deaths, self.dead
        result["retries"], result["workers at most"] = self.retries, self.peak_workers
        result["worker hours"] = self.slot_time / case.slots / 3_600
        return result

    def arrive(self):
        case, env, chance = self.case, self.env, self.arriving
        highest = case.rate * (1.5 if case.shape[0] == "morning" else 1.0)
        is_flat, last = case.shape[0] == "flat", case.end + case.tail
        for at, *take in case.trace or []:
            yield env.timeout(max(0.0, at - env.now))
            self.takes.append(Take(env.now, *take))
            self.queue.put(self.takes[-1])
        count = 0
        while case.trace is None and count != case.takes:
            at = env.now
            while True:
                at += chance.expovariate(highest)
                if is_flat or chance.random() * highest < case.rate * share_of_peak(
                        case.shape, at):
                    break
            if case.takes is None and at > last:
                return
            yield env.timeout(at - env.now)
            take = Take(env.now, 0.0 if case.factor is None else speech(chance))
            self.takes.append(take)
            count += 1
            self.queue.put(take)

    # A worker

    def add(self, number):
        self.workers += 1
        self.peak_workers = max(self.peak_workers, self.workers)
        slots = self.slots[number] = [self.env.process(self.slot(number))
                                      for _ in range(self.case.slots)]
        if self.case.life:
            self.env.process(self.mortality(number, slots))

    def mortality(self, number, slots):
        yield self.env.timeout(self.fate.expovariate(1 / self.case.life))
        if number in self.slots and self.slots[number] is slots:
            self.deaths += 1
            for slot in slots:
                if slot.is_alive:
                    slot.interrupt()
            self.workers -= 1
            del self.slots[number]
            yield self.env.timeout(self.case.restart)
            if number not in self.retired:
                self.add(number)

    def slot(self, number):
        case, env, queue, chance = self.case, self.env, self.queue, self.serving
        event = take = got = None
        began = self.since[(number, env.active_process)] = env.now
        try:
            while number not in self.retired:
                event = queue.get()
                take = yield event
                event, got = None, env.now
                self.busy += 1
                if take.wait is None:
                    take.wait = got - take.arrival
                if case.factor is None:
                    yield env.timeout(chance.expovariate(1.0))
                    take.done = env.now
                else:
                    row = chance.choice(case.rows)
                    # Mark, manifest, list and note come before the audio, then one more mark.
                    own = (row[0] + row[1] + row[2] + row[3] if take.own is None else take.own)
                    yield env.timeout(own + 6 * case.round_trip + case.factor * take.audio)
                    if case.failures and self.fate.random() < case.failures:
                        self.give_back(take)
                    else:
                        take.done, take = env.now, None
                        yield env.timeout(row[4] + row[5] + row[6] + 2 * case.round_trip)
                self.leave(got)
                take = got = None
        except simpy.Interrupt:
            if event is not None:
                # A message may be on its way to it.
                queue.forget(event)
                take = event.value if event.triggered else None
            if take is not None:
                env.process(self.lapse(take, env.now if got is None else got, began))
            if got is not None:
                self.leave(got)
        del self.since[(number, env.active_process)]
        self.slot_time += self.counted(began)

    def counted(self, began):
        """What of a time until now lies between warm-up and end."""
        return max(0.0, min(self.env.now, self.case.end) - max(began, self.case.warm_up))

    def leave(self, got):
        self.busy -= 1
        self.busy_time += self.counted(got)

    def give_back(self, take):
        """Lets it be tried again after 1 s, 2 s and so on; five failures are a death."""
        take.failures += 1
        if take.failures >= TRIES:
            self.dead += 1
            take.done = self.env.now
            return
        self.retries += 1
        limit = min(LONGEST_PAUSE, 2.0 ** (take.failures - 1))
        self.env.process(self.return_after(take, limit / 2 + limit / 2 * self.fate.random()))

    def return_after(self, take, pause):
        yield self.env.timeout(pause)
        self.queue.put(take, is_again=True)

    def lapse(self, take, got, began):
        """The worker's take is another's when the lease is over, which it has extended."""
        ticks = math.floor((self.env.now - began) / EXTENSION) * EXTENSION + began
        yield self.env.timeout(max(got, ticks) + LEASE - self.env.now)
        if take.done is None:
            self.retries += 1
            self.queue.put(take, is_again=True)

    # The autoscaler

    def scale(self):
        """Each half a minute as many workers as have takes, and a quarter more; a worker starts in
        half a minute, and goes when five minutes have not wanted it."""
        case, env = self.case, self.env
        wanted, next_number, coming = collections.deque(maxlen=10), case.least, 0
        while True:
            yield env.timeout(30)
            open_takes = self.busy + len(self.queue.waiting)
            wanted.append(math.ceil(open_takes / (case.aim * case.slots)))
            aim = min(case.workers, max([case.least, *wanted]))
            coming = aim - self.workers
            for _ in range(coming):
                env.process(self.start_later(next_number))
                next_number += 1
            for number in list(self.slots)[:max(0, -coming)]:
                self.retire(number)

    def start_later(self, number):
        yield self.env.timeout(29)
        if self.workers < self.case.workers:
            self.add(number)

    def retire(self, number):
        self.retired.add(number)
        self.workers -= 1
        for slot in self.slots.pop(number):
            # One that waits goes now, one that works when it has finished.
            if slot.is_alive and slot.target in self.queue.idle.values():
                slot.interrupt()
