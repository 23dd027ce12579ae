// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import SpeechService
@testable import Utter

/// Each shipped profile makes the requests that its service's documentation wants, and reads its
/// answer.
///
/// With UTTER_WRITE_REQUESTS the files are written anew: read the difference.
@Suite struct ProfileRequestTests {
    private static func path(_ name: String) -> String {
        SourceTree.path("Tests/UtterTests/Fixtures/Requests/\(name).txt")
    }

    @Test(arguments: ShippedProfiles.uploading)
    func aShippedProfileAsksAsItsServiceWants(name: String) async throws {
        let file = String(decoding: try readFile(Self.path(name)), as: UTF8.self)
        let talk = ProfileConversation(file.hasSuffix("\n") ? String(file.dropLast()) : file)
        let scripts = talk.answers.map { answer -> [ServerStep] in
            var headers: [TestSupport.HeaderField] = []
            var body = answer
            // What stands in braces is JSON; a first line with a colon is a field of the head, or the
            // status.
            if let line = body.firstMatch(of: /^([a-z-]+): (.*)(\n|$)/) {
                headers.append(TestSupport.HeaderField(String(line.1), String(line.2)))
                body = String(body[line.range.upperBound...])
            }
            let status = headers.first { $0.name == "status" }.flatMap { Int($0.value) } ?? 200
            let type = body.hasPrefix("{") ? "application/json" : "text/plain"
            headers.append(TestSupport.HeaderField("Content-Type", type))
            return .answer(status: status, headers: headers, text: body)
        }
        let server = try RecordingServer(
            scripts: scripts, otherwise: .answer(status: 400, text: "a request too many"))
        let origin = server.url("")
        let shipped = try Profiles.shipped.profile(name)
        let own = ProfileText(name: "here", text: shipped.extended(at: origin, by: talk.profile))
        let bench = try Bench(secrets: Bench.sesame(beside: talk.variables))
        let plan = try Bench.plan(by: [own] + shipped.texts, words: talk.words(origin))
        let outcome = try await bench.send(.goForward, by: plan)
        #expect(outcome.text == talk.text)
        let samples = try readFile(Clip.goForward.path).dropFirst(44)
        let requests = server.requests.map {
            $0.text(samples: Array(samples)).replacing(origin, with: "{server}")
        }
        if ProcessInfo.processInfo.environment["UTTER_WRITE_REQUESTS"] != nil {
            try Data((talk.file(with: requests) + "\n").utf8).write(
                to: URL(filePath: Self.path(name)))
        } else {
            #expect(requests == talk.requests)
        }
    }
}

/// What is said between `utter` and a service that a profile describes, as a file of
/// `Tests/UtterTests/Fixtures/Requests` has it.
///
/// Parts stand between lines `%%`. The first has the words that are said, variables behind `$`, and
/// lines of a profile that extends the shipped one behind `*`; `{server}` is where the service is.
/// Then requests and the bodies of their answers alternate, and the last part is the transcript.
struct ProfileConversation {
    var setting: [Substring]
    var requests: [String] = []
    var answers: [String] = []
    var text: String

    init(_ file: String) {
        var parts = file.split(separator: "\n%%\n", omittingEmptySubsequences: false)
        setting = parts.removeFirst().split(separator: "\n")
        text = parts.popLast().map(String.init) ?? ""
        for (index, part) in parts.enumerated() {
            if index % 2 == 0 {
                requests.append(String(part))
            } else {
                answers.append(String(part))
            }
        }
    }

    func file(with requests: [String]) -> String {
        var parts = [setting.joined(separator: "\n")]
        for (request, answer) in zip(requests, answers) { parts += [request, answer] }
        return (parts + [text]).joined(separator: "\n%%\n")
    }

    private static func pairs(_ texts: [Substring]) -> [String: String] {
        let pairs = texts.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
    }

    func words(_ server: String) -> [String: String] {
        let said = setting.filter { !$0.hasPrefix("*") && !$0.hasPrefix("$") }
        return Self.pairs(said.flatMap { $0.split(separator: " ") })
            .mapValues { $0.replacing("{server}", with: server) }
    }

    var variables: [String: String] {
        Self.pairs(setting.filter { $0.hasPrefix("$ ") }.map { $0.dropFirst(2) })
    }

    var profile: [String] {
        setting.filter { $0.hasPrefix("* ") }.map { String($0.dropFirst(2)) }
    }
}

extension ServiceProfile {
    /// A profile that extends this one; it is at `server`, which its lines call `{server}`.
    func extended(at server: String, by lines: [String]) -> String {
        var all = ["extends = '\(name)'"]
        if let scheme = url.text.firstRange(of: "://") {
            let path = url.text[scheme.upperBound...].drop { $0 != "/" }
            all.append("url = '{server}\(path)'")
        }
        return (all + lines).joined(separator: "\n").replacing("{server}", with: server)
    }
}

extension RecordedRequest {
    /// The fields that are the same for every service, or differ from one run to the next.
    private static let left: Set = [
        "host", "user-agent", "idempotency-key", "utter-attempt", "content-digest",
        "content-length", "accept-encoding", "x-amz-date", "x-amz-meta-take",
    ]

    /// The request as a person reads it: of the recording its kind, of what is made for each request
    /// a mark.
    func text(samples: [UInt8]) -> String {
        var lines = [requestLine]
        for field in headers where !Self.left.contains(field.name.lowercased()) {
            var value = field.value
            if value.hasPrefix("AWS4-HMAC-SHA256") { value = "AWS4-HMAC-SHA256 (signed)" }
            if field.name == "RqUID" { value = "(unique)" }
            lines.append("\(field.name): \(value)")
        }
        var text = lines.joined(separator: "\n")
        if !body.isEmpty { text += "\n\n" + bodyText(samples) }
        if let boundary = text.firstMatch(of: /boundary=([A-Za-z0-9-]+)/)?.1 {
            text = text.replacing(String(boundary), with: "BOUNDARY")
        }
        return text.replacing(/\d{8}-\d{6}-[0-9a-z]{12}/, with: "(the take)")
    }

    private func bodyText(_ samples: [UInt8]) -> String {
        let kinds: [(mark: [UInt8], name: String)] = [
            (Array("OggS".utf8), "Ogg"), (Array("fLaC".utf8), "FLAC"), (Array("RIFF".utf8), "WAV"),
            (samples, "PCM"), (Array("T2dnU".utf8), "Ogg in base64"),
            (Array("ZkxhQ".utf8), "FLAC in base64"), (Array("UklGR".utf8), "WAV in base64"),
        ]
        for (mark, name) in kinds {
            guard let start = body.firstRange(of: mark)?.lowerBound else { continue }
            let end = Array(name.hasSuffix("base64") ? "\"}".utf8 : "\r\n--utter-".utf8)
            let epilogue = body[start...].firstRange(of: end).map { body[$0.lowerBound...] } ?? []
            return Self.shown(body[..<start]) + "(the recording: \(name))" + Self.shown(epilogue)
        }
        return Self.shown(body[...])
    }

    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }
}
