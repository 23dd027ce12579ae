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

    /// Posts a form in chunks of a size, and reads the whole answer.
    private func post(
        _ body: [UInt8], by limit: Int = 3_001, type: String = "multipart/form-data; boundary=B"
    ) async throws -> (head: RawClient.Head, body: String) {
        try await TestEndpoint.serve {
            try $0.post(body, ["Content-Type: \(type)"], to: Self.path, by: limit)
        }
    }

    @Test(arguments: [["-H", "Transfer-Encoding: chunked"], []])
    func curlIsAnsweredWithOneObject(_ framing: [String]) async throws {
        let answer = try await TestEndpoint.run { port, _ in
            try await onThread {
                try ForeignTool("curl").run(
                    [
                        "-sS", "-F", "model=whisper-1", "-F",
                        "file=@\(Samples.folder)/go-forward.wav", "-F", "language=en",
                        "http://127.0.0.1:\(port)\(Self.path)",
                    ] + framing
                ).text
            }
        }
        #expect(answer.hasPrefix("{") && answer.contains(Self.text), "\(answer)")
    }

    private func field(_ name: String, _ value: String) -> String {
        "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }

    @Test(arguments: [
        ("json", "application/json", "{"), ("verbose_json", "application/json", "{"),
        ("text", "text/plain; charset=utf-8", "go forward ten meters\n"),
        ("srt", "text/plain; charset=utf-8", "1\n00:00:0"),
        ("vtt", "text/vtt; charset=utf-8", "WEBVTT\n\n00:00:0"),
    ])
    func theAnswerHasTheFormatThatTheFormWants(_ name: String, _ type: String, _ begin: String)
        async throws
    {
        for body in [
            form(audio, fields: field("response_format", name)),
            form(audio, end: "\r\n" + field("response_format", name) + "--B--\r\n"),
        ] {
            let answer = try await post(body)
            #expect(answer.head.status == 200)
            #expect(answer.head.fields["content-type"] == type)
            #expect(answer.body.hasPrefix(begin) && answer.body.contains("go forward ten meters"))
        }
    }

    @Test(arguments: [
        ("response_format", "lrc", "'response_format'"),
        ("stream", "banana", "'stream' is true or false"),
    ])
    func aValueThatIsNotOfferedIsRefusedWithAReason(
        _ name: String, _ value: String, _ reason: String
    ) async throws {
        let answer = try await post(
            form(Samples.wav("go-forward"), fields: field(name, value)))
        #expect(answer.head.status == 400)
        #expect(answer.body.contains(reason), "\(answer.body)")
    }

    /// In the manner of OpenAI's API; the field may stand behind the file.
    @Test(arguments: [true, false])
    func eventsTellTheTextAsItBecomesFinal(isBehind: Bool) async throws {
        let ear = try TestEar("finals")
        let stream = field("stream", "true")
        let body =
            isBehind ? form(audio, end: "\r\n" + stream + "--B--\r\n") : form(audio, fields: stream)
        let answer = try await TestEndpoint.serve {
            $0.recogniser = ear.recogniser
        } _: { client in
            try client.post(
                body, ["Content-Type: multipart/form-data; boundary=B"], to: Self.path,
                by: body.count)
        }
        #expect(answer.head.status == 200)
        #expect(answer.head.fields["content-type"] == "text/event-stream")
        let events = answer.body.split(separator: "\n").map(String.init)
        let deltas = events.dropLast().compactMap { event in
            event.firstMatch(of: /^data: {"delta":"(.*)","type":"transcript.text.delta"}$/)?.1
        }
        #expect(deltas.count == events.count - 1)
        #expect(deltas.joined() == "one two three")
        #expect(events.last == #"data: {"text":"one two three","type":"transcript.text.done"}"#)
    }

    @Test func theModelIsTheRecogniser() async throws {
        try await TestEndpoint.serve { client in
            let all = try client.get("/v1/models")
            #expect(all.head.status == 200)
            let form =
                /\{"created":\d{10,},"id":"PocketSphinx","object":"model","owned_by":"utter"\}/
            #expect(all.body.contains(form), "\(all.body)")
            #expect(all.body.hasPrefix(#"{"data":["#))
            #expect(all.body.hasSuffix("],\"object\":\"list\"}\n"))
            let one = try client.get("/v1/models/Pocket%53phinx")
            #expect(one.head.status == 200 && one.body.hasPrefix(#"{"created":"#), "\(one.body)")
            #expect(try client.get("/v1/models/whisper-1").head.status == 404)
        }
    }

    @Test func aWordyObjectHasSegmentsAndTheLanguage() async throws {
        let wanted = field("response_format", "verbose_json")
        let answer = try await post(form(audio, fields: wanted))
        #expect(answer.body.contains(#""language":"en""#), "\(answer.body)")
        #expect(answer.body.contains(#""task":"transcribe""#))
        let segment =
            /"segments":\[\{"end":[\d.]+,"id":0,"start":[\d.]+,"text":"go forward ten meters"\}\]/
        #expect(answer.body.contains(segment), "\(answer.body)")
        let said = try await post(form(audio, fields: wanted + field("language", "en-GB")))
        #expect(said.body.contains(#""language":"en-GB""#), "\(said.body)")
    }

    @Test func theRecognitionRunsWhileTheFormComes() async throws {
        try await TestEndpoint.serve { client in
            try client.sendHead(
                "/recognize",
                [
                    "Content-Type: multipart/form-data; boundary=B",
                    "Accept: application/x-ndjson",
                ])
            let body = form(try Samples.wav("go-forward"))
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

    @Test(arguments: [1, 7, 440, 65_536])
    func aFormMayBeCutAnywhere(_ limit: Int) async throws {
        // In small pieces a beginning will do: it is the form's own bytes that matter.
        let clip = try Samples.wav("go-forward")
        let audio = limit < 44 ? Array(clip[..<2_000]) : clip
        let fields = "--B\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n\r\n"
        let answer = try await post(form(audio, fields: fields), by: limit)
        #expect(answer.head.status == 200)
        #expect(answer.body.contains(limit < 44 ? "\"text\":\"\"" : Self.text), "\(answer.body)")
    }

    @Test(arguments: [
        #"name="file"; filename="a.bin""# + "\r\nContent-Type: audio/wav",
        #"name="audio_file"; filename="A.WAV""# + "\r\ncontent-type: application/octet-stream",
        #"name="file""# + "\r\nContent-Type: audio/wav",
        #"name="file"; filename="a.bin""# + "\r\nContent-Type: application/octet-stream",
        #"name="file"; filename="upload""#,
    ])
    func theKindOfAudioIsTheNamesTheTypesOrTheFirstBytes(_ head: String) async throws {
        let answer = try await post(form(try Samples.wav("go-forward"), head: head))
        #expect(answer.body.contains(Self.text), "\(answer.body)")
    }

    /// What browsers, phones and note tools record.
    @Test(arguments: [
        ["-f", "mp3"], ["-f", "ipod"], ["-f", "webm"], ["-f", "ogg", "-c:a", "libvorbis"],
        ["-f", "wav", "-c:a", "pcm_mulaw"], ["-f", "wav", "-ar", "44100", "-ac", "2"],
        ["-f", "flac"], ["-f", "ogg", "-c:a", "libopus"],
    ])
    func aFileIsTakenForWhatItsFirstBytesSay(_ options: [String]) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a")
        try ForeignTool("ffmpeg").run(
            ["-v", "error", "-i", Clip.goForward.path] + options + [path])
        let bytes = try readFile(path)
        let boundary = "multipart/form-data; boundary=B"
        let head = #"name="file"; filename="blob""# + "\r\nContent-Type: application/octet-stream"
        let bodies = [
            (bytes, "application/octet-stream"), (bytes, "audio/mpeg"), (bytes, "video/webm"),
            (form(bytes, head: head), boundary),
            (form(bytes, head: #"name="file"; filename="a.wav""#), boundary),
        ]
        let answers = try await TestEndpoint.run(
            { $0.converter = Converter(path: "/usr/bin/ffmpeg") { [] } },
            { port, _ in
                var answers: [String] = []
                for (body, type) in bodies {
                    answers.append(
                        try await TestEndpoint.post(
                            body, type: type, accept: "application/json", to: port
                        ).body)
                }
                return answers
            })
        #expect(answers.allSatisfy { $0.contains(Self.text) }, "\(answers)")
    }

    /// Samples without a header are what a type says, and never what nothing says.
    @Test(arguments: ["application/octet-stream", "", "audio/mpeg"])
    func bytesThatSayNothingAreRefused(_ type: String) async throws {
        let pcm = Array(try Samples.pcm("go-forward").prefix(9_000))
        let answer = try await TestEndpoint.answer(pcm, type: type)
        #expect(answer.head.status == 415)
        #expect(answer.body.contains("neither its type nor its first bytes say what it is; send "))
    }

    /// No sound is made of what has another form, or none.
    @Test(arguments: [
        ("ID3\u{4}and so on, for some bytes", "it is MP3; send "),
        ("", "neither its type nor its first bytes say what it is; send "),
        ("import sys; print(7)", "it is text, and not sound; send "),
    ])
    func aFileThatSaysNoTypeIsNotTakenForSamples(_ text: String, _ reason: String) async throws {
        let head = #"name="file"; filename="a.bin""# + "\r\nContent-Type: application/octet-stream"
        let answer = try await post(form(Array(text.utf8), head: head), by: 7)
        #expect(answer.head.status == 415)
        #expect(answer.body.contains(reason), "\(answer.body)")
    }

    @Test func samplesOfAFormAreNotMistakenForABoundary() async throws {
        // What looks like the beginning of a boundary is audio.
        let audio = try Samples.pcm("go-forward")
        let noise = Array("\r\n--\r\n--A\r\n-".utf8)
        let head = "name=\"file\"\r\nContent-Type: audio/pcm;rate=16000"
        let answer = try await post(form(audio + noise + [0], head: head), by: 5_000)
        #expect(answer.body.contains(Self.text), "\(answer.body)")
    }

    static let refused: [(body: String, reason: String)] = [
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

    @Test(arguments: refused)
    func whatIsNoFormWithAFileIsRefused(_ body: String, _ reason: String) async throws {
        let answer = try await post(Array(body.utf8))
        #expect(answer.head.status == 400)
        #expect(answer.body.contains(reason), "\(answer.body)")
        #expect(answer.body.hasPrefix(#"{"error":{"message":"#))
    }

    @Test func aFormWithoutABoundaryIsRefusedAtOnce() async throws {
        let answer = try await post([], type: "multipart/form-data")
        #expect(answer.head.status == 415)
        #expect(answer.body.contains("the form's boundary is missing"))
    }
}
