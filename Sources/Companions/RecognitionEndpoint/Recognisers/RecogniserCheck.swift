// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import LinuxPlatform

/// Tries whether a program does what docs/recogniser.md asks of a recogniser.
package struct RecogniserCheck {
    package struct Finding: Sendable, Equatable {
        package let name: String
        /// The program's behaviour.
        package let detail: String
        package let isGood: Bool
    }

    private let program: RecogniserProgram
    private let wakeup: Wakeup
    private let isWanted: () -> Bool
    private let samples: [Int16]

    /// Tries one thing after the other until one goes wrong; blocks, on one thread.
    ///
    /// It ends without a finding when `isWanted` says no, which it asks when `wakeup` is signalled.
    ///
    /// The recording is the path of a WAV file with speech.
    ///
    /// - Returns: whether all is as it has to be.
    package static func run(
        _ recogniser: Recogniser, on recording: String, wokenBy wakeup: Wakeup,
        while isWanted: @escaping () -> Bool, tell: (Finding) -> Void
    ) -> Bool {
        var step = "the program starts"
        do {
            let recording = try readFile(recording, limit: 16 << 20)
            var decoder = try BodyDecoder(.file(.wav))
            var samples: [Int16] = []
            try decoder.decode(recording.span, into: &samples)
            try decoder.finish(into: &samples)
            let check = RecogniserCheck(
                program: try RecogniserProgram(recogniser), wakeup: wakeup, isWanted: isWanted,
                samples: samples)
            for (name, body) in check.steps {
                step = name
                tell(Finding(name: name, detail: try body(), isGood: true))
            }
            return true
        } catch {
            let reason = (error as? RecogniserFault)?.reason ?? "\(error)"
            if isWanted() { tell(Finding(name: step, detail: reason, isGood: false)) }
            return false
        }
    }

    private var steps: [(String, () throws -> String)] {
        let odd = [1, 2, 3, 160, 7, 4_001, 333, 12_007]
        return [
            ("it says that it is ready", start),
            ("it hears a recording in pieces of odd sizes", { try hear(samples[...], odd) }),
            // A prompt that does not fit makes small models invent words: here none can pass as heard.
            (
                "it hears an empty recording",
                {
                    try hear(
                        [], odd, SpeechHints(language: "en", prompt: "Hello.", words: ["utter"]))
                }
            ),
            ("it gives up a recording in the middle", giveUp),
            ("it hears another recording after that", { try hear(samples[...], [1_600]) }),
            ("it ends with its input", end),
        ]
    }

    private func start() throws(RecogniserFault) -> String {
        try wait(isNew: true, isQuiet: true)
        let languages = program.ready.languages?.joined(separator: ", ")
        let name = program.ready.name.map { TerminalText.excerpt(of: $0.utf8) }
        return (name ?? "without a name")
            + (languages.map { ": " + TerminalText.excerpt(of: $0.utf8) } ?? "")
    }

    private func wait(isNew: Bool = false, isQuiet: Bool = false) throws(RecogniserFault) {
        _ = try program.waitUntilReady(
            isNew: isNew, isQuiet: isQuiet, wokenBy: wakeup, while: isWanted)
        try goOn()
    }

    private func goOn() throws(RecogniserFault) {
        guard isWanted() else { throw RecogniserFault(reason: "the check was ended") }
    }

    private func hear(
        _ samples: ArraySlice<Int16>, _ sizes: [Int],
        _ hints: SpeechHints = SpeechHints(language: "en")
    ) throws(RecogniserFault) -> String {
        let duration = Double(samples.count) / 16_000
        var (rest, text, lastStart) = (samples, "", 0.0)
        var deadline: ContinuousClock.Instant?
        var number = 0
        program.begin(hints)
        while true {
            while deadline == nil, !program.isBehind {
                let piece = rest.prefix(sizes[number % sizes.count])
                program.send(Array(piece))
                (rest, number) = (rest.dropFirst(piece.count), number + 1)
                guard rest.isEmpty else { continue }
                program.finish()
                deadline = program.answerTime(.seconds(duration))
            }
            let said = try program.next(wokenBy: wakeup, by: deadline)
            try goOn()
            guard let line = said else { continue }
            if let error = line.error {
                throw RecogniserFault(
                    reason: "it says an error: \(TerminalText.excerpt(of: error.utf8))")
            }
            guard line.ready == nil else {
                throw RecogniserFault(reason: "it says that it is ready before its last final text")
            }
            for word in line.words ?? [] {
                guard lastStart <= word.start, word.start <= word.end, word.end <= duration + 0.1
                else {
                    let text = TerminalText.excerpt(of: word.word.utf8)
                    throw RecogniserFault(
                        reason: "the word '\(text)' has an impossible time: "
                            + "\(word.start) to \(word.end) of \(duration) s")
                }
                lastStart = word.start
            }
            text += line.final.map { " " + $0 } ?? ""
            guard line.end == true else { continue }
            guard deadline != nil else {
                throw RecogniserFault(reason: "it says its last final text before the end")
            }
            try wait(isQuiet: true)
            let words = text.split(separator: " ").joined(separator: " ")
            let shown = TerminalText.excerpt(of: words.utf8)
            guard !samples.isEmpty else {
                return words.isEmpty
                    ? "no words" : "words without a sound, which it invents: \(shown)"
            }
            return words.isEmpty ? "no words" : shown
        }
    }

    private func giveUp() throws(RecogniserFault) -> String {
        program.begin(SpeechHints())
        program.send(Array(samples.prefix(samples.count / 2)))
        program.cancel()
        try wait()
        return "and is ready again"
    }

    private func end() throws(RecogniserFault) -> String {
        guard program.close(within: .seconds(10), wokenBy: wakeup) else {
            throw RecogniserFault(reason: "it runs on")
        }
        try goOn()
        return "by itself"
    }
}
