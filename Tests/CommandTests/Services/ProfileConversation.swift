// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport

@testable import SpeechService

/// What is said between `utter` and a service that a profile describes, as a file of
/// `Tests/CommandTests/Requests` has it.
///
/// Parts stand between lines `%%`. The first has the arguments of `utter send`, variables behind `$`,
/// and lines of a profile that extends the shipped one behind `*`; `{server}` is where the service
/// is. Then requests and the bodies of their answers alternate, and the last part is the transcript.
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

    func arguments(_ server: String) -> [String] {
        setting.filter { !$0.hasPrefix("*") && !$0.hasPrefix("$") }
            .flatMap { $0.split(separator: " ") }
            .map { String($0).replacing("{server}", with: server) }
    }

    var variables: [String: String] {
        var variables: [String: String] = [:]
        for line in setting where line.hasPrefix("$ ") {
            let parts = line.dropFirst(2).split(separator: "=", maxSplits: 1)
            variables[String(parts[0])] = String(parts[1])
        }
        return variables
    }

    func profile(extending name: String, _ server: String) throws -> String {
        let texts = try ProfileChain.texts(of: name, in: [{ ShippedProfiles.text(of: $0) }]) ?? []
        let url = try ServiceProfile(texts: texts).url.text
        var lines = ["extends = \"\(name)\""]
        if let scheme = url.firstRange(of: "://") {
            lines.append("url = \"\(server)\(url[scheme.upperBound...].drop { $0 != "/" })\"")
        }
        lines += setting.filter { $0.hasPrefix("* ") }
            .map { String($0.dropFirst(2)).replacing("{server}", with: server) }
        return lines.joined(separator: "\n")
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
