// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TestSupport
import Testing

@testable import UtterCommands

/// The manual page of each command, made of what the parser knows.
@Suite struct CommandPageTests {
    private let pages: CommandPages

    init() async throws { pages = try await CommandPages.all.value }

    @Test func everyCommandHasAPageWithAllOptionsThatItsHelpNames() async throws {
        let commands = UtterCommand.configuration.subcommands
        #expect(commands.count > 10)
        for command in commands {
            let name = command._commandName
            var help = command.helpMessage(columns: 400)
            if command is any OtherCommand.Type {
                let result = try await Bench().run(name, "--help")
                #expect(result.status == .exited(0) && result.error.isEmpty)
                help = result.outputText
                #expect(help.contains("USAGE: utter \(name)"))
            }
            let page = try pages.page(name)
            for option in help.matches(of: /--[a-z][a-z-]+/).map({ String($0.0) })
            where !["--help", "--help-all", "--version"].contains(option) {
                #expect(page.contains("-\(option.dropFirst(2))"), "\(name) \(option)")
            }
        }
        // The pages of the endpoint's commands are made of its own definitions.
        #expect(try pages.page("serve").contains("Fl -max-recognitions Ar"))
        #expect(try pages.page("keys").contains("Fl -evdev"))
    }

    @Test func theyAreRenderedWithoutAWarning() throws {
        let own = ["utter.1", "utter.7"].map { SourceTree.path("man/\($0)") }
        for path in try pages.folder.names().map({ pages.folder.path($0) }) + own {
            let result = try ForeignTool("groff").run([
                "-mandoc", "-Tutf8", "-w", "mac", "-P-cbou", path,
            ])
            #expect(result.complaint.isEmpty, "\(path): \(result.complaint)")
            #expect(result.text.contains("NAME"), "\(path)")
        }
    }

    @Test func textIsNotTakenForRequests() throws {
        for name in try pages.folder.names() {
            let page = String(decoding: try pages.folder.read(name), as: UTF8.self)
            for line in page.split(separator: "\n") where line.hasPrefix(".") {
                #expect(
                    line.firstMatch(of: /^\.(\\"|[A-Z][a-z]( |$))/) != nil, "\(name): \(line)")
            }
        }
    }
}
