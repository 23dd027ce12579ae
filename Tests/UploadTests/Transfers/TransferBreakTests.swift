// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Upload

/// Connections that are not made, break, or stand still.
@Suite struct TransferBreakTests {
    // MARK: - Connecting

    @Test func aRefusedConnectionIsSaidAtOnce() async throws {
        // Keeps its port, which no other test can get meanwhile.
        let proxy = try FaultProxy(to: 9)
        await proxy.cut()
        let upload = try Upload(to: proxy.url(), bytes(640))
        let result = try #require(await upload.result())
        #expect(result.ending == .cannotConnect("Connection refused"))
        #expect(result.sentByteCount == 0)
        #expect(upload.recorder.record.look { $0.connects } == 0)
    }

    @Test func whatWasSaidDuringASlowConnectArrives() async throws {
        // The connect takes longer than a stall may last: waiting for it is none.
        let deadlines = TransferDeadlines(connect: .ages, stall: .seconds(1))
        let (server, upload) = try Upload.begin(deadlines: deadlines, holdsConnects: true)
        for turn in 0..<20 {
            try upload.append(bytes(640, from: turn * 640))
            _ = await upload.result(within: .milliseconds(100))
        }
        #expect(upload.recorder.record.look { $0.connects } == 0)
        server.releaseConnects()
        let arrived = await server.wait(untilBytes: 20 * 640)
        let request = try #require(
            arrived, "\(upload.recorder.record.look { $0.results.map(\.ending) })")
        #expect(request.body == bytes(20 * 640))
        #expect(upload.recorder.record.look { $0.connects } == 1)
        upload.seal()
        try await upload.expectAnswer()
    }

    /// A person may speak for longer than any transfer may take.
    @Test func theTimeOfTheWholeBeginsAtTheEndOfTheSpeech() async throws {
        let (_, upload) = try Upload.begin(
            bytes(640), by: [.readHead, .readBodyToEnd, .readOn],
            deadlines: TransferDeadlines(whole: .zero))
        #expect(await upload.hasSent(640))
        try upload.append(bytes(640))
        #expect(await upload.hasSent(1_280))
        upload.seal()
        #expect(try #require(await upload.result()).ending == .timedOut(.whole))
    }

    /// Bytes of which there is one in a second and a half, so that nothing of it is timed here.
    @Test func aPaceOfOurOwnCountsForNoDeadline() async throws {
        let (_, upload) = try Upload.begin(
            bytes(640), isSealed: true, by: .answer(text: "heard"),
            deadlines: TransferDeadlines(whole: .milliseconds(1))
        ) { $0.bytesPerSecond = 6 }
        #expect(await upload.hasSent(1))
        #expect(upload.recorder.record.look { $0.results.isEmpty })
        upload.cancel()
        #expect(try #require(await upload.result()).ending == .cancelled)
    }

    // MARK: - Breaking

    @Test func aCloseInMidBodyIsALoss() async throws {
        let (_, upload) = try Upload.begin(
            bytes(640), by: [.readHead, .readBody(bytes: 640), .close])
        while upload.recorder.record.look({ $0.results.isEmpty && $0.sentByteCount < 1 << 20 }) {
            try upload.append(bytes(640))
            _ = await upload.result(within: .milliseconds(5))
        }
        let result = try #require(await upload.result())
        #expect(try !result.reason { .connectionLost($0) }.isEmpty)
        #expect(result.status == nil)
    }

    @Test(
        arguments: [
            ([.readBody(bytes: 0), .reset], false), ([.readBody(bytes: 640), .reset], false),
            // Nothing is appended and nothing sealed: only the service's FIN tells.
            ([.readBody(bytes: 640), .close], false), ([.readBody(bytes: 640), .halfClose], false),
            ([.readBodyToEnd, .reset], true), ([.readBodyToEnd, .close], true),
        ] as [([ServerStep], Bool)])
    func whatBreaksIsALoss(_ loss: [ServerStep], isSealed: Bool) async throws {
        let (_, upload) = try Upload.begin(bytes(640), isSealed: isSealed, by: [.readHead] + loss)
        let result = try #require(await upload.result())
        #expect(try !result.reason { .connectionLost($0) }.isEmpty)
        // Whether the service has a recording is unknown when all of it was handed over.
        #expect(result.isBodyComplete == isSealed)
    }

    // MARK: - Standing still

    @Test func aServerThatStopsReadingIsAStallThoughOnlyTheEndIsNotTaken() async throws {
        let script: [ServerStep] = [.readHead, .readBody(bytes: 1), .stall(.ages)]
        let server = try RecordingServer(
            scripts: [script, script], receiveBufferBytes: 8_192)
        let deadlines = TransferDeadlines(stall: .seconds(1))
        let endless = try Upload(to: server.url(), bytes(12_000_000), deadlines: deadlines)
        let stalled = try #require(await endless.result())
        #expect(stalled.ending == .timedOut(.stall))
        // The kernel took little more than it could send: megabytes would otherwise lie in its
        // own buffer, counted as sent.
        let room = stalled.sentByteCount
        #expect(room < 500_000)
        // As much as that is handed to libcurl; what remains is the end, which is not taken.
        let upload = try Upload(to: server.url(), bytes(room), isSealed: true, deadlines: deadlines)
        let result = try #require(await upload.result())
        #expect(result.ending == .timedOut(.stall))
        #expect(!result.isBodyComplete)
    }

    @Test func aServerThatReadsSlowlyIsNoStall() async throws {
        // First at full speed, so that the kernel's buffers grow as on a fast network.
        var steps: [ServerStep] = [.readHead, .readBody(bytes: 16_000_000)]
        let turns = (1...5).map { ($0, Gate()) }
        for (turn, gate) in turns {
            steps += [.stallUntil(gate), .readBody(bytes: 16_000_000 + turn * 2_000_000)]
        }
        let (_, upload) = try Upload.begin(
            bytes(64_000_000), isSealed: true,
            by: steps + [.readBodyToEnd, .respond(status: 200, text: "")],
            deadlines: TransferDeadlines(stall: .ages))
        #expect(await upload.hasSent(16_000_000))
        // What ends a stall is that more is asked for; for that a service need not read all that the
        // kernel holds, but what it reads at 250 KB/s in the usual time.
        for (turn, gate) in turns {
            let before = upload.recorder.record.value.sentByteCount
            gate.open()
            #expect(await upload.hasSent(before + 1), "\(turn)")
        }
        #expect(try #require(await upload.result()).ending == .answered)
    }

    /// Whether the connection is made, and whether dots are all that the answer has.
    @Test(
        arguments: [
            (TransferDeadlines(connect: .milliseconds(600)), .connect, false, false),
            (TransferDeadlines(answer: .milliseconds(700)), .answer, true, false),
            // Some servers keep a connection awake while what they have behind them hangs.
            (TransferDeadlines(answer: .milliseconds(700)), .answer, true, true),
            (TransferDeadlines(whole: .milliseconds(700)), .whole, true, false),
        ] as [(TransferDeadlines, TransferDeadlines.Missed, Bool, Bool)])
    func whatTakesTooLongTimesOut(
        _ deadlines: TransferDeadlines, _ missed: TransferDeadlines.Missed, isConnected: Bool,
        hasDots: Bool
    ) async throws {
        let steps: [ServerStep] =
            hasDots
            ? .trickle(".", times: 1_000, every: .milliseconds(100))
            : [.readHead, .readBodyToEnd, .readOn]
        let (_, upload) = try Upload.begin(
            bytes(640), isSealed: true, by: steps, deadlines: deadlines,
            holdsConnects: !isConnected)
        let result = try #require(await upload.result())
        #expect(result.ending == .timedOut(missed))
        #expect(result.sentByteCount == (isConnected ? 640 : 0))
        #expect(result.isBodyComplete == isConnected)
    }

    /// A recogniser that is far behind says more and more, for longer than it may be silent.
    @Test func anAnswerThatGrowsDoesNotTimeOut() async throws {
        let (_, upload) = try Upload.begin(
            bytes(640), isSealed: true,
            by: .trickle("more ", times: 12, every: .milliseconds(500)) + [.endResponse],
            deadlines: TransferDeadlines(answer: .seconds(4)))
        try await upload.expectAnswer()
        #expect(upload.recorder.text == String(repeating: "more ", count: 12))
    }

    /// A process that is stopped, or a machine that sleeps, finds its deadlines passed.
    @Test func whatHadComeBeforeADeadlineWasLookedAtCounts() async throws {
        let (asked, answered) = (Gate(), Gate())
        let whole = Duration.seconds(4)
        let (_, upload) = try Upload.begin(
            bytes(1), isSealed: true,
            by: [
                .readHead, .readBody(bytes: 1), .stallUntil(asked),
                .respond(status: 503, text: "later"), .open(answered),
            ], deadlines: TransferDeadlines(whole: whole)
        ) { request in
            // Stands in for the stop: it holds libcurl's turn until the deadline has passed.
            request.mayEndBody = {
                asked.open()
                _ = answered.waitBlocking()
                poll(nil, 0, Int32(whole.components.seconds) * 1_000)
                return true
            }
        }
        try await upload.expectAnswer(503, "later")
    }

    @Test func deadlinesMayBeAsLongAsOneLikes() async throws {
        let ages = Duration.seconds(Int64.max)
        let (_, upload) = try Upload.begin(
            bytes(640), isSealed: true,
            deadlines: TransferDeadlines(connect: ages, stall: ages, answer: ages, whole: ages))
        try await upload.expectAnswer()
    }

    // MARK: - Cancelling

    @Test func aCancelClosesWithoutTheLastChunk() async throws {
        let (server, upload) = try Upload.begin(bytes(640))
        _ = await server.wait(untilBytes: 640)
        upload.cancel()
        let result = try #require(await upload.result())
        #expect(result.ending == .cancelled)
        #expect(!result.isBodyComplete)
        let request = try #require(await server.finishedRequest())
        #expect(request.lastChunkAt == nil)
        #expect(!request.isComplete)
        // A second cancel, and one of a transfer that has ended, do nothing.
        upload.cancel()
        #expect(upload.recorder.record.look { $0.results.count } == 1)
    }

    @Test func aCancelAfterTheSealSendsNoLastChunkEither() async throws {
        let gate = Gate()
        let (server, upload) = try Upload.begin(
            bytes(12_000_000), isSealed: true,
            by: [.readHead, .readBody(bytes: 640), .stallUntil(gate), .readOn],
            deadlines: TransferDeadlines(stall: .ages), receiveBufferBytes: 8_192)
        _ = await server.wait(untilBytes: 640)
        upload.cancel()
        #expect(try #require(await upload.result()).ending == .cancelled)
        gate.open()
        let request = try #require(await server.finishedRequest())
        #expect(request.lastChunkAt == nil)
        #expect(request.body.count < 12_000_000)
    }

    @Test func aCancelWhileConnectingEndsAtOnce() async throws {
        let (_, upload) = try Upload.begin(bytes(640), holdsConnects: true)
        upload.cancel()
        #expect(try #require(await upload.result()).ending == .cancelled)
    }

    @Test func aJournalThatIsCutFromOutsideEndsTheTransfer() async throws {
        let (server, upload) = try Upload.begin(bytes(640))
        _ = await server.wait(untilBytes: 640)
        try upload.truncateAndGrow(to: 1_000)
        let result = try #require(await upload.result())
        let reason = try result.reason { .journalUnreadable($0) }
        #expect(!reason.isEmpty)
        #expect(try #require(await server.finishedRequest()).lastChunkAt == nil)
    }
}
