// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Recordings in forms, from the command line to services that want them so.
@Suite struct BodyTests {
    private let clip = Clip.goForward

    @Test func aServiceWithoutChunksGetsTheFormWithItsLength() async throws {
        let bench = try Bench(
            server: RecordingServer(
                scripts: [[.readHead, .respond(status: 411, text: ""), .readOn]],
                otherwise: .transcriber))
        let run = try bench.start(["send", "-v", "-c", "body.fields.model=m", "-"], input: .pipe)
        run.write(try clip.samples)
        #expect(await run.wait(for: "wants the recording's length", in: .error))
        run.closeInput()
        let result = try await run.result()
        let count = try clip.samples.count + 44
        #expect(result.outputText == "model=m file=@audio.wav:\(count)\n", "\(result.errorText)")
        #expect(!result.errorText.contains("warning"))
        let last = try #require(bench.requests.last)
        #expect(bench.requests.first?["Transfer-Encoding"] == "chunked")
        #expect(last["Content-Length"] == "\(last.body.count)")
    }
}
