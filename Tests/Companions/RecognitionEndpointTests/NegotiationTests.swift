// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AudioCodecs
@testable import AudioCore
@testable import RecognitionEndpoint

/// What the header fields of a request mean.
@Suite struct NegotiationTests {
    // MARK: - Content-Type

    private static let speech = AudioMediaType.pcm(.speech, isBigEndian: false)
    private static let bigEndian = AudioMediaType.pcm(.speech, isBigEndian: true)

    /// Samples of another form than ours.
    private static func samples(_ rate: Int, _ channels: Int, isBigEndian: Bool) -> AudioMediaType {
        .pcm(StreamFormat(sampleRate: rate, channelCount: channels), isBigEndian: isBigEndian)
    }

    @Test(
        .spec("RFC 2586 §2"),
        arguments: [
            ("audio/wav", .file(.wav)), ("audio/x-wav", .file(.wav)), ("Audio/Wave", .file(.wav)),
            ("audio/wav; x=y", .file(.wav)), ("audio/ogg", .file(.oggOpus)),
            ("audio/ogg;codecs=opus", .file(.oggOpus)),
            ("application/octet-stream", .file(nil)), ("audio/mpeg", .file(nil)),
            ("video/webm;codecs=opus", .file(nil)), ("", .file(nil)),
            ("audio/ogg; codecs=\"Opus\"", .file(.oggOpus)), ("audio/opus", .file(.oggOpus)),
            ("audio/pcm", speech),
            (
                "audio/raw;encoding=signed-integer;bits=16;rate=8000;endian=big;channels=2",
                samples(8_000, 2, isBigEndian: true)
            ),
            // Samples of L16 are big-endian unless the parameters say otherwise.
            ("audio/l16", bigEndian), ("audio/L16; rate=16000; channels=1", bigEndian),
            ("audio/l16;endian=big", bigEndian), ("audio/l16;endian=little", speech),
            ("audio/l16;rate=16000;channels=1;endianness=little-endian", speech),
            // What clients of other services call their samples.
            ("audio/raw;encoding=signed-integer;bits=16;rate=16k;endian=little", speech),
            ("audio/x-pcm;bit=16;rate=16000", speech), ("audio/x-raw-int; rate=16000", speech),
            (
                "audio/x-raw-int, endianness=(int)1234, width=(int)16, depth=(int)16, "
                    + "signed=(boolean)true, rate=(int)16000, channels=(int)1", speech
            ),
            (
                "audio/x-raw, layout=(string)interleaved, rate=(int)16000, format=(string)S16LE, "
                    + "channels=(int)1", speech
            ),
            ("audio/x-raw,format=S16LE,rate=16000,channels=1,layout=\"interleaved\"", speech),
            ("audio/raw;rate=44.1k", samples(44_100, 1, isBigEndian: false)),
            (
                "audio/x-raw,format=(string)S16BE,channels=2,rate=8k",
                samples(8_000, 2, isBigEndian: true)
            ),
        ] as [(String, AudioMediaType)])
    func aMediaTypeIsUnderstood(text: String, type: AudioMediaType) throws {
        #expect(try AudioMediaType(parsing: text) == type)
    }

    @Test(
        arguments: [
            ("text/plain", "'text/plain' is not supported"),
            ("audio/pcm;rate=0", "'rate=0' is not supported"),
            ("audio/pcm;channels=99", "'channels=99' is not supported"),
            ("audio/pcm;bits=24", "'bits=24' is not supported"),
            ("audio/pcm;encoding=mulaw", "'encoding=mulaw' is not supported"),
            ("audio/pcm;endian=pdp", "'endian=pdp' is not supported"),
            ("audio/pcm;rate", "'rate' is not a parameter"),
            ("audio/pcm;rate=fastk", "'rate=fastk' is not supported"),
            ("audio/x-raw,format=(string)F32LE", "'format=f32le' is not supported"),
            ("audio/x-raw-int;signed=(boolean)false", "'signed=false' is not supported"),
            ("audio/x-raw,layout=non-interleaved", "'layout=non-interleaved' is not supported"),
            ("audio/wav, audio/ogg", "'audio/wav, audio/ogg' is more than one type"),
        ] as [(String?, String)])
    func whatIsNotUnderstoodIsRefused(type: String?, reason: String) {
        #expect(throws: UndecodableAudio(reason)) { try AudioMediaType(parsing: type) }
    }

    // MARK: - Accept

    @Test(
        arguments: [
            (nil, AnswerFormat.lines), ("*/*", .lines), ("application/x-ndjson", .lines),
            ("application/json", .object), ("application/json, */*", .object),
            ("application/json, application/x-ndjson;q=0.1", .lines),
            ("application/x-ndjson;q=0, application/json", .object),
            ("text/plain", .text), ("TEXT/PLAIN; charset=utf-8", .text), ("text/*", .text),
            ("image/png", nil), ("", nil),
        ] as [(String?, AnswerFormat?)])
    func theFormThatAClientAccepts(accept: String?, format: AnswerFormat?) {
        #expect(AnswerFormat(accept: accept) == format)
    }

    // MARK: - Authorization

    @Test func onlyTheRightTokenIsShown() throws {
        let token = try #require(BearerToken("abc.DEF"))
        for field in ["Bearer abc.DEF", "bearer abc.DEF", "BEARER   abc.DEF"] {
            #expect(token.isShown(by: field))
        }
        for field in [
            nil, "", "Bearer", "Bearer ", "Bearer abc.DE", "Bearer abc.DEFG", "Bearer abc.DEf",
            "Basic abc.DEF", "abc.DEF",
        ] {
            #expect(!token.isShown(by: field))
        }
    }

    @Test func aTokenIsNeverDescribed() throws {
        let token = try #require(BearerToken("abc.DEF"))
        var configuration = RecognitionEndpointConfiguration(recogniser: .command("true"))
        configuration.bearerToken = token
        var text = ""
        dump(configuration, to: &text)
        #expect(!"\(configuration) \(token) \(String(reflecting: token)) \(text)".contains("abc"))
    }

    @Test(arguments: ["", "a b", "a\r\nb", "ä"])
    func aTokenThatNoHeaderCanCarryIsNone(text: String) {
        #expect(BearerToken(text) == nil)
    }
}
