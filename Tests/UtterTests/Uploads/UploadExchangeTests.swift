// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

@Suite struct UploadExchangeTests {
    private static let host = "http://127.0.0.1:9"
    private static let invitation = [
        ("upload-draft-interop-version", "8"), ("location", "/uploads/secret"),
    ]

    private func exchange(
        _ kind: UploadProtocol = .resumable, from progress: ExchangeProgress? = nil,
        unknown: UnknownOutcome = .resend
    ) throws -> UploadExchange {
        let service = try RecognitionService(url: ServiceURL(Self.host + "/recognize"))
        var plan = DeliveryPlan(service: service, format: .wav, retry: FaultBench.quick)
        plan.retry.unknownOutcome = unknown
        return UploadExchange(kind, plan, from: progress)
    }

    private func head(_ fields: [(String, String)]) -> AnswerHead {
        AnswerHead(headers: fields.map { (name: $0.0, value: $0.1) })
    }

    /// The first request breaks after the service has named the upload.
    private func broken() throws -> UploadExchange {
        var exchange = try exchange()
        _ = exchange.begin(isComplete: true)
        exchange.learn(from: head(Self.invitation))
        _ = exchange.follow(sent: 1_000, isBodyComplete: false)
        return exchange
    }

    @Test func aBreakIsFollowedByAQuestionAndTheRest() throws {
        var exchange = try broken()
        #expect(exchange.asked == .ask)
        #expect(exchange.request.url.text == Self.host + "/uploads/secret")
        #expect(exchange.request.shownURL == Self.host + "/recognize")
        #expect(!exchange.request.carriesRecording)
        let asked = exchange.follow(204, [("upload-offset", "700")])
        #expect(asked == .request(after: Pause(isOfNextStep: true)))
        #expect(exchange.asked == .append)
        #expect(exchange.request.upload?.start == 700)
        #expect(exchange.request.number == 3)
        let answer = exchange.follow(200, [("upload-complete", "?1")], sent: 300)
        #expect(answer == .answered)
        #expect(exchange.takenCount == 1)
        #expect(exchange.progress == nil)
    }

    @Test func withoutAnUploadTheBodyBeginsAgain() throws {
        var exchange = try exchange()
        _ = exchange.follow(sent: 1_000, isBodyComplete: false)
        #expect(exchange.asked == .create)
        #expect(exchange.request.upload?.start == 0)
    }

    @Test(arguments: [
        [("upload-draft-interop-version", "3"), ("location", "/uploads/secret")],
        [("location", "/uploads/secret")],
        [("upload-draft-interop-version", "8"), ("location", "http://other.example/u")],
        [("upload-draft-interop-version", "8")],
    ]) func anInvitationThatIsNotForUsIsIgnored(_ fields: [(String, String)]) throws {
        var exchange = try exchange()
        exchange.learn(from: head(fields))
        #expect(exchange.progress == nil)
    }

    @Test func anotherRunGoesOnWithTheSameUpload() throws {
        let first = try broken()
        var second = try exchange(from: first.progress)
        #expect(second.asked == .ask)
        _ = second.follow(204, [("upload-offset", "1000")])
        #expect(second.request.upload?.start == 1_000)
        // It was complete before its first byte, and says so still.
        #expect(second.request.upload?.isOfWhole == true)
    }

    @Test(arguments: [UploadProtocol.resumable, .tus])
    func aRunThatWasKilledIsGoneOnWithWhereTheServiceIs(_ kind: UploadProtocol) throws {
        var first = try exchange(kind)
        _ = first.begin(isComplete: false)
        if kind == .resumable {
            first.learn(from: head(Self.invitation))
        } else {
            _ = first.follow(201, Self.invitation, isComplete: false)
        }
        // It is killed while it sends: nothing has told how far it came.
        var progress = try #require(first.progress)
        // What was noted before the request may be that it may be taken.
        for unknown in [nil, 1] {
            progress.unknown = unknown
            var second = try exchange(kind, from: progress)
            #expect(second.asked == .ask)
            _ = second.follow(204, [("upload-offset", "700")])
            #expect(second.asked == .append)
            #expect(second.request.upload?.start == 700)
        }
    }

    @Test func anUploadIsNotMadeBeforeItsLengthIsKnownWhereThatIsWanted() throws {
        var exchange = try exchange(.tus)
        #expect(!exchange.request.saysLength)
        _ = exchange.follow(400, isComplete: false)
        #expect(exchange.asked == .createEmpty)
        #expect(exchange.request.saysLength)
    }

    @Test func anUploadOfAnotherBodyIsNotGoneOnWith() throws {
        var progress = try #require(try broken().progress)
        progress.plan = "another"
        #expect(try exchange(from: progress).asked == .create)
        progress = try #require(try broken().progress)
        progress.values["upload"] = "http://other.example/u"
        #expect(try exchange(from: progress).asked == .create)
    }

    @Test(arguments: [403, 404, 410]) func aForgottenUploadIsBegunAnewButNotForEver(
        _ status: Int
    ) throws {
        var exchange = try broken()
        for _ in 0..<3 {
            _ = exchange.follow(status)
            #expect(exchange.asked == .create)
            #expect(exchange.request.url.text == Self.host + "/recognize")
            exchange.learn(from: head(Self.invitation))
            _ = exchange.follow(sent: 10, isBodyComplete: false)
        }
        #expect(exchange.follow(status).isFailed)
    }

    @Test func anUploadThatMayBeTakenIsNotBegunAnewUnasked() throws {
        var exchange = try exchange(unknown: .keep)
        exchange.learn(from: head(Self.invitation))
        // All was sent and no answer came: it is asked for, whatever the policy.
        _ = exchange.follow(sent: 1_000)
        #expect(exchange.asked == .ask)
        #expect(exchange.takenCount == 1)
        #expect(exchange.follow(404).isFailed)
    }

    @Test func aLostAnswerIsFetchedByAnEmptyAppend() throws {
        var exchange = try broken()
        _ = exchange.follow(204, [("upload-offset", "1000")])
        _ = exchange.follow(sent: 500)
        let state = [("upload-offset", "1500"), ("upload-complete", "?1")]
        _ = exchange.follow(204, state)
        #expect(exchange.request.upload?.start == 1_500)
        #expect(exchange.follow(200, [("upload-complete", "?1")]) == .answered)
        #expect(exchange.takenCount == 1)
    }

    /// One that cannot be read is as good as an answer that was lost.
    @Test(
        arguments: [
            ("900", .create), ("5000", .create), ("-1", .ask), ("x", .ask),
        ] as [(String, UploadRequest.Step)])
    func anOffsetThatCannotBeEndsTheUpload(
        _ offset: String, _ next: UploadRequest.Step
    ) throws {
        var exchange = try broken()
        _ = exchange.follow(204, [("upload-offset", "1000")])
        _ = exchange.follow(sent: 500, isBodyComplete: false)
        _ = exchange.follow(204, [("upload-offset", offset)])
        #expect(exchange.asked == next)
    }

    @Test func aWrongOffsetIsAskedForAgainButNotForEver() throws {
        var exchange = try broken()
        for _ in 0..<9 {
            _ = exchange.follow(204, [("upload-offset", "700")])
            if exchange.follow(409).isFailed { return }
            #expect(exchange.asked == .ask)
        }
        Issue.record("it has no end")
    }

    @Test func aLockedUploadIsAskedForLaterAndKeptIfItStaysLocked() throws {
        var exchange = try broken()
        var pauses: [Duration] = []
        var last = exchange.follow(423)
        while case .request(let pause) = last, pauses.count < 20 {
            #expect(exchange.asked == .ask)
            pauses.append(pause.duration)
            last = exchange.follow(423)
        }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        guard case .failed(.unavailable(status: 423, _)) = last else {
            Issue.record("\(last)")
            return
        }
    }

    /// A live recording may be refused when it has fewer bytes than the limit.
    @Test(arguments: [0, 100, 1_000])
    func aServiceThatTakesPiecesAloneGetsPieces(_ recorded: Int) throws {
        var exchange = try exchange()
        let limit = [("upload-limit", "max-size=9000, max-append-size=400;x=1")]
        _ = exchange.follow(413, limit, isComplete: false, size: recorded)
        #expect(exchange.asked == .createEmpty)
        let made = [("location", "/uploads/secret"), ("upload-complete", "?0")]
        _ = exchange.follow(201, made)
        #expect(exchange.asked == .ask || exchange.request.upload?.start == 0)
        #expect(exchange.request.upload?.limit == 400)
        for offset in [400, 800] {
            let state = [("upload-offset", "\(offset)"), ("upload-complete", "?0")]
            _ = exchange.follow(204, state, sent: 400)
            #expect(exchange.request.upload?.start == offset)
        }
        #expect(exchange.follow(200, [("upload-complete", "?1")], sent: 200) == .answered)
    }

    /// The recording has ended, and the disk has not taken its end: the service has all, and hears of it
    /// once that is known.
    @Test func anAppendWithoutBytesWaitsForTheEnd() throws {
        var exchange = try exchange()
        exchange.learn(from: head(Self.invitation))
        let state = [("upload-offset", "400"), ("upload-complete", "?0")]
        _ = exchange.follow(201, state, sent: 400, isComplete: false, size: 400)
        #expect(exchange.asked == .append)
        func begin(_ byteCount: Int, isComplete: Bool) -> Beginning {
            exchange.begin(
                lane: 0, of: RecordingExtent(byteCount: byteCount, isComplete: isComplete))
        }
        #expect(begin(400, isComplete: false) == .growth(to: 401))
        #expect(begin(401, isComplete: false) == .request(exchange.request))
        #expect(begin(400, isComplete: true) == .request(exchange.request))
    }

    @Test func aFailedRecognitionIsNotSentAgain() throws {
        var exchange = try broken()
        _ = exchange.follow(204, [("upload-offset", "1000")])
        let step = exchange.follow(400, [("upload-complete", "?1")], sent: 500)
        #expect(step == .failed(.refused(status: 400, message: nil)))
    }

    @Test func anEarlyAnswerIsTheAnswerToAPart() throws {
        var exchange = try exchange()
        exchange.learn(from: head(Self.invitation))
        let step = exchange.follow(
            200, [("upload-complete", "?1")], sent: 10, isBodyComplete: false)
        #expect(step == .answeredInPart)
    }

    // MARK: - tus

    @Test func tusMakesTheUploadFirstAndSaysTheLengthLast() throws {
        var exchange = try exchange(.tus)
        #expect(exchange.asked == .createEmpty)
        _ = exchange.follow(201, [("location", "/files/1")], isComplete: false)
        #expect(exchange.asked == .append)
        #expect(!exchange.request.saysLength)
        _ = exchange.follow(204, [("upload-offset", "1000")], sent: 1_000, isComplete: false)
        // The recording's end is awaited, and nothing is left to be sent.
        #expect(exchange.request.saysLength)
        #expect(exchange.request.upload?.start == 1_000)
        #expect(exchange.request.upload?.saysLength == true)
        #expect(exchange.follow(200, [("upload-offset", "1000")]) == .answered)
        #expect(exchange.takenCount == 1)
    }

    @Test func tusIsToldTheLengthOnce() throws {
        var exchange = try exchange(.tus)
        _ = exchange.follow(201, [("location", "/files/1")])
        #expect(exchange.request.upload?.saysLength == false)
        #expect(exchange.follow(204, [("upload-offset", "1000")], sent: 1_000) == .answered)
    }

    @Test func tusThatStoresLessGetsTheRest() throws {
        var exchange = try exchange(.tus)
        _ = exchange.follow(201, [("location", "/files/1")])
        _ = exchange.follow(204, [("upload-offset", "400")], sent: 1_000)
        #expect(exchange.request.upload?.start == 400)
    }

    @Test func tusWithoutChunksGetsTheLength() throws {
        var exchange = try exchange(.tus)
        _ = exchange.follow(201, [("location", "/files/1")], isComplete: false)
        _ = exchange.follow(400, isBodyComplete: false, isComplete: false)
        #expect(exchange.asked == .ask)
        let state = [("upload-offset", "0"), ("upload-defer-length", "1")]
        _ = exchange.follow(200, state, isComplete: false)
        #expect(exchange.request.saysLength)
    }

    @Test func anUploadWithoutAPlaceIsRefused() throws {
        var exchange = try exchange(.tus)
        #expect(exchange.follow(201).isFailed)
    }

    /// What a pause adds has to be caught up with.
    @Test func aRecordingThatCanGoOnIsTriedSoon() throws {
        let service = try RecognitionService(url: ServiceURL(Self.host + "/recognize"))
        for (policy, expected) in [
            (RetryPolicy.standard, [0.25, 1, 2, 4, 8]), (FaultBench.quick, [0.01, 0.01]),
        ] {
            var exchange = UploadExchange(
                .resumable, DeliveryPlan(service: service, format: .wav, retry: policy))
            let pauses = expected.map { _ in
                guard case .request(let pause) = exchange.follow(isComplete: false) else {
                    return Double.nan
                }
                return pause.duration / .seconds(1)
            }
            #expect(pauses == expected)
        }
    }
}

extension ExchangeStep {
    fileprivate var isFailed: Bool { if case .failed = self { true } else { false } }
}
