// SPDX-License-Identifier: Apache-2.0

/// Asks the owner of a pipeline for a secret that a service wants.
public struct SecretQuestion: Sendable, Hashable {
    /// Where the secret comes from, as the take's plan names it.
    public var source: SecretSource
    /// Where the answer is sent to, and nowhere else.
    public var origin: Origin
    /// Whether that service has just refused the last answer.
    public var isRefused: Bool

    package init(source: SecretSource, origin: Origin, isRefused: Bool) {
        (self.source, self.origin, self.isRefused) = (source, origin, isRefused)
    }
}

/// Answers with the secret, or throws an error whose description is the reason why there is none.
///
/// Called on Swift's cooperative pool while the take records; the next question waits for this answer.
/// After a minute, or when the pipeline or each take that wants the answer has ended, the task is
/// cancelled and its answer does not count.
public typealias SecretProvider = @Sendable (SecretQuestion) async throws -> String
