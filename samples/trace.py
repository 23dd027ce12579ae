#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a trace of what `utter --events` prints, for ui.perfetto.dev and chrome://tracing.

    utter send --events note.wav | samples/trace.py > trace.json

A take is a row, and each of its requests one below it. Times count from the beginning of each take.
What was said is not in it.
"""
import fileinput
import json

trace, begun = [], {}


def row(pid, tid, offset, times, name, facts, spans, instants):
    trace.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}})
    times = {"": 0.0, **{key: value for key, value in times.items() if value is not None}}
    for title, start, end in spans:
        start = next((key for key in start if key in times), None)
        end = next((key for key in end if key in times), None)
        if start is None or end is None or times[end] < times[start]:
            continue
        trace.append({"name": title, "ph": "X", "ts": (offset + times[start]) * 1e3,
                      "dur": (times[end] - times[start]) * 1e3, "pid": pid, "tid": tid,
                      **({"args": facts} if title == name else {})})
    trace.extend({"name": title, "ph": "i", "ts": (offset + times[key]) * 1e3, "pid": pid,
                  "tid": tid, "s": "t"} for title, key in instants if key in times)


for line in fileinput.input():
    event = json.loads(line)
    if event["event"] in ("connected", "resending"):
        begun.setdefault((event["take"], event["attempt"]), event)
    if event["event"] != "outcome" or not event.get("take"):
        continue
    take, pid = event["outcome"], 1 + sum(row["name"] == "process_name" for row in trace)
    trace.append({"name": "process_name", "ph": "M", "pid": pid, "tid": 0,
                  "args": {"name": "take " + event["take"]}})
    row(pid, 0, 0.0, take["times"], "take",
        {key: take[key] for key in ("frames", "redirects", "retries")},
        [("take", [""], ["settledMs"]), ("opening the source", [""], ["firstFrameMs"]),
         ("recording", ["firstFrameMs"], ["capturedMs"]), ("tail", ["stoppedMs"], ["capturedMs"]),
         ("sealing", ["capturedMs"], ["sealedMs"]),
         ("waiting for the answer", ["sealedMs"], ["settledMs"])], [("stop", "stoppedMs")])
    for tid, request in enumerate(take["attempts"], 1):
        first = begun.get((event["take"], request["number"]), {"event": "", "atMs": 0.0})
        # A request begins before its connection stands.
        setup = request["securedMs"] or request["connectedMs"] or 0.0
        offset = max(0.0, first["atMs"] - (setup if first["event"] == "connected" else 0.0))
        row(pid, tid, offset, {key: value for key, value in request.items() if key[-2:] == "Ms"},
            "request %d" % request["number"],
            {key: value for key, value in request.items() if key[-2:] != "Ms"},
            [("request %d" % request["number"], [""], ["endMs"]), ("name", [""], ["resolvedMs"]),
             ("connect", ["resolvedMs", ""], ["connectedMs"]),
             ("TLS", ["connectedMs"], ["securedMs"]),
             ("body", ["firstByteOutMs"], ["lastByteOutMs"]),
             ("waiting", ["lastByteOutMs"], ["firstByteInMs"]),
             ("answer", ["firstByteInMs"], ["lastByteInMs", "endMs"])],
            [("head sent", "headOutMs"), ("first text", "firstTextMs")])
print(json.dumps({"traceEvents": trace, "displayTimeUnit": "ms"}))
