// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Which lane fetches a token, and what the others do meanwhile: nothing runs.
@Suite struct TokenFirstTests {
    private static let profile = """
        url = "http://127.0.0.1:9/listen"
        limits = { seconds = 12 }
        exchange.parallel = 3
        auth = { variable = "CLIENT", exchange = { url = "http://127.0.0.1:9/token", token = "t" } }
        """
    private static let whole: RecordingExtent = {
        let frames = 60 * 16_000
        return RecordingExtent(
            byteCount: 2 * frames, frameCount: frames, encodedByteCount: 44 + 2 * frames,
            isComplete: true)
    }()

    /// Each ten seconds.
    private static let cuts = (1..<6).map { tens in
        let place = RecordingPlace(frame: tens * 160_000, offset: 44 + tens * 320_000)
        return StretchCut(end: place, next: place)
    }

    private var exchange: TokenFirst

    init() throws {
        exchange = try Self.exchange(of: Bench.plan(by: Self.profile, format: .pcm))
        guard case .cut? = exchange.need(of: Self.whole) else {
            Issue.record("it is not cut")
            return
        }
        exchange.learn(Self.cuts, of: 0)
    }

    private static func exchange(
        of plan: DeliveryPlan, hasToken: Bool = false
    ) throws -> TokenFirst {
        guard case .token(let use) = plan.service.authentication.use else {
            throw ProfileError.missingWord("token", service: "")
        }
        return TokenFirst(
            StretchExchange(plan), fetching: use, at: plan.service.url, hasToken: hasToken,
            policy: .never)
    }

    /// Says for each lane whether it fetches a token, waits for it, sends a stretch or has nothing to do.
    private mutating func begin() -> [String] {
        (0..<exchange.laneCount).map { begin(lane: $0) }
    }

    private mutating func begin(lane: Int) -> String {
        switch exchange.begin(lane: lane, of: Self.whole) {
        case .request(let request): request.isForToken ? "token" : request.stretch?.mark ?? "?"
        case .token: "waits"
        case .idle: "idle"
        case .sealed, .growth: "?"
        }
    }

    private static func reply(_ status: Int, hasToken: Bool = false) -> Reply {
        var result = TransferResult.unstarted(.answered)
        (result.status, result.isBodyComplete) = (status, true)
        var reply = Reply(result: result)
        reply.hasToken = hasToken
        if status == 200 { reply.transcript.apply(Hypothesis(text: "a", isFinal: true)) }
        return reply
    }

    private mutating func end(
        _ lane: Int, _ status: Int = 200, hasToken: Bool = false
    ) -> ExchangeStep {
        exchange.next(
            after: Self.reply(status, hasToken: hasToken), lane: lane, isSpeaking: false,
            at: Moment())
    }

    private static let next = ExchangeStep.request(after: Pause(isOfNextStep: true))
    private static let stretches = ["-0-160000", "-160000-320000", "-320000-480000"]

    /// Begins with a token that a stretch has shown to be good: the two behind it are under way.
    private mutating func beginWithToken() -> [String] {
        _ = begin()
        _ = end(0, hasToken: true)
        _ = begin()
        #expect(end(0) == .idle, "it has answered")
        return begin()
    }

    @Test mutating func oneLaneFetchesAndThenAllSend() {
        #expect(begin() == ["token", "waits", "waits"])
        #expect(end(0, hasToken: true) == Self.next)
        #expect(begin() == Self.stretches)
    }

    /// All three had the old one: it is fetched once, and each of them is sent again.
    @Test mutating func aTokenThatIsTooOldIsFetchedOnceForAllLanes() {
        let stretches = beginWithToken()
        let number = exchange.request(of: 2).number
        #expect(end(1, 401) == Self.next)
        #expect(exchange.request(of: 2).number == number, "it is under way")
        #expect(begin(lane: 2) == stretches[2], "it is noted")
        #expect(end(0, 401) == Self.next)
        #expect(begin(lane: 0) == "waits" && begin(lane: 1) == "token")
        #expect(end(1, hasToken: true) == .request(after: Pause()))
        // The token is there by now.
        #expect(end(2, 401) == Self.next)
        #expect(begin().sorted() == stretches.sorted())
        #expect(end(0) == .idle && end(1) == .idle && end(2) == .idle)
    }

    @Test(arguments: [401, 403])
    mutating func aNewTokenThatIsRefusedEndsTheDelivery(_ status: Int) {
        _ = begin()
        _ = end(0, hasToken: true)
        _ = begin()
        guard case .failed(.tokenRefused) = end(0, status) else {
            Issue.record("it is fetched again and again")
            return
        }
        // After another secret it would be.
        #expect(begin(lane: 0) == "token")
    }

    /// A service that asks for a pause gets it, whatever another lane does meanwhile; a token that takes
    /// three seconds makes it no longer.
    @Test(arguments: zip([0, 3, 9], [7, 4, 0]))
    func aRetryKeepsItsPauseWhileATokenIsFetched(_ fetch: Int, _ rest: Int) throws {
        var plan = try Bench.plan(by: Self.profile, format: .pcm)
        plan.retry = .standard
        var machine = TakeMachine(
            TakeDelivery(start: 44, exchange: try Self.exchange(of: plan, hasToken: true)),
            recorded: JournalSeal(
                byteCount: 44 + Self.whole.byteCount, sha256: "", loss: nil))
        var elapsed = Duration.zero
        var started: [Int: (ExchangeRequest, Duration)] = [:]
        func handle(_ event: TakeMachine.Event) {
            let now = Moment(elapsed: elapsed) { $0.frameCount = Self.whole.frameCount }
            for action in machine.handle(event, at: now) {
                switch action {
                case .cut: handle(.cut(Self.cuts, of: 0))
                case .note(let lane, _): handle(.noted(lane: lane))
                case .start(let lane, let request, let pause):
                    started[lane] = (request, max(pause.duration, pause.atLeast))
                default: break
                }
            }
        }
        func end(_ lane: Int, _ status: Int, hasToken: Bool = false, after: Duration = .zero) {
            var reply = Self.reply(status, hasToken: hasToken)
            reply.result.retryAfter = after
            started[lane] = nil
            handle(.ended(lane: lane, reply))
        }
        handle(.opened(nil))
        #expect(started.count == 3)
        end(1, 401)
        #expect(started[1]?.0.isForToken == true)
        end(0, 503, after: .seconds(7))
        #expect(started[0] == nil, "its token is fetched")
        elapsed = .seconds(fetch)
        end(1, 200, hasToken: true)
        #expect(started[0]?.1 == .seconds(rest) && started[1]?.1 == .zero && started.count == 3)
    }
}
