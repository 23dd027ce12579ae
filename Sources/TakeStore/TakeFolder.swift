// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import LinuxPlatform
internal import Synchronization

/// The folder of one take: `audio.wav` or `audio.ogg`, and `take.json`.
public final class TakeFolder: Sendable {
    static let manifestName = "take.json"
    static let manifestLimit = 1 << 20
    static let audioNames = ["audio.wav", "audio.ogg"]
    /// What a file is called until it is whole, and takes the place of the one before.
    static let newSuffix = ".new"

    /// The take's name.
    public let id: TakeID
    /// The folder's path.
    public let path: String
    private let held: Mutex<Folder>
    /// Whether this program records into the folder, and makes it anew when somebody removes it.
    private let isRecorded = Atomic(false)

    init(id: TakeID, folder: Folder) {
        self.id = id
        path = folder.path
        held = Mutex(folder)
    }

    private var folder: Folder { held.withLock { $0 } }

    /// Creates the audio file and a journal that writes it.
    ///
    /// From then until `unlock`, the folder is made anew when somebody removes it.
    ///
    /// - Throws: `SystemError`; `EEXIST` when the take has audio already.
    public func makeJournal(fileName: String) throws(SystemError) -> Journal {
        let temporary = fileName + Self.newSuffix
        let journal = Journal(
            file: PlainFile(try folder.createFile(fileName)), path: path + "/" + fileName,
            home: JournalHome(
                makeFile: { [self] () throws(SystemError) in
                    let folder = try presentFolder()
                    try folder.removeFile(temporary)
                    return PlainFile(try folder.createFile(temporary))
                },
                replaceAudio: { [self] () throws(SystemError) in
                    try folder.renameFile(temporary, to: fileName)
                }))
        isRecorded.store(true, ordering: .relaxed)
        return journal
    }

    /// The folder, made anew when somebody has removed it while it is recorded into.
    private func presentFolder() throws(SystemError) -> Folder {
        let folder = folder
        guard isRecorded.load(ordering: .relaxed), try folder.isGone() else { return folder }
        let parent = try Folder.make(at: String(path.dropLast(id.text.utf8.count + 1)))
        let new = try parent.makeFolder(id.text)
        // As for a new take: a file system without locks is no reason to fail.
        _ = try? new.lock()
        try parent.sync()
        held.withLock { $0 = new }
        return new
    }

    /// Opens the audio of a take that is complete.
    ///
    /// - Throws: `SystemError`; `ENOENT` when the audio is gone.
    public func openJournal(fileName: String, byteCount: Int) throws(SystemError) -> Journal {
        Journal(
            sealed: try folder.openFile(fileName), byteCount: byteCount,
            path: path + "/" + fileName)
    }

    /// The size of the audio in bytes.
    ///
    /// - Throws: `SystemError`; `ENOENT` when the audio is gone.
    public func audioByteCount(fileName: String) throws(SystemError) -> Int {
        try folder.byteCount(of: fileName)
    }

    /// Cuts the audio after its last whole frame or page; what was reserved behind it is free then.
    ///
    /// Blocks on the disk.
    public func cutAudio(fileName: String, to byteCount: Int) throws(SystemError) {
        // Left by a program that died while it made a new file; the old one is still there.
        try folder.removeFile(fileName + Self.newSuffix)
        try folder.truncateFile(fileName, to: byteCount)
    }

    /// Keeps every other process from recording or sending this take while it is held open.
    ///
    /// - Returns: false when another process holds it.
    public func lock() throws(SystemError) -> Bool { try folder.lock() }

    /// Lets other processes send this take.
    public func unlock() {
        isRecorded.store(false, ordering: .relaxed)
        folder.unlock()
    }

    /// The names of the files within.
    public func fileNames() throws(SystemError) -> [String] { try folder.names() }

    /// Replaces the manifest, `take.json`, atomically and durably.
    ///
    /// Blocks on the disk.
    public func save(_ manifest: TakeManifest) throws(SystemError) {
        let bytes: [UInt8]
        do {
            bytes = try manifest.encoded()
        } catch {
            throw SystemError(call: "encode \(path)/\(Self.manifestName)", code: 22)
        }
        try presentFolder().replaceFile(Self.manifestName, with: bytes)
    }

    /// Reads `take.json`.
    ///
    /// - Throws: `TakeStoreError` when it is missing, damaged, or of a later version.
    public func manifest() throws(TakeStoreError) -> TakeManifest {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try folder.contents(of: Self.manifestName, limit: Self.manifestLimit)
        } catch {
            throw .unreadable(take: id.text, reason: error.reason)
        }
        do {
            // Read by itself: a later version may lack what this one needs.
            let version = try JSONDecoder().decode(Version.self, from: Data(bytes)).version
            guard version <= TakeManifest.currentVersion else {
                throw TakeStoreError.laterVersion(take: id.text, version: version)
            }
            let manifest = try JSONDecoder().decode(TakeManifest.self, from: Data(bytes))
            // A name from outside must not lead out of this folder.
            guard Self.audioNames.contains(manifest.audio) else {
                throw TakeStoreError.unreadable(
                    take: id.text, reason: "\(Self.manifestName) names a foreign file")
            }
            return manifest
        } catch let error as TakeStoreError {
            throw error
        } catch {
            throw .unreadable(take: id.text, reason: "\(Self.manifestName) is damaged")
        }
    }

    private struct Version: Decodable {
        let version: Int
    }

    /// Removes the audio and makes that durable.
    ///
    /// Blocks on the disk.
    public func removeAudio(fileName: String) throws(SystemError) {
        let folder = folder
        try folder.removeFile(fileName)
        try folder.removeFile(fileName + Self.newSuffix)
        try folder.sync()
    }

    /// Removes everything that this program puts into the folder of a take.
    func removeFiles() {
        let folder = folder
        let names = [Self.manifestName] + Self.audioNames
        for name in names + names.map({ $0 + Self.newSuffix }) {
            // What cannot be removed stays, and the folder with it.
            try? folder.removeFile(name)
        }
    }
}
