// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TestSupport
import Testing

@testable import UtterCommands
@testable import UtterTerminal

@Suite struct HelpLayoutTests {
    private static let commands: [any ParsableCommand.Type] =
        [UtterCommand.self]
        + UtterCommand.configuration.subcommands.flatMap { [$0] + $0.configuration.subcommands }

    private static let widths = [20, 40, 60, 79, 80]

    @Test func noLineIsLongerThanTheTerminalAndNoWordIsLost() {
        for command in Self.commands {
            let help = command.helpMessage(columns: 100_000)
            let words = help.split(whereSeparator: \.isWhitespace)
            for width in Self.widths {
                let text = HelpLayout(columns: width).text(help)
                for line in text.split(separator: "\n")
                where line.count > width || line.last == " " {
                    Issue.record("\(width): \(line)")
                }
                // A word that is longer than a line is cut.
                guard width >= 60 else { continue }
                #expect(text.split(whereSeparator: \.isWhitespace) == words)
            }
        }
    }

    @Test func paragraphsAreFilledAndColumnsStay() {
        let help = """
            OVERVIEW: Do one thing.

            A paragraph whose lines are as long as those of the sources are,
            so
            that it is filled here.

            Examples:
              utter one        the first, with an explanation that needs another line to end
              utter two three  the second

            USAGE: utter one [--first <number>] [--second <another number>] <file> ...

            OPTIONS:
              --first <number>        What the first number is for, in so many words that they wrap.
              --a-long-option <with a value>
                                      Below it.
              -h, --help              Show help information.

            """
        #expect(
            HelpLayout(columns: 62).text(help) == """
                OVERVIEW: Do one thing.

                A paragraph whose lines are as long as those of the sources
                are, so that it is filled here.

                Examples:
                  utter one        the first, with an explanation that needs
                                   another line to end
                  utter two three  the second

                USAGE: utter one [--first <number>]
                       [--second <another number>] <file> ...

                OPTIONS:
                  --first <number>        What the first number is for, in so
                                          many words that they wrap.
                  --a-long-option <with a value>
                                          Below it.
                  -h, --help              Show help information.

                """)
        #expect(
            HelpLayout(columns: 30).text("OVERVIEW: Two.\n\npath  print where it is\n")
                == "OVERVIEW: Two.\n\npath\n      print where it is\n")
    }
}
