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

    /// What is offered for the last word.
    private func offered(_ words: String...) async throws -> [String] {
        let ask = """
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
            COMP_POINT=${#COMP_LINE} COMPREPLY=()
            _utter_line utter "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await CommandRun.run(
            "bash", ["-c", script + "\n" + ask, "bash", "utter"] + words)
        #expect(result.status == .exited(0), "\(result.errorText)")
        return result.outputText.split(separator: "\n").map(String.init)
    }

    @Test func aLineWithoutACommandHasTheOptionsOfRecord() async throws {
        let options: Set = ["--for", "--format"]
        #expect(try await Set(offered("--fo")) == options)
        #expect(try await Set(offered("--json", "--fo")) == options)
        #expect(try await offered("--format", "") == ["pcm", "wav", "ogg-opus", "flac"])
    }

    @Test func helpIsFollowedByACommand() async throws {
        #expect(try await offered("help", "re") == ["record", "retry"])
        #expect(try await offered("re") == ["record", "retry"])
    }

    @Test func theOptionsOfACommandAreItsOwn() async throws {
        #expect(try await offered("list", "--j") == ["--json"])
        #expect(try await offered("list", "--fo") == [])
    }

    @Test func retryOffersTheTakesThatWait() {
        #expect(script.contains("utter list --waiting"))
    }
}
