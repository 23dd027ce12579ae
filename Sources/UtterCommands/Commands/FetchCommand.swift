// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import Downloads
import Utter
internal import UtterTerminal

struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch recordings by their URLs, and print where they are.",
        discussion: """
            What breaks off goes on where it was, now, with the same command, or with 'utter
            flush' and its timer, also after a restart: as long as the server says that the
            file has not changed. A file that is there and has not changed is not loaded again.
            A playlist of HTTP Live Streaming (.m3u8) becomes a folder with its segments and a
            playlist of them, which ffmpeg plays; a live one is followed until it ends, or for
            the time of --for. What is protected is refused.

            No server leads to an address of this machine or of the network around it, unless
            you have typed that address here, or settings have it as a service's URL. A token
            goes to the origin of the URL alone: that of --token-file, or of the service in the
            settings with this origin.

            What other programs fetch: yt-dlp -o - URL | utter send -
            """)

    @Argument(help: "URLs of files or playlists.")
    var urls: [String] = []

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp(
            "Put it here: a new file, or a folder that is there. (default: the state folder)",
            valueName: "path"), completion: .file())
    var output: String?

    @Flag(help: "Load again what has not changed.")
    var fresh = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The most of a playlist, such as 10m.", valueName: "time"),
        transform: DurationArgument.init(parsing:))
    var longest: DurationArgument?

    @Option(help: ArgumentHelp("Pause a download, in whichever process.", valueName: "id"))
    var pause: String?

    @Option(help: ArgumentHelp("Go on with a download that was paused.", valueName: "id"))
    var resume: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token of the URL's origin, readable by you alone.", valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Flag(help: "Print an object for each thing that happens, as it happens, instead of the path.")
    var events = false

    @Flag(name: .shortAndLong, help: "Print no status on standard error, only errors.")
    var quiet = false

    func validate() throws {
        let kinds = [!urls.isEmpty, pause != nil, resume != nil].count { $0 }
        guard kinds == 1 else {
            throw ValidationError("Name URLs, or one of --pause and --resume.")
        }
        guard longest?.duration != .zero else { throw ValidationError("--for must be above zero.") }
        guard output != "-", output != "" else {
            throw ValidationError("--output is the path of a new file, or of a folder.")
        }
        guard urls.count <= 1 || output.map(Folder.isFolder(at:)) ?? true else {
            throw ValidationError("--output must be a folder for several URLs.")
        }
    }

    func run() async throws {
        if let pause {
            let downloads = Downloads(in: Environment.stateFolder)
            let download = try downloads.named(pause)
            if let path = download.path {
                return StandardError.line("download \(download.id) is whole: \(path)")
            }
            try downloads.pause(download.id)
            return StandardError.line("download \(download.id) is paused")
        }
        let items = try urls.map { try download($0) }
        let running = RunningTake()
        try Signals(readingPipe: false).handle { running.obey($0) }
        let session = try FetchSession(isQuiet: quiet, printsEvents: events, obeying: running)
        // The thread ends before the process does, whose libraries it uses.
        defer { session.end() }
        let status: ExitStatus
        if let resume {
            let download = try session.downloads.named(resume)
            status = await session.goOn(with: [download.id])
        } else {
            status = await session.fetch(items)
        }
        if status != .textPrinted { throw status.code }
    }

    private func download(_ text: String) throws(CommandFailure) -> Download {
        var download = Download(try orFailure { try ServiceURL(text) })
        if let tokenFile {
            download.credential = Credential(askedOf: .file(ServiceOptions.absolute(tokenFile)))
        }
        try FetchSession.prepare(&download)
        (download.isFresh, download.longest) = (fresh, longest?.duration)
        download.destination = output.map { ServiceOptions.absolute($0) }
        return download
    }
}
