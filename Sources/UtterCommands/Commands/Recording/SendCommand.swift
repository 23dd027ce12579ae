// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import LinuxPlatform
import Utter
internal import UtterTerminal

struct SendCommand: AsyncParsableCommand, ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send recordings or standard input, and print the transcripts.",
        discussion: """
            A recording is WAV (PCM of 8 to 32 bits or floating point, also of unknown length),
            FLAC or Ogg Opus (mono or stereo), whatever its name. The program ffmpeg, if it is
            installed, reads MP3, M4A, WebM, A-law and others, and sees that one file and nothing
            else. '-' is standard input: one of these when it begins like one; otherwise raw signed
            16-bit little-endian samples of --rate and --channels. What is no sound, such as text,
            a web page or an archive, is refused, unless one of these two says that it is raw.

            With several files each text follows the file's name and a colon, in the order of
            the files. The exit status is that of the first that failed; the others are still
            sent, unless the service cannot be reached, refuses the token, or fails many times
            in a row.

            A URL of a recording or of a playlist of HTTP Live Streaming (.m3u8) is fetched first,
            as 'utter fetch' does.

            A file that could not be delivered is kept once, whatever its name: the next try
            sends the take that it has. It is read anew after a signal has ended the reading.
            """)

    @Argument(help: "Files of audio, their URLs, or - for standard input.", completion: .file())
    var files: [String]

    @Option(
        help: "How fast it is replayed: realtime, a factor from 0.1 to 1000, or max.",
        transform: PaceArgument.init(parsing:))
    var pace = PaceArgument.unpaced

    @Option(
        help: ArgumentHelp(
            "The rate of raw standard input in Hz. (default: 16000)", valueName: "hertz"))
    var rate: Int?

    @Option(
        help: ArgumentHelp(
            "The channels of raw standard input. (default: 1)", valueName: "count"))
    var channels: Int?

    @Option(
        help: ArgumentHelp(
            "How the recording travels: \(AudioCodec.names). (default: pcm; wav in a form or JSON)",
            valueName: "format"))
    var format: AudioCodec?

    @Option(help: "Send this many files at a time, from 1 to 64.")
    var jobs = 1

    @Option(
        help: ArgumentHelp(
            "Write each text as NAME.txt into this folder, and with its times as .srt, .vtt and "
                + ".json where the service tells them. A file that has one of them is not sent.",
            valueName: "folder"),
        completion: .directory)
    var outputDir: String?

    @Flag(help: "Let --output-dir replace files that are there.")
    var force = false

    @OptionGroup(title: "Service")
    var service: ServiceOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @OptionGroup(title: "Disk")
    var keep: KeepOptions

    @OptionGroup(title: "Encryption")
    var encryption: EncryptionOptions

    var form: OutputForm { output.form }

    func validate() throws {
        guard (1_000...384_000).contains(rate ?? 16_000) else {
            throw ValidationError("--rate must be from 1000 to 384000 Hz.")
        }
        guard (1...64).contains(channels ?? 1) else {
            throw ValidationError("--channels must be from 1 to 64.")
        }
        guard !isSaidToBeRaw || files.contains("-") else {
            throw ValidationError("--rate and --channels are for raw standard input, -.")
        }
        guard (1...64).contains(jobs) else {
            throw ValidationError("--jobs must be from 1 to 64.")
        }
        guard outputDir != nil || !force else {
            throw ValidationError("--force needs --output-dir.")
        }
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw ValidationError("Standard input, -, can be sent once only.")
        }
    }

    func run() async throws {
        let output = try output.completed()
        let delivery = try service.delivery(format: format)
        try await Launch.takes(
            output: output, keep: keep, encryption: encryption.source, readsPipe: false,
            printsUnasked: outputDir == nil, isLive: isPipe && !(try keep.requiresKeep)
        ) { session in
            var session = session
            let (files, fetched) = try await session.fetched(
                self.files, keepsNothing: keep.noKeep)
            if let outputDir {
                session.folder = try TranscriptFolder(outputDir, replaces: force, of: files)
            }
            let prepare = { (file: String, screen) throws(CommandFailure) -> TakePlan in
                let source = try source(file, fetched, on: screen) { session.farewellStatus != nil }
                var take = TakePlan(source: source(), delivery: delivery)
                // A pipe may be as slow as a voice.
                take.isCompleteSoon = !isRelayed(file) && OwnFile.isRegular(file)
                return take
            }
            guard files.count == 1, let file = files.first else {
                var batch = SendBatch(files, in: session, prepare)
                let status = await batch.run(jobs: jobs)
                if status == .textPrinted { fetched.release() }
                return status
            }
            session.file = file
            do throws(CommandFailure) {
                try session.folder?.check(file)
                let status = await session.run(
                    try prepare(file, .silent), as: isRelayed(file) ? .relaying : .sending)
                if status == .textPrinted { fetched.release() }
                return status
            } catch {
                return session.farewellStatus ?? session.refuse(error)
            }
        }
    }

    /// Whether a pipe is all that is sent: its sound is nowhere else.
    private var isPipe: Bool { files.count == 1 && (files[0] == "-" || OwnFile.isPipe(files[0])) }

    private var isSaidToBeRaw: Bool { rate != nil || channels != nil }

    private func isRelayed(_ file: String) -> Bool { file == "-" || pace.pace != .unpaced }

    private func source(
        _ file: String, _ fetched: FetchedFiles, on screen: StatusScreen, isOver: () -> Bool
    ) throws(CommandFailure) -> @Sendable () -> any CaptureSource {
        if let failure = fetched.failures[file] { throw failure }
        guard file == "-" else {
            let (isPlaylist, pace) = (fetched.playlists.contains(file), pace.pace)
            return {
                FileReplay(path: file, isPlaylist: isPlaylist, pace: pace, converter: .installed)
            }
        }
        let format = StreamFormat(sampleRate: rate ?? 16_000, channelCount: channels ?? 1)
        return try StandardInput.source(
            pace: pace.pace, rawFormat: format, isSaidToBeRaw: isSaidToBeRaw, on: screen,
            isOver: isOver)
    }
}
