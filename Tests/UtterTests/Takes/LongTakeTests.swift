// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import Capture
@testable import LinuxPlatform
@testable import SpeechService
@testable import TakeStore
@testable import Upload
@testable import Utter

/// Ten hours of a take, whose every byte is where it belongs.
///
/// The stage, the WAV encoder, the ring, the journal and its stage, the sync worker, the bodies, the
/// deadlines of transfers and the take's machine are those of a real take, driven turn by turn. Time
/// is counted and not waited for, and there is no thread, no network and no disk: the microphone and
/// the file are functions of the place.
@Suite struct LongTakeTests {
    @Test func tenHoursWithGapsAndBreaksAreCountedToTheSample() throws {
        let take = try LongTake(rounds: 1_200, breaks: [20, 60, 120, 121, 240])
        try take.record()
        let (account, timeline) = (take.account, take.timeline)
        #expect(account.capturedFrames == timeline.voicedFrames)
        #expect(account.gapFrames == timeline.frames - timeline.voicedFrames)
        #expect(account.encodedFrames == 576_000_000)
        #expect(account.encodedBytes == timeline.byteCount)
        #expect(take.journal.byteCount == timeline.byteCount)
        #expect(take.file.fault == nil)

        let end = try #require(take.end)
        // After a thousand gaps the last one takes all that follow.
        #expect(end.gaps.count == 1_000)
        let gaps = (0..<999).map { (round: Int) -> Gap in
            let voice = timeline.voice(of: round)
            return Gap(cause: .overrun, start: round * 480_000 + voice, frames: 480_000 - voice)
        }
        #expect(end.gaps.dropLast() == gaps[...])
        #expect(end.gaps.map(\.frames).reduce(0, +) == account.gapFrames)
        // Five connections broke; the sixth has all of it, each byte in its place.
        #expect(take.attempts.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(take.attempts.allSatisfy { $0.fault == nil })
        #expect(take.attempts.last?.byteCount == timeline.byteCount - 44)
        #expect(take.isAnswered)
        // A body has what the journal has, and the disk has all but what 300 ms say.
        #expect(take.longestLag == 0)
        #expect(take.mostUnsafe <= 300 * 32)
        #expect(take.file.syncCount > 8_000)
        #expect(take.journal.isSettled)
    }
}

/// What is said: in each round of 30 s a voice for a second and a half and some frames, and then
/// nothing is delivered, for less than the ring has room for.
private struct Timeline {
    static let header = 44
    /// Two rounds of samples that are never zero and tell their place, so that a round from anywhere
    /// is in one piece.
    private static let pattern = (0..<60_000).map { Int16(1 + $0 % 30_000) }

    let rounds: Int

    var frames: Int { rounds * 480_000 }
    var byteCount: Int { Self.header + 2 * frames }
    var voicedFrames: Int { (0..<rounds).reduce(0) { $0 + voice(of: $1) } }

    func voice(of round: Int) -> Int { 24_000 + 7 * round }

    func run(at frame: Int) -> (count: Int, isVoice: Bool) {
        let (round, rest) = frame.quotientAndRemainder(dividingBy: 480_000)
        let voice = voice(of: round)
        return rest < voice ? (voice - rest, true) : (480_000 - rest, false)
    }

    /// The bytes from an offset of the journal on, behind its header.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int) {
        var (place, rest) = (offset - Self.header, buffer)
        while !rest.isEmpty {
            let run = run(at: place / 2)
            let round = place % 60_000
            let count = min(run.count * 2 - place % 2, rest.count, run.isVoice ? 60_000 : .max)
            if run.isVoice {
                Self.pattern.withUnsafeBytes { pattern in
                    rest.copyMemory(from: .init(rebasing: pattern[round..<(round + count)]))
                }
            } else if let start = rest.baseAddress {
                _ = memset(start, 0, count)
            }
            place += count
            rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
        }
    }

    func has(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard !bytes.isEmpty else { return true }
        return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 8) { expected in
            fill(.init(rebasing: expected[..<bytes.count]), from: offset)
            guard let one = expected.baseAddress, let other = bytes.baseAddress else {
                return false
            }
            return memcmp(one, other, bytes.count) == 0
        }
    }
}

/// A microphone that says a timeline, a step at each turn.
private final class TimelineSource: CaptureSource {
    let (name, isLive) = ("timeline", true)
    private let timeline: Timeline
    private(set) var position = 0
    private var hasRead = false
    private var isStopped = false

    init(_ timeline: Timeline) { self.timeline = timeline }

    func open() -> StreamFormat { .speech }

    func read(into frames: inout MutableSpan<Int16>) -> SourceRead {
        hasRead.toggle()
        if position == timeline.frames { return isStopped ? .end : .wait(.until(.now)) }
        guard hasRead else { return .wait(.until(.now)) }
        let run = timeline.run(at: position)
        // A loss is told a third of the ring at a time.
        let count = min(run.count, run.isVoice ? frames.count : 160_000)
        if run.isVoice {
            frames.withUnsafeMutableBytes { bytes in
                timeline.fill(
                    .init(rebasing: bytes[..<(2 * count)]), from: Timeline.header + 2 * position)
            }
        }
        position += count
        return run.isVoice ? .frames(count) : .gap(frames: count)
    }

    func addDescriptors(to events: inout PolledDescriptors) {}
    func requestStop() { isStopped = true }
    func close() {}
}

/// A file that keeps its header, and compares all else with what belongs there.
private final class TimelineFile: JournalFile {
    struct State {
        var header: [UInt8] = []
        var fault: String?
        var syncCount = 0
    }

    private let timeline: Timeline
    private let state = Mutex(State())

    init(_ timeline: Timeline) { self.timeline = timeline }

    var fault: String? { state.withLock { $0.fault } }
    var syncCount: Int { state.withLock { $0.syncCount } }

    func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
        let own = max(0, min(bytes.count, Timeline.header - offset))
        state.withLock { state in
            for index in 0..<own { state.header.append(bytes[index]) }
            let rest = bytes.extracting(droppingFirst: own)
            let isRight = rest.withUnsafeBytes { timeline.has($0, at: offset + own) }
            if !isRight { state.fault = state.fault ?? "at \(offset)" }
        }
    }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        guard offset < Timeline.header else {
            timeline.fill(buffer, from: offset)
            return buffer.count
        }
        return state.withLock { state in
            let part = state.header[offset...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }

    func sync() throws(SystemError) { state.withLock { $0.syncCount += 1 } }
}

/// A connection that takes all that a body has, at once.
private struct LongAttempt {
    let number: Int
    private(set) var byteCount = 0
    private(set) var fault: String?
    private(set) var isWhole = false

    mutating func take(from body: RequestBody, of timeline: Timeline) throws {
        try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
            while true {
                switch try body.read(at: byteCount, into: buffer) {
                case .bytes(let count):
                    let isRight = timeline.has(
                        .init(rebasing: buffer[..<count]), at: Timeline.header + byteCount)
                    if !isRight { fault = fault ?? "at \(byteCount)" }
                    byteCount += count
                case .nothingYet: return
                case .end:
                    isWhole = true
                    return
                }
            }
        }
    }
}

/// What the parts of a long take tell each other.
private struct LongTakeNews: Sendable {
    var now = ContinuousClock.now + .seconds(3_600)
    var end: CaptureEnd?
    var seal: JournalSeal?
}

/// A take, and the loops around it in one thread.
private final class LongTake {
    let timeline: Timeline
    let account = CaptureAccount()
    let file: TimelineFile
    let journal: Journal
    private(set) var attempts: [LongAttempt] = []
    /// In bytes: what a body had not yet of the journal after its turn, and what no sync had reached
    /// while a voice went on.
    private(set) var (longestLag, mostUnsafe) = (0, 0)
    private(set) var isAnswered = false
    var end: CaptureEnd? { news.value.end }

    private let source: TimelineSource
    private let control = CaptureControl()
    private let stage: CaptureStage
    private var syncs: SyncWorker
    private var machine: TakeMachine
    private let body: RequestBody
    private let news = Observed(LongTakeNews())
    private var elapsed = Duration.zero
    private var voiceTurns = 0
    /// The minutes in which the connection breaks.
    private var breaks: [Int]
    /// The next request, and when it begins.
    private var next: (number: Int, at: Duration)?
    private var isSending = false
    private var progress = TransferProgress(start: .now)

    init(rounds: Int, breaks: [Int]) throws {
        let (timeline, news, format) = (Timeline(rounds: rounds), news, AudioCodec.pcm)
        (self.timeline, self.breaks) = (timeline, breaks)
        file = TimelineFile(timeline)
        source = TimelineSource(timeline)
        let ring = ByteRing(minimumCapacity: format.ringByteCount)
        journal = Journal(file: file, path: "/nowhere", ring: ring.makeFollower())
        let journalStage = JournalStage(
            ring.takeConsumer(), into: journal, mark: Mark(in: Marks()),
            onSeal: { seal in news.update { $0.seal = seal } })
        stage = CaptureStage(
            source: source, encoder: try format.makeEncoder(), producer: ring.takeProducer(),
            plan: CapturePlan(tail: .none), control: control, account: account,
            onWrite: { isUrgent in
                while isUrgent, journalStage.turn() == .hasMore {}
            },
            tell: { event in
                if case .ended(let end) = event { news.update { $0.end = end } }
            })
        stage.opening.open(source)
        syncs = SyncWorker(now: { news.value.now })
        syncs.receive(
            .tend(SyncWorker.Entry(journal: journal, stage: journalStage, onChange: {})))
        body = RequestBody(
            SentAudio(journal, as: format, frames: 0), from: format.bodyOffset)
        machine = TakeMachine(
            TakeDelivery(
                start: format.bodyOffset,
                exchange: PostOnce(
                    url: try ServiceURL("http://127.0.0.1:9/"), allowed: [], policy: .standard)))
    }

    /// Takes turns until the take is answered, as many as its voice and its gaps need.
    func record() throws {
        handle(.opened(nil))
        for turn in 0..<(timeline.frames / 1_600) where !isAnswered {
            let before = account.capturedFrames + account.gapFrames
            let isVoice = timeline.run(at: source.position % timeline.frames).isVoice
            voiceTurns = isVoice ? voiceTurns + 1 : 0
            stage.turn(now: news.value.now)
            let passed = account.capturedFrames + account.gapFrames - before
            pass(StreamFormat.speech.duration(ofFrames: passed))
            if turn == 0 { handle(.began) }
            if stage.didWrite { stage.tellReaders() }
            while syncs.turn(isLast: false) == .goesOn {}
            // What was lost is written as silence with the next frames, and synced after them.
            if voiceTurns > 3 {
                mostUnsafe = max(mostUnsafe, journal.byteCount - journal.durableByteCount)
            }
            if source.position == timeline.frames { handle(.stop) }
            if let end { handle(.captured(end, isEmpty: false)) }
            if let seal = news.value.seal { handle(.sealed(seal)) }
            try send()
        }
        pass(.seconds(1))
        while syncs.turn(isLast: false) == .goesOn {}
    }

    private func pass(_ time: Duration) {
        elapsed += time
        news.update { $0.now += time }
    }

    private func send() throws {
        let now = news.value.now
        if let next, elapsed >= next.at {
            self.next = nil
            isSending = true
            attempts.append(LongAttempt(number: next.number))
            progress = TransferProgress(start: now, isConnected: true)
            handle(.connected(lane: 0))
        }
        guard isSending else { return }
        if let minute = breaks.first, elapsed >= .seconds(60 * minute) {
            breaks.removeFirst()
            return finish(.test(.connectionLost("reset"), isBodyComplete: false))
        }
        try attempts[attempts.count - 1].take(from: body, of: timeline)
        let sent = Timeline.header + attempts[attempts.count - 1].byteCount
        longestLag = max(longestLag, journal.byteCount - sent)
        if journal.isSealed { progress.wholeSince = progress.wholeSince ?? now }
        if case .missed(let deadline) = TransferDeadlines().check(progress, now: now) {
            return finish(.test(.timedOut(deadline), isBodyComplete: false))
        }
        guard attempts[attempts.count - 1].isWhole, machine.isWanted(0) else { return }
        finish(.test(.answered, status: 200))
    }

    private func finish(_ result: TransferResult) {
        isSending = false
        handle(.ended(lane: 0, Reply(result: result)))
    }

    private func handle(_ event: TakeMachine.Event) {
        for action in machine.handle(event, at: Moment(elapsed: elapsed)) {
            switch action {
            case .note: handle(.noted(lane: 0))
            case .start(_, let request, let pause):
                next = (request.number, elapsed + max(pause.duration, pause.atLeast))
            case .endCapture: control.requestStop()
            case .settle(let ending): if case .success = ending.result { isAnswered = true }
            default: break
            }
        }
    }
}
