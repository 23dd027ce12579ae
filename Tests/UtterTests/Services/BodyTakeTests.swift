// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Utter

/// Takes in forms and under keys, as they are sent once more.
@Suite struct BodyTakeTests {
    private static let busy = [ServerStep].answer(status: 503, text: "")

    @Test func aFormMayBeChangedAndIsRemembered() async throws {
        let server = try RecordingServer(
            scripts: Array(repeating: Self.busy, count: 3), otherwise: .transcriber)
        let bench = try Bench { _ in "sesame" }
        let take = try await bench.send(
            .goForward,
            by: """
                url = '\(server.url())'
                auth.variable = 'TOKEN'
                formats = [{ codec = "wav" }]
                [body.fields]
                model = "m"
                language = "en"
                "granularities[]" = ["word", "segment"]
                """)
        _ = try await bench.retry(take, over: "body.kind = 'raw'")
        #expect(server.requests.last?["Content-Type"] == "audio/wav")
        let changes = """
            body.kind = 'form'
            body.fields.language = 'de'
            body.fields.prompt = 'x'
            body.file-field = 'f'
            body.file-name = 'x.wav'
            body.content-type = 'audio/x-wav'
            """
        _ = try await bench.retry(take, over: changes)
        // What was said last is what it remembers.
        let count = try readFile(Clip.goForward.path).count
        #expect(
            try await bench.retry(take).text
                == "model=m language=de granularities[]=word granularities[]=segment prompt=x "
                + "f=@x.wav:\(count)")
        let last = try #require(server.requests.last)
        #expect(last.body == server.requests[2].body)
        // Another form is another request.
        let keys = server.requests.compactMap { $0["Idempotency-Key"] }
        #expect(keys.count == 4 && Set(keys).count == 3 && keys[2] == keys[3])
        #expect(!last.body.ranges(of: Array("Content-Type: audio/x-wav\r\n".utf8)).isEmpty)
        for request in server.requests {
            #expect(request["Authorization"] == "Bearer sesame")
            #expect(request.body.ranges(of: Array("sesame".utf8)).isEmpty)
        }
    }

    private static let key = "utter-key-" + String(repeating: "0123456789abcdef", count: 4)

    /// At once, and by another run.
    @Test(arguments: [true, false])
    func neitherTheWordsNorTheQueryAreOnTheWire(_ isAtOnce: Bool) async throws {
        let server = try RecordingServer(
            scripts: [Self.busy], otherwise: .answer(text: "well said"))
        let bench = try Bench { $0.source == .file("/key") ? Self.key : "sesame" }
        var outcome = try await bench.send(
            .goForward,
            by: """
                url = '\(server.url("/listen?language=de"))'
                auth = { variable = 'KEY', kind = 'query', parameter = 'api_key' }
                body.key-file = '/key'
                body.kind = 'form'
                body.fields.prompt = 'Heilbronn'
                formats = [{ codec = "wav" }]
                """, retry: isAtOnce ? FaultBench.quick : .never)
        #expect(!(try await bench.manifestText(outcome).contains("utter-key")))
        if !isAtOnce { outcome = try await bench.retry(outcome) }
        #expect(outcome.text == "well said")
        let target = "/listen?api_key=sesame"
        #expect(server.requests.map(\.target) == [target, target])
        let samples = Array(try readFile(Clip.goForward.path)[80_044..<80_076])
        for request in server.requests {
            #expect(request["Content-Type"] == "application/vnd.utter.encrypted")
            #expect(request.body.starts(with: Array("utterenc".utf8)))
            for bytes in [Array("Heilbronn".utf8), Array("language".utf8), samples] {
                #expect(request.body.firstRange(of: bytes) == nil)
            }
        }
        // A retry sends the same bytes.
        #expect(server.requests.first?.body == server.requests.last?.body)
    }

    @Test func withoutTheKeyNothingIsSent() async throws {
        let server = try RecordingServer()
        let bench = try Bench { _ in "a long passphrase of mine" }
        let outcome = try await bench.send(
            by: "url = '\(server.url())'", over: "body.key-file = '/key'")
        let reason = "a body's key is random, and not a passphrase"
        #expect(outcome.text.contains(reason), "\(outcome.text)")
        #expect(try await bench.kept(outcome).manifest.get().state == .kept)
        #expect(server.connectionCount == 0)
    }
}
