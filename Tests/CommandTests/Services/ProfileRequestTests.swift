// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import SpeechService

/// Each shipped profile makes the requests that its service's documentation wants, and reads its
/// answer.
///
/// With UTTER_WRITE_REQUESTS the files are written anew: read the difference.
@Suite struct ProfileRequestTests {
    private static func path(_ name: String) -> String {
        SourceTree.path("Tests/CommandTests/Requests/\(name).txt")
    }

    @Test(arguments: ShippedProfiles.names)
    func aShippedProfileAsksAsItsServiceWants(name: String) async throws {
        let file = String(decoding: try readFile(Self.path(name)), as: UTF8.self)
        let talk = ProfileConversation(file.hasSuffix("\n") ? String(file.dropLast()) : file)
        let scripts = talk.answers.map { answer -> [ServerStep] in
            var headers: [TestSupport.HeaderField] = []
            var body = answer
            // What stands in braces is JSON; a first line with a colon is a field of the head.
            if let line = body.firstMatch(of: /^([a-z-]+): (.*)(\n|$)/) {
                headers.append(TestSupport.HeaderField(String(line.1), String(line.2)))
                body = String(body[line.range.upperBound...])
            }
            let type = body.hasPrefix("{") ? "application/json" : "text/plain"
            headers.append(TestSupport.HeaderField("Content-Type", type))
            return .answer(headers: headers, text: body)
        }
        let server = try RecordingServer(
            scripts: scripts, otherwise: .answer(status: 400, text: "a request too many"))
        let origin = server.url("")
        let profile = try talk.profile(extending: name, origin)
        var variables = talk.variables
        for line in try ServiceProfile(
            texts: ProfileChain.texts(of: name, in: [{ ShippedProfiles.text(of: $0) }]) ?? []
        ).authentication.parts {
            guard case .variable(let name)? = line.source, variables[name] == nil else { continue }
            variables[name] = "sesame"
        }
        let bench = try Bench.withProfiles(["here": profile], variables)
        let result = try await bench.start(
            ["send", "--service", "here", "-c", "retry.never=true"] + talk.arguments(origin)
                + [Clip.goForward.path]
        ).result()
        let text = talk.text.isEmpty ? "" : talk.text + "\n"
        #expect(result.outputText == text, "\(result.errorText)")
        let samples = try Clip.goForward.samples
        let requests = server.requests.map {
            $0.text(samples: samples).replacing(origin, with: "{server}")
        }
        if ProcessInfo.processInfo.environment["UTTER_WRITE_REQUESTS"] != nil {
            try Data((talk.file(with: requests) + "\n").utf8).write(
                to: URL(filePath: Self.path(name)))
        } else {
            #expect(requests == talk.requests)
        }
    }
}
