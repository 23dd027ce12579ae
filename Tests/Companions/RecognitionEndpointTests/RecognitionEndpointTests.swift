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

    @Test func wordsHaveTimesInTheAudioEvenInASecondRequest() async throws {
        let audio = try Samples.wav("go-forward")
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
        }
    }

    @Test(arguments: [
        (96_000, "application/x-ndjson", #"{"duration":3,"text":"","type":"final","words":[]}"#),
        (0, "text/plain", ""),
    ])
    func silenceAndNothingAreEmptyText(byteCount: Int, accept: String, line: String) async throws {
        let silence = [UInt8](repeating: 0, count: byteCount)
        let answer = try await TestEndpoint.answer(silence, type: Self.pcm, accept: accept)
        #expect(answer.body == line + "\n")
    }

    @Test(arguments: [
        ("go-forward", "go forward ten meters"),
        ("digits-29340", "two nine three four zero"),
        ("cards-three", "eight of spades four of clubs seven of hearts"),
    ])
    func theDemoGrammarGetsTheClipsRight(name: String, text: String) async throws {
        let answer = try await TestEndpoint.answer(
            Samples.wav(name), type: "audio/wav")
        #expect(answer.body == text + "\n")
    }

    @Test func theLanguageModelHearsWhatNoGrammarAllows() async throws {
        let answer = try await TestEndpoint.answer(audio, type: Self.pcm) {
            $0.recogniser = TestEndpoint.recogniser([])
        }
        #expect(answer.body == "go forward ten meters\n")
    }

    @Test func longAudioIsCutAtPausesAndNothingIsLost() async throws {
        // 12 times five digits and a second of silence: 41 s, three utterances.
        let pause = [UInt8](repeating: 0, count: 32_000)
        let once = try Samples.pcm("digits-29340") + pause
        let audio = (0..<12).flatMap { _ in once }
        let answer = try await TestEndpoint.answer(
            audio, type: Self.pcm, accept: "application/json")
        let words = answer.body.split(separator: "\"word\":").count - 1
        #expect((58...64).contains(words), "\(answer.body.prefix(600))")
        #expect(answer.body.contains(#""start":39."#) || answer.body.contains(#""start":38."#))
    }

    // MARK: - Media types

    @Test(arguments: ["audio/pcm", "AUDIO/PCM; Rate=\"16000\""])
    func samplesWithoutAHeader(type: String) async throws {
        let answer = try await TestEndpoint.answer(audio, type: type)
        #expect(answer.body == "go forward ten meters\n")
    }

    @Test func wavFilesOfUnknownLength() async throws {
        var wav = try Samples.wav("go-forward")
        for index in Array(4..<8) + Array(40..<44) { wav[index] = 0xFF }
        let answer = try await TestEndpoint.answer(wav, type: "audio/x-wav")
        #expect(answer.body == "go forward ten meters\n")
    }

    @Test(arguments: [
        ["-r", "44100", "-c", "2"], ["-r", "8000", "-b", "8"], ["-r", "48000", "-e", "float"],
        ["-b", "24"],
    ])
    func wavFilesOfAnyKind(options: [String]) async throws {
        let wav = try await onThread {
            let folder = try TemporaryFolder()
            let path = folder.path("audio.wav")
            try ForeignTool("sox").run(["\(Samples.folder)/go-forward.wav"] + options + [path])
            return try folder.read("audio.wav")
        }
        let answer = try await TestEndpoint.answer(wav, type: "audio/wav")
        // Half of the spectrum is gone at 8 kHz, and words with it.
        let isWhole = !options.contains("8000")
        #expect(answer.head.status == 200)
        #expect(!isWhole || answer.body == "go forward ten meters\n")
    }

    @Test func whatFollowsTheSamplesOfAWAVFileIsNotHeard() async throws {
        var wav = try Samples.wav("go-forward")
        wav += Array("LIST".utf8) + [0, 0, 1, 0] + [UInt8](repeating: 77, count: 65_536)
        let answer = try await TestEndpoint.answer(
            wav, type: "audio/wav", accept: "application/json")
        #expect(answer.body.hasPrefix(#"{"duration":2.79,"text":"go forward ten meters","#))
    }

    @Test func opusInOgg() async throws {
        let file = try await onThread {
            let folder = try TemporaryFolder()
            let path = folder.path("audio.opus")
            try ForeignTool("opusenc").run(["--quiet", "\(Samples.folder)/go-forward.wav", path])
            return try folder.read("audio.opus")
        }
        let answer = try await TestEndpoint.answer(
            file, type: "audio/ogg;codecs=opus", accept: "application/json")
        #expect(answer.body.hasPrefix(#"{"duration":2.79,"text":"go forward ten meters","#))
    }

    @Test func otherRatesChannelsAndByteOrdersOfSamples() async throws {
        let samples = try await onThread {
            try ForeignTool("sox").run([
                "\(Samples.folder)/go-forward.wav", "-t", "raw", "-B", "-r", "48000", "-c", "2",
                "-",
            ]).output
        }
        let answer = try await TestEndpoint.answer(
            samples, type: "audio/l16;rate=48000;channels=2")
        #expect(answer.body == "go forward ten meters\n")
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

    @Test func aConnectionServesOneRequestAfterAnother() async throws {
        let audio = try Samples.pcm("digits-29340")
        try await TestEndpoint.serve { client in
            for _ in 0..<3 {
                let fields = ["Content-Type: \(Self.pcm)", "Accept: text/plain"]
                let answer = try client.post(audio, fields, to: "/v1/recognize")
                #expect(answer.body == "two nine three four zero\n")
            }
        }
    }

    @Test(arguments: [[], ["-X", "POST", "-H", "Expect:"]])
    func curlPutsAndPostsARecording(options: [String]) async throws {
        try await TestEndpoint.run { port, _ in
            let text = try await onThread {
                try ForeignTool("curl").run(
                    [
                        "-sS", "-T", "\(Samples.folder)/go-forward.wav",
                        "-H", "Content-Type: audio/wav", "-H", "Accept: text/plain",
                        "http://127.0.0.1:\(port)/recognize",
                    ] + options
                ).text
            }
            #expect(text == "go forward ten meters\n")
        }
    }

    @Test func theEndpointSaysThatItIsWell() async throws {
        let answer = try await TestEndpoint.serve { try $0.get("/healthz") }
        #expect(answer.head.status == 200)
        #expect(answer.head.fields["content-type"] == "application/json")
        let running = #""recognitions":{"maximum":2,"running":0}"#
        #expect(answer.body == "{\(running),\"status\":\"ok\"}\n")
    }
}
