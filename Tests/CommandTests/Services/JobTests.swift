// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Programs that are killed while a service takes a recording by several requests.
@Suite struct JobTests {
    /// A shipped service: what it is asked, and what it answers.
    struct Service: Sendable {
        var name: String
        /// Method and target of each request, and its answer.
        var talk: [(request: String, answer: String)]

        static let all = [
            Service(
                name: "assemblyai-batch",
                talk: [
                    ("POST /v2/upload", #"{"upload_url":"https://cdn.assemblyai.com/upload/1"}"#),
                    ("POST /v2/transcript", #"{"id":"t-1","status":"queued"}"#),
                    ("GET /v2/transcript/t-1", #"{"id":"t-1","status":"processing"}"#),
                    ("GET /v2/transcript/t-1", #"{"status":"completed","text":"go forward"}"#),
                ]),
            Service(
                name: "speechmatics",
                talk: [
                    ("POST /v2/jobs", #"{"id":"a1b2"}"#),
                    ("GET /v2/jobs/a1b2", #"{"job":{"id":"a1b2","status":"running"}}"#),
                    ("GET /v2/jobs/a1b2", #"{"job":{"id":"a1b2","status":"done"}}"#),
                    ("GET /v2/jobs/a1b2/transcript?format=txt", "go forward\n"),
                ]),
            Service(
                name: "revai",
                talk: [
                    ("POST /speechtotext/v1/jobs", #"{"id":7,"status":"in_progress"}"#),
                    ("GET /speechtotext/v1/jobs/7", #"{"id":7,"status":"transcribed"}"#),
                    ("GET /speechtotext/v1/jobs/7/transcript", "go forward"),
                ]),
            Service(
                name: "gladia",
                talk: [
                    ("POST /v2/upload", #"{"audio_url":"https://api.gladia.io/file/1"}"#),
                    (
                        "POST /v2/pre-recorded",
                        #"{"id":"g-1","result_url":"https://api.gladia.io/v2/pre-recorded/g-1"}"#
                    ),
                    (
                        "GET /v2/pre-recorded/g-1",
                        #"{"status":"done","result":{"transcription":"#
                            + #"{"full_transcript":"go forward"}}}"#
                    ),
                ]),
        ]
    }

    private static func answer(_ text: String, _ status: Int = 200) -> [ServerStep] {
        let type = text.hasPrefix("{") ? "application/json" : "text/plain"
        return .answer(
            status: status, headers: [HeaderField("Content-Type", type)], text: text)
    }

    /// Where a program is killed: when the service has so many requests.
    struct Kill: Sendable, CustomTestStringConvertible {
        var service: Service
        var requests: Int

        static let all = Service.all.flatMap { service in
            service.talk.indices.map { Kill(service: service, requests: $0 + 1) }
        }

        var testDescription: String { "\(service.name), at request \(requests)" }
    }

    @Test(arguments: Kill.all)
    func aKillBetweenAnyTwoRequestsSendsTheRecordingOnce(_ kill: Kill) async throws {
        let (service, last) = (kill.service, kill.requests - 1)
        let reached = Gate()
        var scripts = service.talk[..<last].map { Self.answer($0.answer) }
        scripts.append([.readHead, .readBodyToEnd, .open(reached), .readOn])
        scripts += service.talk[last...].map { Self.answer($0.answer) }
        let server = try RecordingServer(scripts: scripts)
        let bench = try Bench(server: server)
        let token = try bench.folder.write(Array("sesame\n".utf8), to: "token")
        let run = try bench.start([
            "send", "--service", service.name, "--to", server.url(""), "--token-file", token,
            Clip.goForward.path,
        ])
        #expect(await reached.wait())
        run.signal(SIGKILL)
        #expect(try await run.result().status == .signalled(SIGKILL))
        let result = try await bench.run("retry", "last", "--json")
        let report = try ParsedJSON(result.output)
        #expect(report["text"] == .string("go forward"), "\(result.errorText)")
        // The request that was not answered is made again, and none before it.
        let expected = (service.talk[...last] + service.talk[last...]).map(\.request)
        #expect(server.requests.map { "\($0.method) \($0.target)" } == expected)
        let isDeed = service.talk[last].request.hasPrefix("POST")
        #expect(report["mayBeDoubled"] == .bool(isDeed), "\(result.outputText)")
        // What is answered needs nothing to go on with.
        let manifest = try #require(try bench.onlyTake()).manifestText
        #expect(manifest.contains("answered"))
        #expect(!manifest.contains("progress"))
    }
}
