// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What bash offers with the script that is installed.
@Suite struct CompletionTests {
    private let script: String

    init() async throws {
        let utter = try #require(BuiltProducts.path(of: "utter"))
        script = try await CommandRun.run(
            SourceTree.path("scripts/completions.sh"), ["bash", utter]
        ).outputText
    }

    /// The words behind the program's name, and what is offered for the last one.
    @Test(
        arguments: [
            // A line without a command has the options of record.
            (["--fo"], ["--for", "--format"]), (["--json", "--fo"], ["--for", "--format"]),
            (["--format", ""], ["pcm", "wav", "ogg-opus", "flac"]),
            (["help", "re"], ["record", "resume", "retry"]),
            (["re"], ["record", "resume", "retry"]),
            // The options of a command are its own.
            (["list", "--j"], ["--json"]), (["list", "--fo"], []),
        ] as [([String], [String])])
    func whatMayFollowIsOffered(_ words: [String], _ offered: [String]) async throws {
        let ask = """
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
            COMP_POINT=${#COMP_LINE} COMPREPLY=()
            _utter_line utter "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await CommandRun.run(
            "bash", ["-c", script + "\n" + ask, "bash", "utter"] + words)
        #expect(result.status == .exited(0), "\(result.errorText)")
        let found = result.outputText.split(separator: "\n").map(String.init)
        // Options come in an order of their own.
        #expect((words.last == "--fo" ? found.sorted() : found) == offered)
    }

    @Test func retryOffersTheTakesThatWait() {
        #expect(script.contains("utter list --waiting"))
    }
}
