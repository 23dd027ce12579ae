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

    private var exchange: TokenFirst

    /// An exchange of a recording of a minute, cut each ten seconds.
    init() throws {
        let plan = try Bench.plan(by: Self.profile, format: .pcm)
        guard case .token(let use) = plan.service.authentication.use else {
            throw ProfileError.missingWord("token", service: "")
        }
        exchange = TokenFirst(
            StretchExchange(plan), fetching: use, at: plan.service.url, hasToken: false,
            policy: .never)
        guard case .cut? = exchange.need(of: Self.whole) else {
            Issue.record("it is not cut")
            return
        }
        let places = (1..<6).map {
            RecordingPlace(frame: $0 * 160_000, offset: 44 + $0 * 320_000)
        }
        exchange.learn(places.map { StretchCut(end: $0, next: $0) }, of: 0)
    }

    /// What each lane does next: fetch a token, send a stretch, or nothing.
    private mutating func begin() -> [String] {
        (0..<exchange.laneCount).map { lane in
            switch exchange.begin(lane: lane, of: Self.whole) {
            case .request(let request): request.isForToken ? "token" : request.stretch?.mark ?? "?"
            case .idle: "idle"
            case .sealed, .growth: "?"
            }
        }
    }

    private mutating func end(
        _ lane: Int, _ status: Int = 200, hasToken: Bool = false
    ) -> ExchangeStep {
        var result = TransferResult.unstarted(.answered)
        (result.status, result.isBodyComplete) = (status, true)
        var reply = Reply(result: result)
        reply.hasToken = hasToken
        if status == 200 { reply.transcript.apply(Hypothesis(text: "a", isFinal: true)) }
        return exchange.next(after: reply, lane: lane, isSpeaking: false, at: Moment())
    }

    private static let next = ExchangeStep.request(after: Pause(isOfNextStep: true))

    @Test mutating func oneLaneFetchesAndThenAllSend() {
        #expect(begin() == ["token", "idle", "idle"])
        #expect(end(0, hasToken: true) == Self.next)
        #expect(begin() == ["-0-160000", "-160000-320000", "-320000-480000"])
        #expect(exchange.outlivesSecrets)
    }

    /// All three had the old one: it is fetched once, and each of them is sent again.
    @Test mutating func aTokenThatIsTooOldIsFetchedOnceForAllLanes() {
        _ = begin()
        _ = end(0, hasToken: true)
        let stretches = begin()
        #expect(end(2) == .idle, "it has answered")
        #expect(end(1, 401) == Self.next)
        #expect(end(0, 401) == .idle)
        #expect(begin() == ["idle", "token", "idle"])
        _ = end(1, hasToken: true)
        let again = begin()
        #expect(again.prefix(2).sorted() == stretches.prefix(2).sorted())
        #expect(Set(again).count == 3)
    }

    @Test mutating func aLaneThatHadTheOldTokenFetchesNone() {
        _ = begin()
        _ = end(0, hasToken: true)
        _ = begin()
        _ = end(2)
        #expect(end(1, 401) == Self.next)
        _ = begin()
        _ = end(1, hasToken: true)
        // The token is there by now.
        #expect(end(0, 401) == Self.next)
        #expect(!begin().contains("token"))
    }

    @Test mutating func aNewTokenThatIsRefusedEndsTheDelivery() {
        _ = begin()
        _ = end(0, hasToken: true)
        _ = begin()
        guard case .failed(.tokenRefused(401, _, _)) = end(0, 401) else {
            Issue.record("it is fetched again and again")
            return
        }
    }
}
