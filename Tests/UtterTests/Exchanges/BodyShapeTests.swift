// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import AudioCodecs
@testable import Cryptography
@testable import SpeechService
@testable import TakeStore
@testable import Utter

/// The recording in a form or in a JSON document, on its way and once more.
@Suite struct BodyShapeTests {
    /// One way to send a take.
    struct Way: Sendable, CustomTestStringConvertible {
        var shape: String
        var format: AudioCodec
        var framing: BodyFraming
        var isEncrypted: Bool

        var testDescription: String {
            "\(shape) \(format) \(framing)\(isEncrypted ? " encrypted" : "")"
        }

        var body: BodyShape {
            get throws {
                switch shape {
                case "form":
                    .form(
                        try AudioForm(
                            fields: [
                                AudioForm.Field(name: "model", value: "whisper-1"),
                                AudioForm.Field(name: "p\"q", value: "a\r\nb"),
                            ]))
                case "json":
                    .json(try JSONTemplate(#"{"config":{"rate":16000},"audio":"{audio}"}"#))
                default: .raw
                }
            }
        }
    }

    static let ways = ["raw", "form", "json"].flatMap { shape in
        AudioCodec.allCases.flatMap { format in
            [BodyFraming.chunked, .length].flatMap { framing in
                [false, true].map {
                    Way(shape: shape, format: format, framing: framing, isEncrypted: $0)
                }
            }
        }
    }

    /// What stands in the body, as another program reads it.
    private func audio(in request: RecordedRequest, _ way: Way, of take: Take) throws -> [UInt8] {
        let type = try #require(request["Content-Type"])
        switch way.shape {
        case "form":
            let end = "\r\n--utter-\(take.id.text)--\r\n".utf8.count
            let head = wholeForm([], way, of: take).count - end
            let audio = Array(request.body.dropFirst(head).dropLast(end))
            #expect(request.body == wholeForm(audio, way, of: take))
            #expect(type == "multipart/form-data; boundary=utter-\(take.id.text)")
            // The other program has the same to read, whatever lies on the disk.
            guard !way.isEncrypted, way.framing != .length else { return audio }
            let form = try ForeignForm(request.body, contentType: type)
            #expect(form.parts.map(\.name) == ["model", "p%22q", "file"])
            #expect(form.parts.map(\.fileName) == [nil, nil, "audio.\(way.format.sentExtension)"])
            #expect(form.parts.map(\.contentType) == [nil, nil, way.format.mediaType])
            #expect(form.parts[0].bytes == Array("whisper-1".utf8))
            #expect(form.parts[1].bytes == Array("a\r\nb".utf8))
            #expect(form.parts[2].bytes == audio)
            return audio
        case "json":
            struct Document: Decodable {
                var config: [String: Int]
                var audio: Data
            }
            #expect(type == "application/json")
            let document = try JSONDecoder().decode(Document.self, from: Data(request.body))
            #expect(document.config == ["rate": 16_000])
            let text = document.audio.base64EncodedString()
            #expect(
                request.body == Array(#"{"config":{"rate":16000},"audio":"\#(text)"}"#.utf8))
            return Array(document.audio)
        default:
            #expect(type == way.format.mediaType)
            return request.body
        }
    }

    /// The form, byte for byte.
    private func wholeForm(_ audio: [UInt8], _ way: Way, of take: Take) -> [UInt8] {
        let boundary = "--utter-\(take.id.text)"
        let field = "Content-Disposition: form-data; name="
        let file = "\"file\"; filename=\"audio.\(way.format.sentExtension)\""
        let head = [
            boundary, field + "\"model\"", "", "whisper-1", boundary, field + "\"p%22q\"", "",
            "a\r\nb", boundary, field + file, "Content-Type: \(way.format.mediaType)", "", "",
        ]
        let end = "\r\n\(boundary)--\r\n"
        return Array(head.joined(separator: "\r\n").utf8) + audio + Array(end.utf8)
    }

    @Test(arguments: ways) func aTakeThatWasCutIsSentOnceMoreByteForByte(_ way: Way) async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .readBody(bytes: 5_000), .reset]],
            otherwise: .answer(text: "heard"))
        let key: @Sendable () throws -> EncryptionKey = { try EncryptionKey(secret: Array(1...32)) }
        let bench = try Bench(key: way.isEncrypted ? key : nil)
        let take = try bench.start(
            FileReplay(path: Clip.goForward.path, pace: .unpaced), to: server.url(),
            format: way.format
        ) {
            $0.delivery.framing = way.framing
            $0.delivery.service.body = try way.body
        }
        let cut = try await take.end()
        guard case .failure(.notDelivered) = cut.result else {
            Issue.record("\(cut.result)")
            return
        }
        try take.writeAudio(to: bench.folder.path("audio"))
        let journal = try bench.folder.read("audio")
        #expect(cut.account.sentBytes <= journal.count - way.format.bodyOffset)
        #expect(cut.imbalance == nil)

        // As another program finds it: the take knows what its body was.
        let manifest = try await bench.kept(cut).manifest.get()
        #expect(manifest.version == 2)
        let record = try #require(manifest.delivery)
        let outcome = try await bench.resend(cut, by: DeliveryPlan(record))
        #expect(try outcome.result.get().text == "heard")

        let requests = server.requests
        #expect(requests.count == 2)
        let last = try #require(requests.last)
        #expect(last.framingErrors.isEmpty)
        var expected = Array(journal.dropFirst(way.format.bodyOffset))
        // A live body does not know its length: the one that says it is another, with a key of its own.
        let isAnother = way.format == .flac && way.framing == .chunked
        if let (place, bytes) = way.format.length {
            expected.replaceSubrange(place, with: bytes(outcome.account.encodedFrames))
        }
        #expect(try audio(in: last, way, of: take) == expected)
        // What came before the cut is the beginning of it.
        let sent = try #require(requests.first).body
        #expect(isAnother || last.body.starts(with: sent))
        #expect(sent.count >= 5_000)
        let isChunked = way.framing == .chunked
        for request in requests {
            #expect((request["Transfer-Encoding"] == "chunked") == isChunked)
            #expect(request["Content-Length"] == (isChunked ? nil : "\(last.body.count)"))
        }
        #expect((last["Idempotency-Key"] != requests.first?["Idempotency-Key"]) == isAnother)
        #expect(last["Idempotency-Key"]?.hasPrefix("\"\(take.id.text)") == true)
        var sum = SHA256()
        sum.update(last.body.span)
        #expect(
            last["Content-Digest"] == "sha-256=:\(Data(sum.bytes).base64EncodedString()):")
        #expect(outcome.account.sentBytes == expected.count)
        #expect(outcome.account.wireBytes == last.body.count)
        #expect(outcome.imbalance == nil)
    }

    private let period = [Int16](repeating: 1_000, count: 320)

    /// Begins a take that is sent in this way.
    private func begin(
        _ way: Way, by bench: Bench, to server: RecordingServer
    ) throws -> (speaker: Speaker, take: Take, log: EventLog) {
        try bench.speak(to: server.url()) {
            $0.delivery.format = way.format
            $0.delivery.service.body = try way.body
        }
    }

    private let form = Way(shape: "form", format: .pcm, framing: .auto, isEncrypted: false)

    @Test func aFormIsSentWhileTheSpeakerSpeaks() async throws {
        let server = try RecordingServer(otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let (speaker, take, _) = try begin(form, by: bench, to: server)
        let head = wholeForm([], form, of: take).count - "\r\n--utter---\r\n".utf8.count
        let prologue = head - take.id.text.utf8.count
        for count in 1...5 {
            speaker.say(period)
            // Each period is there before the next one is said.
            let request = try #require(await server.wait(untilBytes: prologue + count * 640))
            #expect(request.body.count == prologue + count * 640)
            #expect(request.lastChunkAt == nil)
        }
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "heard")
        #expect(server.connectionCount == 1)
        let request = try #require(server.requests.first)
        let said = [Int16](repeating: 1_000, count: 1_600)
        #expect(try audio(in: request, form, of: take) == WAVBytes.pcm(said))
        #expect(outcome.account.sentBytes == 3_200)
    }

    @Test func aServiceThatRefusesChunksGetsTheFormWithItsLength() async throws {
        let server = try RecordingServer(
            scripts: [[.readHead, .respond(status: 411, text: ""), .readOn]],
            otherwise: .answer(text: #"{"text":"with length"}"#))
        let bench = try Bench()
        let way = Way(shape: "form", format: .wav, framing: .auto, isEncrypted: false)
        let (speaker, take, log) = try begin(way, by: bench, to: server)
        speaker.say(period)
        #expect(await log.wait { $0.resentAfter == 411 })
        speaker.say(period)
        speaker.fallSilent()
        let outcome = try await take.end()
        #expect(try outcome.result.get().text == "with length")
        let request = try #require(server.requests.last)
        #expect(server.requests.map { $0["Transfer-Encoding"] } == ["chunked", nil])
        #expect(request["Content-Length"] == "\(outcome.account.wireBytes)")
        #expect(try audio(in: request, way, of: take).count == 44 + 1_280)
    }

    @Test func aCatchUpRateIsThatOfTheRecording() {
        let rate = CatchUpRate.times(2)
        #expect(rate.bytesPerSecond(of: .pcm, inBase64: false) == 64_000)
        #expect(rate.bytesPerSecond(of: .pcm, inBase64: true) == 85_333)
        #expect(CatchUpRate.bytes(perSecond: 100).bytesPerSecond(of: .pcm, inBase64: true) == 100)
    }
}
