// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// One line of an answer; `docs/control.md` describes it.
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
    package var kind: Kind
    package var take: String?
    package var exit: Int32?
    package var message: String?
    var hint: String?
    package var text: String?
    /// What else there is to say of the result, for standard error.
    package var lines: [ToldLine]?
    package var status: ControlStatus?

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
        // What comes from another program is believed or not; why not helps no person.
        guard let answer = try? JSONDecoder().decode(Self.self, from: Data(line)),
            answer.version == ControlRequest.version
        else { return nil }
        self = answer
    }

    var line: [UInt8] { ControlLine.encoded(self) }
}
