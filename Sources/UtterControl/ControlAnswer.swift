// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import LinuxPlatform
package import Utter

/// A line of an answer; `docs/control.md` describes it.
package struct ControlAnswer: Codable, Sendable, Equatable {
    package enum Kind: String, Codable {
        /// It was read, and is done when the client says that it is still there.
        case ready
        /// It is done; nothing follows.
        case done
        /// It is not done, and why; nothing follows.
        case refused
        /// It is done, and its result follows; said again every two seconds until then.
        case waiting
        /// How the take ended; the report follows if one was asked for.
        case result
        case status
    }

    var version = ControlRequest.version
    package let kind: Kind
    package var take: String?
    package internal(set) var exit: Int32?
    package var message: String?
    var hint: String?
    package internal(set) var text: String?
    /// Further lines about the result, for standard error.
    package var lines: [ToldLine]?
    package private(set) var status: ControlStatus?
    /// Whether the text is where the start said, and needs only to be printed.
    package internal(set) var placed: Bool?

    package init(_ kind: Kind, take: String? = nil) { (self.kind, self.take) = (kind, take) }

    static func done(_ message: String? = nil, take: String? = nil) -> ControlAnswer {
        var answer = ControlAnswer(.done, take: take)
        (answer.message, answer.exit) = (message, 0)
        return answer
    }

    static func begun(_ take: String) -> ControlAnswer {
        .done("recording take \(take)", take: take)
    }

    static func refused(_ failure: ControlFailure, take: String? = nil) -> ControlAnswer {
        var answer = ControlAnswer(.refused, take: take)
        (answer.message, answer.hint) = (failure.message, failure.hint)
        answer.exit = failure.exit
        return answer
    }

    /// Why it is not done, of an answer that says so.
    package var refusal: ControlFailure {
        ControlFailure(
            message ?? "refused", hint: hint,
            exit: exit ?? ControlFailure.Status.internalError.rawValue)
    }

    static func status(_ status: ControlStatus) -> ControlAnswer {
        var answer = ControlAnswer(.status, take: status.take)
        answer.status = status
        return answer
    }

    /// Reads a line; nil when it is not ours.
    init?(line: [UInt8]) {
        // Another program's line is believed or not; the reason why not helps no person.
        guard let answer = try? JSONDecoder().decode(Self.self, from: Data(line)),
            answer.version == ControlRequest.version
        else { return nil }
        self = answer
    }

    var line: [UInt8] { ControlLine.encoded(self) }
}

/// A line for a person, which another process may have to write.
package struct ToldLine: Codable, Sendable, Equatable {
    package enum Kind: String, Codable {
        case line
        case error
        case hint
        /// Text that is written as it is, line feeds included.
        case plain
    }

    package let kind: Kind
    package let text: String

    package static func line(_ text: String) -> ToldLine { ToldLine(kind: .line, text: text) }
    package static func error(_ text: String) -> ToldLine { ToldLine(kind: .error, text: text) }
    package static func hint(_ text: String) -> ToldLine { ToldLine(kind: .hint, text: text) }
    package static func plain(_ text: String) -> ToldLine { ToldLine(kind: .plain, text: text) }
}

/// How a take ended, in the form in which it goes to the client that asks for its text.
package struct TakeConclusion: Sendable {
    package let take: TakeID
    /// A `result`: the status to exit with, the text and what else there is to say.
    package var answer: ControlAnswer
    /// The object of the command's JSON form.
    package let report: String
    /// Whether the audio is needed no more once the text was printed.
    let isSettled: Bool

    package init(
        take: TakeID, exit: Int32, text: String?, lines: [ToldLine], report: String,
        isSettled: Bool
    ) {
        (self.take, self.report, self.isSettled) = (take, report, isSettled)
        answer = ControlAnswer(.result, take: take.text)
        (answer.exit, answer.text, answer.lines) = (exit, text, lines)
    }

    /// Whether it has no text although it was not given up, and words may have been said.
    var isFailure: Bool {
        let others = [0, ControlFailure.Status.heardNothing.rawValue, 130]
        return answer.text == nil && !others.contains(answer.exit ?? 0)
    }
}

/// The state of the program that owns the socket.
package struct ControlStatus: Codable, Sendable, Equatable {
    /// As much of what is heard so far is told: its end.
    static let textLimit = 2_000

    package internal(set) var phase = Dictation.Phase.idle
    /// The newest take that has not ended; nil when there is none.
    package internal(set) var take: String?
    package internal(set) var elapsedMs = 0
    /// How loud the last 20 ms were, in dBFS; nil when nothing is recorded.
    package internal(set) var level: Double?
    package internal(set) var text = ""
    /// The flaws of the take, the gravest first; nil: none.
    package internal(set) var troubles: [TakeTrouble.Line]?
    /// Whether a daemon answers, which goes on without a take.
    package internal(set) var isDaemon = false
    var process: Int32?

    package init() {}

    package var isRecording: Bool { [.arming, .recording, .paused].contains(phase) }

    /// The same with what has been heard.
    mutating func hear(_ heard: String) { text = String(heard.suffix(Self.textLimit)) }
}

/// Why the control socket cannot be used, or why what was asked for there is not done.
///
/// It goes over the socket: what happened and why, what to do, and the status to exit with.
package struct ControlFailure: Error {
    /// The statuses that are decided here, as the manual of `utter` lists them.
    enum Status: Int32 {
        case heardNothing = 1
        case usage = 64
        case nothingRecorded = 67
        case internalError = 70
        case notDelivered = 75
        case configuration = 78
    }

    package let message: String
    package let hint: String?
    package let exit: Int32
    /// The system's refusal, which may have a hint of its own.
    package private(set) var cause: SystemError?

    package init(_ message: String, hint: String?, exit: Int32) {
        (self.message, self.hint, self.exit) = (message, hint, exit)
    }

    init(_ message: String, hint: String? = nil, status: Status, cause: SystemError? = nil) {
        self.init(message, hint: hint, exit: status.rawValue)
        self.cause = cause
    }

    /// The failure when no program records.
    package static let nothingRecorded = ControlFailure(
        "nothing is being recorded",
        hint: "begin with: utter start; the last transcript is printed by: utter last",
        status: .nothingRecorded)

    /// The failure of a start that a stop has overtaken.
    static let stoppedBefore = ControlFailure(
        "the recording was stopped before it began", status: .heardNothing)
}
