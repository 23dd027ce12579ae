// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterTerminal

/// `utter send`: sends files, or standard input, the way a voice is sent.
struct SendCommand: TakeCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send WAV files or standard input, and print the transcripts.",
        discussion: """
            '-' is standard input: a WAV file when it begins like one, otherwise raw
            signed 16-bit little-endian samples of --rate and --channels.
            """)

    @Argument(help: "WAV files, or - for standard input.", completion: .file())
    var files: [String]

    @Option(help: "How fast a file is replayed: realtime, a factor such as 2, or max.")
    var pace = PaceArgument.unpaced

    @Option(help: "The rate of raw standard input in Hz.")
    var rate = 16_000

    @Option(help: "The channels of raw standard input.")
    var channels = 1

    @Option(help: "How the recording travels: pcm, wav or ogg-opus.")
    var format = AudioFormat.pcm

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    func validate() throws {
        guard (1_000...384_000).contains(rate) else {
            throw ValidationError("--rate must be from 1000 to 384000 Hz.")
        }
        guard (1...64).contains(channels) else {
            throw ValidationError("--channels must be from 1 to 64.")
        }
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw ValidationError("Standard input, -, can be sent once only.")
        }
    }

    func run() async throws {
        try await Launch.takes(output: output, keep: keep, listensToEnter: false) {
            session throws(CommandFailure) in
            let plan = try service.planner(format: format)
            // The first failure is what the caller hears of; the other files are sent all the
            // same, unless somebody wants to leave.
            var status = ExitStatus.textPrinted
            for file in files {
                var next: ExitStatus
                do throws(CommandFailure) {
                    let source = try source(file) { session.farewellStatus != nil }
                    next = await session.run(plan(source, CapturePlan()), as: .sending)
                } catch {
                    next = session.farewellStatus ?? session.refuse(error)
                }
                if status == .textPrinted { status = next }
                if next.isByRequest { return next }
            }
            return status
        }
    }

    private func source(
        _ file: String, isOver: () -> Bool
    ) throws(CommandFailure) -> any CaptureSource {
        guard file == "-" else { return WAVReplay(path: file, pace: pace.pace) }
        return try StandardInput.source(
            pace: pace.pace, rawFormat: StreamFormat(sampleRate: rate, channelCount: channels),
            isOver: isOver)
    }
}

extension SendCommand {
    static func shortcut(_ words: ArraySlice<String>) -> SendCommand? {
        var command = SendCommand.standard
        var words = words
        while let word = words.popFirst() {
            switch word {
            case "-q", "--quiet": command.output.quiet = true
            case "--json": command.output.json = true
            case "--to":
                // An option that comes twice is a question of its own.
                guard command.service.to == nil, let url = words.popFirst(), isPlain(url)
                else { return nil }
                command.service.to = url
            default:
                guard isPlain(word) else { return nil }
                command.files.append(word)
            }
        }
        return command.files.isEmpty ? nil : command
    }

    /// Whether the parser would take the word for nothing but a value.
    private static func isPlain(_ word: String) -> Bool { !word.isEmpty && !word.hasPrefix("-") }

    /// What an empty command line would be, if it were allowed.
    private static var standard: SendCommand {
        var command = SendCommand()
        (command.files, command.pace) = ([], .unpaced)
        (command.rate, command.channels, command.format) = (16_000, 1, .pcm)
        (command.service, command.output) = (.standard, .standard)
        (command.keep, command.encryption) = (.standard, .standard)
        return command
    }
}
