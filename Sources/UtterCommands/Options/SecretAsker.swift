// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
package import Utter

/// Answers the pipeline's questions for secrets, while a take records.
package struct SecretAsker: Sendable {
    private let signals: Signals?

    /// Answers for a command; `signals` reads the keys of its terminal, if anything does.
    package init(_ signals: Signals? = nil) { self.signals = signals }

    /// Runs the command, on a thread of its own.
    package func answer(_ question: SecretQuestion) async throws -> String {
        guard case .command(let command) = question.source else {
            var why = ""
            guard let secret = try SecretReader.value(from: question.source, why: &why)?.text
            else { throw CommandFailure(why, status: .configuration) }
            return secret
        }
        let loan = try TerminalLoan(from: signals)
        let answer = Settlement<Result<String, CommandFailure>>()
        _ = try NamedThread(name: "secret") {
            answer.settle(
                Result { () throws(CommandFailure) in
                    try SecretReader.command(
                        command, option: "the token", isRefused: question.isRefused, loan: loan)
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
