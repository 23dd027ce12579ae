// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import SpeechService
internal import TakeStore
internal import Upload

/// A request with the recording, or one for each stretch of a recording that is too long for it.
///
/// The table begins with one stretch, which is the whole. One that exceeds the limit is cut in two
/// (`need`, `learn`), and the second as well if it is too long; what the service says is too large
/// teaches a lower limit. While the speaker speaks, the stretch that is being recorded is sent as it
/// grows, up to the place from which on it may be cut.
///
/// Each lane has an engine, which judges the requests of one stretch after the other. `progress` holds
/// the table and its answers once there are two, so that no stretch is asked for twice.
struct StretchExchange: Exchange {
    struct Lane {
        /// The frame at which its stretch begins.
        let start: Int
        var number: Int
        /// Its request begins at this time, since the take began, or later; nil until it is made.
        var earliest: Duration?
        /// The one with which it began: the body goes by it to its end.
        let limit: StretchLimit
        let before: HeardBefore
    }

    enum Rest {
        case none
        /// No sound comes for a while.
        case begun
        /// The same, and the place is looked for at which the request ends.
        case cutting
    }

    let delivery: DeliveryPlan
    var format: AudioCodec { delivery.format }
    private var isSocket: Bool { delivery.service.url.isSocket }
    let wantsLength: Bool
    var resting = Rest.none
    private let fingerprint: String
    var limit: StretchLimit
    var table = [Stretch()]
    private(set) var engines: [PostOnce] = []
    var lanes: [Lane?] = []
    var number: Int
    private var pace: RequestPace
    var recording = RecordingExtent()
    /// The stretch that is being cut, and the growth that is awaited.
    var (cutting, awaited): (Int?, Int?)
    /// Silence is looked for before the first request, if the recording is complete by then.
    var mayLookForSilence = true
    /// In bytes: the disk was late with the recording, and is asked again when there are so many.
    var late: Int?
    /// A service that has refused a recording as too large has answered a shorter part of it.
    private var (hasLearned, isProven) = (false, false)
    /// Refusals of what is as short as it can be.
    private var refusalsOfLeast = 0
    /// Requests without an answer that the service may have taken whole, before this run and in it.
    private var unansweredCount = 0
    private var takenBefore: Int

    /// A stretch that a service refuses as too large is not cut below these.
    private static let leastFrames = 160_000
    private static let leastByteCount = 256 << 10

    init(
        _ delivery: DeliveryPlan, from progress: ExchangeProgress? = nil,
        knowing traits: ServiceTraits = ServiceTraits(), attemptsBefore: Int = 0,
        takenBefore: Int = 0
    ) {
        (self.delivery, wantsLength) = (delivery, traits.wantsLength)
        number = attemptsBefore
        pace = RequestPace(delivery.service.limits.requestsPerMinute)
        limit = delivery.stretchLimit
        if delivery.cutsStretches { limit.frames = min(limit.frames, traits.longest ?? .max) }
        fingerprint = delivery.fingerprint(with: ["stretches"])
        self.takenBefore = takenBefore
        if let progress, progress.plan == fingerprint, let table = [Stretch](from: progress.values)
        {
            (self.table, mayLookForSilence) = (table, false)
            // A program died before it could tell: the last one is asked for again.
            if table.allSatisfy({ $0.answer != nil }) { self.table[table.count - 1].forget() }
            unansweredCount = progress.unknown ?? 0
            self.takenBefore = max(0, takenBefore - unansweredCount)
            if delivery.cutsStretches,
                let frames = progress.values[Self.learned].flatMap({ Int($0) })
            {
                limit.frames = min(limit.frames, frames)
            }
        }
        engines = [engine(takenBefore)]
        lanes = [nil]
    }

    private static let learned = "longest"

    private func engine(_ takenBefore: Int = 0) -> PostOnce {
        PostOnce(
            delivery, wantsLength: wantsLength, attemptsBefore: number, takenBefore: takenBefore)
    }

    // MARK: - What is known

    /// The recording is sent as a whole.
    var isAlone: Bool { table.count == 1 && table[0].isWhole }

    var looksForSilence: Bool {
        mayLookForSilence && recording.isComplete && delivery.skippedSilence != nil
    }

    var laneCount: Int {
        guard case .post(let parallel) = delivery.service.exchange else { return 1 }
        return isAlone || delivery.service.wantsTail ? 1 : parallel
    }

    var outlivesSecrets: Bool {
        !isAlone && (lanes.contains { $0 != nil } || table.contains { $0.answer != nil })
    }

    var sendsDigest: Bool {
        !isSocket && isAlone && limit.allows(table[0].start, to: end(of: table[0]))
    }

    var traits: ServiceTraits {
        ServiceTraits(
            wantsLength: engines.contains { $0.needsLength },
            longest: isProven ? limit.frames : nil)
    }

    var takenCount: Int {
        guard !isAlone else { return engines[0].takenCount }
        // All answers together are the recording once.
        return takenBefore + unansweredCount + (table.allSatisfy { $0.answer != nil } ? 1 : 0)
    }

    var storedByteCount: Int? {
        isAlone
            ? nil
            : table.answeredByteCount(
                from: format.bodyOffset, to: end(of: Stretch()).offset)
    }

    var progress: ExchangeProgress? {
        guard !isAlone else { return nil }
        var values = table.values
        if limit.frames < delivery.stretchLimit.frames { values[Self.learned] = "\(limit.frames)" }
        return ExchangeProgress(
            step: ExchangeProgress.stretches, values: values, plan: fingerprint,
            unknown: unansweredCount > 0 ? unansweredCount : nil)
    }

    func transcript(with words: Transcript, of lane: Int) -> Transcript {
        guard !isAlone else { return words }
        let own = lanes.indices.contains(lane) ? lanes[lane]?.start : nil
        let end = Double(end(of: Stretch()).frame) / 16_000
        return table.transcript(with: words, at: own, until: end)
    }

    // MARK: - The requests

    var request: ExchangeRequest { request(of: lanes.firstIndex { $0 != nil } ?? 0) }

    func request(of index: Int) -> ExchangeRequest {
        guard lanes.indices.contains(index), let lane = lanes[index] else {
            var request = engines[0].request
            request.number = number + 1
            return request
        }
        var request = engines[index].request
        (request.number, request.earliest) = (lane.number, lane.earliest ?? .zero)
        if let stretch = table.first(where: { $0.start.frame == lane.start }),
            !(stretch.isWhole && (request.isComplete || limit.isNone && !mayRest))
        {
            let last = recording.isComplete ? end(of: stretch) : nil
            request.stretch = StretchRequest(
                start: stretch.start, end: stretch.end ?? last, before: lane.before)
        }
        return request
    }

    mutating func begin(isComplete: Bool) -> ExchangeRequest {
        recording.isComplete = isComplete
        _ = begin(lane: 0, of: recording)
        return request(of: 0)
    }

    mutating func begin(lane index: Int, of recording: RecordingExtent) -> Beginning {
        self.recording = recording
        dropEmptyRest()
        if looksForSilence { return .sealed }
        while engines.count <= index {
            engines.append(engine())
            lanes.append(nil)
        }
        if lanes[index] == nil {
            guard let place = table.firstIndex(where: { canBegin($0) }) else { return .idle }
            number += 1
            lanes[index] = Lane(
                start: table[place].start.frame, number: number, limit: limit,
                before: table.heard(before: place, by: delivery.service))
        }
        let start = lanes[index]?.start
        let stretch = table.first { $0.start.frame == start } ?? Stretch()
        let isOpen = stretch.end == nil
        // It is cut first.
        let limit = lanes[index]?.limit ?? limit
        guard !isOpen || limit.allows(stretch.start, to: end(of: stretch)) else { return .sealed }
        let isComplete = !isOpen || recording.isComplete
        // Its body has this end, whatever another lane learns of the limit.
        if isOpen, isComplete, !isAlone, let last = table.indices.last {
            table[last].end = end(of: stretch)
        }
        let request = engines[index].begin(isComplete: isComplete)
        mayLookForSilence = mayLookForSilence && request.saysLength && !isComplete
        guard isComplete || !request.saysLength else { return .sealed }
        if lanes[index]?.earliest == nil {
            let slot = slot(from: recording.elapsed, planned: recording.elapsed)
            lanes[index]?.earliest = slot
        }
        return .request(self.request(of: index))
    }

    /// The time at which a request may begin, which is counted; a recording that is sent as a whole, and
    /// a session of speech, do not wait.
    private mutating func slot(from now: Duration, planned: Duration) -> Duration {
        guard isAlone || isSocket else { return pace.next(from: now, planned: planned) }
        pace.count(planned)
        return .zero
    }

    private func canBegin(_ stretch: Stretch) -> Bool {
        guard stretch.answer == nil, !lanes.contains(where: { $0?.start == stretch.start.frame })
        else { return false }
        if resting != .none, stretch.end == nil, !recording.isComplete { return false }
        guard limit.allows(stretch.start, to: end(of: stretch)) else { return false }
        // Pages and frames from the middle of a recording become a file of their own once all are there.
        return stretch.end != nil || recording.isComplete || stretch.start.frame == 0
            || format.isRaw
    }

    // MARK: - After a request

    mutating func record(_ result: TransferResult) { record(result, lane: 0) }

    mutating func record(_ result: TransferResult, lane: Int) {
        engines[lane].record(result)
        if result.mayBeTaken { unansweredCount += 1 }
        lanes[lane] = nil
    }

    /// A stretch that was refused has another number in any case.
    mutating func renew() {
        guard isAlone, lanes[0] != nil else { return }
        number += 1
        lanes[0]?.number = number
        lanes[0]?.earliest = nil
    }

    mutating func next(after reply: Reply, isSpeaking: Bool, at now: Moment) -> ExchangeStep {
        next(after: reply, lane: 0, isSpeaking: isSpeaking, at: now)
    }

    mutating func next(
        after reply: Reply, lane index: Int, isSpeaking: Bool, at now: Moment
    ) -> ExchangeStep {
        guard let lane = lanes[index],
            let place = table.firstIndex(where: { $0.start.frame == lane.start })
        else { return .idle }
        var step = engines[index].next(after: reply, isSpeaking: isSpeaking, at: now)
        if step == .answeredInPart, !isAlone {
            // The text of a part of a stretch would leave a hole in the text of the take.
            let failure = TakeFailure.unavailable(
                status: reply.result.status ?? 200, message: "it answered before it had all")
            step = engines[index].retry(
                failure, after: reply.result, isSpeaking: isSpeaking, at: now)
        }
        // Some services say nothing of silence; they have heard the rest, or will, or may hear now what
        // another lane sends.
        let isSent = lanes.indices.contains { $0 != index && lanes[$0] != nil }
        let isPart = table.isHeard || !isAlone && (isSpeaking || isSent)
        if step == .failed(.answerUnusable(.empty)), isPart { step = .answered }
        if step != .answered, reply.result.mayBeTaken { unansweredCount += 1 }
        switch step {
        case .answered:
            lanes[index] = nil
            guard !isAlone else { return step }
            table[place].take(reply.transcript)
            isProven = hasLearned
            // The next stretch may be sent as it grows.
            if !engines[index].hasFallenBack { engines[index] = engine() }
            engines[index].noteProgress()
            return table.allSatisfy { $0.answer != nil } ? .answered : .idle
        case .answeredInPart:
            lanes[index] = nil
            return step
        case .request(let pause):
            number += 1
            let earliest = slot(
                from: now.elapsed + pause.atLeast, planned: now.elapsed + pause.duration)
            lanes[index]?.number = number
            lanes[index]?.earliest = earliest
            let end = end(of: table[place]).frame
            if isSocket, let frame = table.keep(reply.finals, of: place, before: end, in: format) {
                let before = table.heard(before: place + 1, by: delivery.service)
                lanes[index] = Lane(
                    start: frame, number: number, earliest: earliest, limit: limit,
                    before: before)
            }
            return step
        case .failed:
            if !isAlone { lanes[index] = nil }
            // Where nothing was heard, the answers beside it mean no more.
            if step == .failed(.answerUnusable(.empty)) {
                for place in table.indices where table[place].isUnheard { table[place].forget() }
            }
            return reply.result.status == 413 && lowerLimit(at: place, lane: index) ? .idle : step
        case .idle: return step
        }
    }

    /// Learns from a refusal that a stretch is too large; false when it is as short as it can be.
    private mutating func lowerLimit(at place: Int, lane: Int) -> Bool {
        let (start, end) = (table[place].start, end(of: table[place]))
        let frames = end.frame - start.frame
        guard delivery.cutsStretches, frames > 0 else { return false }
        let bytes = max(1, end.offset - start.offset)
        let least = max(
            Self.leastFrames, Int(Double(frames) * Double(Self.leastByteCount) / Double(bytes)))
        if frames <= least {
            refusalsOfLeast += 1
            return !isAlone && refusalsOfLeast < 2
        }
        limit.frames = min(limit.frames, max(least, frames / 2))
        (hasLearned, isProven) = (true, false)
        (awaited, late, lanes[lane]) = (nil, nil, nil)
        table.join(except: lanes.compactMap { $0?.start } + [cutting])
        return true
    }
}
