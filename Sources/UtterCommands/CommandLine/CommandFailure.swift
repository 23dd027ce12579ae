// SPDX-License-Identifier: Apache-2.0

internal import AudioDevices
internal import Capture
internal import LinuxPlatform
internal import Utter
internal import UtterControl
internal import UtterTerminal

/// What keeps a command from starting: what happened and why, what to do, and how to exit.
package struct CommandFailure: Error {
    var message: String
    package var hint: String?
    package var status: ExitStatus
    /// Lines between the message and the hint, as they are; a person chooses from them.
    var choices: [String] = []

    package init(_ message: String, hint: String? = nil, status: ExitStatus) {
        self.message = message
        self.hint = hint
        self.status = status
    }

    /// A description of the service that cannot be used; a token is a matter of configuration.
    ///
    /// The option is what the person wrote it behind, such as "--to"; a hint of its own replaces
    /// that of the error.
    init(_ error: ServiceError, in option: String, hint: String? = nil) {
        var status = ExitStatus.usage
        if case .invalidCredential = error { status = .configuration }
        self.init("\(option): \(error.description)", hint: hint ?? Hints.of(error), status: status)
    }

    /// Says what went wrong.
    ///
    /// - Parameters:
    ///   - form: what standard output has: an object or an event tells it there too. A wrong command
    ///     line is told to the person alone: a program that reads objects has not written it.
    ///   - file: the file that it is about, as the person named it.
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

    init(_ error: SystemError) {
        self.init(
            error.description, hint: Hints.of(error),
            status: error.isOfLimit ? .localIO : .internalError)
    }

    /// What keeps a command from going on, whatever has thrown it.
    init(of error: any Error) {
        self = CommandFailure(known: error) ?? CommandFailure("\(error)", status: .internalError)
    }

    /// The same, but nil of what is thrown for other reasons: help, or the status to exit with.
    init?(known error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as TakeStoreError: self.init(error)
        case let error as CaptureError: self.init(error)
        case let error as ProfileError: self.init(error)
        case let error as ReadingError: self.init(error)
        case let error as TakeSamples.Failure: self.init(error)
        case let error as SystemError: self.init(error)
        case let failure as ControlFailure: self.init(failure)
        case is Dialogue.End: self.init("nothing was written", status: .cancelled)
        default: return nil
        }
    }

    /// What the control socket says, or what another process says there.
    init(_ failure: ControlFailure) {
        self.init(
            failure.message, hint: failure.cause.flatMap { Hints.of($0) } ?? failure.hint,
            status: ExitStatus(rawValue: failure.exit) ?? .internalError)
    }

    init(_ error: CaptureError) {
        self.init(error.description, hint: Hints.of(error), status: ExitStatus(error))
    }

    init(_ error: TakeSamples.Failure) {
        let isDamaged = if case .damaged = error { true } else { false }
        self.init(error.description, status: isDamaged ? .unusableAudio : .localIO)
    }

    init(_ error: TakeStoreError) {
        let status: ExitStatus =
            switch error {
            case .noSuchTake, .audioGone, .notWaiting, .notRemoved: .noInput
            case .ambiguous, .misnamed: .usage
            case .unreadable, .unchangeable, .damaged, .laterVersion: .localIO
            case .keyMissing, .keyWrong, .keyUnavailable: .configuration
            case .inUse: .notDelivered
            case .folderUnusable, .folderUnsafe, .notWanted: .configuration
            }
        self.init(error.description, hint: Hints.of(error), status: status)
    }
}

extension ControlFailure {
    init(_ failure: CommandFailure) {
        self.init(failure.message, hint: failure.hint, exit: failure.status.rawValue)
    }
}

/// Makes what goes wrong in `body` the failure of the command.
func orFailure<Value: ~Copyable>(_ body: () throws -> Value) throws(CommandFailure) -> Value {
    do {
        return try body()
    } catch {
        throw CommandFailure(of: error)
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
