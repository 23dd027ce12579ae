// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import LinuxPlatform
internal import Settings
internal import Utter
package import UtterControl
internal import UtterSettings
internal import UtterTerminal

package struct CommandFailure: Error {
    package internal(set) var message: String
    package var hint: String?
    package internal(set) var status: ExitStatus
    /// Lines between the message and the hint, as they are; a person chooses from them.
    var choices: [String] = []

    package init(_ message: String, hint: String? = nil, status: ExitStatus) {
        self.message = message
        self.hint = hint
        self.status = status
    }

    /// Says what went wrong; an object or an event tells it on standard output too.
    ///
    /// A wrong command line is told to the person alone: a program that reads objects has not
    /// written it. A `file` is one that it is about, as the person named it.
    func report(as form: OutputForm = .text, file: String? = nil) {
        if status != .usage {
            let report = OutcomeReport(self, of: file)
            // When standard output is closed, the exit status still says what there is to say.
            switch form {
            case .text: break
            case .object: _ = StandardOutput.print(report.json)
            case .events: _ = StandardOutput.print(EventReport(report).json)
            }
        }
        StandardError.error(message)
        for choice in choices { StandardError.write("  \(choice)\n") }
        StandardError.hint(hint)
    }

    init(_ error: some Blamed) {
        self.init(error.description, hint: error.hint, status: error.status)
    }

    static func cannotWrite(_ path: String, _ error: SystemError) -> CommandFailure {
        CommandFailure(
            "cannot write '\(path)': \(error.reason)", hint: Hints.ofFile(error), status: .localIO)
    }

    init(of error: any Error) {
        self = CommandFailure(known: error) ?? CommandFailure("\(error)", status: .internalError)
    }

    /// Makes a failure of an error; nil when that stands for help, or the status to exit with.
    init?(known error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as any Blamed: self.init(error)
        case let error as SettingsError:
            self.init(ReadingError(error, of: ConfigurationFile.path))
        case let failure as ControlFailure: self.init(failure)
        case is Dialogue.End: self.init("nothing was written", status: .cancelled)
        default: return nil
        }
    }

    package init(_ failure: ControlFailure) {
        self.init(
            failure.message, hint: failure.cause?.hint ?? failure.hint,
            status: ExitStatus(rawValue: failure.exit) ?? .internalError)
    }
}

extension ControlFailure {
    init(_ failure: CommandFailure) {
        self.init(failure.message, hint: failure.hint, exit: failure.status.rawValue)
    }
}

/// Makes what goes wrong in `body` the failure of the command, with the place in the file of
/// settings that is to blame.
func orFailure<Value: ~Copyable>(
    standingAt place: SettingsPosition? = nil, _ body: () throws -> Value
) throws(CommandFailure) -> Value {
    do {
        return try body()
    } catch {
        throw CommandFailure(of: error).standing(at: place)
    }
}

/// The same, behind what the person wrote it in, such as "--to"; a hint and a status replace those
/// of the error.
func explained<Value>(
    _ option: String, hint: String? = nil, status: ExitStatus? = nil,
    _ body: () throws -> Value
) throws(CommandFailure) -> Value {
    do {
        return try body()
    } catch {
        let failure = CommandFailure(of: error)
        throw CommandFailure(
            "\(option): \(failure.message)", hint: hint ?? failure.hint,
            status: status ?? failure.status)
    }
}

func orFailure<Value>(
    awaiting body: () async throws -> Value
) async throws(CommandFailure) -> Value {
    do {
        return try await body()
    } catch {
        throw CommandFailure(of: error)
    }
}

package enum ExitStatus: Int32 {
    case textPrinted = 0
    case heardNothing = 1
    case usage = 64
    case unusableAudio = 65
    case noInput = 66
    case nothingRecorded = 67
    case refused = 69
    case internalError = 70
    case microphoneLost = 71
    case localIO = 74
    case notDelivered = 75
    case unusableAnswer = 76
    case tokenRefused = 77
    case configuration = 78
    case hungUp = 129
    case cancelled = 130
    case terminated = 143

    var isByRequest: Bool { [.cancelled, .terminated, .hungUp].contains(self) }

    package var code: ExitCode { ExitCode(rawValue) }

    /// Learns of one of several, of which the first that failed counts.
    mutating func fail(_ status: ExitStatus) { if self == .textPrinted { self = status } }

    init(_ outcome: TakeOutcome) {
        guard outcome.imbalance == nil else {
            self = .internalError
            return
        }
        switch outcome.result {
        case .failure(let failure):
            self = failure.status
            // A take that the disk has not taken is not kept for another try.
            if self == .notDelivered, outcome.unprotected != nil { self = .localIO }
        case .success(let transcript):
            if case .source(let error) = outcome.capture.cause, error.isLossInMidTake {
                self = error.status
            } else if outcome.cutShort != nil {
                self = .localIO
            } else if !outcome.hadAll {
                self = .unusableAnswer
            } else {
                let isHeard = !transcript.text.isEmpty || transcript.raw != nil
                self = isHeard || outcome.isStored ? .textPrinted : .heardNothing
            }
        }
    }
}
