// SPDX-License-Identifier: Apache-2.0

internal import AudioCodecs
package import Cryptography
internal import FoundationEssentials
internal import Glibc
package import LinuxPlatform
internal import Synchronization

/// The folder of one take: its audio, such as `audio.wav`, and `take.json`.
///
/// A manifest that was damaged, and built anew from the audio,
/// is kept as `take.json.damaged` for as long as the audio.
package final class TakeFolder: Sendable {
    static let manifestName = "take.json"
    /// More than the longest answer is as a transcript, however it is spelled in JSON.
    static let manifestLimit = 1 << 27
    private static let pageByteCount = 4_096
    static let answerName = "answer.body"
    static let answerNames = [answerName, answerName + encryptedSuffix]
    static let damagedName = "take.json.damaged"
    /// See `noteTransfers`.
    static let notedName = "take.json.begun"
    /// More than any answer may hold.
    private static let answerLimit = 1 << 26
    /// The usual ones first.
    static let audioNames = ["", encryptedSuffix].flatMap { suffix in
        Set(AudioCodec.allCases.map(\.fileExtension)).sorted(by: >).map { "audio.\($0)\(suffix)" }
    }
    /// The ending of a file's name until it is whole, and takes the place of the one before.
    static let newSuffix = ".new"
    /// Everything but audio that this program puts into the folder of a take.
    static let textNames = ([manifestName, notedName] + answerNames)
        .flatMap { [$0, $0 + newSuffix] }
    static let ownNames =
        textNames + [damagedName] + audioNames.flatMap { [$0, $0 + newSuffix] }

    package let id: TakeID
    package let path: String
    private let held: Mutex<Folder>
    /// Whether this program records into the folder, and makes it anew when it is removed.
    private let isRecorded = Atomic(false)
    /// Encrypts new takes, and decrypts those that are; nil when the person has given none.
    package let key: EncryptionKey?

    init(id: TakeID, folder: Folder, key: EncryptionKey? = nil) {
        (self.id, path, self.key) = (id, folder.path, key)
        held = Mutex(folder)
    }

    var folder: Folder { held.withLock { $0 } }

    /// Creates the audio file and a journal that writes it.
    ///
    /// From then until `unlock`, the folder is made anew when it is removed.
    ///
    /// - Throws: `SystemError`; `EEXIST` when the take has audio already.
    @discardableResult
    func makeJournal(
        fileName: String, from journal: Journal = Journal()
    ) throws(SystemError) -> Journal {
        let temporary = fileName + Self.newSuffix
        let isEncrypted = fileName.hasSuffix(Self.encryptedSuffix)
        journal.move(
            to: try makeAudio(fileName, in: folder, isEncrypted: isEncrypted),
            at: path + "/" + fileName,
            home: JournalHome(
                makeFile: { [self] () throws(SystemError) in
                    let folder = try presentFolder()
                    try folder.removeFile(temporary)
                    return try makeAudio(temporary, in: folder, isEncrypted: isEncrypted)
                },
                replaceAudio: { [self] () throws(SystemError) in
                    try folder.renameFile(temporary, to: fileName)
                }))
        isRecorded.store(true, ordering: .relaxed)
        return journal
    }

    /// The folder, made anew when it was removed while it is recorded into.
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

    package func audioByteCount(fileName: String) throws(SystemError) -> Int {
        try folder.byteCount(of: fileName)
    }

    /// Cuts the audio after its last whole frame or page; what was reserved behind it is free then.
    func cutAudio(fileName: String, to byteCount: Int) throws(SystemError) {
        // Left by a program that died while it made a new file; the old one is still there.
        try folder.removeFile(fileName + Self.newSuffix)
        try folder.truncateFile(fileName, to: byteCount)
    }

    /// Keeps every other process from recording or sending this take while it is held open.
    ///
    /// - Returns: false when another process holds it.
    package func lock() throws(SystemError) -> Bool { try folder.lock() }

    /// Waits until no other process holds this take, as the next may then; false at the deadline.
    package func isFree(by deadline: ContinuousClock.Instant) async -> Bool {
        // Without a descriptor or a thread the take stays in use, which is said.
        (try? await folder.waitForLock(until: deadline)) ?? false
    }

    package func unlock() {
        isRecorded.store(false, ordering: .relaxed)
        folder.unlock()
    }

    func fileNames() throws(SystemError) -> [String] { try folder.names() }

    /// Replaces the manifest, `take.json`, atomically and durably.
    ///
    /// Blocks on the disk; not if it need not be durable (`isDurable` is false), only outlive this
    /// program.
    package func save(_ manifest: TakeManifest, isDurable: Bool = true) throws(SystemError) {
        let bytes = try encoded(manifest)
        let folder = try presentFolder()
        do throws(SystemError) {
            try folder.replaceFile(Self.manifestName, with: bytes, isDurable: isDurable)
        } catch {
            guard [ENOSPC, EDQUOT].contains(error.code), try overwrite(bytes, in: folder)
            else { throw error }
        }
    }

    func encoded(_ manifest: TakeManifest) throws(SystemError) -> [UInt8] {
        var manifest = manifest
        let bytes: [UInt8]
        do {
            if manifest.isEncrypted, let key { try manifest.lock(with: key) }
            bytes = try manifest.encoded()
        } catch {
            throw SystemError(call: "encode \(path)/\(Self.manifestName)", code: EINVAL)
        }
        guard bytes.count <= Self.manifestLimit else {
            // A manifest that could not be read again must not replace one that can.
            throw SystemError(call: "write \(path)/\(Self.manifestName)", code: EFBIG)
        }
        return bytes
    }

    /// Writes the manifest over the old one, within the room that this has on a full disk.
    ///
    /// One page, which no kill divides; what a power cut may leave of it is built anew from the
    /// audio. Without this, a disk that is full of takes would let none of them be delivered.
    ///
    /// - Returns: false when there is no room, or no manifest.
    private func overwrite(_ bytes: [UInt8], in folder: Folder) throws(SystemError) -> Bool {
        let name = Self.manifestName
        // The reason why there is no new one is reported, even if the old one is damaged, too.
        guard let size = try? folder.byteCount(of: name), let room = try? folder.room(of: name),
            max(size, bytes.count) <= min(room, Self.pageByteCount)
        else { return false }
        // White space at its end means nothing in JSON.
        let padding = [UInt8](repeating: 0x0A, count: max(0, size - bytes.count))
        try folder.overwriteFile(name, with: bytes + padding)
        return true
    }

    package func manifest() throws(TakeStoreError) -> TakeManifest {
        do throws(TakeStoreError) {
            return try manifest(in: Self.manifestName)
        } catch {
            throw unlessGone(error)
        }
    }

    /// The error, unless it only follows from the take being gone.
    func unlessGone(_ error: TakeStoreError) -> TakeStoreError {
        folder.isAtItsPath ? error : .noSuchTake(id.text)
    }

    func manifest(in name: String) throws(TakeStoreError) -> TakeManifest {
        let bytes = try contents(of: name, limit: Self.manifestLimit)
        var manifest: TakeManifest
        do {
            manifest = try JSONDecoder().decode(TakeManifest.self, from: Data(bytes))
            try refuse(version: manifest.version)
        } catch let error as TakeStoreError {
            throw error
        } catch {
            // A later version may lack what this one needs.
            let later = try? JSONDecoder().decode(Version.self, from: Data(bytes))
            try refuse(version: later?.version ?? 0)
            throw .damaged(take: id.text, reason: "\(name) cannot be understood")
        }
        // A name from outside must not lead out of this folder.
        let files = [manifest.audio, manifest.unreadAnswer].compactMap(\.self)
        let ours = Self.audioNames + Self.answerNames
        guard files.allSatisfy(ours.contains) else {
            throw .damaged(take: id.text, reason: "\(name) names a foreign file")
        }
        guard manifest.id == id else {
            throw .damaged(take: id.text, reason: "\(name) is of another take")
        }
        guard manifest.isPlausible else {
            throw .damaged(take: id.text, reason: "\(name) holds wrong numbers")
        }
        try unlock(&manifest)
        return manifest
    }

    /// Keeps an answer beside the audio; one of before is replaced.
    ///
    /// - Throws: `SystemError`, also when it is to be encrypted and there is no key.
    package func keepAnswer(
        _ bytes: [UInt8], isEncrypted: Bool
    ) throws(SystemError) -> String {
        guard isEncrypted else {
            try folder.replaceFile(Self.answerName, with: bytes)
            return Self.answerName
        }
        guard let key else { throw SystemError(call: "encrypt \(path)", code: ENOKEY) }
        let name = Self.answerName + Self.encryptedSuffix
        try folder.replaceFile(name, with: try key.seal(bytes, for: answerContext))
        return name
    }

    package func unreadAnswer(of manifest: TakeManifest) throws(TakeStoreError) -> [UInt8]? {
        guard let name = manifest.unreadAnswer else { return nil }
        return try decrypted(contents(of: name, limit: Self.answerLimit), name)
    }

    private var answerContext: [UInt8] { Array("answer \(id.text)".utf8) }

    /// Reads the encrypted part, as far as the key is the right one.
    private func unlock(_ manifest: inout TakeManifest) throws(TakeStoreError) {
        guard manifest.isLocked, let key else { return }
        do throws(EncryptionError) {
            try manifest.unlock(with: key)
        } catch {
            switch error {
            case .wrongKey: return
            case .damaged:
                throw .damaged(
                    take: id.text,
                    reason: "the encrypted part of \(Self.manifestName) was altered")
            case .laterVersion(let version):
                throw .laterVersion(take: id.text, version: version)
            case .system(let error):
                throw .unreadable(take: id.text, reason: error.description)
            }
        }
    }

    private func decrypted(_ bytes: [UInt8], _ name: String) throws(TakeStoreError) -> [UInt8] {
        guard name.hasSuffix(Self.encryptedSuffix) else { return bytes }
        guard let key else { throw .keyMissing(take: id.text) }
        do throws(EncryptionError) {
            return try key.open(bytes, for: answerContext)
        } catch {
            if case .system(let error) = error {
                throw .unreadable(take: id.text, reason: error.description)
            }
            throw .unreadable(
                take: id.text, reason: "\(name) was altered, or is under another key")
        }
    }

    private func contents(of name: String, limit: Int) throws(TakeStoreError) -> [UInt8] {
        do throws(SystemError) {
            return try folder.contents(of: name, limit: limit)
        } catch {
            guard error.code == EFBIG else {
                throw .unreadable(take: id.text, reason: "\(name): \(error.reason)")
            }
            throw .damaged(take: id.text, reason: "\(name) is too long")
        }
    }

    private struct Version: Decodable {
        let version: Int
    }

    private func refuse(version: Int) throws(TakeStoreError) {
        guard version > TakeManifest.currentVersion else { return }
        throw .laterVersion(take: id.text, version: version)
    }

    /// Removes the audio durably, and a damaged manifest, from which nothing more can be learned;
    /// blocks on the disk.
    package func removeAudio(fileName: String) throws(SystemError) {
        let folder = folder
        for name in [fileName, fileName + Self.newSuffix] {
            // On a disk that refuses this, the file is removed all the same.
            try? destroyKey(in: name)
        }
        for name in [fileName, fileName + Self.newSuffix, Self.damagedName] {
            try folder.removeFile(name)
        }
        try folder.sync()
    }

    func setManifestAside() throws(SystemError) {
        try folder.move(Self.manifestName, to: folder, as: Self.damagedName)
    }

    func syncAudio(fileName: String) throws(SystemError) {
        try folder.syncFile(fileName)
    }

    /// The name of the audio file; nil when there is none.
    ///
    /// A file that was being made anew when its program died gets its name, when it is the only
    /// one. Called with the take's lock held; blocks on the disk then.
    func audioName() throws(SystemError) -> String? {
        let names = try folder.names()
        if let name = names.first(where: Self.audioNames.contains) { return name }
        for name in Self.audioNames where names.contains(name + Self.newSuffix) {
            try folder.renameFile(name + Self.newSuffix, to: name)
            return name
        }
        return nil
    }

    var manifestTime: Int? {
        folder.modificationTime(of: Self.manifestName).map { Int($0) }
    }

    /// Throws when the folder holds anything unknown.
    func refuseForeignFiles() throws(SystemError) {
        guard let name = try folder.names().first(where: { !Self.ownNames.contains($0) })
        else { return }
        throw SystemError(call: "remove \(path), which holds \(name)", code: ENOTEMPTY)
    }

    func removeFiles() {
        let folder = folder
        for name in Self.ownNames {
            // Most takes have no such file.
            try? destroyKey(in: name)
            // A file that cannot be removed stays, and the folder with it.
            try? folder.removeFile(name)
        }
    }
}

/// The disk's notes of transfers that have begun since the manifest was written last.
///
/// Making a manifest durable may take a slow disk seconds, and a durable file must not be
/// replaced by one that is not. So the thread that begins a transfer writes a second file beside
/// `take.json`, `take.json.begun`, of the same form, and waits for nothing: it is there when the
/// program is killed. It counts as far as it knows of more transfers than `take.json`.
extension TakeFolder {
    /// Does not wait for the disk; by one thread at a time, which need not be that which saves the
    /// manifest.
    package func noteTransfers(of manifest: TakeManifest) throws(SystemError) {
        var note = manifest
        // The transcript is of an earlier answer, which says nothing of these transfers.
        if !note.isLocked { note.forgetText() }
        try folder.replaceFile(Self.notedName, with: try encoded(note), isDurable: false)
    }

    /// Adds the transfers that a manifest does not know; what else is noted may not be durable.
    func addNotedTransfers(to manifest: inout TakeManifest) {
        // Most takes have none; one that a power cut has torn says nothing.
        guard let note = try? self.manifest(in: Self.notedName), note.attempts > manifest.attempts
        else { return }
        manifest.attempts = note.attempts
        manifest.history = note.history
        manifest.taken = note.taken
        manifest.progress = note.progress
    }

    package func forgetNotedTransfers() {
        for name in [Self.notedName, Self.notedName + Self.newSuffix] {
            // A note that stays says nothing new.
            try? folder.removeFile(name)
        }
    }
}
