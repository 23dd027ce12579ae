// SPDX-License-Identifier: Apache-2.0

internal import AudioCore
internal import Cryptography
internal import LinuxPlatform
internal import Synchronization

/// A recording that is to be recognised; used by its request and by a recogniser's thread.
final class RecognitionJob: Sendable {
    private enum Phase {
        case waiting, running, over
    }

    /// More than the longest body can say; a program that says more is broken.
    private static let longestText = 16 << 20

    let body: BodyFile
    let events = RecognitionEvents()

    private let mediaType: AudioMediaType
    private let means: DecodingMeans
    private let hints: SpeechHints
    private let phase = Mutex(Phase.waiting)

    /// The folder of the means has the recording until the answer is there.
    init(
        _ mediaType: AudioMediaType, hints: SpeechHints = SpeechHints(),
        by means: DecodingMeans = DecodingMeans()
    ) throws(SystemError) {
        (self.mediaType, self.means, self.hints) = (mediaType, means, hints)
        body = try BodyFile(in: means.folder)
    }

    static func make(
        _ mediaType: AudioMediaType, _ hints: SpeechHints,
        _ configuration: RecognitionEndpointConfiguration
    ) async throws -> RecognitionJob {
        try await onDisk {
            try RecognitionJob(
                mediaType, hints: hints,
                by: DecodingMeans(
                    key: configuration.bodyKey, converter: configuration.converter,
                    folder: configuration.temporaryFolder))
        }
    }

    /// Gives the job up, from any thread; one that waits for a recogniser waits no longer.
    func fail(_ failure: BodyFailure) {
        let hasWaited = phase.withLock { phase in
            defer { if phase == .waiting { phase = .over } }
            return phase == .waiting
        }
        body.fail(failure)
        if hasWaited { end(.failed(failure)) }
    }

    var isOver: Bool { phase.withLock { $0 != .waiting } }

    /// False when the job has been given up.
    func begin() -> Bool {
        phase.withLock { phase in
            defer { if phase == .waiting { phase = .running } }
            return phase == .waiting
        }
    }

    /// Posts the last event; called on the thread that has the job.
    func end(_ event: RecognitionEvents.Event) {
        body.close()
        events.post(event)
    }

    // MARK: - The recogniser's thread

    /// Does the work from the body's first byte to its end; blocks.
    ///
    /// - Throws: `RecogniserFault` when the program has gone wrong; `BodyFailure` or
    ///   `UndecodableAudio` when the recording has.
    func run(_ program: RecogniserProgram) throws -> Recognition {
        var known = hints
        while true {
            let (recognition, found) = try recognise(by: program, known)
            if let recognition { return recognition }
            // A form has said more behind its file: the text is to be made with it.
            known = found
            program.cancel()
            _ = try program.waitUntilReady(wokenBy: body.wakeup) { body.failure == nil }
        }
    }

    /// - Returns: no recognition when the body turns out to have other hints.
    private func recognise(
        by program: RecogniserProgram, _ hints: SpeechHints
    ) throws -> (Recognition?, SpeechHints) {
        var hearing = Hearing(events: events)
        var decoder = try BodyDecoder(mediaType, by: means)
        var known = hints
        var (offset, sampleCount) = (0, 0)
        var hasBegun = false
        var deadline: ContinuousClock.Instant?
        while true {
            while deadline == nil, !program.isBehind, let taken = body.take(at: offset) {
                var samples: [Int16] = []
                var isEnd = false
                switch taken {
                case .bytes(let bytes):
                    offset += bytes.count
                    try decoder.decode(bytes.span, into: &samples)
                case .end:
                    try decoder.finish(into: &samples)
                    isEnd = !decoder.hasMore
                case .failed(let failure): throw failure
                }
                let found = decoder.form?.hints.over(hints) ?? hints
                if !hasBegun, !samples.isEmpty || isEnd {
                    (hasBegun, known) = (true, found)
                    program.begin(known)
                }
                program.send(samples)
                sampleCount += samples.count
                guard isEnd else { continue }
                guard found == known else { return (nil, found) }
                program.finish()
                deadline = program.answerTime(.seconds(sampleCount / 16_000))
            }
            if let failure = body.failure { throw failure }
            guard let line = try program.next(wokenBy: body.wakeup, by: deadline) else { continue }
            if let error = line.error {
                let reason = TerminalText.excerpt(of: error.utf8)
                throw BodyFailure.recogniserFailed(reason: reason)
            }
            hearing.isStreamed = decoder.form?.isStreamed == true
            hearing.take(line, duration: Double(sampleCount) / 16_000)
            guard hearing.recognition.text.utf8.count <= Self.longestText else {
                throw RecogniserFault(reason: "it says more than a recording can")
            }
            if line.end == true, line.final != nil, deadline != nil {
                hearing.recognition.wantedFormat = decoder.form?.wantedFormat
                let notices = decoder.notices
                hearing.recognition.notices = notices.isEmpty ? nil : notices
                hearing.recognition.gaps = decoder.gaps.isEmpty ? nil : decoder.gaps
                if decoder.form?.wantedFormat == "verbose_json" {
                    let languages = program.ready.languages ?? []
                    hearing.recognition.language =
                        known.language ?? (languages.count == 1 ? languages[0] : nil)
                }
                hearing.recognition.isStreamed = hearing.isStreamed ? true : nil
                return (hearing.recognition, known)
            }
        }
    }
}

/// The sum of a recogniser's lines: the final texts in order, and the partial one behind them.
private struct Hearing {
    var recognition = Recognition()
    var isStreamed = false
    let events: RecognitionEvents
    var lastText = ""

    /// Takes a line about a recording of which so many seconds were sent.
    mutating func take(_ line: RecogniserLine, duration: Double) {
        if let final = line.final {
            recognition.text = joined(final)
            recognition.words += (line.words ?? []).map { word in
                let start = min(max(0, word.start), duration)
                return RecognisedWord(
                    text: word.word, start: start, end: min(max(start, word.end), duration),
                    probability: word.probability.map { min(1, max(0, $0)) })
            }
        }
        recognition.duration = duration
        guard line.final != nil || line.partial != nil else { return }
        let text = joined(line.partial ?? "")
        guard text != lastText, !text.isEmpty else { return }
        lastText = text
        let time = line.time.map { min(max(0, $0), duration) } ?? duration
        events.post(
            .partial(
                PartialRecognition(
                    text: text, time: time, settled: recognition.text, isStreamed: isStreamed)))
    }

    /// With single spaces between words.
    private func joined(_ text: String) -> String {
        let words = text.split { $0.isWhitespace }
        return ((recognition.text.isEmpty ? [] : [recognition.text[...]]) + words)
            .joined(separator: " ")
    }
}
