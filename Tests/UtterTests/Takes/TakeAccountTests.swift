// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture
@testable import Utter

@Suite struct TakeAccountTests {
    /// One second with a hole of 100 ms, sent whole.
    private let right = TakeAccount(
        capturedFrames: 14_400, gapFrames: 1_600, encodedFrames: 16_000, encodedBytes: 32_044,
        journaledBytes: 32_044, bodyOffset: 44, sentBytes: 32_000, wireBytes: 32_000,
        sha256: String(repeating: "0", count: 64))

    private let delivered: TakeAccount.Circumstances = {
        var circumstances = TakeAccount.Circumstances()
        circumstances.listedGapFrames = 1_600
        circumstances.isSentWhole = true
        return circumstances
    }()

    private func imbalance(
        _ change: (inout TakeAccount, inout TakeAccount.Circumstances) -> Void
    ) -> String? {
        var (account, circumstances) = (right, delivered)
        change(&account, &circumstances)
        return account.imbalance(circumstances)
    }

    @Test func whatAgreesIsBalanced() {
        #expect(imbalance { _, _ in } == nil)
    }

    @Test func eachStageIsComparedWithTheOneBefore() {
        #expect(
            imbalance { account, _ in account.capturedFrames -= 1 }
                == "14399 frames were captured and 1600 lost, but 16000 encoded")
        #expect(
            imbalance { account, _ in account.encodedFrames += 320 }
                == "14400 frames were captured and 1600 lost, but 16320 encoded")
        #expect(
            imbalance { _, circumstances in circumstances.listedGapFrames = 1_000 }
                == "1600 frames were lost, but the gaps are 1000 frames long")
        #expect(
            imbalance { account, _ in account.journaledBytes -= 2 }
                == "32044 bytes were encoded, but 32042 are in the journal")
        #expect(
            imbalance { account, _ in account.sentBytes -= 640 }
                == "32000 bytes were to be sent, but 31360 were")
        #expect(
            imbalance { account, _ in account.sha256 = "" }
                == "the journal has 32044 bytes, but no SHA-256")
    }

    @Test func whatWasNotSentWholeMayHaveSentLess() {
        let found = imbalance { account, circumstances in
            account.sentBytes = 100
            circumstances.isSentWhole = false
        }
        #expect(found == nil)
    }

    @Test func aCancelledTakeMayEncodeLessButNeverMore() {
        for (frames, isBalanced) in [(15_000, true), (16_000, true), (16_001, false)] {
            let found = imbalance { account, circumstances in
                account.encodedFrames = frames
                circumstances.isEncodedWhole = false
            }
            #expect((found == nil) == isBalanced)
        }
    }

    @Test func aJournalThatLostItsEndMayHoldLessButNeverMore() {
        for (bytes, isBalanced) in [(44, true), (32_044, true), (32_045, false)] {
            let found = imbalance { account, circumstances in
                account.journaledBytes = bytes
                circumstances.isJournaledWhole = false
                circumstances.isSentWhole = false
            }
            #expect((found == nil) == isBalanced)
        }
    }

    @Test func anEmptyTakeIsBalanced() {
        let empty = TakeAccount(
            capturedFrames: 0, gapFrames: 0, encodedFrames: 0, encodedBytes: 0, journaledBytes: 0,
            bodyOffset: 44, sentBytes: 0, wireBytes: 0, sha256: "")
        #expect(empty.imbalance(TakeAccount.Circumstances()) == nil)
    }

    @Test func aTakeOfAnEarlierRunKnowsItsGapsByTheirSumAlone() {
        #expect(imbalance { _, circumstances in circumstances.listedGapFrames = nil } == nil)
    }
}

@Suite struct TakeFailureTests {
    private static let host = "https://speech.example"
    private static let refusal = "the service refused the recording"

    private static func lost(_ ending: TransferResult.Ending) -> TakeFailure {
        .notDelivered(ending, host: host)
    }

    private static func refused(
        _ status: Int, _ message: String? = nil, _ advice: RefusalAdvice? = nil
    ) -> TakeFailure {
        .refused(status: status, message: message, advice: advice)
    }

    private static let rows: [(TakeFailure, String)] = [
        (.capture(.deviceNotFound(device: "hw:9")), "no capture device named 'hw:9'"),
        (
            .encoding(.codecFailed(operation: "opus", reason: "no memory")),
            "encoding failed: opus: no memory"
        ),
        (
            .journal(reason: "write: No space left on device"),
            "the recording cannot be stored: write: No space left on device"
        ),
        (lost(.cannotResolve("no such host")), "cannot find \(host): no such host"),
        (lost(.cannotConnect("refused")), "cannot connect to \(host): refused"),
        (lost(.connectionLost("reset")), "the connection to \(host) was lost: reset"),
        (lost(.timedOut(.connect)), "\(host) did not accept a connection in time"),
        (lost(.timedOut(.stall)), "\(host) stopped taking the recording"),
        (lost(.timedOut(.answer)), "\(host) took the recording and did not answer in time"),
        (lost(.timedOut(.whole)), "the transfer to \(host) took longer than allowed"),
        (
            lost(.journalUnreadable("read: I/O error")),
            "the recording cannot be read back: read: I/O error"
        ),
        (
            .insecure(reason: "self-signed certificate", host: "speech.example"),
            "speech.example is not trusted: self-signed certificate"
        ),
        (.proxyRefused(status: 407), "the proxy wants a name and a password, or others (407)"),
        (refused(400, "no such language"), "\(refusal): 400: no such language"),
        (refused(404), "\(refusal): 404"),
        (refused(405, nil, .otherMethod(allowed: "GET")), "\(refusal): 405"),
        (
            refused(302, "302 Found", .elsewhere(location: "/login")),
            "\(refusal): 302: Found; it points to /login"
        ),
        (refused(411, "411", .length), "\(refusal): 411"),
        (refused(411, nil, .lengthSent), "\(refusal): 411; its length was sent"),
        (refused(403, "not here", .forbidden), "the service forbids this: 403: not here"),
        (
            .notTLS(reason: "error:0A00010B:SSL routines::wrong version number", host: host),
            "\(host) does not speak TLS on this port"
        ),
        (
            .tokenRefused(status: 401, message: "expired"),
            "the service did not accept the token: 401: expired"
        ),
        (.unavailable(status: 503, message: nil), "the service cannot answer now: 503"),
        (
            .redirectRefused(location: "http://evil", reason: "why"),
            "the service points to http://evil, which was not followed: why"
        ),
        (.answerUnusable(.empty), "the service accepted the recording and answered nothing"),
        (
            .responseUnusable(reason: "its status is 999"),
            "the answer cannot be used: its status is 999"
        ),
        (.cancelled, "cancelled"),
        (.left, "ended by a signal before the answer came"),
    ]

    @Test(arguments: rows)
    func everyFailureSaysWhatAndWhy(_ failure: TakeFailure, _ description: String) {
        #expect(failure.description == description)
        #expect(!description.hasSuffix("."))
        #expect(!description.contains("\n"))
    }
}

/// How often it is told how far a take has come.
@Suite struct ProgressMeterTests {
    private let account = CaptureAccount()
    private let meter: ProgressMeter

    init() { meter = ProgressMeter(of: account, bodyOffset: 44) }

    @Test func tenTimesASecondWhileTheJournalGrows() {
        // A period each 20 ms, for a second.
        let told = (0..<50).count { meter.isDue(at: .milliseconds(20 * $0)) }
        #expect(told == 10)
    }

    @Test func tenTimesASecondAndAtTheEndWhenTheRecordingIsComplete() {
        #expect(!meter.noteComplete(44 + 1_000))
        let told = (1...1_000).filter { meter.noteSent($0, at: .milliseconds($0)).isDue }
        #expect(told.count == 11)
        #expect(told.last == 1_000)
    }

    @Test func notByTheTransferWhileTheJournalTells() {
        #expect(meter.noteSent(5, at: .seconds(1)) == (false, false))
        #expect(meter.isDue(at: .seconds(1)))
    }

    @Test func thatAllWasSentIsToldOnceAnAttempt() {
        #expect(!meter.noteSent(500).isWhole)
        #expect(!meter.noteComplete(44 + 1_000))
        #expect(!meter.noteSent(999).isWhole)
        #expect(meter.noteSent(1_000).isWhole)
        #expect(!meter.noteSent(1_000).isWhole)
        meter.noteAttempt()
        #expect(meter.noteSent(1_000).isWhole)
    }

    @Test func whatWasSentBeforeItWasCompleteIsToldThen() {
        #expect(!meter.noteSent(1_000).isWhole)
        #expect(meter.noteComplete(44 + 1_000))
        #expect(!meter.noteSent(1_000).isWhole)
    }

    @Test func anEmptyRecordingIsNotSent() {
        #expect(!meter.noteComplete(44))
        #expect(!meter.noteSent(0).isWhole)
    }
}
