// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import LinuxPlatform
package import Utter

/// A client's request: one line of JSON; `docs/control.md` describes it.
package struct ControlRequest: Codable, Sendable, Equatable {
    package enum Command: String, Codable, CaseIterable {
        /// A recording begins, unless one goes on.
        case start
        /// The recording ends; the answer ends with its text.
        case stop
        /// The one or the other.
        case toggle
        /// The recording is not sent.
        case cancel
        /// The microphone is closed, and the recording goes on later.
        case pause
        case resume
        case pauseOrResume
        /// A key went down; the answer ends with the text of a take that this begins.
        case keyDown
        /// It went up: it was tapped, or its recording ends.
        case keyUp
        case status
        /// The state now, and each change of it.
        case follow
        /// The client is still there, and wants what it has asked for.
        case confirmed
        /// The text of the answer has been printed.
        case taken

        /// Its meaning for a dictation; nil when it begins and ends nothing.
        package var input: Dictation.Input? {
            switch self {
            case .start: .start
            case .stop: .stop
            case .toggle: .toggle
            case .pause: .pause
            case .resume: .resume
            case .pauseOrResume: .pauseOrResume
            case .cancel: .cancel
            case .keyDown: .keyDown
            case .keyUp: .keyUp
            case .status, .follow, .confirmed, .taken: nil
            }
        }

        /// Whether it begins or ends something: it must not be done for a client that is gone.
        var hasEffect: Bool { input != nil }
    }

    /// A place of the desktop, by its name alone.
    package enum Place: String, Codable, CaseIterable, Sendable {
        case type, copy
    }

    static let version = 1
    /// The longest line, its end excluded.
    static let byteLimit = 4_096

    var version = ControlRequest.version
    package var command: Command
    /// The take that is meant; nil: whichever there is.
    package internal(set) var take: String?
    /// Whether the object of `--json` is wanted behind the result, in a line of its own.
    package let report: Bool?
    /// Whether it is to be done only once the client has said that it is still there.
    var confirm: Bool?
    /// Whether a start is answered once something is recorded, or with how the take ended before.
    package var wait: Bool?
    /// The service that a take is begun for, by the name that the recorder's own settings and
    /// profiles give it; nil: the usual one.
    package var service: String?
    /// The preset of the recorder's own settings that a take is begun with; nil: none.
    package var preset: String?
    /// A digest that tells the press from one that would record otherwise.
    package var press: String?
    /// Where a daemon is to give the text of a take that this begins, unless a stop says otherwise.
    package var places: [Place]?
    /// Whether a daemon tells the desktop what becomes of a take that this begins.
    package var notify: Bool?
    /// Whether a stop says where the text goes.
    package var placed: Bool?
    /// The name of the key that has moved, or that a stop or cancel is for: the client of its press
    /// gets the text then, and the messages.
    package var key: String?
    /// When it moved, by the machine's monotonic clock, in nanoseconds; nil: now.
    ///
    /// That decides whether it was tapped or held, however late the line comes.
    var time: Int64?
    /// When the process was begun that asks; nil when it is on another machine, or does not say so.
    package var begun: ProcessBeginning?

    package init(_ command: Command, take: String? = nil, report: Bool? = nil) {
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
        // The decoder's words help no person here, either.
        guard let request = try? decoder.decode(Self.self, from: Data(line)) else {
            throw .unreadable
        }
        self = request
        if [.keyDown, .keyUp].contains(command), key == nil { key = "the key" }
    }

    /// The age at which a key's movement was not meant for what happens now.
    static let longestAge = Duration.seconds(30)

    static var clock: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// When the key has moved.
    package mutating func date(_ instant: ContinuousClock.Instant) {
        let age = (ContinuousClock.now - instant).attoseconds / 1_000_000_000
        time = Self.clock - Int64(clamping: age)
    }

    /// When what it asks for was done: now, of a time that cannot be; nil when a press is too long ago
    /// to be meant now.
    ///
    /// A release may lie ahead: some desktops say no more than how long a key was down.
    package var instant: ContinuousClock.Instant? {
        guard let time else { return .now }
        let age = Duration.nanoseconds(Int64(clamping: Int128(Self.clock) - Int128(time)))
        guard age <= Self.longestAge else { return command == .keyDown ? nil : .now }
        return .now - max(age, command == .keyDown ? .zero : .zero - Self.longestAge)
    }

    var line: [UInt8] { ControlLine.encoded(self) }
}

/// Why a line is not a request.
enum ControlMistake: Error, Equatable, CustomStringConvertible {
    case tooLong
    case unreadable
    case version(Int)
    case command(String)
    case foreign(user: UInt32)
    case late
    case elsewhere

    var description: String {
        switch self {
        case .tooLong: "the request is longer than \(ControlRequest.byteLimit) bytes"
        case .unreadable: "the request is not a JSON object with a version and a command"
        case .version(let version):
            "the request is of version \(version) of the protocol; version "
                + "\(ControlRequest.version) is spoken here"
        case .command(let name):
            "the request's command is '\(name)', which is none of "
                + ControlRequest.Command.allCases.map(\.rawValue).joined(separator: ", ")
        case .foreign(let user): "the request is that of another user (\(user))"
        case .late:
            "the key went down more than \(ControlRequest.longestAge.components.seconds) s ago"
        case .elsewhere:
            "the request comes from another session, for which nothing is done at this desktop"
        }
    }
}

/// Lines of bytes, as they come in pieces.
///
/// Pure.
package struct ControlLine {
    private var bytes: [UInt8] = []
    /// As much of `bytes` has no line feed.
    private var looked = 0
    /// The most bytes of a line.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Whether a line is longer than it may be.
    var isTooLong: Bool { bytes.count > limit && looked > limit }

    /// The next whole line without its end; nil when there is none yet, or it is too long.
    mutating func next() -> [UInt8]? {
        guard let end = bytes[looked...].firstIndex(of: 0x0A) else {
            looked = bytes.count
            return nil
        }
        guard end <= limit else {
            looked = limit + 1
            return nil
        }
        defer {
            bytes.removeFirst(end + 1)
            looked = 0
        }
        return Array(bytes[..<end])
    }

    /// A value as a line of JSON, its end included.
    package static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Our own values have neither infinite numbers nor anything else that has no JSON.
        guard let data = try? encoder.encode(value) else { return Array("{}\n".utf8) }
        return Array(data) + [0x0A]
    }
}
