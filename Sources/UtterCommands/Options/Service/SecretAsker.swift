// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import Synchronization
internal import Utter
internal import UtterTerminal

/// Answers the pipeline's questions for secrets, while a take records.
final class SecretAsker: Sendable {
    private let signals: Signals?
    /// What can be read once only, and serves the whole run.
    private let readOnce = Mutex<[SecretSource: String]>([:])

    /// Answers for a command; `signals` reads the keys of its terminal, if anything does.
    init(_ signals: Signals? = nil) { self.signals = signals }

    /// Reads the source, or runs the command, on a thread of its own.
    func answer(_ question: SecretQuestion) async throws -> String {
        if case .command(let command) = question.source {
            return try await answer(of: command, question)
        }
        if let known = readOnce.withLock({ $0[question.source] }) { return known }
        let secret = try await question.source.read()
        switch question.source {
        case .file(let path) where !OwnFile.isRegular(path): break
        case .headerFile(let path) where !OwnFile.isRegular(path): break
        default: return secret
        }
        readOnce.withLock { $0[question.source] = secret }
        return secret
    }

    private func answer(of command: String, _ question: SecretQuestion) async throws -> String {
        let loan = try TerminalLoan(from: signals)
        let answer = Settlement<Result<String, CommandFailure>>()
        _ = try NamedThread(name: "secret") {
            answer.settle(
                Result { () throws(CommandFailure) in
                    try SecretCommand(command, option: "the token")
                        .firstLine(isRefused: question.isRefused, loan: loan)
                })
        }
        return try await withTaskCancellationHandler {
            try await answer.value.get()
        } onCancel: {
            loan.cancel()
        }
    }
}

extension CommandFailure: CustomStringConvertible {
    package var description: String { message }
}
