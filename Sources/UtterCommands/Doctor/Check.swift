// SPDX-License-Identifier: Apache-2.0

/// One thing that `utter doctor` looks at.
///
/// Another is added as a type of its own, and to the list of `DoctorCommand`.
protocol Check: Sendable {
    var name: String { get }

    /// Looks, keeps nothing, and says what was found.
    ///
    /// May take seconds.
    func run() async -> [Finding]
}

struct Finding: Encodable {
    enum Verdict: String, Encodable {
        case good, warning, bad
    }

    var verdict: Verdict
    /// What is so, in one line without capital and full stop.
    var text: String
    @Nullable var hint: String?

    static func good(_ text: String) -> Finding { Finding(verdict: .good, text: text, hint: nil) }

    static func warning(_ text: String, hint: String? = nil) -> Finding {
        Finding(verdict: .warning, text: text, hint: hint)
    }

    static func bad(_ text: String, hint: String? = nil) -> Finding {
        Finding(verdict: .bad, text: text, hint: hint)
    }

    static func bad(_ failure: CommandFailure) -> Finding {
        .bad(failure.message, hint: failure.hint)
    }
}
