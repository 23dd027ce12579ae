// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import RecognitionEndpoint

@Suite struct RecognitionEndpointTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.pcm("go-forward") }

    private static let pcm = "audio/pcm;rate=16000;channels=1"

    // MARK: - Text while speaking

    @Test func partialTextArrivesBeforeTheBodyIsClosed() async throws {
        let (partial, rest) = try await TestEndpoint.serve { client in
            try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
            try client.sendChunk(audio.prefix(64_000))
            let head = try client.readHead()
            #expect(head.status == 200)
            #expect(head.fields["content-type"] == "application/x-ndjson")
            let partial = try client.readChunk()
            try client.sendEnd(audio.dropFirst(64_000))
            return (partial, try client.readBody(head))
        }
        #expect(partial.contains(#""type":"partial""#))
        let lines = rest.split(separator: "\n")
        let final = try #require(lines.last)
        #expect(lines.dropLast().allSatisfy { $0.contains(#""type":"partial""#) })
        #expect(
            final.hasPrefix(#"{"duration":2.79,"text":"go forward ten meters","type":"final","#))
    }

    @Test func wordsHaveTimesInTheAudioAlsoLaterAndBehindCuts() async throws {
        let audio = try Samples.wav("go-forward")
        // 12 times five digits and a second of silence: 41 s, three utterances.
        let once = try Samples.pcm("digits-29340") + [UInt8](repeating: 0, count: 32_000)
        let long = (0..<12).flatMap { _ in once }
        try await TestEndpoint.run { port, _ in
            for _ in 0..<2 {
                let answer = try await TestEndpoint.post(
                    audio, type: "audio/wav", accept: "application/json", to: port)
                #expect(answer.head.fields["content-type"] == "application/json")
                #expect(answer.body.hasPrefix(#"{"duration":2.79,"text":"go forward ten meters","#))
                #expect(answer.body.contains(#","probability":1,"start":0.46,"word":"go"}"#))
                #expect(answer.body.hasSuffix(#","word":"meters"}]}"# + "\n"))
                #expect(!answer.body.contains("sil"))
            }
            // Long audio is cut at pauses, and nothing is lost.
            let answer = try await TestEndpoint.post(
                long, type: Self.pcm, accept: "application/json", to: port)
            let words = answer.body.split(separator: "\"word\":").count - 1
            #expect((58...64).contains(words), "\(answer.body.prefix(600))")
            #expect(answer.body.contains(#""start":39."#) || answer.body.contains(#""start":38."#))
        }
    }

    @Test func theLanguageModelHearsWhatNoGrammarAllows() async throws {
        let answer = try await TestEndpoint.answer(audio, type: Self.pcm) {
            $0.recogniser = TestEndpoint.recogniser([])
        }
        #expect(answer.body == "go forward ten meters\n")
    }

    // MARK: - Media types

    /// The clip in another form that a program of another hand has made.
    private func clip(_ tool: String, _ words: [String], end: String) async throws -> [UInt8] {
        try await onThread {
            let folder = try TemporaryFolder()
            let path = folder.path("audio.\(end)")
            let words = words.map { $0.replacing("CLIP", with: "\(Samples.folder)/go-forward.wav") }
            try ForeignTool(tool).run(words + [path])
            return try folder.read("audio.\(end)")
        }
    }

    @Test func recordingsOfAllTypesAreHeard() async throws {
        var endless = try Samples.wav("go-forward")
        for index in Array(4..<8) + Array(40..<44) { endless[index] = 0xFF }
        let swapped = try await clip(
            "sox", ["CLIP", "-t", "raw", "-B", "-r", "48000", "-c", "2"], end: "raw")
        var bodies = [
            (audio, "audio/pcm"), (audio, "AUDIO/PCM; Rate=\"16000\""), (endless, "audio/x-wav"),
            (swapped, "audio/l16;rate=48000;channels=2"),
        ]
        for options in [
            ["-r", "44100", "-c", "2"], ["-r", "48000", "-e", "float"], ["-b", "24"],
        ] {
            bodies.append((try await clip("sox", ["CLIP"] + options, end: "wav"), "audio/wav"))
        }
        let narrow = try await clip("sox", ["CLIP", "-r", "8000", "-b", "8"], end: "wav")
        let followed =
            try Samples.wav("go-forward") + Array("LIST".utf8) + [0, 0, 1, 0]
            + [UInt8](repeating: 77, count: 65_536)
        let opus = try await clip("opusenc", ["--quiet", "CLIP"], end: "opus")
        try await TestEndpoint.run { port, _ in
            for (body, type) in bodies {
                let answer = try await TestEndpoint.post(body, type: type, to: port)
                #expect(answer.head.status == 200)
                #expect(answer.body == "go forward ten meters\n", "\(type)")
            }
            // Half of the spectrum is gone at 8 kHz, and words with it.
            let answer = try await TestEndpoint.post(narrow, type: "audio/wav", to: port)
            #expect(answer.head.status == 200)
            // Bytes behind the samples of a WAV file are not heard.
            for (body, type) in [(followed, "audio/wav"), (opus, "audio/ogg;codecs=opus")] {
                let answer = try await TestEndpoint.post(
                    body, type: type, accept: "application/json", to: port)
                #expect(
                    answer.body.hasPrefix(#"{"duration":2.79,"text":"go forward ten meters","#),
                    "\(type)")
            }

            // From curl as well, by PUT and by POST.
            for options in [[], ["-X", "POST", "-H", "Expect:"]] {
                let text = try await onThread {
                    try ForeignTool("curl").run(
                        [
                            "-sS", "-T", "\(Samples.folder)/go-forward.wav",
                            "-H", "Content-Type: audio/wav", "-H", "Accept: text/plain",
                            "http://127.0.0.1:\(port)/recognize",
                        ] + options
                    ).text
                }
                #expect(text == "go forward ten meters\n", "\(options)")
            }
        }
    }

    // MARK: - Many at once

    @Test func twoRecognitionsAtOnceAndTheThirdIsToldToComeBack() async throws {
        try await TestEndpoint.run({ $0.maximumWaitingRecognitions = 0 }) { port, _ in
            try await onThread {
                let running = try (0..<2).map { _ in
                    let client = try RawClient(port: port)
                    try client.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
                    try client.sendChunk(audio.prefix(64_000))
                    #expect(try client.readHead().status == 200)
                    return client
                }
                let third = try RawClient(port: port)
                try third.sendHead("/recognize", ["Content-Type: \(Self.pcm)"])
                let answer = try third.readAnswer()
                #expect(answer.head.status == 503)
                #expect(answer.head.fields["retry-after"] == "1")
                for client in running {
                    try client.sendEnd(audio.dropFirst(64_000))
                    var line = ""
                    while !line.contains("final") { line = try client.readChunk() }
                    #expect(line.contains("go forward ten meters"))
                }
            }
            // Both are free again as soon as their answers are there.
            let answer = try await TestEndpoint.post(audio, type: Self.pcm, to: port)
            #expect(answer.body == "go forward ten meters\n")
        }
    }

    @Test func aConnectionServesOneClipAfterAnother() async throws {
        try await TestEndpoint.serve { client in
            let health = try client.get("/healthz")
            #expect(health.head.status == 200)
            #expect(health.head.fields["content-type"] == "application/json")
            let running = #""recognitions":{"maximum":2,"running":0}"#
            #expect(health.body == "{\(running),\"status\":\"ok\"}\n")
            for (name, text) in [
                ("go-forward", "go forward ten meters"),
                ("digits-29340", "two nine three four zero"),
                ("cards-three", "eight of spades four of clubs seven of hearts"),
            ] {
                let answer = try client.post(
                    Samples.wav(name), ["Content-Type: audio/wav", "Accept: text/plain"],
                    to: "/v1/recognize")
                #expect(answer.body == text + "\n")
            }
            // Silence and nothing are empty text.
            for (byteCount, accept, line) in [
                (
                    96_000, "application/x-ndjson",
                    #"{"duration":3,"text":"","type":"final","words":[]}"#
                ), (0, "text/plain", ""),
            ] {
                let silence = [UInt8](repeating: 0, count: byteCount)
                let fields = ["Content-Type: \(Self.pcm)", "Accept: \(accept)"]
                #expect(try client.post(silence, fields).body == line + "\n")
            }
        }
    }
}
