// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import LinuxPlatform
internal import Utter

/// What a client asks for: one line of JSON; `docs/control.md` describes it.
struct ControlRequest: Codable, Sendable, Equatable {
    enum Command: String, Codable, CaseIterable {
        /// A recording begins, unless one goes on.
        case start
        /// The recording ends; the answer ends with its text.
        case stop
        /// The one or the other.
        case toggle
        /// The recording is not sent.
        case cancel
        case status
        /// What happens now, and each change of it.
        case follow
        /// The one who has asked is still there, and wants what it has asked for.
        case confirmed
        /// The text of the answer has been printed.
        case taken

        /// What it asks of a dictation; nil of one that begins and ends nothing.
        var input: Dictation.Input? {
            switch self {
            case .start: .start
            case .stop: .stop
            case .toggle: .toggle
            case .cancel: .cancel
            case .status, .follow, .confirmed, .taken: nil
            }
        }

        /// Whether it begins or ends something, so that it must not be done for one who is gone.
        var hasEffect: Bool { input != nil }
    }

    /// The version of the protocol that is spoken here.
    static let version = 1
    /// The longest line, its end excluded.
    static let byteLimit = 4_096

    var version = ControlRequest.version
    var command: Command
    /// The take that is meant; nil is whichever there is.
    var take: String?
    /// Whether the object of `--json` is wanted behind the result, in a line of its own.
    var report: Bool?
    /// Whether it is to be done only once the one who asks has said that it is still there.
    var confirm: Bool?
    /// Whether a start is answered once something is recorded, or with how the take ended before.
    var wait: Bool?
    /// The service that a take is begun for, by the name that the recorder's own settings and
    /// profiles give it; nil is the usual one.
    var service: String?
    /// When the process was begun that asks; nil when it is on another machine, or does not say so.
    var begun: ProcessBeginning?

    init(_ command: Command, take: String? = nil, report: Bool? = nil) {
        (self.command, self.take, self.report) = (command, take, report)
    }

    init(line: [UInt8]) throws(ControlMistake) {
        struct Head: Decodable {
            var version: Int
            var command: String?
        }
        let decoder = JSONDecoder()
        // The decoder's own words help no person.
        guard let head = try? decoder.decode(Head.self, from: Data(line)) else {
            throw .unreadable
        }
        guard head.version == Self.version else { throw .version(head.version) }
        guard let name = head.command, Command(rawValue: name) != nil else {
            throw .command(head.command ?? "")
        }
        // As above.
        guard let request = try? decoder.decode(Self.self, from: Data(line)) else {
            throw .unreadable
        }
        self = request
    }

    var line: [UInt8] { ControlLine.encoded(self) }
}

enum ControlMistake: Error, Equatable {
    case tooLong
    case unreadable
    case version(Int)
    case command(String)
    case foreign(user: UInt32)
}

extension ControlMistake: CustomStringConvertible {
    var description: String {
        switch self {
        case .tooLong: "the request is longer than \(ControlRequest.byteLimit) bytes"
        case .unreadable: "the request is no JSON object with a version and a command"
        case .version(let version):
            "the request is of version \(version) of the protocol; version "
                + "\(ControlRequest.version) is spoken here"
        case .command(let name):
            "the request's command is '\(name)', which is none of "
                + ControlRequest.Command.allCases.map(\.rawValue).joined(separator: ", ")
        case .foreign(let user): "the request is that of another user (\(user))"
        }
    }
}
