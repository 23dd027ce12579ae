// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// Where a transcript goes; for every command that prints one.
package struct TextOptions: ParsableArguments {
    package init() {}

    @Option(
        name: [.customShort("o"), .long],
        help: ArgumentHelp(
            "Write the text, or the object of --json, into this file instead of standard output, "
                + "which is -.", valueName: "file"), completion: .file())
    var output: [String] = []

    @Flag(help: "Copy the text to the clipboard (by wl-copy, xclip or xsel).")
    var copy = false

    @Flag(help: "Type the text where the cursor is (by wtype, xdotool or ydotool).")
    var type = false

    @Option(
        help: ArgumentHelp(
            "Run this command with the shell; it reads the text on standard input.",
            valueName: "command"))
    package var run: [String] = []

    @Flag(
        help: ArgumentHelp(
            "End the last line of the text without a line feed.", visibility: .hidden))
    var noNewline = false

    package mutating func validate() throws {
        guard !output.contains("") else { throw ValidationError("-o needs the name of a file.") }
        guard !run.contains(where: { $0.allSatisfy(\.isWhitespace) }) else {
            throw ValidationError("--run needs a command.")
        }
    }

    /// What counts when nothing is said: standard output.
    package static var standard: TextOptions {
        var options = TextOptions()
        (options.output, options.run) = ([], [])
        (options.copy, options.type, options.noNewline) = (false, false, false)
        return options
    }

    /// Whether one of these options names a place.
    var isGiven: Bool { !output.isEmpty || copy || type || !run.isEmpty }
}
