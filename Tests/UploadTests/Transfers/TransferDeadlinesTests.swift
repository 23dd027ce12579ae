// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Upload

@Suite struct TransferDeadlinesTests {
    private static let start = ContinuousClock.now
    private static let deadlines = TransferDeadlines(
        connect: .seconds(10), stall: .seconds(5), answer: .seconds(60), whole: .seconds(1_000))

    /// Times are in seconds since the start.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var connected = true
        /// Since when bytes wait.
        var waiting: Int?
        /// When the body ended.
        var end: Int?
        /// When the speech ended; nil while it goes on.
        var since: Int?
        let at: Double
        /// When to look again.
        var next = 0
        var missed: TransferDeadlines.Missed?
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "just begun", connected: false, at: 0, next: 10),
        Row(name: "still connecting", connected: false, at: 9.9, next: 10),
        Row(name: "not connected in time", connected: false, at: 10, missed: .connect),
        Row(name: "bytes wait while connecting", connected: false, waiting: 1, at: 8, next: 10),
        Row(name: "connected and silent for minutes", at: 900, next: 1_900),
        Row(name: "spoken for ten hours", at: 36_000, next: 37_000),
        Row(name: "spoken for ten hours, and sent", since: 36_000, at: 36_900, next: 37_000),
        Row(name: "bytes wait", waiting: 20, at: 24.9, next: 25),
        Row(name: "bytes wait too long", waiting: 20, at: 25, missed: .stall),
        Row(name: "the body has ended", end: 100, at: 159.9, next: 160),
        Row(name: "no answer in time", end: 100, at: 160, missed: .answer),
        Row(
            name: "the end counts, not what waited before it", waiting: 90, end: 100, at: 120,
            next: 160),
        Row(name: "the whole comes first", waiting: 998, since: 0, at: 999, next: 1_000),
        Row(
            name: "the whole comes before the answer", end: 999, since: 0, at: 1_000, missed: .whole
        ),
        Row(
            name: "the whole begins at the end of the speech", since: 500, at: 1_500, missed: .whole
        ),
        Row(name: "the whole is the worst", connected: false, since: 0, at: 2_000, missed: .whole),
    ]

    @Test(arguments: rows) func aDeadlineIsMissedWhenItsInstantHasCome(_ row: Row) {
        let at = { (seconds: Int) in Self.start + .seconds(seconds) }
        let progress = TransferProgress(
            start: Self.start, isConnected: row.connected, waitingSince: row.waiting.map(at),
            wholeSince: row.since.map(at), awaitedSince: row.end.map(at))
        let check = Self.deadlines.check(progress, now: Self.start + .seconds(row.at))
        if let missed = row.missed {
            #expect(check == .missed(missed))
        } else {
            #expect(check == .next(at(row.next)))
        }
    }

    @Test func newsOfTheAnswerPutItsDeadlineOff() {
        let at = { (seconds: Int) in Self.start + .seconds(seconds) }
        var progress = TransferProgress(start: Self.start, isConnected: true)
        // What is heard while the body is sent says nothing of its end.
        progress.note(newsCount: 3, now: at(1))
        #expect(progress.awaitedSince == nil)
        progress.awaitedSince = at(10)
        progress.note(newsCount: 3, now: at(60))
        #expect(progress.awaitedSince == at(10))
        progress.note(newsCount: 4, now: at(61))
        #expect(progress.awaitedSince == at(61))
    }

    @Test(arguments: [
        (Duration.zero, 0), (.seconds(-5), 0), (.nanoseconds(1), 1), (.milliseconds(1), 1),
        (.microseconds(1_001), 2), (.milliseconds(1_500), 1_500), (.seconds(10), 9_999),
        (.seconds(Int64.max), 9_999),
    ]) func millisecondsAreRoundedUpAndBounded(_ duration: Duration, milliseconds: Int) {
        #expect(duration.wholeMilliseconds(upTo: 9_999) == milliseconds)
    }
}
