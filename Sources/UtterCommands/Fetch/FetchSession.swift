// SPDX-License-Identifier: Apache-2.0

internal import Downloads
internal import Synchronization
internal import Utter
internal import UtterSettings
internal import UtterTerminal

/// Fetches for a person: shows how far it has come, obeys signals, says what became of each.
struct FetchSession {
    let downloads: Downloads
    private let running: RunningTake
    private let printsEvents: Bool
    private let isQuiet: Bool
    private let progress: FetchProgress

    /// `folder` is that of the kept takes, or another one for downloads that are none of them.
    init(
        in folder: String = Environment.stateFolder, limits: DownloadLimits? = nil,
        isQuiet: Bool = false, printsEvents: Bool = false, obeying running: RunningTake
    ) throws(CommandFailure) {
        (self.isQuiet, self.printsEvents, self.running) = (isQuiet, printsEvents, running)
        let asker = SecretAsker()
        let usual = try KeepOptions.standard.limits
        let limits = limits ?? DownloadLimits(bytes: usual.bytes, free: usual.free)
        downloads = Downloads(in: folder, limits: limits) { try await asker.answer($0) }
        progress = FetchProgress(
            printsEvents: printsEvents,
            on: StandardError.isTerminal && !isQuiet ? StatusScreen(isLive: true) : .silent)
    }

    func end() {
        progress.screen.end()
        downloads.shutDown()
    }

    /// Adds what the settings say of the origin: its token, and that it may be in the own network.
    static func prepare(_ download: inout Download) throws(CommandFailure) {
        for (_, settings) in try Configuration.current().services {
            guard let origin = try settings.origin() else { continue }
            download.ownOrigins.insert(origin)
            guard origin == download.url.origin, download.credential == nil else { continue }
            download.credential = settings.token.map { Credential(askedOf: $0) }
        }
    }

    /// Fetches, four at a time, and prints the paths in the order of the URLs.
    func fetch(_ items: [Download]) async -> ExitStatus {
        await withTaskGroup(
            of: (Int, Result<FetchedFile, DownloadFailure>).self, returning: ExitStatus.self
        ) { group in
            running.whenLeaving { [downloads] in downloads.shutDown() }
            var results: [Int: Result<FetchedFile, DownloadFailure>] = [:]
            var (status, next) = (ExitStatus.textPrinted, 0)
            for (index, item) in items.enumerated() {
                group.addTask { [downloads, progress] in
                    (index, await downloads.fetch(item) { progress.show($0) })
                }
                while index + 1 - next >= 4 || index + 1 == items.count,
                    let (found, result) = await group.next()
                {
                    results[found] = result
                    while let result = results.removeValue(forKey: next) {
                        status.fail(tell(result, of: items[next].url.description))
                        next += 1
                    }
                }
            }
            return running.farewellStatus ?? status
        }
    }

    /// Fetches one, whose end the caller tells.
    func result(of download: Download) async -> Result<FetchedFile, DownloadFailure> {
        running.whenLeaving { [downloads] in downloads.shutDown() }
        return await downloads.fetch(download) { [progress] in progress.show($0) }
    }

    /// Goes on with downloads by their names; nil: those that wait.
    func goOn(with ids: [String]? = nil, printsPaths: Bool = true) async -> ExitStatus {
        running.whenLeaving { [downloads] in downloads.shutDown() }
        var status = ExitStatus.textPrinted
        let results = await downloads.goOn(
            with: ids,
            // A wrong setting is no reason not to go on.
            preparing: { try? Self.prepare(&$0) }
        ) { [progress] in progress.show($0) }
        for (id, result) in results { status.fail(tell(result, of: "download \(id)", printsPaths)) }
        return running.farewellStatus ?? status
    }

    private func tell(
        _ result: Result<FetchedFile, DownloadFailure>, of name: String, _ printsPath: Bool = true
    ) -> ExitStatus {
        switch result {
        case .success(let file):
            progress.screen.write {
                file.tellNotices(as: name)
                if file.isUnchanged, !isQuiet { StandardError.line("\(name): unchanged") }
                guard printsPath else { return StandardError.line("\(name): \(file.path)") }
                let event = printsEvents ? EventReport(file, at: progress.elapsed).json : nil
                // A reader that has left has read enough.
                _ = StandardOutput.write(
                    (event.map { Array($0.utf8) } ?? file.path.pathBytes) + [0x0A])
            }
            return .textPrinted
        case .failure(let failure):
            progress.screen.write {
                if printsEvents {
                    _ = StandardOutput.print(EventReport(failure, name, at: progress.elapsed).json)
                }
                guard running.farewell == nil || failure != .left else { return }
                StandardError.error("\(name): \(failure.description)")
                StandardError.hint(failure.hint)
            }
            return failure.status
        }
    }
}

/// How far all downloads of a command have come; from any thread.
private final class FetchProgress: Sendable {
    let screen: StatusScreen
    private let printsEvents: Bool
    private let last = Mutex<[String: DownloadProgress]>([:])
    private let began = ContinuousClock.now

    var elapsed: Duration { .now - began }

    init(printsEvents: Bool, on screen: StatusScreen) {
        (self.printsEvents, self.screen) = (printsEvents, screen)
    }

    func show(_ progress: DownloadProgress) {
        let all = last.withLock { last in
            last[progress.id] = progress
            return Array(last.values)
        }
        // As in `tell`.
        if printsEvents { _ = StandardOutput.print(EventReport(progress, at: elapsed).json) }
        let came = all.reduce(0) { $0 + $1.byteCount }
        let rate = all.reduce(0) { $0 + ($1.byteCount == $1.total ? 0 : $1.rate) }
        let total = all.reduce(Int?(0)) { sum, one in
            sum.flatMap { sum in one.total.map { sum + $0 } }
        }
        let left =
            all.compactMap(\.left).max().map { ", \(StatusLine.clock($0).dropLast(2)) left" } ?? ""
        let parts = all.reduce(0) { $0 + ($1.segmentCount ?? 0) }
        let size = total.map { "\(Self.size(came)) of \(Self.size($0))" } ?? Self.size(came)
        let text = size + (parts > 0 ? ", \(parts) segments" : "") + ", \(Self.size(rate))/s"
        var facts = [ScreenState.Fact.text([text + left, text, size])]
        if let total, total > 0 { facts.insert(.share(Double(came) / Double(total)), at: 0) }
        screen.show(ScreenState("fetch", facts: facts))
    }

    static func size(_ count: Int) -> String {
        count < 1_000_000
            ? "\(count / 1_000) kB" : "\(count / 1_000_000).\(count / 100_000 % 10) MB"
    }
}

extension FetchedFile {
    /// Warns of what it lacks, whatever -q says, as of a recording that is not whole.
    func tellNotices(as name: String) {
        for notice in notices { StandardError.line("warning: \(name): \(notice)") }
    }
}

extension KeptDownload {
    var line: String {
        let size =
            FetchProgress.size(byteCount) + (total.map { " of \(FetchProgress.size($0))" } ?? "")
        let rest = path ?? reason
        return "download \(id) \(state.rawValue), \(size): \(url)" + (rest.map { " (\($0))" } ?? "")
    }
}

extension EventReport {
    fileprivate init(_ progress: DownloadProgress, at time: Duration) {
        self.init(
            ([
                "event": "fetching", "atMs": time.milliseconds, "download": progress.id,
                "bytes": progress.byteCount,
                "totalBytes": progress.total, "segments": progress.segmentCount,
                "bytesPerSecond": progress.rate, "leftMs": progress.left?.milliseconds,
            ] as JSONObject).withoutNulls)
    }

    fileprivate init(_ file: FetchedFile, at time: Duration) {
        self.init([
            "event": "fetched", "atMs": time.milliseconds, "download": file.id,
            "bytes": file.byteCount, "path": file.path,
            "isPlaylist": file.isPlaylist, "isUnchanged": file.isUnchanged,
        ])
    }

    fileprivate init(_ failure: DownloadFailure, _ name: String, at time: Duration) {
        self.init([
            "event": "unfetched", "atMs": time.milliseconds, "url": name,
            "message": failure.description,
        ])
    }
}

extension DownloadFailure: Blamed {
    var status: ExitStatus {
        switch self {
        case .left: .cancelled
        case .paused, .running, .unreachable, .busy: .notDelivered
        case .refused(status: 401), .refused(status: 403): .tokenRefused
        case .refused, .ownNetwork: .refused
        case .unusable: .unusableAudio
        case .token: .configuration
        case .noRoom, .disk: .localIO
        case .unknown: .noInput
        }
    }

    var hint: String? {
        switch self {
        case .left, .unreachable, .busy: "it goes on with the same command, or with: utter flush"
        case .paused: "go on with: utter fetch --resume ID; 'utter list' has its name"
        case .refused(status: 401), .refused(status: 403):
            "give the token of its origin with --token-file"
        case .refused, .unusable: "check the URL; 'utter rm ID' takes it off the list"
        case .ownNetwork:
            "if you mean it, make it a service in the settings: services.NAME.url"
        case .token: "a token needs https, and a file that only you can read (chmod 600)"
        case .noRoom: "remove what you do not need with 'utter rm ID'; limits.bytes is the limit"
        case .running: "pause it first: utter fetch --pause ID"
        case .disk: "see what is wrong at that place, or name another one with -o"
        case .unknown: "see what is there with: utter list"
        }
    }
}
