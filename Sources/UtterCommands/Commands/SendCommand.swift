// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Utter

/// `utter send`: sends files, or standard input, the way a voice is sent.
struct SendCommand: AsyncParsableCommand {
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

    @Option(
        help: ArgumentHelp(
            "How the recording travels: \(AudioCodec.names). (default: pcm; wav in a form or JSON)",
            valueName: "format"))
    var format: AudioCodec?

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
        try await Launch.takes(
            output: output, keep: keep, encryption: encryption.source, readsPipe: false
        ) {
            session throws(CommandFailure) in
            let plan = try service.planner(format: format)
            // The first failure is what the caller hears of; the other files are sent all the
            // same, unless a signal asks to leave.
            var status = ExitStatus.textPrinted
            var session = session
            session.namesTexts = files.count > 1
            for (index, file) in files.enumerated() {
                let place = StatusLine.Place(number: index + 1, count: files.count)
                session.file = file
                var next: ExitStatus
                do throws(CommandFailure) {
                    let source = try source(file) { session.farewellStatus != nil }
                    let isRelayed = file == "-" || pace.pace != .unpaced
                    var take = plan(source, CapturePlan())
                    // A pipe may be as slow as a voice.
                    take.isCompleteSoon = !isRelayed && SecretFile.isRegular(file)
                    next = await session.run(
                        take, as: isRelayed ? .relaying : .sending,
                        place: files.count > 1 ? place : nil,
                        isServiceUnset: service.isServiceUnset)
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
        guard file == "-" else { return FileReplay(path: file, pace: pace.pace) }
        return try StandardInput.source(
            pace: pace.pace, rawFormat: StreamFormat(sampleRate: rate, channelCount: channels),
            isOver: isOver)
    }
}
