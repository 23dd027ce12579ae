// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Which requests a long recording has, whatever becomes of them: nothing runs.
@Suite struct StretchExchangeTests {
    private static let second = 16_000

    private static func plan(
        _ limits: String, _ lines: String = "", retry: RetryPolicy = .never
    ) throws -> DeliveryPlan {
        try Bench.plan(
            by: "url = 'http://127.0.0.1:9/'\nlimits = { \(limits) }\n\(lines)", format: .pcm,
            retry: retry)
    }

    private static func place(_ seconds: Int) -> RecordingPlace {
        RecordingPlace(frame: seconds * second, offset: 44 + 2 * seconds * second)
    }

    private static func cuts(_ seconds: [Int]) -> [StretchCut] {
        seconds.map { StretchCut(end: place($0), next: place($0)) }
    }

    static func recording(_ seconds: Int, isComplete: Bool) -> RecordingExtent {
        let end = place(seconds)
        return RecordingExtent(
            byteCount: end.offset - 44, frameCount: end.frame, encodedByteCount: end.offset,
            isComplete: isComplete)
    }

    static func answer(
        _ text: String, status: Int = 200, isBodyComplete: Bool = true
    ) -> Reply {
        var result = TransferResult.unstarted(.answered)
        (result.status, result.isBodyComplete) = (status, isBodyComplete)
        var reply = Reply(result: result)
        if status == 200 { reply.transcript.apply(Hypothesis(text: text, isFinal: true)) }
        return reply
    }

    /// An exchange of a recording that is cut each ten seconds.
    static func cut(
        _ seconds: Int, limits: String = "seconds = 12", lines: String = "",
        retry: RetryPolicy = .never
    ) throws -> StretchExchange {
        var exchange = StretchExchange(try plan(limits, lines, retry: retry))
        let whole = recording(seconds, isComplete: true)
        guard case .cut(let request)? = exchange.need(of: whole) else { return exchange }
        #expect(request.start.frame == 0 && request.end == place(seconds))
        #expect(exchange.need(of: whole) == nil, "asked twice")
        let cuts = cuts(Array(stride(from: 10, to: seconds - 2, by: 10)))
        exchange.learn(cuts, of: 0)
        // Another answer to the same question changes nothing.
        exchange.learn(cuts, of: 0)
        #expect(exchange.need(of: whole) == nil)
        return exchange
    }

    static var empty: Reply {
        var reply = answer("")
        reply.failure = .empty
        return reply
    }

    /// An exchange of five seconds, behind which the speaker pauses and all is cut.
    private static func atRest() throws -> StretchExchange {
        var exchange = StretchExchange(try plan(""))
        let before = recording(5, isComplete: false)
        _ = exchange.begin(lane: 0, of: before)
        exchange.rest(true)
        _ = exchange.need(of: before)
        exchange.learn(cuts([5]), of: 0)
        return exchange
    }

    @Test func eachStretchHasARequestOfItsOwn() throws {
        var exchange = try Self.cut(35)
        let whole = Self.recording(35, isComplete: true)
        var ranges: [String] = []
        for text in ["a", "b", "c"] {
            ranges.append(try exchange.ask(about: whole).stretch?.mark ?? "")
            #expect(exchange.end(Self.answer(text)) == .idle)
        }
        #expect(ranges == ["-0-160000", "-160000-320000", "-320000-480000"])
        #expect(exchange.storedByteCount == 2 * 30 * Self.second)
        _ = exchange.begin(lane: 0, of: whole)
        let step = exchange.end(Self.answer("d"))
        #expect(step == .answered && exchange.text == "a b c d")
    }

    /// A program that died between the last answer and its outcome asks for the last one again.
    @Test func aTableWithAllAnswersGoesOn() throws {
        var exchange = try Self.cut(25)
        let whole = Self.recording(25, isComplete: true)
        var steps: [ExchangeStep] = []
        for text in ["a", "b", "c"] {
            _ = exchange.begin(lane: 0, of: whole)
            steps.append(exchange.end(Self.answer(text)))
        }
        #expect(steps == [.idle, .idle, .answered])
        let progress = try #require(exchange.progress)
        #expect([Stretch](from: progress.values)?.count { $0.answer != nil } == 3)
        var again = StretchExchange(try Self.plan("seconds = 12"), from: progress)
        let request = try again.ask(about: whole)
        #expect(request.stretch?.mark == "-320000-400000")
        // Less of the recording is there than its notes tell of: it is cut anew.
        var cut = StretchExchange(try Self.plan("seconds = 12"), from: progress)
        let shorter = Self.recording(5, isComplete: true)
        #expect(cut.need(of: shorter) == nil)
        let first = try cut.ask(about: shorter)
        #expect(first.stretch == nil && cut.progress == nil)
    }

    /// A service that wants the text before is asked for one stretch after the other.
    @Test func aRequestTellsWhatWasHeardBefore() throws {
        var exchange = try Self.cut(
            35, lines: "query.l = '{language}'\nbody = { kind = 'form', fields = { p = '{tail}' } }"
        )
        let whole = Self.recording(35, isComplete: true)
        #expect(exchange.laneCount == 1)
        let long = Array(repeating: "word", count: 200).joined(separator: " ")
        var told: [HeardBefore?] = []
        for (text, language) in [("a", nil), (long, "de"), ("", nil), ("d", "fr")] {
            _ = exchange.begin(lane: 0, of: whole)
            told.append(exchange.request(of: 0).stretch?.before)
            var (answer, heard) = (Self.answer(""), Hypothesis(text: text, isFinal: true))
            heard.language = language
            answer.transcript.apply(heard)
            _ = exchange.end(answer)
        }
        let tail = String(long.suffix(400))
        #expect(
            told == [
                HeardBefore(), HeardBefore(tail: "a"), HeardBefore(tail: tail, language: "de"),
                HeardBefore(tail: tail, language: "de"),
            ])
    }

    /// Retries count, too; the first two begin at once.
    @Test func noMinuteHasMoreRequestsThanTheServiceAllows() throws {
        var exchange = try Self.cut(
            35, limits: "seconds = 12, requests-per-minute = 2", retry: FaultBench.quick)
        var earliest: [Duration] = []
        func begin(_ lane: Int, at elapsed: Duration) {
            var whole = Self.recording(35, isComplete: true)
            whole.elapsed = elapsed
            _ = exchange.begin(lane: lane, of: whole)
            earliest.append(exchange.request(of: lane).earliest)
        }
        begin(0, at: .zero)
        begin(1, at: .seconds(5))
        let busy = exchange.end(Self.answer("", status: 503), at: Moment(elapsed: .seconds(10)))
        guard case .request = busy else {
            Issue.record("it is not tried again: \(busy)")
            return
        }
        earliest.append(exchange.request(of: 0).earliest)
        _ = exchange.end(Self.answer("a"), lane: 1)
        begin(1, at: .seconds(20))
        // Once a minute has had none, nothing waits.
        _ = exchange.end(Self.answer("b"), lane: 1)
        begin(1, at: .seconds(130))
        #expect(earliest == [0, 5, 61, 66, 130].map { .seconds($0) })
    }

    @Test func aRequestThatWaitsForItsMinuteBeginsByThePauseBeforeIt() throws {
        let plan = try Self.plan("seconds = 12, requests-per-minute = 1")
        let delivery = TakeDelivery(start: 44, exchange: StretchExchange(plan))
        let byteCount = Self.place(20).offset
        var machine = TakeMachine(
            delivery, recorded: JournalSeal(byteCount: byteCount, sha256: "", loss: nil))
        let whole = Self.recording(20, isComplete: true)
        let now = Moment(elapsed: .seconds(3)) { extent in
            extent.byteCount = whole.byteCount
            extent.frameCount = whole.frameCount
        }
        var due: [TakeMachine.Action] = machine.handle(.opened(nil), at: now)
        var (pauses, told) = ([Duration](), [Duration]())
        while !due.isEmpty {
            switch due.removeFirst() {
            case .cut(let request):
                due += machine.handle(.cut(Self.cuts([10]), of: request.start.frame), at: now)
            case .note(let lane, _): due += machine.handle(.noted(lane: lane), at: now)
            case .start(_, _, let pause): pauses.append(pause.atLeast)
            case .tell(.paced(let pause)): told.append(pause)
            default: break
            }
        }
        #expect(pauses == [.zero, .seconds(61)])
        #expect(told == [.seconds(61)])
    }

    /// A service that says nothing of silence has heard nothing there.
    @Test func anEmptyAnswerToAStretchIsSilence() throws {
        var exchange = try Self.cut(25)
        let whole = Self.recording(25, isComplete: true)
        _ = exchange.begin(lane: 0, of: whole)
        let first = exchange.end(Self.empty)
        #expect(first == .failed(.answerUnusable(.empty)), "nothing was ever heard")
        for (reply, step) in [(Self.answer("a"), ExchangeStep.idle), (Self.empty, .idle)] {
            _ = exchange.begin(lane: 0, of: whole)
            #expect(exchange.end(reply) == step)
        }
        _ = exchange.begin(lane: 0, of: whole)
        let last = exchange.end(Self.empty)
        #expect(last == .answered && exchange.text == "a")
    }

    /// The limit that one lane learns changes no request of another.
    @Test func aRefusalOnOneLaneLeavesTheOtherAlone() throws {
        var exchange = try Self.cut(41, limits: "seconds = 24")
        let whole = Self.recording(41, isComplete: true)
        // 0 to 10, 10 to 20, 20 to 30, 30 to 41.
        for lane in 0..<2 { _ = exchange.begin(lane: lane, of: whole) }
        for lane in 0..<2 {
            _ = exchange.end(Self.answer("x"), lane: lane)
            _ = exchange.begin(lane: lane, of: whole)
        }
        let last = exchange.request(of: 1)
        #expect(last.stretch?.mark == "-480000-656000")
        let refused = exchange.end(Self.answer("", status: 413))
        #expect(refused == .idle)
        #expect(exchange.need(of: whole) == nil, "what is under way is not cut")
        #expect(exchange.request(of: 1) == last)
        let stretch = try #require(last.stretch)
        #expect(
            exchange.reach(of: stretch)
                == StretchReach(offset: Self.place(41).offset, isFinal: true))
    }

    /// A request that waits for what follows a pause ends; the next one begins once sound comes.
    @Test func aPauseEndsARequestAndResumingBeginsTheNext() throws {
        var exchange = StretchExchange(try Self.plan(""))
        let before = Self.recording(5, isComplete: false)
        let first = try exchange.ask(about: before)
        let stretch = try #require(first.stretch)
        #expect(exchange.need(of: before) == nil && exchange.reach(of: stretch) == StretchReach())
        exchange.rest(true)
        let request = try exchange.cut(of: before)
        #expect(request.isAtRest && request.start.frame == 0)
        #expect(exchange.need(of: before) == nil, "asked twice")
        exchange.learn(Self.cuts([5]), of: 0)
        #expect(
            exchange.reach(of: stretch)
                == StretchReach(offset: Self.place(5).offset, isFinal: true))
        let step = exchange.end(Self.answer("a"), isSpeaking: true)
        #expect(step == .idle && exchange.begin(lane: 0, of: before) == .idle)
        #expect(exchange.need(of: before) == nil && !exchange.isAnswered)
        // Stopped in the pause, there is nothing left to ask for.
        var stopped = exchange
        #expect(stopped.begin(lane: 0, of: Self.recording(5, isComplete: true)) == .idle)
        #expect(stopped.isAnswered)
        exchange.rest(false)
        let next = try exchange.ask(about: before)
        #expect(next.stretch?.start == Self.place(5) && next.number == 2)
        let whole = Self.recording(8, isComplete: true)
        _ = exchange.need(of: whole)
        #expect(exchange.end(Self.answer("b")) == .answered)
        #expect(exchange.text == "a b")
    }

    /// A program that ended in the pause, behind the answer, has nothing left to ask for but the text.
    @Test func whatWasAnsweredBeforeAPauseIsTheTextOfAnotherRun() throws {
        var exchange = try Self.atRest()
        _ = exchange.end(Self.answer("a"), isSpeaking: true)
        let again = StretchExchange(try Self.plan(""), from: exchange.progress)
        let byteCount = 44 + 2 * 5 * Self.second
        var machine = TakeMachine(
            TakeDelivery(start: 44, exchange: again),
            recorded: JournalSeal(byteCount: byteCount, sha256: "", loss: nil))
        let actions = machine.handle(
            .opened(nil),
            at: Moment(measure: {
                ($0.frameCount, $0.encodedByteCount) = (5 * Self.second, byteCount)
            }))
        let texts = actions.compactMap { action in
            // Another action has no text.
            if case .settle(let ending) = action { try? ending.result.get().text } else { nil }
        }
        #expect(texts == ["a"])
    }

    /// A silence before the pause is no reason to give the rest up.
    @Test func anEmptyAnswerBeforeAPauseIsSilence() throws {
        var exchange = try Self.atRest()
        #expect(exchange.end(Self.empty, isSpeaking: true) == .idle)
    }

    /// A password is asked for while a person speaks, and pauses.
    @Test func aPauseIsKnownToTheRequestThatSecretsMade() throws {
        let plan = try Self.plan("seconds = 60")
        var machine = TakeMachine(
            TakeDelivery(start: 44, exchange: StretchExchange(plan)), wantsSecrets: true)
        let now = Moment { $0 = Self.recording(5, isComplete: false) }
        for event in [.opened(nil), .began, .paused(frame: 80_000)] as [TakeMachine.Event] {
            _ = machine.handle(event, at: now)
        }
        _ = machine.handle(.pauseLasts(frame: 80_000), at: now)
        let actions = machine.handle(.secrets(.success(StretchExchange(plan))), at: now)
        #expect(actions.contains { if case .cut(let cut) = $0 { cut.isAtRest } else { false } })
    }

    /// The sound is there again before the place was found.
    @Test func aPauseThatIsOverCutsNothing() throws {
        var exchange = StretchExchange(try Self.plan(""))
        let before = Self.recording(5, isComplete: false)
        _ = exchange.begin(lane: 0, of: before)
        exchange.rest(true)
        #expect(exchange.need(of: before) != nil)
        exchange.rest(false)
        exchange.learn(Self.cuts([5]), of: 0)
        #expect(exchange.progress == nil && exchange.need(of: before) == nil)
    }

    @Test(arguments: [
        ("", "transfer.framing = 'length'", 5), ("", "stretches.enabled = false", 5), ("", "", 0),
        ("shortest-seconds = 9", "", 5),
    ])
    func aRequestThatCannotEndWaits(_ limits: String, _ lines: String, seconds: Int) throws {
        var exchange = StretchExchange(try Self.plan(limits, lines))
        let before = Self.recording(seconds, isComplete: false)
        _ = exchange.begin(lane: 0, of: before)
        exchange.rest(true)
        #expect(exchange.need(of: before) == nil)
    }

    /// What was cut by the limit before, and was not asked for yet, is cut by the new one.
    @Test func aLowerLimitHasTheRestCutAnew() throws {
        var exchange = StretchExchange(try Self.plan("seconds = 40"))
        let whole = Self.recording(120, isComplete: true)
        var starts: [[Int]] = []
        for cuts in [[30, 60, 90], [15], []] {
            let request = try exchange.cut(of: whole)
            let end = try #require(request.end)
            starts.append([request.start, end].map { $0.frame / Self.second })
            exchange.learn(Self.cuts(cuts), of: request.start.frame)
            guard starts.count == 1 else { continue }
            for lane in 0..<2 { _ = exchange.begin(lane: lane, of: whole) }
            for (lane, status) in [(1, 200), (0, 413)] {
                _ = exchange.end(Self.answer("x", status: status), lane: lane)
            }
        }
        // The second quarter is answered.
        #expect(starts == [[0, 120], [0, 30], [60, 120]])
    }

    /// A service refuses the length of a recording while it goes on.
    @Test func aRefusalTeachesWhileTheSpeakerSpeaks() throws {
        var exchange = StretchExchange(try Self.plan("shortest-seconds = 0"))
        // No byte of the recording was asked about yet.
        var now = Self.recording(60, isComplete: false)
        now.byteCount = 0
        _ = exchange.begin(lane: 0, of: now)
        let step = exchange.end(Self.answer("", status: 413), isSpeaking: true)
        #expect(step == .idle)
        let request = try exchange.cut(of: now)
        #expect(request.limit.frames == 30 * Self.second && request.end == nil)
    }
}

extension StretchExchange {
    var text: String { transcript(with: Transcript(), of: 0).text }

    /// The next request of the first lane, which there has to be.
    mutating func ask(about recording: RecordingExtent) throws -> ExchangeRequest {
        let beginning = begin(lane: 0, of: recording)
        let request: ExchangeRequest? =
            if case .request(let request) = beginning { request } else { nil }
        return try #require(request, "\(beginning)")
    }

    /// Where the recording has to be cut, which it has to be.
    mutating func cut(of recording: RecordingExtent) throws -> CutRequest {
        let need = need(of: recording)
        let request: CutRequest? = if case .cut(let request)? = need { request } else { nil }
        return try #require(request, "\(String(describing: need))")
    }

    mutating func end(
        _ reply: Reply, lane: Int = 0, isSpeaking: Bool = false, at now: Moment = Moment()
    ) -> ExchangeStep {
        next(after: reply, lane: lane, isSpeaking: isSpeaking, at: now)
    }
}
