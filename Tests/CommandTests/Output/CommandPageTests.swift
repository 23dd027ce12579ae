// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The manual page of each command, made of what the parser knows.
@Suite struct CommandPageTests {
    private let folder: TemporaryFolder

    /// Makes the pages as the installation does.
    init() async throws {
        folder = try TemporaryFolder()
        let tool = try #require(BuiltProducts.path(of: "utter-manual"))
        for name in ["utter", "utter-endpoint", "utter-keys"] {
            let program = try #require(BuiltProducts.path(of: name))
            let dump = try await CommandRun.run(program, ["--experimental-dump-help"])
            let made = try await CommandRun.run(
                tool, [folder.path, "November 22, 2026"], input: .bytes(dump.output))
            #expect(made.status == .exited(0), "\(made.errorText)")
        }
    }

    private func page(_ command: String) throws -> String {
        String(decoding: try folder.read("utter-\(command).1"), as: UTF8.self)
    }

    @Test func everyCommandHasAPageWithAllOfItsOptions() async throws {
        let bench = try Bench()
        let help = try await bench.run("--help").outputText
        let commands = try #require(help.split(separator: "SUBCOMMANDS:").last)
            .split(separator: "\n").compactMap { line in
                line.firstMatch(of: /^  ([a-z]+)  */).map { String($0.1) }
            }
        #expect(commands.count > 10)
        for command in commands {
            let page = try page(command)
            let help = try await bench.run(command, "--help").outputText
            for option in help.matches(of: /--[a-z][a-z-]+/).map({ String($0.0) })
            where !["--help", "--help-all", "--version"].contains(option) {
                #expect(page.contains("-\(option.dropFirst(2))"), "\(command) \(option)")
            }
        }
        // The pages of the endpoint's commands are made of its own definitions.
        #expect(try page("serve").contains("Fl -max-recognitions Ar"))
        #expect(try page("keys").contains("Fl -evdev"))
    }

    @Test func theyAreRenderedWithoutAWarning() throws {
        let own = ["utter.1", "utter.7"].map { SourceTree.path("man/\($0)") }
        for path in try folder.names().map({ folder.path($0) }) + own {
            let result = try ForeignTool("man").run(["--warnings", "-l", path])
            #expect(result.complaint.isEmpty, "\(path): \(result.complaint)")
            #expect(result.text.contains("NAME"), "\(path)")
        }
    }

    @Test func textIsNotTakenForRequests() throws {
        for name in try folder.names() {
            let page = String(decoding: try folder.read(name), as: UTF8.self)
            for line in page.split(separator: "\n") where line.hasPrefix(".") {
                #expect(
                    line.firstMatch(of: /^\.(\\"|[A-Z][a-z]( |$))/) != nil, "\(name): \(line)")
            }
        }
    }
}
