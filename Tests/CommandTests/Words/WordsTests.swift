// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxPlatform
@testable import UtterCommands

/// Runs the files of Tests/Words.
@Suite struct WordsTests {
    private static let updates = getenv("UTTER_UPDATE_WORDS") != nil
    private static let updating = Mutex(())

    @Test(.timeLimit(.minutes(5)), arguments: try WordsScript.wanted())
    func theWordsAreThese(_ script: WordsScript) async throws {
        let stage = try WordsStage()
        var (lines, new) = ((script.common + script.own)[...], [String]())
        while let line = lines.popFirst() {
            new.append(line)
            if line.hasPrefix("-- ") {
                let text = lines.prefix { $0 != "--" }
                lines = lines.dropFirst(text.count)
                new += text
                try stage.write(text.map { $0 + "\n" }.joined(), to: String(line.dropFirst(3)))
            } else if let variable = line.wholeMatch(of: /([A-Z][A-Z_]*)=(.*)/) {
                stage.variables["\(variable.1)"] = stage.expanded("\(variable.2)")
            } else if line.hasPrefix("status ") {
                stage.usualStatus = line
            } else if line.hasPrefix("! ") {
                stage.usualHint = line
            } else if line.hasPrefix("$ ") {
                let expected = lines.prefix(while: WordsLines.areExpected)
                lines = lines.dropFirst(expected.count)
                let came = try await stage.run(String(line.dropFirst(2)))
                let isExpected = WordsLines.match(came[...], expected)
                // A pattern stays where it is right.
                let kept = came.map { one in expected.first { WordsLines.matches(one, $0) } ?? one }
                new += isExpected ? Array(expected) : kept
                let text = ([line] + came).joined(separator: "\n")
                #expect(isExpected || Self.updates, "\(script.testDescription):\n\(text)")
            }
        }
        #expect(
            try stage.takes() <= stage.writtenTakes, "\(script.testDescription): a take is left")
        guard Self.updates else { return }
        try Self.updating.withLock { _ in try script.update(new.dropFirst(script.common.count)) }
    }

    @Test func threeQuartersOfTheCommandsRunInThisProcess() throws {
        let commands = try WordsScript.all().flatMap(\.own)
            .filter { $0.hasPrefix("$ ") && $0.contains("utter") }
        #expect(commands.count { !$0.hasPrefix("$ utter") } * 4 <= commands.count)
    }
}

/// Where a section runs: a home of its own, and the variables that it has set.
private final class WordsStage {
    private let folder: TemporaryFolder
    private var home: String { folder.path("home") }
    private let samples = SourceTree.path("samples")
    var variables = CommandRun.cleanEnvironment
    /// The status of commands whose lines name none, and the hint of those that fail without another.
    var (usualStatus, usualHint) = ("status 0", "")
    /// The takes that the section itself has written.
    private(set) var writtenTakes = 0

    /// 2026-11-27 12:00 UTC, from which the scripts count the ages of takes.
    private static let noon = 1_795_780_800.0

    init() throws {
        folder = try TemporaryFolder()
        try #require(mkdir(home, 0o700) == 0)
        (variables["HOME"], variables["XDG_RUNTIME_DIR"]) = (home, home)
        let program = BuiltProducts.path(of: "utter") ?? ""
        variables["PATH"] = "\(program.dropLast("/utter".count)):\(variables["PATH"] ?? "")"
    }

    func expanded(_ text: String) -> String {
        text.replacing("$HOME", with: home).replacing("$SAMPLES", with: samples)
    }

    private func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing(home, with: "$HOME")
            .replacing(samples, with: "$SAMPLES")
    }

    /// Writes a file below the home, and makes the folders around it, for their owner alone.
    func write(_ text: String, to path: String) throws {
        for end in path.indices where path[end] == "/" { mkdir("\(home)/\(path[..<end])", 0o700) }
        try folder.write(Array(expanded(text).utf8), to: "home/\(path)")
        if path.hasSuffix("/take.json") { writtenTakes += 1 }
    }

    /// The takes that lie below the home, those that were removed, too.
    func takes() throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: home)
            .count { $0.hasSuffix("/take.json") }
    }

    /// Runs a command, and returns what came: here, or by a shell in the home.
    func run(_ command: String) async throws -> [String] {
        if command.prefix(while: { $0 != " " }) == "utter" { return try await runHere(command) }
        let result = try await CommandRun.run(
            "sh", ["-c", "cd \"$HOME\" && \(expanded(command))"], environment: variables)
        return lines(result.output, result.error, result.status)
    }

    private func lines(
        _ output: [UInt8], _ error: [UInt8], _ status: CommandResult.Status
    ) -> [String] {
        let end = if case .exited(let number) = status { "status \(number)" } else { "\(status)" }
        var errors = WordsLines.of(shown(error), behind: "!")
        if usualHint != "", end != "status 0", let last = errors.last {
            if last == usualHint { errors.removeLast() }
            if !last.hasPrefix("! utter: hint:") { errors.append("! without a hint") }
        }
        if end != usualStatus { errors.append(end) }
        return WordsLines.of(shown(output), behind: "|") + errors
    }

    private func runHere(_ command: String) async throws -> [String] {
        let parts = expanded(command).split(separator: " < ", maxSplits: 1)
        // A shell takes words apart like this; none runs: WRDE_NOCMD.
        var list = wordexp_t()
        try #require(wordexp(String(parts[0]), &list, 1 << 2) == 0, "not words: \(command)")
        let words = (0..<list.we_wordc).compactMap { list.we_wordv[$0].map { String(cString: $0) } }
        wordfree(&list)
        let source = parts.count > 1 ? String(parts[1]) : "/dev/null"
        let came = try await CommandHere.run(
            words, variables, below: folder.path, input: source, time: Self.noon)
        return lines(came.output, came.error, came.status)
    }
}
