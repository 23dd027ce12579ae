// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CassetteRecording
internal import LinuxPlatform
internal import Utter
internal import UtterTerminal

package struct OutputOptions: ParsableArguments {
    /// How much is said on standard error.
    enum Detail: String {
        case quiet, normal, verbose
    }

    package init() {}

    @OptionGroup
    var texts: TextOptions

    @Flag(help: "Print one JSON object with the transcript and the account of every sample.")
    var json = false

    @Flag(
        help: ArgumentHelp(
            "Print an object for each thing that happens, as it happens, instead of the text.",
            visibility: .hidden))
    var events = false

    @Flag(name: .shortAndLong, help: "Print no status on standard error, only errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print each step with its time.")
    var verbose = false

    @Flag(
        help: ArgumentHelp(
            "Print lines that never change, without colours, and let no key be held.",
            visibility: .hidden))
    var plain = false

    /// Whether partial texts are lines of standard error, unless that is a terminal.
    var partials: Bool { (try? KnownSettings.partials.value()) == true }  // What is wrong was said.

    /// Whether a tone is played when a recording has begun, and when it has ended.
    var cue: Bool { (try? KnownSettings.cue.value()) == true }  // As above.

    @Option(
        help: ArgumentHelp(
            "Write each request and its answer, without secrets and audio, into this folder.",
            valueName: "folder", visibility: .hidden), completion: .directory)
    var cassette: String?

    @Flag(
        help: ArgumentHelp(
            "With --cassette, write the bodies that were sent too: they hold the audio.",
            visibility: .hidden))
    var cassetteBodies = false

    package mutating func validate() throws {
        if cassetteBodies && cassette == nil {
            throw ValidationError("--cassette-bodies needs --cassette.")
        }
        if json && events { throw ValidationError("--json and --events cannot be used together.") }
        if quiet && verbose { throw ValidationError("-q and -v cannot be used together.") }
    }

    var form: OutputForm { events ? .events : json ? .object : .text }

    /// These options, and where they say nothing, what the file of settings says.
    func completed() throws(CommandFailure) -> OutputOptions {
        let given: Detail? = quiet ? .quiet : verbose ? .verbose : nil
        let detail = try KnownSettings.detail.value(given)
        var options = self
        (options.quiet, options.verbose) = (detail == .quiet, detail == .verbose)
        _ = (try KnownSettings.cue.value(), try KnownSettings.partials.value())
        // It is the program's, not a take's: every command writes to the same screen.
        if try KnownSettings.plain.value(plain ? true : nil) == true { StandardError.bePlain() }
        return options
    }

    /// The folder of `--cassette`; nil without the option.
    func cassetteFolder() throws(CommandFailure) -> CassetteFolder? {
        guard let cassette else { return nil }
        do throws(SystemError) {
            return try CassetteFolder(
                path: ServiceOptions.absolute(cassette), keepsBodies: cassetteBodies)
        } catch {
            throw CommandFailure(
                "--cassette: '\(cassette)' cannot be used: \(error.reason)", status: .configuration)
        }
    }
}
