// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
internal import AudioCore
internal import FoundationEssentials
internal import SpeechService
internal import TakeStore

/// The stretches of a recording, in order.
extension [Stretch] {
    // MARK: - The notes of a take

    private static let (rows, words) = (ExchangeProgress.stretches, "answer-")

    /// Finds the stretches in which a take is sent; none when it is sent as a whole.
    init(in progress: ExchangeProgress?) {
        self = progress.flatMap { [Stretch](from: $0.values) } ?? []
    }

    /// Reads the notes of an earlier run.
    init?(from values: [String: String]) {
        self.init()
        for row in (values[Self.rows] ?? "").split(separator: "\n") {
            let numbers = row.split(separator: " ").map { Int($0) ?? -1 }
            guard numbers.count == 3 || numbers.count == 5, numbers.allSatisfy({ $0 >= 0 }) else {
                return nil
            }
            var stretch = Stretch(
                start: RecordingPlace(frame: numbers[0], offset: numbers[1]), overlap: numbers[2])
            if numbers.count == 5 {
                stretch.end = RecordingPlace(frame: numbers[3], offset: numbers[4])
            }
            // Words that cannot be read are asked for again.
            if let answer = values["\(Self.words)\(count)"].flatMap({ Transcript(notes: $0) }) {
                stretch.take(answer)
            }
            append(stretch)
        }
        guard !isEmpty else { return nil }
    }

    var values: [String: String] {
        var values: [String: String] = [:]
        for (index, stretch) in enumerated() {
            values["\(Self.words)\(index)"] = stretch.notes
        }
        values[Self.rows] = map { stretch in
            let (start, end) = (stretch.start, stretch.end)
            return "\(start.frame) \(start.offset) \(stretch.overlap)"
                + (end.map { " \($0.frame) \($0.offset)" } ?? "")
        }.joined(separator: "\n")
        return values
    }

    /// The bytes of those that are answered, in a recording between these; of an overlap once.
    func answeredByteCount(from start: Int, to end: Int) -> Int {
        zip(self, dropFirst().map(\.start.offset) + [end]).reduce(0) { sum, pair in
            sum + (pair.0.answer == nil ? 0 : pair.1 - Swift.max(pair.0.start.offset, start))
        }
    }

    // MARK: - The words

    /// Whether something was heard in one of them.
    var isHeard: Bool { contains { $0.answer?.text.isEmpty == false } }

    /// Says where the service heard nothing, though it heard something elsewhere: silence, or a fault of
    /// its own; nil: nowhere.
    var silenceReport: String? {
        let silent = filter(\.isUnheard)
        guard isHeard, !silent.isEmpty else { return nil }
        let spans = silent.prefix(Self.mostSpans).map { stretch in
            let end = stretch.ending.map { "\(Self.tenths($0)) s" } ?? "the end"
            return "\(Self.tenths(stretch.beginning)) to \(end)"
        }
        let more = silent.count > spans.count ? ", and in \(silent.count - spans.count) more" : ""
        return "the service heard nothing from " + spans.joined(separator: ", from ") + more
    }

    private static let mostSpans = 5

    private static func tenths(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }

    /// Joins the words of those that are answered, and of the one that begins at `start`, whose request
    /// has brought these; the recording ends at `end`, in seconds.
    func transcript(with words: Transcript, at start: Int?, until end: Double = 0) -> Transcript {
        let others = compactMap(\.answer) + [words]
        var (all, before) = (Transcript(), (stretch: Stretch, part: Transcript)?.none)
        for stretch in self {
            let part = stretch.answer ?? (stretch.start.frame == start ? words : nil)
            if let part {
                var (overlap, rate) = (0.0, 0.0)
                if let before, stretch.overlap > 0 {
                    overlap = Double(stretch.overlap) / 16_000
                    rate = Swift.max(before.stretch.rate(of: before.part), stretch.rate(of: part))
                }
                all.append(
                    part, at: stretch.beginning, overlap: overlap, rate: rate,
                    end: stretch.ending ?? end, beside: others)
            }
            before = part.map { (stretch, $0) }
        }
        return all
    }

    /// In characters: Whisper reads some 900 of a prompt, of which a person's own may be a part.
    private static let tailLength = 400

    /// The text before the stretch of this index, as far as the service is told it.
    func heard(before index: Int, by service: RecognitionService) -> HeardBefore {
        let answers = self[..<index].compactMap(\.answer)
        let text = answers.last { !$0.text.isEmpty }?.text.suffix(Self.tailLength)
        return HeardBefore(
            tail: service.wantsTail ? text.map(String.init) : nil,
            language: service.language(heard: answers.last { $0.language != nil }?.language))
    }

    // MARK: - The cuts

    /// Divides the stretch of this index.
    mutating func cut(_ index: Int, at cuts: [StretchCut]) {
        let end = self[index].end
        for (count, cut) in cuts.enumerated() {
            self[index + count].end = cut.end
            let overlap = Swift.max(0, cut.end.frame - cut.next.frame)
            insert(Stretch(start: cut.next, overlap: overlap), at: index + count + 1)
        }
        self[index + cuts.count].end = end
    }

    /// Joins neighbours that wait for their requests, so that they are cut by another limit, except those
    /// that begin at one of these frames; a silence that is left out stays between its neighbours.
    mutating func join(except frames: [Int?]) {
        let waits = { (stretch: Stretch) in
            stretch.answer == nil && !frames.contains(stretch.start.frame)
        }
        for index in indices.dropFirst().reversed() {
            let (first, second) = (self[index - 1], self[index])
            guard waits(first), waits(second), let end = first.end, second.start.frame <= end.frame
            else { continue }
            self[index - 1].end = second.end
            remove(at: index)
        }
    }

    /// Keeps the finals of a session that broke, for samples; the next one begins behind their last word.
    ///
    /// - Returns: the frame there; nil where the words have no times, and it begins where this one began.
    mutating func keep(
        _ finals: Transcript, of index: Int, before end: Int, in format: AudioCodec
    ) -> Int? {
        let ends = finals.words.compactMap(\.end)
        guard format.isRaw, let last = ends.last, ends.count == finals.words.count else {
            return nil
        }
        let frame = self[index].start.frame + Int(last * 16_000)
        guard frame > self[index].start.frame, frame < end else { return nil }
        let place = RecordingPlace(frame: frame, offset: AudioCodec.pcm.bodyOffset + 2 * frame)
        cut(index, at: [StretchCut(end: place, next: place)])
        self[index].take(finals)
        return frame
    }
}

// MARK: - The loudness

extension ExchangeProgress {
    fileprivate static let loudness = "loudness"

    /// Adds how loud the recording is, as far as that is known: 48 kB for an hour.
    func noting(_ powers: PowerTrack?) -> ExchangeProgress {
        guard step == Self.stretches, let summary = powers?.summary, !summary.isEmpty else {
            return self
        }
        let loudness = Data(summary).base64EncodedString()
        return ExchangeProgress(
            step: step, values: values.merging([Self.loudness: loudness]) { _, new in new },
            plan: plan, unknown: unknown)
    }
}

extension PowerTrack {
    /// Begins with what an earlier run has noted of the recording.
    convenience init(from progress: ExchangeProgress?) {
        let loudness = progress?.values[ExchangeProgress.loudness]
        self.init(summary: loudness.flatMap { Data(base64Encoded: $0) } ?? Data())
    }
}
