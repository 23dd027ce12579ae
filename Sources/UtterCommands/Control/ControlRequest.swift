// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
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
        /// A key went down; the answer ends with the text of a take that this begins.
        case keyDown
        /// It went up: it was tapped, or its recording ends.
        case keyUp
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
            case .keyDown: .keyDown
            case .keyUp: .keyUp
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
    /// The name of the key that has moved, or that a stop or cancel is for: the client of its press
    /// gets the text then, and the messages.
    var key: String?
    /// When it moved: see `KeyTime`; nil is now.
    var time: Int64?
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
        if [.keyDown, .keyUp].contains(command), key == nil { key = "the key" }
    }

    /// When what it asks for was done; nil when a press is too long ago to be meant now.
    var instant: ContinuousClock.Instant? {
        switch command {
        case .keyDown: KeyTime.press(at: time)
        case .keyUp: KeyTime.release(at: time)
        default: .now
        }
    }

    var line: [UInt8] { ControlLine.encoded(self) }
}

enum ControlMistake: Error, Equatable {
    case tooLong
    case unreadable
    case version(Int)
    case command(String)
    case foreign(user: UInt32)
    case late
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
        case .late: "the key went down more than \(KeyTime.longestAge.components.seconds) s ago"
        }
    }
}

/// When a key moved, as it goes over the socket: in nanoseconds of the machine's monotonic clock.
///
/// Whether a key was tapped or held is decided by that, however late the line comes.
enum KeyTime {
    /// What a key did longer ago was not meant for what happens now.
    static let longestAge = Duration.seconds(30)

    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func time(of instant: ContinuousClock.Instant) -> Int64 {
        now - Int64(clamping: (ContinuousClock.now - instant).attoseconds / 1_000_000_000)
    }

    /// When a key went up: now, of a time that cannot be.
    ///
    /// It may lie ahead, since some desktops say no more than how long a key was down.
    static func release(at time: Int64?) -> ContinuousClock.Instant {
        guard let age = time.flatMap({ age(of: $0) }), age <= longestAge,
            .zero - longestAge <= age
        else { return .now }
        return .now - age
    }

    /// When a key went down: now at the latest; nil when that is too long ago.
    static func press(at time: Int64?) -> ContinuousClock.Instant? {
        guard let time else { return .now }
        guard let age = age(of: time), age <= longestAge else { return nil }
        return .now - max(.zero, age)
    }

    private static func age(of time: Int64) -> Duration? {
        let (age, isOverflow) = now.subtractingReportingOverflow(time)
        return isOverflow ? nil : .nanoseconds(age)
    }
}
