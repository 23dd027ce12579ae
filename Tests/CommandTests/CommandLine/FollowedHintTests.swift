// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import Utter
@testable import UtterCommands

/// Hints that say what to type: it can be typed as it stands.
@Suite struct FollowedHintTests {
    /// A command that the sources say behind a colon.
    private struct Command {
        var file: String
        /// Without the program's name; what is filled in later is `x`.
        var words: [String] = []
        /// Whether another string goes on with it.
        var goesOn = false

        /// Reads it up to the end of its sentence or string.
        init(_ text: Substring, in file: String) {
            self.file = file
            var said = ""
            var rest = text
            while let next = rest.first, !"\";,|<\n…".contains(next) {
                rest.removeFirst()
                guard next == "\\" else {
                    said.append(next)
                    continue
                }
                // What is filled in, up to its last parenthesis.
                var depth = 0
                repeat {
                    if rest.first == "(" { depth += 1 }
                    if rest.first == ")" { depth -= 1 }
                    rest = rest.dropFirst()
                } while depth > 0 && !rest.isEmpty
                said.append("x")
            }
            words = said.split(separator: " ").map(String.init)
            if rest.first == "\"", words.last?.hasSuffix(".") == true {
                words[words.count - 1].removeLast()
            }
            goesOn = said.hasSuffix(" ") && rest.first == "\""
        }

        /// The words that a person may type in its place.
        var typed: [String] {
            let samples = ["URL": "http://127.0.0.1/", "TIME": "1d", "ID": "x"]
            var typed = words.map { samples[$0] ?? ($0.allSatisfy(\.isUppercase) ? "x" : $0) }
            if goesOn { typed.append("x") }
            switch typed {
            case ["config", "set", "x", "x"]: typed[2] = "language"
            case ["config", "x", "x"]: (typed[1], typed[2]) = ("get", "language")
            case ["flush", "--limit", "x"]: typed[2] = "3"
            case ["last", "x"]: typed[1] = "--copy"
            default: break
            }
            return typed
        }
    }

    private static func commands() throws -> [Command] {
        var commands: [Command] = []
        for (file, text) in try HintWordsTests.said.get() {
            for place in text.ranges(of: ": utter ") {
                let command = Command(text[place.upperBound...], in: file)
                // What is a message about the program, and a command that is filled in.
                guard let first = command.words.first, !["was", "x"].contains(first) else {
                    continue
                }
                commands.append(command)
            }
        }
        return commands
    }

    @Test func everyCommandThatAHintSaysIsUnderstood() throws {
        let commands = try Self.commands()
        var tried: Set<[String]> = []
        for command in commands where tried.insert(command.typed).inserted {
            do {
                // A preset that one of them names would count for other tests.
                _ = try KnownConfiguration.$current.withValue(KnownConfiguration()) {
                    try UtterCommand.parseAsRoot(command.typed)
                }
            } catch {
                let message = UtterCommand.message(for: error)
                Issue.record("\(command.file): utter \(command.words): \(message)")
            }
        }
        #expect(commands.count > 25)
    }

    /// Types what the last hint says behind its last colon.
    private func follow(
        _ result: CommandResult, on bench: Bench, file: String
    ) async throws -> CommandResult {
        let hint = try #require(
            result.errorText.split(separator: "\n").last { $0.hasPrefix("utter: hint: ") },
            "\(result.errorText)")
        let found = try #require(hint.matches(of: /: utter (.+?)(?:;|$)/).last, "\(hint)")
        let words = found.1.replacing("FILE", with: file)
        return try await bench.startShell("\"$0\" \(words)", []).result()
    }

    /// A command that the folder of a take brings is not run, unless the settings name it today.
    @Test func aRememberedCommandIsNotRunAndItsSecretIsGivenAnew() async throws {
        let server = try RecordingServer(
            scripts: [.answer(status: 503, text: "")], otherwise: .answer(text: "heard"))
        let bench = try Bench()
        let ran = bench.folder.path("ran")
        let failed = try await bench.run(
            "send", "-c", "retry.never=true", "--to", server.url(), "--token-command",
            "echo sesame; touch '\(ran)'", Clip.digits.path)
        #expect(failed.status == .exited(75), "\(failed.errorText)")
        #expect(unlink(ran) == 0)
        let token = try bench.folder.write(Array("sesame".utf8), to: "token")
        let flushed = try await bench.run("flush")
        #expect(flushed.status == .exited(75), "\(flushed.errorText)")
        let refused = try await follow(failed, on: bench, file: token)
        #expect(refused.status == .exited(78), "\(refused.errorText)")
        for result in [flushed, refused] {
            #expect(result.errorText.contains("no settings and no profile of today name"))
        }
        #expect(access(ran, F_OK) != 0)
        let given = try await follow(refused, on: bench, file: token)
        #expect(given.outputText == "heard\n", "\(refused.errorText)\(given.errorText)")
        #expect(server.requests.last?["Authorization"] == "Bearer sesame")
    }
}
