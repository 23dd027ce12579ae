// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// A command that runs takes, so that the loops may be started before its options are known.
package protocol TakeCommand: AsyncParsableCommand {
    /// What these words ask for, when that can be told without the parser.
    ///
    /// The parser takes 1.5 ms, most of the time for which somebody who sends a file waits for
    /// us and not for libraries.
    ///
    /// - Parameter words: what follows the command's name.
    /// - Returns: nil when the parser has to be asked: it knows more, and explains mistakes.
    static func shortcut(_ words: ArraySlice<String>) -> (any QuickCommand)?
}

/// A command as plain values: the parser's own types cost a start another half millisecond.
package protocol QuickCommand {
    /// Does what was asked for.
    ///
    /// - Throws: `ExitCode`, unless all went well.
    func run() async throws
}

extension TakeCommand {
    /// The parser is always asked.
    package static func shortcut(_ words: ArraySlice<String>) -> (any QuickCommand)? { nil }
}
