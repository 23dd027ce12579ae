// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechService
@testable import Upload
@testable import Utter

@Suite struct PostOnceTests {
    private static let host = "http://127.0.0.1:9"
    private static let answered = TransferResult.Ending.answered

    private static func result(
        _ ending: TransferResult.Ending, status: Int? = nil, location: String? = nil,
        isBodyComplete: Bool = true
    ) -> TransferResult {
        TransferResult(
            ending: ending, status: status,
            headers: location.map { [(name: "location", value: $0)] } ?? [], sentByteCount: 10,
            wireByteCount: 10,
            isBodyComplete: isBodyComplete, timings: TransferTimings())
    }

    private static let circumstances = Circumstances()

    private func delivery(
        allowed: [String] = [], policy: RetryPolicy = .never, framing: BodyFraming = .auto,
        detectsEnd: Bool = false
    ) throws -> PostOnce {
        PostOnce(
            url: try ServiceURL(Self.host + "/a/b"), allowed: try allowed.map { try Origin($0) },
            policy: policy, framing: framing, detectsEnd: detectsEnd)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let ending: TransferResult.Ending
        var status: Int?
        var answer: AnswerError?
        let step: ExchangeStep
        var testDescription: String { "\(ending), \(status ?? 0)" }
    }

    static let rows: [Row] = [
        Row(ending: answered, status: 200, step: .answered),
        Row(ending: answered, status: 204, step: .answered),
        Row(
            ending: answered, status: 200, answer: .empty,
            step: .failed(.answerUnusable(.empty))),
        Row(
            ending: answered, step: .failed(.responseUnusable(reason: "there is no status"))),
        Row(ending: answered, status: 401, step: .failed(.tokenRefused(status: 401, message: "m"))),
        Row(ending: answered, status: 403, step: .failed(.tokenRefused(status: 403, message: "m"))),
        Row(ending: answered, status: 404, step: .failed(.refused(status: 404, message: "m"))),
        Row(ending: answered, status: 302, step: .failed(.refused(status: 302, message: "m"))),
        Row(ending: answered, status: 503, step: .failed(.unavailable(status: 503, message: "m"))),
        Row(
            ending: answered, status: 999,
            step: .failed(.responseUnusable(reason: "its status is 999"))),
        Row(
            ending: .insecure("no"), step: .failed(.insecure(reason: "no", host: "127.0.0.1"))),
        Row(
            ending: .notTLS("no"), step: .failed(.notTLS(reason: "no", host: Self.host))),
        Row(ending: .badResponse("bad"), step: .failed(.responseUnusable(reason: "bad"))),
        Row(ending: .cancelled, step: .failed(.left)),
        Row(
            ending: .cannotResolve("x"),
            step: .failed(.notDelivered(.cannotResolve("x"), host: host))),
        Row(
            ending: .cannotConnect("x"),
            step: .failed(.notDelivered(.cannotConnect("x"), host: host))),
        Row(
            ending: .connectionLost("x"),
            step: .failed(.notDelivered(.connectionLost("x"), host: host))),
        Row(
            ending: .timedOut(.answer),
            step: .failed(.notDelivered(.timedOut(.answer), host: host))),
        Row(
            ending: .journalUnreadable("x"),
            step: .failed(.notDelivered(.journalUnreadable("x"), host: host))),
    ]

    @Test(arguments: rows) func aTransferIsFollowedByItsStep(_ row: Row) throws {
        var delivery = try delivery()
        let step = delivery.next(
            after: Self.result(row.ending, status: row.status), answer: row.answer, message: "m",
            Self.circumstances)
        #expect(step == row.step)
        #expect(delivery.request.number == 1)
    }

    @Test(arguments: [
        ("/c", "http://127.0.0.1:9/c"), ("c", "http://127.0.0.1:9/a/c"),
        ("?x", "http://127.0.0.1:9/a/b?x"), ("http://127.0.0.1:9/d", "http://127.0.0.1:9/d"),
    ]) func aRedirectWithinTheOriginIsFollowed(_ location: String, url: String) throws {
        var delivery = try delivery()
        let step = delivery.next(
            after: Self.result(Self.answered, status: 307, location: location), answer: nil,
            message: nil, Self.circumstances)
        #expect(step == .request(after: Pause()))
        #expect(delivery.request.url.text == url)
        #expect(delivery.request.number == 2)
    }

    @Test(arguments: [
        nil, "http://127.0.0.1:10/", "https://127.0.0.1:9/", "http://localhost:9/",
        "//evil.example/", "file:///etc/passwd", "http://a@127.0.0.1:9/", "http://[", "\u{1b}[2J",
    ]) func noOtherRedirectIs(_ location: String?) throws {
        var delivery = try delivery()
        let step = delivery.next(
            after: Self.result(Self.answered, status: 308, location: location), answer: nil,
            message: nil, Self.circumstances)
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
            let step = delivery.next(
                after: Self.result(Self.answered, status: 307, location: location), answer: nil,
                message: nil, Self.circumstances)
            #expect(step == .request(after: Pause()))
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
        delivery.record(Self.result(Self.answered, status: 200))
        #expect(delivery.takenCount == 2)
    }

    @Test func aHurryLeavesASecondAtMost() throws {
        var delivery = try delivery(policy: .standard)
        var speaking = Self.circumstances
        speaking.isSpeaking = true
        var pauses: [Duration] = []
        for _ in 0..<6 {
            let step = delivery.next(
                after: Self.result(.connectionLost("x"), isBodyComplete: false), answer: nil,
                message: nil, speaking)
            if case .request(let pause) = step { pauses.append(pause.atLeast) }
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
                    result = Self.result(Self.answered, status: 307, location: "c")
                }
                let isSpeaking = now < .seconds(release)
                let circumstances = Circumstances(
                    isSpeaking: isSpeaking, elapsed: now)
                let step = delivery.next(after: result, answer: nil, message: nil, circumstances)
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

    @Test func aLongWaitIsNamed() throws {
        var delivery = try delivery(policy: .standard)
        var busy = Self.result(Self.answered, status: 429)
        busy.retryAfter = .seconds(2_400)
        let step = delivery.next(
            after: busy, answer: nil, message: "slow down", Self.circumstances)
        #expect(
            step
                == .failed(
                    .unavailable(status: 429, message: "slow down; it asks to wait 40 min")))
    }

    @Test func aNameThatIsNotFoundIsSearchedForTwiceAfterTheRelease() throws {
        let failed = Self.result(.cannotResolve("no"), isBodyComplete: false)
        var delivery = try delivery(policy: .standard)
        guard
            case .request = delivery.next(
                after: failed, answer: nil, message: nil, Self.circumstances),
            case .failed(.notDelivered(.cannotResolve, _)) = delivery.next(
                after: failed, answer: nil, message: nil, Self.circumstances)
        else {
            Issue.record("it was not tried twice")
            return
        }
        // While the voice speaks nothing is lost by trying, and the release ends it.
        var speaking = Self.circumstances
        speaking.isSpeaking = true
        delivery = try self.delivery(policy: .standard)
        for _ in 0..<3 {
            guard
                case .request = delivery.next(
                    after: failed, answer: nil, message: nil, speaking)
            else {
                Issue.record("it was given up while the voice spoke")
                return
            }
        }
        guard
            case .failed = delivery.next(
                after: failed, answer: nil, message: nil, Self.circumstances)
        else {
            Issue.record("it is tried on after the release")
            return
        }
    }

    @Test(arguments: [AnswerError?.none, .empty])
    func anEarlyAnswerIsFollowedByOneAttemptWithTheLength(_ answer: AnswerError?) throws {
        let early = Self.result(Self.answered, status: 200, isBodyComplete: false)
        var delivery = try delivery()
        #expect(!delivery.request.saysLength)
        let first = delivery.next(after: early, answer: answer, message: nil, Self.circumstances)
        #expect(first == .request(after: Pause(isForLength: true)))
        #expect(delivery.request.saysLength)
        #expect(delivery.request.number == 2)
        let second = delivery.next(after: early, answer: answer, message: nil, Self.circumstances)
        #expect(second == answer.map { .failed(.answerUnusable($0)) } ?? .answeredInPart)
    }

    @Test func whatIsToldOfFramingAndEndpointingCounts() throws {
        let early = Self.result(Self.answered, status: 200, isBodyComplete: false)
        let wantsLength = Self.result(Self.answered, status: 411)
        var chunked = try delivery(framing: .chunked)
        #expect(
            chunked.next(after: early, answer: nil, message: nil, Self.circumstances)
                == .answeredInPart)
        #expect(
            chunked.next(after: wantsLength, answer: nil, message: nil, Self.circumstances)
                == .failed(.refused(status: 411, message: nil, advice: .length)))
        var endpointing = try delivery(detectsEnd: true)
        #expect(
            endpointing.next(after: early, answer: nil, message: nil, Self.circumstances)
                == .answered)
        var length = try delivery(framing: .length)
        #expect(length.request.saysLength)
        #expect(
            length.next(after: wantsLength, answer: nil, message: nil, Self.circumstances)
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

    @Test func aRefusalThatPointsElsewhereNamesThePlace() throws {
        var delivery = try delivery()
        let step = delivery.next(
            after: Self.result(Self.answered, status: 302, location: "/login\u{1b}"), answer: nil,
            message: nil, Self.circumstances)
        #expect(
            step
                == .failed(
                    .refused(status: 302, message: nil, advice: .elsewhere(location: "/login"))))
    }

    @Test func aResendIsNumberedAndAnUnknownOutcomeRemembered() throws {
        var delivery = try delivery(policy: .standard)
        let first = delivery.next(
            after: Self.result(.connectionLost("x"), isBodyComplete: false), answer: nil,
            message: nil, Self.circumstances)
        guard case .request = first else {
            Issue.record("\(first)")
            return
        }
        #expect(delivery.takenCount < 2)
        _ = delivery.next(
            after: Self.result(.connectionLost("x")), answer: nil, message: nil,
            Self.circumstances)
        // Whether the service has the one that was whole is unknown, but it has no second one.
        #expect(delivery.takenCount == 1)
        #expect(delivery.takenCount < 2)
        #expect(delivery.request.number == 3)
        _ = delivery.next(
            after: Self.result(Self.answered, status: 200), answer: nil, message: nil,
            Self.circumstances)
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
            var result = Self.result(Self.answered, status: status)
            result.retryAfter = .seconds(9_999)
            return delivery.next(
                after: Reply(result: result, failure: failure, message: "m", code: code),
                isSpeaking: false, at: Moment())
        }
        func isTriedAgain(_ step: ExchangeStep) -> Bool {
            if case .request = step { true } else { false }
        }
        #expect(isTriedAgain(try step(404)))
        #expect(try step(503) == .failed(.refused(status: 503, message: "m")))
        #expect(try step(409) == .failed(.tokenRefused(status: 409, message: "m")))
        #expect(isTriedAgain(try step(400, code: "BUSY")))
        let failed = { AnswerError.serviceReported(message: "words", code: $0) }
        #expect(isTriedAgain(try step(200, code: "busy", failure: failed("busy"))))
        #expect(
            try step(200, code: "bad_key", failure: failed("bad_key"))
                == .failed(.tokenRefused(status: 200, message: "words")))
        #expect(
            try step(200, code: "else", failure: failed("else"))
                == .failed(.answerUnusable(failed("else"))))
        #expect(try step(200, code: "busy") == .answered)
    }
}

/// What is known beside the transfer.
private struct Circumstances {
    var isSpeaking = false
    var elapsed = Duration.zero
}

extension PostOnce {
    fileprivate mutating func next(
        after result: TransferResult, answer: AnswerError?, message: String?,
        _ circumstances: Circumstances
    ) -> ExchangeStep {
        next(
            after: Reply(result: result, failure: answer, message: message),
            isSpeaking: circumstances.isSpeaking, at: Moment(elapsed: circumstances.elapsed))
    }
}
