// SPDX-License-Identifier: Apache-2.0

import Capture
import TestSupport
import Testing

@testable import RecognitionEndpoint

/// Recordings in forms, as OpenAI-style clients send them.
@Suite struct FormTests {
    private let audio: [UInt8]

    init() throws { audio = try Samples.wav("go-forward") }

    private static let path = "/v1/audio/transcriptions"
    private static let text = #""text":"go forward ten meters""#

    private func form(
        _ audio: [UInt8], head: String = #"name="file"; filename="a.wav""#, fields: String = "",
        end: String = "\r\n--B--\r\n"
    ) -> [UInt8] {
        Array("\(fields)--B\r\nContent-Disposition: form-data; \(head)\r\n\r\n".utf8) + audio
            + Array(end.utf8)
    }

    /// Posts a form to an endpoint, in chunks of a size, and reads the whole answer.
    private func post(
        _ body: [UInt8], to port: Int, by limit: Int = 3_001,
        type: String = "multipart/form-data; boundary=B"
    ) async throws -> (head: RawClient.Head, body: String) {
        try await onThread {
            try RawClient(port: port).post(
                body, ["Content-Type: \(type)"], to: Self.path, by: limit)
        }
    }

    @Test func curlIsAnsweredWithOneObject() async throws {
        try await TestEndpoint.run { port, _ in
            for framing in [["-H", "Transfer-Encoding: chunked"], []] {
                let answer = try await onThread {
                    try ForeignTool("curl").run(
                        [
                            "-sS", "-F", "model=whisper-1", "-F",
                            "file=@\(Samples.folder)/go-forward.wav", "-F", "language=en",
                            "http://127.0.0.1:\(port)\(Self.path)",
                        ] + framing
                    ).text
                }
                #expect(answer.hasPrefix("{") && answer.contains(Self.text), "\(answer)")
            }
        }
    }

    private func field(_ name: String, _ value: String) -> String {
        "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }

    private static var segment: Regex<Substring> {
        /"segments":\[\{"end":[\d.]+,"id":0,"start":[\d.]+,"text":"go forward ten meters"\}\]/
    }

    @Test func theAnswerHasTheFormatThatTheFormWants() async throws {
        try await TestEndpoint.run { port, _ in
            for (name, type, begin) in [
                ("json", "application/json", "{"), ("verbose_json", "application/json", "{"),
                ("text", "text/plain; charset=utf-8", "go forward ten meters\n"),
                ("srt", "text/plain; charset=utf-8", "1\n00:00:0"),
                ("vtt", "text/vtt; charset=utf-8", "WEBVTT\n\n00:00:0"),
            ] {
                let wanted = field("response_format", name)
                for body in [
                    form(audio, fields: wanted), form(audio, end: "\r\n\(wanted)--B--\r\n"),
                ] {
                    let answer = try await post(body, to: port)
                    #expect(answer.head.status == 200, "\(name)")
                    #expect(answer.head.fields["content-type"] == type)
                    #expect(answer.body.hasPrefix(begin), "\(answer.body)")
                    #expect(answer.body.contains("go forward ten meters"), "\(answer.body)")
                    // A wordy object has segments and the language.
                    guard name == "verbose_json" else { continue }
                    #expect(answer.body.contains(#""language":"en""#), "\(answer.body)")
                    #expect(answer.body.contains(#""task":"transcribe""#))
                    #expect(answer.body.contains(Self.segment), "\(answer.body)")
                }
            }
            for (name, value, reason) in [
                ("response_format", "lrc", "'response_format'"),
                ("stream", "banana", "'stream' is true or false"),
            ] {
                let answer = try await post(form(audio, fields: field(name, value)), to: port)
                #expect(answer.head.status == 400, "\(value)")
                #expect(answer.body.contains(reason), "\(answer.body)")
            }
            let wordy = field("response_format", "verbose_json") + field("language", "en-GB")
            let said = try await post(form(audio, fields: wordy), to: port)
            #expect(said.body.contains(#""language":"en-GB""#), "\(said.body)")
        }
    }

    /// In the manner of OpenAI's API; the field may stand behind the file.
    @Test func eventsTellTheTextAsItBecomesFinal() async throws {
        let ear = try TestEar("finals")
        let stream = field("stream", "true")
        let bodies = [form(audio, end: "\r\n\(stream)--B--\r\n"), form(audio, fields: stream)]
        try await TestEndpoint.serve(each: bodies) {
            $0.recogniser = ear.recogniser
        } _: { client, body in
            let answer = try client.post(
                body, ["Content-Type: multipart/form-data; boundary=B"], to: Self.path,
                by: body.count)
            #expect(answer.head.status == 200)
            #expect(answer.head.fields["content-type"] == "text/event-stream")
            let events = answer.body.split(separator: "\n").map(String.init)
            let deltas = events.dropLast().compactMap { event in
                event.firstMatch(of: /^data: {"delta":"(.*)","type":"transcript.text.delta"}$/)?.1
            }
            #expect(deltas.count == events.count - 1)
            #expect(deltas.joined() == "one two three")
            #expect(
                events.last == #"data: {"text":"one two three","type":"transcript.text.done"}"#)
        }
    }

    @Test func theRecognitionRunsWhileTheFormComesAndTheModelIsTheRecogniser() async throws {
        try await TestEndpoint.serve { client in
            // Before anything is heard, its model is named.
            let all = try client.get("/v1/models")
            #expect(all.head.status == 200)
            let entry =
                /\{"created":\d{10,},"id":"PocketSphinx","object":"model","owned_by":"utter"\}/
            #expect(all.body.contains(entry), "\(all.body)")
            #expect(all.body.hasPrefix(#"{"data":["#))
            #expect(all.body.hasSuffix("],\"object\":\"list\"}\n"))
            let one = try client.get("/v1/models/Pocket%53phinx")
            #expect(one.head.status == 200 && one.body.hasPrefix(#"{"created":"#), "\(one.body)")
            #expect(try client.get("/v1/models/whisper-1").head.status == 404)
            let type = "Content-Type: multipart/form-data; boundary=B"
            try client.sendHead("/recognize", [type, "Accept: application/x-ndjson"])
            let body = form(audio)
            try client.sendChunk(body[..<60_000])
            // A text for the first part, before the rest exists.
            #expect(try client.readHead().status == 200)
            #expect(try client.readChunk().contains(#""type":"partial""#))
            try client.sendEnd(body[60_000...])
            var last = ""
            while case let chunk = try client.readChunk(), !chunk.isEmpty { last = chunk }
            #expect(last.contains(Self.text))
        }
    }

    @Test func aFormMayBeCutAnywhere() async throws {
        let fields = "--B\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n\r\n"
        try await TestEndpoint.run { port, _ in
            for limit in [1, 7, 440, 65_536] {
                // In small pieces a beginning will do: it is the form's own bytes that matter.
                let sent = limit < 44 ? Array(audio[..<2_000]) : audio
                let answer = try await post(form(sent, fields: fields), to: port, by: limit)
                #expect(answer.head.status == 200, "\(limit)")
                #expect(
                    answer.body.contains(limit < 44 ? "\"text\":\"\"" : Self.text), "\(answer.body)"
                )
            }
            // Bytes that look like the beginning of a boundary are audio.
            let samples = try Samples.pcm("go-forward") + Array("\r\n--\r\n--A\r\n-".utf8) + [0]
            let head = "name=\"file\"\r\nContent-Type: audio/pcm;rate=16000"
            let answer = try await post(form(samples, head: head), to: port, by: 5_000)
            #expect(answer.body.contains(Self.text), "\(answer.body)")
        }
    }

    private static let nameless = "\r\nContent-Type: application/octet-stream"

    @Test func theKindOfAudioIsTheNamesTheTypesOrTheFirstBytes() async throws {
        try await TestEndpoint.run { port, _ in
            for head in [
                #"name="file"; filename="a.bin""# + "\r\nContent-Type: audio/wav",
                #"name="audio_file"; filename="A.WAV""#
                    + "\r\ncontent-type: application/octet-stream",
                #"name="file""# + "\r\nContent-Type: audio/wav",
                #"name="file"; filename="a.bin""# + Self.nameless,
                #"name="file"; filename="upload""#,
            ] {
                let answer = try await post(form(audio, head: head), to: port)
                #expect(answer.body.contains(Self.text), "\(head): \(answer.body)")
            }
        }
    }

    /// Browsers, phones and note tools record these; `NegotiationTests` has other media types.
    @Test func aFileIsTakenForWhatItsFirstBytesSay() async throws {
        let boundary = "multipart/form-data; boundary=B"
        let head = #"name="file"; filename="blob""# + Self.nameless
        try await TestEndpoint.run {
            $0.converter = Converter(path: "/usr/bin/ffmpeg") { [] }
        } _: { port, _ in
            for options in [
                ["-f", "mp3"], ["-f", "ipod"], ["-f", "webm"], ["-f", "ogg", "-c:a", "libvorbis"],
                ["-f", "wav", "-c:a", "pcm_mulaw"], ["-f", "wav", "-ar", "44100", "-ac", "2"],
                ["-f", "flac"], ["-f", "ogg", "-c:a", "libopus"],
            ] {
                let bytes = try await onThread {
                    let folder = try TemporaryFolder()
                    try ForeignTool("ffmpeg").run(
                        ["-v", "error", "-i", Clip.goForward.path] + options + [folder.path("a")])
                    return try folder.read("a")
                }
                for (body, type) in [
                    (bytes, "application/octet-stream"), (form(bytes, head: head), boundary),
                    (form(bytes, head: #"name="file"; filename="a.wav""#), boundary),
                ] {
                    let answer = try await TestEndpoint.post(
                        body, type: type, accept: "application/json", to: port)
                    #expect(answer.body.contains(Self.text), "\(options) \(type): \(answer.body)")
                }
            }
        }
    }

    /// Samples without a header are what a type says, and never what nothing says.
    @Test func bytesThatSayNothingAreRefused() async throws {
        let pcm = Array(try Samples.pcm("go-forward").prefix(9_000))
        let head = #"name="file"; filename="a.bin""# + Self.nameless
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            for type in ["application/octet-stream", "", "audio/mpeg"] {
                let answer = try await TestEndpoint.post(pcm, type: type, to: port)
                #expect(answer.head.status == 415, "\(type)")
                #expect(
                    answer.body.contains(
                        "neither its type nor its first bytes say what it is; send "))
            }
            // No sound is made of what has another form, or none.
            for (text, reason) in [
                ("ID3\u{4}and so on, for some bytes", "it is MP3; send "),
                ("", "neither its type nor its first bytes say what it is; send "),
                ("import sys; print(7)", "it is text, and not sound; send "),
            ] {
                let answer = try await post(
                    form(Array(text.utf8), head: head), to: port, by: 7)
                #expect(answer.head.status == 415, "\(reason)")
                #expect(answer.body.contains(reason), "\(answer.body)")
            }
        }
    }

    private static let refused: [(body: String, reason: String)] = [
        (
            "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--\r\n",
            "the form has no file"
        ),
        ("--B\r\nContent-Disposition: form-data; name=\"file\"\r\n", "the form has no end"),
        ("", "the form has no end"),
        ("no form at all", "the form has no end"),
        (
            "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nx\r\n--B--\r\n", "'text/plain' is not supported"
        ),
        (
            "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n\r\n--B--\r\n",
            "it is empty"
        ),
        ("--B\r\n" + String(repeating: "X: y\r\n", count: 4_000), "whose head is too long"),
    ]

    @Test func whatIsNoFormWithAFileIsRefused() async throws {
        try await TestEndpoint.run(TestEndpoint.withoutSound) { port, _ in
            for (body, reason) in Self.refused {
                let answer = try await post(Array(body.utf8), to: port)
                #expect(answer.head.status == 400, "\(reason)")
                #expect(answer.body.contains(reason), "\(answer.body)")
                #expect(answer.body.hasPrefix(#"{"error":{"message":"#))
            }
            // A form without a boundary is refused at once.
            let answer = try await post([], to: port, type: "multipart/form-data")
            #expect(answer.head.status == 415)
            #expect(answer.body.contains("the form's boundary is missing"))
        }
    }
}
