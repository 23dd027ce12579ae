// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import Utter

/// What takes did when, as Chrome trace events, which Perfetto and `chrome://tracing` show.
///
/// A take is a row, and each of its requests one below it. Times are microseconds since the first
/// take began. No text of the voice and no secret is in it.
package struct TraceDocument: Encodable {
    /// One event, in the members of the Trace Event Format.
    struct Event: Encodable {
        var name: String
        /// `X` is a span, `i` an instant, `M` the name of a row.
        var ph: String
        var ts = 0.0
        var dur: Double?
        var pid: Int
        var tid = 0
        /// Of an instant: it belongs to its row.
        var s: String?
        var args: [String: Argument]?
    }

    /// What an event says beside its time.
    enum Argument: Encodable {
        case text(String), number(Int), flag(Bool)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            }
        }
    }

    var traceEvents: [Event] = []
    var displayTimeUnit = "ms"

    /// Tells of takes that have ended.
    package init(_ outcomes: [TakeOutcome]) {
        guard let start = outcomes.map(\.times.began).min() else { return }
        for (index, outcome) in outcomes.enumerated() {
            tell(outcome, as: index + 1, since: outcome.times.began - start)
        }
    }

    private mutating func tell(_ outcome: TakeOutcome, as pid: Int, since offset: Duration) {
        let times = outcome.times
        var row = Row(pid: pid, tid: 0, offset: offset)
        row.name("process_name", "take \(outcome.id.text)")
        row.name("thread_name", "take")
        row.span(
            "take", from: .zero, to: times.settled,
            [
                "frames": .number(outcome.account.encodedFrames),
                "gap-frames": .number(outcome.account.gapFrames),
                "redirects": .number(outcome.redirectCount),
                "retries": .number(outcome.retryCount),
            ])
        row.span("opening the source", from: .zero, to: times.firstFrame)
        row.span("recording", from: times.firstFrame, to: times.captured)
        row.span("tail", from: times.stopped, to: times.captured)
        row.span("sealing", from: times.captured, to: times.sealed)
        row.span("waiting for the answer", from: times.sealed, to: times.settled)
        row.instant("stop", at: times.stopped)
        traceEvents += row.events
        for (number, attempt) in outcome.attempts.enumerated() {
            guard let began = attempt.result.timings.began else { continue }
            tell(attempt, as: pid, number + 1, since: offset + (began - times.began))
        }
    }

    private mutating func tell(
        _ attempt: TakeAttempt, as pid: Int, _ tid: Int, since offset: Duration
    ) {
        let (result, timings) = (attempt.result, attempt.result.timings)
        var row = Row(pid: pid, tid: tid, offset: offset)
        row.name("thread_name", "request \(attempt.number)")
        var facts: [String: Argument] = [
            "url": .text(attempt.url), "ending": .text(result.ending.word),
            "sent-bytes": .number(result.sentByteCount),
            "body-bytes": .number(result.wireByteCount),
            "framed-bytes": .number(result.framedByteCount),
            "received-bytes": .number(result.receivedByteCount),
            "reused": .flag(result.hasReusedConnection), "proxy": .flag(result.route.isByProxy),
        ]
        let texts = [
            "http": timings.httpVersion, "tls": result.route.tls, "cipher": result.route.cipher,
            "local": result.route.local, "remote": result.route.remote,
        ]
        for case (let name, let text?) in texts { facts[name] = .text(text) }
        if let status = result.status { facts["status"] = .number(status) }
        row.span("request \(attempt.number)", from: .zero, to: timings.end, facts)
        row.span("name", from: .zero, to: timings.resolved)
        row.span("connect", from: timings.resolved ?? .zero, to: timings.connected)
        row.span("TLS", from: timings.connected, to: timings.secured)
        row.span("body", from: timings.firstByteOut, to: timings.lastByteOut)
        row.span("waiting", from: timings.lastByteOut, to: timings.firstByteIn)
        row.span("answer", from: timings.firstByteIn, to: timings.lastByteIn ?? timings.end)
        row.instant("head sent", at: timings.headOut)
        row.instant("first text", at: timings.firstText)
        traceEvents += row.events
    }

    /// The document.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [0x0A]
    }
}

extension TraceDocument {
    /// The events of one row, whose times count from its own beginning.
    fileprivate struct Row {
        let pid, tid: Int
        let offset: Duration
        var events: [Event] = []

        init(pid: Int, tid: Int, offset: Duration) {
            (self.pid, self.tid, self.offset) = (pid, tid, offset)
        }

        mutating func name(_ kind: String, _ name: String) {
            events.append(
                Event(name: kind, ph: "M", pid: pid, tid: tid, args: ["name": .text(name)]))
        }

        /// Adds a span; none when one of its ends has not happened.
        mutating func span(
            _ name: String, from start: Duration?, to end: Duration?,
            _ facts: [String: Argument]? = nil
        ) {
            guard let start, let end, end >= start else { return }
            events.append(
                Event(
                    name: name, ph: "X", ts: (offset + start).microseconds,
                    dur: (end - start).microseconds, pid: pid, tid: tid, args: facts))
        }

        mutating func instant(_ name: String, at time: Duration?) {
            guard let time else { return }
            events.append(
                Event(
                    name: name, ph: "i", ts: (offset + time).microseconds, pid: pid, tid: tid,
                    s: "t"))
        }
    }
}

extension Duration {
    fileprivate var microseconds: Double { milliseconds * 1_000 }
}
