// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import Upload
@testable import Utter

@Suite struct PostOnceTests {
    private static let host = "http://127.0.0.1:9"
    private static let answered = TransferResult.Ending.answered

    private static func result(
        _ ending: TransferResult.Ending = .answered, status: Int? = nil, location: String? = nil,
        isBodyComplete: Bool = true
    ) -> TransferResult {
        var result = TransferResult.test(ending, status: status, isBodyComplete: isBodyComplete)
        result.headers = location.map { [(name: "location", value: $0)] } ?? []
        return result
    }

    private func delivery(
        allowed: [String] = [], policy: RetryPolicy = .never, framing: BodyFraming = .auto,
        detectsEnd: Bool = false
    ) throws -> PostOnce {
        PostOnce(
            url: try ServiceURL(Self.host + "/a/b"), allowed: try allowed.map { try Origin($0) },
            policy: policy, framing: framing, detectsEnd: detectsEnd)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var ending = TransferResult.Ending.answered
        var status: Int?
        var answer: AnswerError?
        let step: ExchangeStep
        var testDescription: String { "\(ending), \(status ?? 0)" }
    }

    static let rows: [Row] = [
        Row(status: 200, step: .answered),
        Row(status: 204, step: .answered),
        Row(status: 200, answer: .empty, step: .failed(.answerUnusable(.empty))),
        Row(step: .failed(.responseUnusable(reason: "there is no status"))),
        Row(status: 401, step: .failed(.tokenRefused(status: 401, message: "m"))),
        Row(status: 403, step: .failed(.tokenRefused(status: 403, message: "m"))),
        Row(status: 404, step: .failed(.refused(status: 404, message: "m"))),
        Row(status: 302, step: .failed(.refused(status: 302, message: "m"))),
        Row(status: 503, step: .failed(.unavailable(status: 503, message: "m"))),
        Row(status: 999, step: .failed(.responseUnusable(reason: "its status is 999"))),
        Row(ending: .insecure("no"), step: .failed(.insecure(reason: "no", host: "127.0.0.1"))),
        Row(ending: .notTLS("no"), step: .failed(.notTLS(reason: "no", host: Self.host))),
        Row(ending: .badResponse("bad"), step: .failed(.responseUnusable(reason: "bad"))),
        Row(ending: .cancelled, step: .failed(.left)),
    ]

    static let undelivered = [
        TransferResult.Ending.cannotResolve("x"), .cannotConnect("x"), .connectionLost("x"),
        .timedOut(.answer), .journalUnreadable("x"),
    ].map { Row(ending: $0, step: .failed(.notDelivered($0, host: Self.host))) }

    /// The answer that was lost is read by the other version.
    @Test(.spec("RFC 9113 §8.1")) func aStreamThatIsResetIsFollowedByTheOtherVersion() throws {
        var delivery = try delivery(policy: .standard)
        var lost = Self.result(.connectionLost("reset"), isBodyComplete: false)
        #expect(delivery.next(after: lost, isSpeaking: true).isRequest)
        #expect(!delivery.request.avoidsHTTP2)
        lost.mayHaveLostAnswer = true
        for isAvoided in [true, false, true] {
            #expect(delivery.next(after: lost, isSpeaking: true).isRequest)
            #expect(delivery.request.avoidsHTTP2 == isAvoided)
        }
    }

    @Test(.spec("RFC 9110 §10.1.1")) func aRefusedExpectationIsLeftOutOnce() throws {
        var delivery = try delivery()
        let refusal = Self.result(status: 417)
        #expect(delivery.next(after: refusal) == .request(after: Pause()))
        #expect(delivery.request.omitsExpectation && delivery.request.number == 2)
        #expect(delivery.next(after: refusal) == .failed(.refused(status: 417, message: nil)))
    }

    @Test(arguments: rows + undelivered) func aTransferIsFollowedByItsStep(_ row: Row) throws {
        try expect(row, by: .never)
    }

    /// Time cures no refusal; `StatusVerdictTests` says which statuses are one.
    @Test func aRefusalIsNotTriedAgain() throws {
        for row in Self.rows where row.status != 503 { try expect(row, by: .standard) }
    }

    private func expect(_ row: Row, by policy: RetryPolicy) throws {
        var delivery = try delivery(policy: policy)
        let step = delivery.next(
            after: Self.result(row.ending, status: row.status), answer: row.answer, message: "m")
        #expect(step == row.step)
        #expect(delivery.request.number == 1)
    }

    @Test(arguments: [
        ("/c", "http://127.0.0.1:9/c"), ("c", "http://127.0.0.1:9/a/c"),
        ("?x", "http://127.0.0.1:9/a/b?x"), ("http://127.0.0.1:9/d", "http://127.0.0.1:9/d"),
    ]) func aRedirectWithinTheOriginIsFollowed(_ location: String, url: String) throws {
        var delivery = try delivery()
        let redirect = Self.result(status: 307, location: location)
        #expect(delivery.next(after: redirect) == .request(after: Pause()))
        #expect(delivery.request.url.text == url)
        #expect(delivery.request.number == 2)
    }

    @Test(arguments: [
        nil, "http://127.0.0.1:10/", "https://127.0.0.1:9/", "http://localhost:9/",
        "//evil.example/", "file:///etc/passwd", "http://a@127.0.0.1:9/", "http://[", "\u{1b}[2J",
    ]) func noOtherRedirectIs(_ location: String?) throws {
        var delivery = try delivery()
        let step = delivery.next(after: Self.result(status: 308, location: location))
        guard case .failed(let failure) = step, case .redirectRefused = failure else {
            Issue.record("\(step)")
            return
        }
        #expect(delivery.request.url.text == Self.host + "/a/b")
        #expect(delivery.request.number == 1)
        #expect(!failure.description.contains("\u{1b}"))
    }

    @Test func anAllowedOriginIsFollowedAndBackAgain() throws {
        var delivery = try delivery(allowed: ["https://speech.example"])
        for (number, location) in ["https://speech.example/x", "y", Self.host + "/z"].enumerated() {
            let redirect = Self.result(status: 307, location: location)
            #expect(delivery.next(after: redirect) == .request(after: Pause()))
            #expect(delivery.request.number == number + 2)
        }
        #expect(delivery.request.url.text == Self.host + "/z")
    }

    /// Which transfers a service may have taken whole, whatever it said.
    @Test(arguments: [
        (answered, 200, true, true), (.connectionLost("in the answer"), 200, true, true),
        (.connectionLost("x"), 0, true, true), (.timedOut(.answer), 0, true, true),
        (.cancelled, 0, true, true), (.badResponse("x"), 0, true, true),
        (.connectionLost("x"), 0, false, false), (answered, 200, false, false),
        (answered, 503, true, false), (answered, 401, true, false), (answered, 307, true, false),
        (answered, 404, true, false),
    ]) func whatTheServiceMayHaveIsCounted(
        _ ending: TransferResult.Ending, status: Int, isBodyComplete: Bool, isTaken: Bool
    ) throws {
        var delivery = try delivery(policy: .standard)
        delivery.record(
            Self.result(
                ending, status: status > 0 ? status : nil, isBodyComplete: isBodyComplete))
        #expect(delivery.takenCount == (isTaken ? 1 : 0))
    }

    @Test func aLaterRunGoesOnCounting() throws {
        var delivery = PostOnce(
            url: try ServiceURL(Self.host), allowed: [], policy: .standard, attemptsBefore: 4,
            takenBefore: 1)
        #expect(delivery.request.number == 5)
        delivery.record(Self.result(status: 200))
        #expect(delivery.takenCount == 2)
    }

    @Test func aHurryLeavesASecondAtMost() throws {
        var delivery = try delivery(policy: .standard)
        let lost = Self.result(.connectionLost("x"), isBodyComplete: false)
        var pauses: [Duration] = []
        for _ in 0..<6 {
            if case .request(let pause) = delivery.next(after: lost, isSpeaking: true) {
                pauses.append(pause.atLeast)
            }
        }
        #expect(pauses == [0.25, 1, 1, 1, 1, 1].map { .seconds($0) })
    }

    /// Whenever the recording ends and however long the link holds in between, no minute has more
    /// than eight attempts, redirected ones among them.
    @Test(arguments: [0, 1, 5]) func noMinuteHasMoreThanEightAttempts(redirects: Int) throws {
        for (release, isFlapping) in stride(from: 0.0, through: 130, by: 0.37).flatMap({
            [($0, false), ($0, true)]
        }) {
            var delivery = try delivery(policy: .standard)
            var now = Duration.zero
            var starts = [now]
            while now < .seconds(200) {
                // Every fifth attempt holds for 11 s when the link flaps.
                let holds = isFlapping && delivery.request.number % 5 == 0
                now += holds ? .seconds(11) : .zero
                var result = Self.result(.connectionLost("x"), isBodyComplete: false)
                result.timings.end = holds ? .seconds(11) : .zero
                if delivery.request.number <= redirects {
                    result = Self.result(status: 307, location: "c")
                }
                let step = delivery.next(
                    after: result, isSpeaking: now < .seconds(release), elapsed: now)
                guard case .request(let pause) = step else { break }
                let end = now + pause.duration
                // The end of the recording ends a pause.
                let isHurried = pause.isForSpeaker && end > .seconds(release)
                now = isHurried ? max(now + pause.atLeast, .seconds(release)) : end
                starts.append(now)
            }
            for start in starts {
                let count = starts.count { $0 >= start && $0 < start + .seconds(60) }
                #expect(count <= 8, "released after \(release) s, \(isFlapping): \(starts)")
            }
        }
    }

    @Test func failuresBeforeTheReleaseCostNoTryBehindIt() throws {
        let policy = RetryPolicy(
            pausesWhileSpeaking: [.seconds(1)], pausesAfterRelease: [.seconds(2), .seconds(3)],
            longestRetryAfter: .zero, unknownOutcome: .resend)
        var delivery = try delivery(policy: policy)
        let lost = Self.result(.connectionLost("x"), isBodyComplete: false)
        let pauses = [true, true, true, false, false, false].map { isSpeaking in
            let step = delivery.next(after: lost, isSpeaking: isSpeaking)
            guard case .request(let pause) = step else { return Duration?.none }
            return pause.duration
        }
        #expect(pauses.map { $0?.components.seconds } == [1, 1, 1, 2, 3, nil])
    }

    /// While the speaker speaks, a service that wants more than an hour is asked again after one.
    @Test func aWaitOfADayIsNamedAsItWasAsked() throws {
        var delivery = try delivery(policy: .standard)
        var busy = Self.result(status: 503)
        busy.retryAfter = .seconds(100_000)
        let failure = TakeFailure.unavailable(
            status: 503, message: "it asks to wait 27 h 47 min")
        guard case .request(let pause) = delivery.next(after: busy, isSpeaking: true) else {
            Issue.record("it is not asked again")
            return
        }
        #expect(pause.duration == .seconds(3_600) && pause.cause == failure)
        #expect(delivery.next(after: busy) == .failed(failure))
    }

    @Test func aNameThatIsNotFoundIsSearchedForTwiceAfterTheRelease() throws {
        let failed = Self.result(.cannotResolve("no"), isBodyComplete: false)
        var delivery = try delivery(policy: .standard)
        #expect(delivery.next(after: failed).isRequest)
        let second = delivery.next(after: failed)
        #expect(second == .failed(.notDelivered(.cannotResolve("no"), host: Self.host)))
        // While the voice speaks nothing is lost by trying, and the release ends it.
        delivery = try self.delivery(policy: .standard)
        for _ in 0..<3 { #expect(delivery.next(after: failed, isSpeaking: true).isRequest) }
        #expect(delivery.next(after: failed) == second)
    }

    @Test(arguments: [AnswerError?.none, .empty])
    func anEarlyAnswerIsFollowedByOneAttemptWithTheLength(_ answer: AnswerError?) throws {
        let early = Self.result(status: 200, isBodyComplete: false)
        var delivery = try delivery()
        #expect(!delivery.request.saysLength)
        let first = delivery.next(after: early, answer: answer)
        #expect(first == .request(after: Pause(isForLength: true)))
        #expect(delivery.request.saysLength)
        #expect(delivery.request.number == 2)
        let second = delivery.next(after: early, answer: answer)
        #expect(second == answer.map { .failed(.answerUnusable($0)) } ?? .answeredInPart)
    }

    @Test func whatIsToldOfFramingAndEndpointingCounts() throws {
        let early = Self.result(status: 200, isBodyComplete: false)
        let wantsLength = Self.result(status: 411)
        var chunked = try delivery(framing: .chunked)
        #expect(chunked.next(after: early) == .answeredInPart)
        #expect(
            chunked.next(after: wantsLength)
                == .failed(.refused(status: 411, message: nil, advice: .length)))
        var auto = try delivery()
        #expect(auto.next(after: wantsLength) == .request(after: Pause(isForLength: true)))
        #expect(auto.request.saysLength)
        var endpointing = try delivery(detectsEnd: true)
        #expect(endpointing.next(after: early) == .answered)
        var length = try delivery(framing: .length)
        #expect(length.request.saysLength)
        #expect(
            length.next(after: wantsLength)
                == .failed(.refused(status: 411, message: nil, advice: .lengthSent)))
    }

    @Test func aStreamThatBreaksOffIsNoEarlyAnswer() throws {
        // Services that stream partials send the head of their answer while the body comes.
        var broken = Self.result(.connectionLost("reset"), status: 200, isBodyComplete: false)
        broken.headers = [(name: "transfer-encoding", value: "chunked")]
        #expect(!broken.isEarlyAnswer)
        broken.headers = []
        #expect(broken.isEarlyAnswer)
        broken.isBodyComplete = true
        #expect(!broken.isEarlyAnswer)
    }

    @Test func aResendIsNumberedAndAnUnknownOutcomeRemembered() throws {
        var delivery = try delivery(policy: .standard)
        let lost = Self.result(.connectionLost("x"), isBodyComplete: false)
        #expect(delivery.next(after: lost).isRequest)
        #expect(delivery.takenCount == 0)
        _ = delivery.next(after: Self.result(.connectionLost("x")))
        // Whether the service has the one that was whole is unknown, but it has no second one.
        #expect(delivery.takenCount == 1)
        #expect(delivery.request.number == 3)
        _ = delivery.next(after: Self.result(status: 200))
        #expect(delivery.takenCount == 2)
    }

    @Test func aRuleOfTheServicesDecides() throws {
        var rule = RetryRule()
        (rule.statuses, rule.tokenRefusals) = ([404], [409])
        (rule.codes, rule.tokenCodes) = (["busy"], ["bad_key"])
        rule.honoursRetryAfter = false
        func step(
            _ status: Int, code: String? = nil, failure: AnswerError? = nil
        ) throws -> ExchangeStep {
            var delivery = PostOnce(
                url: try ServiceURL(Self.host), allowed: [], policy: .standard, rule: rule)
            var result = Self.result(status: status)
            result.retryAfter = .seconds(9_999)
            return delivery.next(
                after: Reply(result: result, failure: failure, message: "m", code: code),
                isSpeaking: false, at: Moment())
        }
        #expect(try step(404).isRequest)
        #expect(try step(503) == .failed(.refused(status: 503, message: "m")))
        #expect(try step(409) == .failed(.tokenRefused(status: 409, message: "m")))
        #expect(try step(400, code: "BUSY").isRequest)
        let failed = { AnswerError.serviceReported(message: "words", code: $0) }
        #expect(try step(200, code: "busy", failure: failed("busy")).isRequest)
        #expect(
            try step(200, code: "bad_key", failure: failed("bad_key"))
                == .failed(.tokenRefused(status: 200, message: "words")))
        #expect(
            try step(200, code: "else", failure: failed("else"))
                == .failed(.answerUnusable(failed("else"))))
        #expect(try step(200, code: "busy") == .answered)
    }
}

extension PostOnce {
    fileprivate mutating func next(
        after result: TransferResult, answer: AnswerError? = nil, message: String? = nil,
        isSpeaking: Bool = false, elapsed: Duration = .zero
    ) -> ExchangeStep {
        next(
            after: Reply(result: result, failure: answer, message: message),
            isSpeaking: isSpeaking, at: Moment(elapsed: elapsed))
    }
}

extension ExchangeStep {
    fileprivate var isRequest: Bool { if case .request = self { true } else { false } }
}
