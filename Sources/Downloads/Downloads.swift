// SPDX-License-Identifier: Apache-2.0

internal import LinuxPlatform
internal import SpeechService
internal import Synchronization
internal import Upload

/// Fetches recordings that lie elsewhere, and keeps what has come of them until they are whole.
///
/// ```swift
/// let downloads = Downloads(in: folder)
/// let file = try await downloads.fetch(Download(ServiceURL("https://example.com/talk.mp3"))).get()
/// ```
///
/// A download is a folder, named by its URL: what a cut, a kill or a cancelled task has interrupted goes
/// on with the next call, in whichever process. Two calls for one URL are one: the later waits. At most
/// four requests are under way at once. Usable from any thread.
public final class Downloads: Sendable {
    let state: String
    let limits: DownloadLimits
    private let secrets: SecretProvider
    /// Starts with the first request.
    private let carrier = Mutex<(any Transport)?>(nil)
    private static let jobs = 4
    let turns = Turns(jobs)
    private let isShutDown = Atomic(false)

    /// Names a folder, and touches nothing.
    ///
    /// - Parameters:
    ///   - folder: an absolute path, such as that of kept takes: downloads are in `downloads` below it.
    ///   - limits: of all downloads there.
    ///   - secrets: asked for tokens that are not known yet.
    public init(
        in folder: String, limits: DownloadLimits = .standard,
        secrets: @escaping SecretProvider = { try await $0.source.read() }
    ) {
        (state, self.limits, self.secrets) = (folder, limits, secrets)
    }

    func transport() throws(DownloadFailure) -> any Transport {
        try carrier.withLock { carrier throws(DownloadFailure) in
            if isShutDown.load(ordering: .relaxed) { throw .left }
            if let carrier { return carrier }
            let started: any Transport = try onDisk { () throws(SystemError) in
                try TransferLoop(name: "download")
            }
            carrier = started
            return started
        }
    }

    /// Leaves what is under way, which goes on with the next call, and ends the thread.
    public func shutDown() {
        isShutDown.store(true, ordering: .relaxed)
        carrier.withLock { $0.take() }?.shutDown()
    }

    /// Fetches a file or a playlist to its end, or goes on with what came of it before.
    ///
    /// A pause that a person has asked for ends by it. When the calling task is cancelled, what came is
    /// kept.
    ///
    /// - Parameters:
    ///   - download: what, and how.
    ///   - tell: told how far it has come, four times a second at most, on any thread.
    /// - Returns: the file, or why it is not whole.
    public func fetch(
        _ download: Download, tell: @escaping @Sendable (DownloadProgress) -> Void = { _ in }
    ) async -> Result<FetchedFile, DownloadFailure> {
        await run(download, isUnasked: false, tell)
    }

    /// Goes on with the downloads that wait, up to four at a time; not with those that are paused, or
    /// that have failed for good.
    ///
    /// - Parameters:
    ///   - ids: only these, whatever keeps them; nil: those that wait.
    ///   - prepare: adds what is known of a download beside what is on the disk, such as its token.
    ///   - tell: as of `fetch`.
    /// - Returns: what became of each, in the order of their names.
    public func goOn(
        with ids: [String]? = nil,
        preparing prepare: @escaping @Sendable (inout Download) -> Void = { _ in },
        tell: @escaping @Sendable (DownloadProgress) -> Void = { _ in }
    ) async -> [(id: String, result: Result<FetchedFile, DownloadFailure>)] {
        typealias Ended = (id: String, result: Result<FetchedFile, DownloadFailure>)
        let names = ids ?? all().filter { $0.state == .waiting }.map(\.id)
        return await withTaskGroup(of: Ended.self) { group in
            var found: [Ended] = []
            for (number, id) in names.enumerated() {
                if number >= Self.jobs, let one = await group.next() { found.append(one) }
                group.addTask { [self] in
                    (id: id, result: await goOn(id, isUnasked: ids == nil, prepare, tell))
                }
            }
            for await one in group { found.append(one) }
            return found.sorted { $0.id < $1.id }
        }
    }

    private func goOn(
        _ id: String, isUnasked: Bool, _ prepare: @Sendable (inout Download) -> Void,
        _ tell: @escaping @Sendable (DownloadProgress) -> Void
    ) async -> Result<FetchedFile, DownloadFailure> {
        var download: Download
        do throws(DownloadFailure) {
            guard let note = try folder(id).note() else { throw .unknown(id) }
            download = try note.download()
            prepare(&download)
        } catch {
            return .failure(error)
        }
        return await run(download, isUnasked: isUnasked, tell)
    }

    private func run(
        _ download: Download, isUnasked: Bool,
        _ tell: @escaping @Sendable (DownloadProgress) -> Void
    ) async -> Result<FetchedFile, DownloadFailure> {
        let isCancelled = Flag()
        var download = download
        do throws(DownloadFailure) {
            download.credential = try await credential(of: download)
        } catch {
            return .failure(error)
        }
        return await withTaskCancellationHandler { [download] in
            do throws(SystemError) {
                return try await NamedThread.result(name: "fetch") {
                    [self] () throws(DownloadFailure) -> FetchedFile in
                    var run = DownloadRun(download, in: self, isUnasked: isUnasked, tell) {
                        [self] in isCancelled.isUp || isShutDown.load(ordering: .relaxed)
                    }
                    return try run.run()
                }
            } catch {
                return .failure(.disk(error.description))
            }
        } onCancel: {
            isCancelled.raise()
        }
    }

    private func credential(of download: Download) async throws(DownloadFailure) -> Credential? {
        guard let credential = download.credential else { return nil }
        let origin = download.url.origin
        guard !origin.isInClear else {
            throw .token("it would travel in the clear to \(origin)")
        }
        guard !credential.isKnown else { return credential }
        do {
            return try credential.holding(
                try await secrets(
                    SecretQuestion(source: credential.source, origin: origin, isRefused: false)))
        } catch {
            throw .token("\(error)")
        }
    }

    /// The downloads on the disk; blocks on it.
    public func all() -> [KeptDownload] {
        // Without the folder there are none, and what cannot be read is none.
        let parent = try? Folder.open(at: path)
        let names = try? parent?.names()  // No folder, no names.
        guard let parent, let names else { return [] }
        return names.compactMap { name in
            let folder = try? DownloadFolder(name, in: parent)  // An unreadable one is none.
            return folder.flatMap(Self.kept)
        }
    }

    private static func kept(_ folder: DownloadFolder) -> KeptDownload? {
        // A file system without locks has none.
        let isRunning = (try? folder.folder.lock()) == false
        if !isRunning { folder.folder.unlock() }
        let note: DownloadNote
        do throws(DownloadFailure) {
            guard let known = try folder.note() else { return nil }
            note = known
        } catch {
            return KeptDownload(
                id: folder.id, url: "", state: .failed, byteCount: folder.byteCount,
                reason: error.description)
        }
        let isDone = note.path != nil
        return KeptDownload(
            id: folder.id, url: (try? ServiceURL(note.url))?.description ?? "",  // Or unknown.
            state: isRunning
                ? .running
                : isDone ? .done : folder.isPaused ? .paused : note.isLasting ? .failed : .waiting,
            byteCount: note.byteCount ?? folder.byteCount, total: note.total,
            reason: isDone ? nil : note.reason, path: note.path)
    }

    /// Finds a download by the first characters of its name; blocks on the disk.
    ///
    /// - Throws: `DownloadFailure.unknown` when none begins so, or several do.
    public func named(_ prefix: String) throws(DownloadFailure) -> KeptDownload {
        let found = all().filter { !prefix.isEmpty && $0.id.hasPrefix(prefix) }
        guard found.count == 1, let one = found.first else { throw .unknown(prefix) }
        return one
    }

    /// Pauses a download, until it is asked for again, and in all processes; blocks on the disk.
    ///
    /// - Throws: `DownloadFailure`.
    public func pause(_ id: String) throws(DownloadFailure) {
        let folder = try folder(id).folder
        try onDisk { () throws(SystemError) in
            try folder.replaceFile(DownloadFolder.pauseName, with: [])
        }
    }

    /// Forgets a download, with what came of it; a file that went elsewhere stays.
    ///
    /// Blocks on the disk.
    ///
    /// - Throws: `DownloadFailure`; `.running` while it is fetched.
    public func remove(_ id: String) throws(DownloadFailure) {
        let found = try folder(id)
        guard try onDisk({ () throws(SystemError) in try found.folder.lock() }) else {
            throw .running
        }
        try onDisk { () throws(SystemError) in
            let parent = try Folder.make(at: path)
            for name in try found.folder.names() { try found.folder.removeFile(name) }
            try parent.removeFolder(id)
            try parent.sync()
        }
    }

    var path: String { state + "/downloads" }

    private func folder(_ id: String) throws(DownloadFailure) -> DownloadFolder {
        // A folder that cannot be opened is not there, here and below.
        let parent = try? Folder.open(at: path)
        guard let parent, !id.contains("/"), id.count == 16,
            let folder = try? DownloadFolder(id, in: parent)  // Nor is this one.
        else { throw .unknown(id) }
        return folder
    }
}

/// A flag that goes up once; from any thread.
final class Flag: Sendable {
    private let state = Atomic(false)

    // It stands for itself alone.
    var isUp: Bool { state.load(ordering: .relaxed) }
    func raise() { state.store(true, ordering: .relaxed) }
}
