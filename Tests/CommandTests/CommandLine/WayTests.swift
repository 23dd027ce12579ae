// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter
@testable import UtterCommands

/// A service may have two ways: in realtime for a person who speaks, and an upload.
@Suite struct WayTests {
    private static let services = [
        "assemblyai", "deepgram", "deepgram-flux", "openai", "soniox",
    ]

    private func plan(
        _ service: String, _ words: [String] = [], format: AudioCodec? = nil,
        isSpoken: Bool = true
    ) throws -> DeliveryPlan {
        let said = ["--service", service, "--token-command", "echo"] + words
        return try ServiceOptions.parse(said).delivery(format: format, isSpoken: isSpoken)
    }

    @Test(arguments: services) func aVoiceGoesInRealtimeAndAFileDoesNot(
        _ service: String
    ) throws {
        let voice = try plan(service)
        #expect(voice.service.url.isSocket && voice.format == .pcm)
        #expect(voice.serviceName == service)
        let file = try plan(service, isSpoken: false)
        #expect(!file.service.url.isSocket)
        #expect(file.format != .pcm || service == "assemblyai")
    }

    @Test func mostServicesHaveOneWay() throws {
        let names = ShippedProfiles.names.filter { name in
            // Each shipped profile can be read.
            (try? Profiles.shipped.profile(name))?.hasLiveWay == true
        }
        #expect(names.sorted() == Self.services)
        let error = try #require(throws: ProfileError.self) {
            try ServiceProfile.reading(
                [ProfileText(overriding: "way = 'live'", place: "-c")]
                    + Profiles.shipped.profile("groq").texts)
        }
        #expect(error.description.contains("'way': the service has one way alone"))
    }

    /// A profile that extends another one has its way, but not at another address.
    @Test func aServiceElsewhereHasNoWayOfAnother() throws {
        let shipped = try Profiles.shipped.profile("openai").texts
        for (line, hasWay) in [("title = 'mine'", true), ("url = 'https://mine.example/'", false)] {
            let own = ProfileText(name: "mine", text: "extends = 'openai'\n\(line)")
            #expect(try ServiceProfile.reading([own] + shipped).hasLiveWay == hasWay)
            let said = ProfileText(overriding: line, place: "-c")
            #expect(try ServiceProfile.reading([said] + shipped).hasLiveWay == hasWay)
        }
    }

    /// A person's own words count more than the way that is usual for a voice; a field of the body
    /// and most formats are of the upload.
    @Test(
        arguments: [
            ("deepgram", ["-c", "way=upload"], nil, false),
            ("deepgram", ["--to", "http://127.0.0.1:9/"], nil, false),
            ("deepgram", ["-c", "url=http://127.0.0.1:9/"], nil, false),
            ("openai", ["-c", "body.fields.temperature=0"], nil, false),
            ("deepgram", [], .flac, false), ("deepgram", [], .pcm, true),
        ] as [(String, [String], AudioCodec?, Bool)])
    func whoSaysOtherwiseUploadsAndPCMStaysLive(
        _ service: String, _ words: [String], _ format: AudioCodec?, _ isSocket: Bool
    ) throws {
        #expect(try plan(service, words, format: format).service.url.isSocket == isSocket)
    }

    /// It has no other address for what is kept.
    @Test(arguments: [true, false])
    func aServiceOfOnesOwnMaySpeakWebSocketToo(_ isSpoken: Bool) throws {
        let plan = try plan("deepgram", ["--to", "ws://127.0.0.1:9/"], isSpoken: isSpoken)
        #expect(plan.service.url.text.hasPrefix("ws://127.0.0.1:9/"))
        let kept = try DeliveryPlan(plan.record)
        #expect(kept.service.url == plan.service.url && kept.format == .pcm)
    }

    @Test func aFileMayGoInRealtimeIfAPersonSaysSo() throws {
        let plan = try plan("deepgram", ["-c", "way=live"], isSpoken: false)
        #expect(plan.service.url.isSocket)
        let kept = try DeliveryPlan(plan.record)
        #expect(kept.service.url == plan.service.url)
    }

    @Test func fieldsCountOverBothWays() throws {
        let words = ["-c", "answer.silence=hm", "-c", "query.punctuate=true"]
        for isSpoken in [true, false] {
            let plan = try plan("deepgram", words, isSpoken: isSpoken)
            #expect(plan.service.url.parameter("punctuate") == "true")
            #expect(plan.service.answer.silence == ["hm"])
        }
    }

    @Test func aFieldOfTheMessagesIsOfTheLiveWay() throws {
        let field = ["-c", "socket.keep-alive-seconds=3"]
        let live = try plan("deepgram", field, isSpoken: true)
        #expect(live.service.socket?.keepAliveInterval == .seconds(3))
        #expect(live.service.socket?.ending == [#"{"type":"CloseStream"}"#])
        #expect(try plan("deepgram", field, isSpoken: false).service.socket == nil)
    }

    @Test func aCheckTriesBothWays() async throws {
        let server = try RecordingServer(otherwise: .answer(text: ""))
        let service = try await SocketService()
        let profile = """
            url = '\(server.url("/upload"))'
            auth.optional = true
            answer.empty = 'no-speech'
            [live]
            url = '\(service.url("deepgram"))'
            formats = [{ codec = "pcm" }]
            [live.socket]
            finish = '{"type":"CloseStream"}'
            [live.answer]
            framing = "sequence"
            select = [{ path = "type", equals = "Metadata", is = "end" }]
            """
        let bench = try Bench.withProfiles(["mine": profile])
        let result = try await bench.run("services", "check", "mine")
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(result.outputText.contains("request   POST \(server.url("/upload")) with wav"))
        #expect(
            result.outputText.contains("request   WebSocket \(service.url("deepgram")) with pcm"))
        #expect(result.outputText.contains("answer    status 101"))
        #expect(server.requests.count == 1)
        #expect(try await service.sessions(1).first?.audio == 16_000)
    }

    /// A kept take knows both ways from its beginning: its texts, and where its token goes.
    @Test(arguments: services) func whatIsKeptIsUploaded(_ service: String) throws {
        let plan = try plan(service)
        let record = plan.record
        #expect(record.texts.contains { $0.text == "way = \"live\"  # while a person speaks" })
        let kept = try DeliveryPlan(record)
        #expect(!kept.service.url.isSocket)
        #expect(kept.format == .wav)
        #expect(record.secrets?.map(\.origin) == [kept.service.url.origin.description])
        #expect(kept.service.answer != plan.service.answer)
        // Sent once more, it is the same.
        #expect(try DeliveryPlan(kept.record).service.url == kept.service.url)
    }
}
