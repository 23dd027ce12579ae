// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What bash offers with the script that is installed.
@Suite struct CompletionTests {
    /// A line as it is typed, and what is offered for its last word.
    private static let offers: [(line: String, words: [String])] = [
        // A line without a command has the options of record.
        ("utter --fo", ["--for", "--format"]), ("utter --json --fo", ["--for", "--format"]),
        ("utter --format ", ["pcm", "wav", "ogg-opus", "flac"]),
        ("utter help re", ["record", "resume", "retry"]),
        ("utter re", ["record", "resume", "retry"]),
        // The options of a command are its own.
        ("utter list --j", ["--json"]), ("utter list --fo", []),
    ]

    @Test func whatMayFollowIsOffered() async throws {
        let utter = try #require(BuiltProducts.path(of: "utter"))
        let script = try await CommandRun.run(
            SourceTree.path("scripts/completions.sh"), ["bash", utter]
        ).outputText
        #expect(script.contains("utter list --waiting"))
        let ask = """
            for COMP_LINE; do (
                COMP_WORDS=($COMP_LINE)
                if [[ "$COMP_LINE" = *' ' ]]; then COMP_WORDS+=(''); fi
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE} COMPREPLY=()
                _utter_line utter "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
                IFS='|'; echo "${COMPREPLY[*]}"
            ) done
            """
        let result = try await CommandRun.run(
            "bash", ["-c", script + "\n" + ask, "bash"] + Self.offers.map(\.line))
        #expect(result.status == .exited(0), "\(result.errorText)")
        let answers = result.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(answers.count == Self.offers.count + 1, "\(answers)")
        for (offer, answer) in zip(Self.offers, answers) {
            let words = answer.split(separator: "|").map(String.init)
            // Options come in an order of their own.
            #expect(
                (offer.line.hasSuffix("--fo") ? words.sorted() : words) == offer.words,
                "\(offer.line)")
        }
    }
}
