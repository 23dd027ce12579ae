// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter
import UtterTerminal

/// `utter send`: sends files, or standard input, the way a voice is sent.
struct SendCommand: TakeCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send recordings or standard input, and print the transcripts.",
        discussion: """
            A recording is WAV or Ogg Opus. '-' is standard input: one of these when it
            begins like one, otherwise raw signed 16-bit little-endian samples of --rate
            and --channels. With several files each text follows the file's name.
            """)

    @Argument(help: "WAV or Ogg Opus files, or - for standard input.", completion: .file())
    var files: [String]

    @Option(help: "How fast it is replayed: realtime, a factor such as 2, or max.")
    var pace = PaceArgument.unpaced

    @Option(help: ArgumentHelp("The rate of raw standard input in Hz.", valueName: "hertz"))
    var rate = 16_000

    @Option(help: ArgumentHelp("The channels of raw standard input.", valueName: "count"))
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

    func run() async throws { try await sending.run() }

    /// What the options say.
    var sending: Sending {
        Sending(
            files: files, pace: pace.pace,
            rawFormat: StreamFormat(sampleRate: rate, channelCount: channels), format: format,
            service: service, output: output, keep: keep)
    }
}

extension SendCommand {
    static func shortcut(_ words: ArraySlice<String>) -> (any QuickCommand)? {
        var sending = Sending()
        var words = words
        while let word = words.popFirst() {
            switch word {
            case "-q", "--quiet": sending.output.quiet = true
            case "--json": sending.output.json = true
            case "--to":
                // An option that comes twice is a question of its own.
                guard sending.service.to == nil, let url = words.popFirst(), isPlain(url)
                else { return nil }
                sending.service.to = url
            default:
                guard isPlain(word) else { return nil }
                sending.files.append(word)
            }
        }
        return sending.files.isEmpty ? nil : sending
    }

    /// Whether the parser would take the word for nothing but a value.
    private static func isPlain(_ word: String) -> Bool { !word.isEmpty && !word.hasPrefix("-") }
}
