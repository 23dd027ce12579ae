// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// SIGKILL at the file operations of a recording that is sent in stretches.
@Suite struct StretchKillTests {
    private static let arguments = [
        "-q", "-c", "limits.seconds=4", "-c", "exchange.parallel=1", "-c", "retry.never=true",
    ]

    /// A bench whose recording is words, and whose service reads them.
    private static func bench(_ speech: ToneSpeech) throws -> FaultBench {
        let answer: @Sendable (RecordedRequest) -> ServerAnswer = { request in
            let words = ToneSpeech.read(pcm: request.body)
            let text = words.map { $0.number < 0 ? "?" : $0.text }.joined(separator: " ")
            return ServerAnswer(
                headers: [HeaderField("Content-Type", "application/json")],
                text: #"{"text":"\#(text)"}"#)
        }
        let bench = try FaultBench(
            answer: [.readHead, .readBodyToEnd, .respondBy(answer)])
        try bench.folder.write(WAVBytes.speech(speech.samples), to: "voice.wav")
        return bench
    }

    private static func keys(_ bench: FaultBench) -> [String] {
        bench.server.requests.map { $0["Idempotency-Key"] ?? "" }
    }

    /// The ends of the keys of stretches whose answers the take has.
    private static func answered(_ bench: FaultBench) throws -> [String] {
        guard let values = try bench.remains().last?.manifest?.progress?.values else { return [] }
        let rows = (values["stretches"] ?? "").split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
        return rows.indices.filter { values["answer-\($0)"] != nil && rows[$0].count == 5 }
            .map { "-\(rows[$0][0])-\(rows[$0][3])" }
    }

    @Test func noStretchThatIsAnsweredIsAskedForAgain() async throws {
        var random = SeededRandom()
        var speech = ToneSpeech()
        for number in [3, 5, 3, 7, 1, 9, 9, 2, 8, 0, 4, 4, 6, 11, 1, 5, 2, 2, 10, 7, 3, 8, 6, 0] {
            speech.say(number)
            speech.pause(3_840, using: &random)
        }
        let wanted = speech.words.map(\.text)
        let rehearsal = try Self.bench(speech)
        let send = ["send"] + Self.arguments + [rehearsal.recording]
        let whole = try await rehearsal.run(send, FileFaults())
        #expect(whole.outputText == wanted.joined(separator: " ") + "\n", "\(whole.errorText)")
        #expect(rehearsal.server.requests.count >= 3)
        let kills = KillTests.kills(in: try rehearsal.trace, twice: false)
        #expect(kills.count > 8 || FewFaults.areWanted && !kills.isEmpty)
        let problems = try await inLanes(2, kills) { [speech] kill in
            let bench = try Self.bench(speech)
            _ = try await bench.run(
                ["send"] + Self.arguments + [bench.recording], FileFaults(kill: kill))
            let (before, answered) = (Self.keys(bench).count, try Self.answered(bench))
            let again = try await bench.run(["retry"] + Self.arguments + ["last"])
            let text = again.outputText.split(whereSeparator: \.isWhitespace).map(String.init)
            let more = Self.keys(bench).dropFirst(before)
            var problems = answered.filter { end in more.contains { $0.contains(end + "\"") } }
                .map { "\(kill): \($0) is asked for again" }
            // A program that died while it read its file has the beginning of it, and perhaps a piece of
            // a word.
            let heard = text.last == "?" ? text.dropLast() : text[...]
            if !wanted.starts(with: heard) {
                let bodies = bench.server.requests.map { request in
                    let words = ToneSpeech.read(pcm: request.body).map(\.text)
                    return "\(request["Idempotency-Key"] ?? ""): \(request.body.count), \(words)"
                }
                problems.append(
                    "\(kill): \(text), \(before) before\n\(bodies.joined(separator: "\n"))")
            }
            let state = try bench.takes().last?.manifest?.state
            if let state, state != "answered" {
                problems.append("\(kill): \(state) \(again.errorText)")
            }
            return problems
        }
        #expect(problems == [])
    }
}
