// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import TakeStore

// Where a recording is cut, and how far the body of each stretch goes.
extension StretchExchange {
    mutating func need(of recording: RecordingExtent) -> StretchNeed? {
        self.recording = recording
        guard cutting == nil else { return nil }
        if looksForSilence {
            cutting = 0
            return .cut(
                CutRequest(
                    start: RecordingPlace(), limit: StretchLimit(), end: end(of: table[0]),
                    silence: delivery.skippedSilence))
        }
        // It is looked for once all is there, and before any of it is sent.
        if mayLookForSilence, wantsLength, delivery.skippedSilence != nil { return nil }
        if resting == .begun, let last = table.last, endsAtRest(last) {
            (cutting, resting) = (last.start.frame, .cutting)
            return .cut(CutRequest(start: last.start, limit: StretchLimit(), isAtRest: true))
        }
        guard !limit.isNone else { return nil }
        if recording.isComplete, let last = table.last,
            (last.end ?? last.start).offset > end(of: Stretch()).offset
        {
            // A power cut has left a shorter recording than its notes tell of.
            table = [Stretch()]
        }
        if let late, late > recording.byteCount, !recording.isComplete {
            defer { awaited = late }
            return awaited == late ? nil : .growth(to: late)
        }
        late = nil
        for stretch in table where stretch.answer == nil {
            let lane = lane(of: stretch)
            // A request that is under way with its end was within the limit when it began.
            if lane != nil, stretch.end != nil { continue }
            let limit = lane?.limit ?? limit
            if limit.allows(stretch.start, to: end(of: stretch)) { continue }
            cutting = stretch.start.frame
            return .cut(
                CutRequest(
                    start: stretch.start, limit: limit,
                    earliest: lane == nil ? stretch.start : hold(of: stretch).behind(slack),
                    end: stretch.end ?? (recording.isComplete ? end(of: stretch) : nil)))
        }
        return growth()
    }

    func lane(of stretch: Stretch) -> Lane? {
        lanes.lazy.compactMap { $0 }.first { $0.start == stretch.start.frame }
    }

    /// In frames: the bytes of a coded form run ahead of the frames that are counted.
    private var slack: Int { format.isRaw ? 0 : 16_000 }

    /// How far a stretch is sent while its end is unknown.
    private func hold(of stretch: Stretch) -> RecordingPlace {
        (lane(of: stretch)?.limit ?? limit).hold(from: stretch.start, in: format)
    }

    /// The bytes with which the stretch that is being recorded may have reached the limit.
    private mutating func growth() -> StretchNeed? {
        guard !recording.isComplete, let last = table.last else { return nil }
        let (limit, end) = (lane(of: last)?.limit ?? limit, end(of: last))
        let byteCount = end.offset - format.bodyOffset
        guard awaited.map({ byteCount >= $0 }) ?? true else { return nil }
        let frames = limit.frames - (end.frame - last.start.frame)
        let rate = Double(end.offset) / Double(max(1, end.frame))
        let most =
            last.start.offset + min(limit.byteCount, 1 << 48) + 1 - format.bodyOffset
        let wanted = byteCount + max(640, Int(min(Double(frames) * rate, 1e12)))
        awaited = max(byteCount + 1, min(wanted, most))
        return .growth(to: awaited ?? 0)
    }

    func end(of stretch: Stretch) -> RecordingPlace {
        if let end = stretch.end { return end }
        let offset =
            recording.isComplete
            ? recording.byteCount + format.bodyOffset : recording.encodedByteCount
        let header = AudioCodec.pcm.bodyOffset
        let frames = format.isRaw ? max(0, offset - header) / 2 : recording.frameCount
        return RecordingPlace(frame: frames, offset: offset)
    }

    mutating func learn(_ cuts: [StretchCut], of start: Int) {
        // Another exchange may have asked, before the secrets were known.
        guard cutting == start, let index = table.firstIndex(where: { $0.start.frame == start })
        else { return }
        cutting = nil
        if looksForSilence {
            mayLookForSilence = false
            // They have waited for this.
            number -= lanes.count { $0 != nil }
            lanes = lanes.map { _ in nil }
            table.cut(index, at: cuts)
            // There may be silence at the beginning, or at the end.
            let heard = table.filter { $0.start.frame < end(of: $0).frame }
            // All of it is silent: the service shall say that.
            table = heard.isEmpty ? [Stretch()] : heard
            return
        }
        if cuts.isEmpty, resting == .none { late = recording.byteCount + format.nominalByteRate }
        table.cut(index, at: cuts)
    }

    func reach(of request: StretchRequest) -> StretchReach {
        guard let stretch = table.first(where: { $0.start == request.start }) else {
            return StretchReach()
        }
        if let end = stretch.end { return StretchReach(offset: end.offset, isFinal: true) }
        let limit = lane(of: stretch)?.limit ?? limit
        if recording.isComplete, limit.allows(stretch.start, to: end(of: stretch)) {
            return StretchReach()
        }
        let hold = hold(of: stretch)
        return StretchReach(offset: hold.offset, held: format.isRaw ? .max : hold.frame)
    }

    // MARK: - Pauses

    /// In frames, 100 ms: no word is shorter, and services refuse what is.
    private static let shortestWord = 1_600
    /// In frames: what is shorter waits in its request for the sound behind the pause.
    private static let leastAtRest = 16_000

    /// A request that can end in the middle of the recording; a session may be kept awake instead.
    var mayRest: Bool { delivery.cutsStretches && delivery.service.socket?.keepAlive == nil }

    mutating func rest(_ isResting: Bool) {
        if resting == .cutting, !isResting { cutting = nil }
        resting = isResting && mayRest ? .begun : .none
    }

    var isAnswered: Bool {
        recording.isComplete && !isAlone && table.allSatisfy { $0.answer != nil }
    }

    /// Whether the request of a stretch is not to wait for what follows the pause.
    private func endsAtRest(_ stretch: Stretch) -> Bool {
        let shortest = delivery.service.limits.shortest.map { StreamFormat.speech.frames(in: $0) }
        return stretch.end == nil && !recording.isComplete
            && !engines.contains { $0.request.saysLength }
            && end(of: stretch).frame - stretch.start.frame
                >= max(Self.leastAtRest, shortest ?? 0)
    }

    /// Forgets a last stretch that holds nothing but what a coder had left behind a pause.
    mutating func dropEmptyRest() {
        guard recording.isComplete, table.count > 1, let last = table.last, last.end == nil,
            last.overlap == 0, last.answer == nil, lane(of: last) == nil,
            end(of: last).frame - last.start.frame < Self.shortestWord
        else { return }
        table.removeLast()
    }
}
