// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import LinuxPlatform

/// The folder of one take: `audio.wav` or `audio.ogg`, and `take.json`.
public final class TakeFolder: Sendable {
    static let manifestName = "take.json"
    static let manifestLimit = 1 << 20
    static let audioNames = ["audio.wav", "audio.ogg"]

    /// The take's name.
    public let id: TakeID
    private let folder: Folder

    init(id: TakeID, folder: Folder) {
        self.id = id
        self.folder = folder
    }

    /// The folder's path.
    public var path: String { folder.path }

    /// Creates the audio file and a journal that writes it.
    ///
    /// - Throws: `SystemError`; `EEXIST` when the take has audio already.
    public func makeJournal(fileName: String) throws(SystemError) -> Journal {
        Journal(file: try folder.createFile(fileName), path: folder.path + "/" + fileName)
    }

    /// Opens the audio of a take that is complete.
    ///
    /// - Throws: `SystemError`; `ENOENT` when the audio is gone.
    public func openJournal(fileName: String, byteCount: Int) throws(SystemError) -> Journal {
        Journal(
            sealed: try folder.openFile(fileName), byteCount: byteCount,
            path: folder.path + "/" + fileName)
    }

    /// The size of the audio in bytes.
    ///
    /// - Throws: `SystemError`; `ENOENT` when the audio is gone.
    public func audioByteCount(fileName: String) throws(SystemError) -> Int {
        try folder.byteCount(of: fileName)
    }

    /// Cuts the audio after its last whole frame or page.
    ///
    /// Blocks on the disk.
    public func cutAudio(fileName: String, to byteCount: Int) throws(SystemError) {
        try folder.truncateFile(fileName, to: byteCount)
    }

    /// Keeps every other process from recording or sending this take while it is held open.
    ///
    /// - Returns: false when another process holds it.
    public func lock() throws(SystemError) -> Bool { try folder.lock() }

    /// Lets other processes send this take.
    public func unlock() { folder.unlock() }

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
        try folder.replaceFile(Self.manifestName, with: bytes)
    }

    /// Replaces the manifest of a take whose audio may not be durable yet.
    ///
    /// What says that the audio is complete must not outlive it: a power cut would leave a take
    /// that can never be sent. Called on the sync thread; blocks on the disk.
    public func save(_ manifest: TakeManifest, of journal: Journal) throws(SystemError) {
        if manifest.state != .recording { journal.sync() }
        try save(manifest)
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
        try folder.removeFile(fileName)
        try folder.sync()
    }

    /// Removes everything that this program puts into the folder of a take.
    func removeFiles() {
        for name in [Self.manifestName, Self.manifestName + ".new"] + Self.audioNames {
            // What cannot be removed stays, and the folder with it.
            try? folder.removeFile(name)
        }
    }
}
