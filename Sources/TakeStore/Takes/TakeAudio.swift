// SPDX-License-Identifier: Apache-2.0

package import Cryptography
internal import Glibc
package import LinuxPlatform

/// The audio of a take of an earlier run, in the clear whatever it is like on the disk.
package struct TakeAudio: Sendable {
    /// The bytes of audio that the file holds; of an encrypted file, up to its last whole frame.
    package let byteCount: Int
    /// Ranges that were altered or damaged and are silent now, in bytes of the audio, in order;
    /// empty for a file that is not encrypted, where damage does not show.
    package let damage: [Range<Int>]
    /// Bytes at the end of the file that belong to no whole frame of an encrypted file.
    let tornByteCount: Int

    /// Whether an encrypted file has the mark of its end: what is cut off behind it is noticed.
    package let hasEnd: Bool

    private let file: any JournalFile
    private let path: String

    init(plain file: any JournalFile, size: Int, path: String) {
        (self.file, self.path, byteCount) = (file, path, size)
        (damage, tornByteCount, hasEnd) = ([], 0, true)
    }

    init(_ file: EncryptedFile, size: Int, path: String) {
        (self.file, self.path, byteCount) = (file, path, file.audioByteCount)
        (damage, hasEnd) = (file.damage, file.isFinished)
        tornByteCount = file.isFinished ? 0 : size - file.fileByteCount
    }

    /// Opens an encrypted file, of a take's folder or of an archive.
    ///
    /// Blocks on the disk; every frame is read and checked.
    ///
    /// - Throws: `SystemError`; with `ENOKEY`, `EKEYREJECTED` or `EKEYREVOKED` when the key is missing,
    ///   is another one, or is lost within the file.
    package init(
        encrypted descriptor: consuming OwnedDescriptor, size: Int, path: String,
        key: EncryptionKey?, of id: TakeID
    ) throws(SystemError) {
        let file = makePlainFile(descriptor)
        // Its program died before there was a key in it, and with it any audio.
        guard size >= EncryptedFileHeader.byteCount else {
            self.init(plain: file, size: 0, path: path)
            return
        }
        let call = "decrypt \(path)"
        guard let key else { throw SystemError(call: call, code: ENOKEY) }
        do throws(EncryptionError) {
            let file = try EncryptedFile.open(file, size: size, key: key, take: id.text)
            self.init(file, size: size, path: path)
        } catch {
            switch error {
            case .wrongKey: throw SystemError(call: call, code: EKEYREJECTED)
            case .damaged: throw SystemError(call: call, code: EKEYREVOKED)
            case .laterVersion: throw SystemError(call: call, code: EPROTONOSUPPORT)
            case .system(let error): throw error
            }
        }
    }

    /// A sealed journal of the first bytes, which can only be read.
    package func journal(byteCount: Int) -> Journal {
        Journal(sealed: file, byteCount: min(byteCount, self.byteCount), path: path)
    }

    package var damageReport: String? {
        guard let first = damage.first else { return nil }
        let lost = damage.reduce(0) { $0 + $1.count }
        return "\(lost) of \(byteCount) bytes of its audio were altered or damaged and are silent "
            + "now, the first at byte \(first.lowerBound)"
    }
}

extension TakeFolder {
    package static let encryptedSuffix = ".encrypted"

    func newAudioName(_ name: String) -> String {
        key == nil ? name : name + Self.encryptedSuffix
    }

    package var keyError: TakeStoreError {
        key == nil ? .keyMissing(take: id.text) : .keyWrong(take: id.text)
    }

    func makeAudio(
        _ name: String, in folder: Folder, isEncrypted: Bool
    ) throws(SystemError) -> any JournalFile {
        // Never in the clear what is called encrypted.
        if isEncrypted && key == nil { throw SystemError(call: "encrypt \(path)", code: ENOKEY) }
        let file = makePlainFile(try folder.createFile(name))
        guard isEncrypted, let key else { return file }
        return try EncryptedFile(new: file, key: key, take: id.text)
    }

    /// Opens the audio of a take that is not recorded any more.
    ///
    /// Blocks on the disk; every frame of an encrypted file is read and checked.
    ///
    /// - Throws: `TakeStoreError`: `.noSuchTake` when the take has been removed or moved away since
    ///   it was opened, `.audioGone`, `.keyMissing`, `.keyWrong`, `.damaged` when the key in the
    ///   file is lost and with it all of the audio, or why else it cannot be read.
    package func openAudio(of manifest: TakeManifest) throws(TakeStoreError) -> TakeAudio {
        do throws(SystemError) {
            return try openAudio(fileName: manifest.audio)
        } catch {
            throw unlessGone(describe(error, of: manifest))
        }
    }

    private func describe(_ error: SystemError, of manifest: TakeManifest) -> TakeStoreError {
        if error.isOfKey { return keyError }
        return switch error.code {
        case EKEYREVOKED:
            .damaged(
                take: id.text,
                reason: "the key within its encrypted file is lost, without which nothing of the "
                    + "audio can be read")
        case ENOENT: .audioGone(take: id.text, wasAnswered: manifest.state == .answered)
        default: .unreadable(take: id.text, reason: "its audio: \(error.reason)")
        }
    }

    func openAudio(fileName name: String) throws(SystemError) -> TakeAudio {
        let file = try folder.openFile(name)
        let size = try folder.byteCount(of: name)
        let path = "\(path)/\(name)"
        guard name.hasSuffix(Self.encryptedSuffix) else {
            return TakeAudio(plain: makePlainFile(file), size: size, path: path)
        }
        return try TakeAudio(encrypted: file, size: size, path: path, key: key, of: id)
    }

    /// Cuts off what belongs to no whole frame of an encrypted file.
    func cutTear(_ audio: TakeAudio, fileName: String) throws(SystemError) {
        let size = try folder.byteCount(of: fileName)
        try folder.truncateFile(fileName, to: size - audio.tornByteCount)
    }

    /// Puts other bytes in the place of `count` bytes from `start` on.
    ///
    /// In place when they are as many, the first ones and in the clear; otherwise the file is written
    /// anew, so that nothing is encrypted twice under one key, and takes the place of the old one
    /// when it is durable. Blocks on the disk.
    ///
    /// - Throws: `SystemError`; the file is as it was then.
    func replace(
        _ count: Int, at start: Int, of audio: TakeAudio, fileName: String, with bytes: [UInt8]
    ) throws(SystemError) {
        let isEncrypted = fileName.hasSuffix(Self.encryptedSuffix)
        guard isEncrypted || bytes.count != count || start > 0 else {
            return try folder.overwriteFile(fileName, with: bytes)
        }
        let old = try folder.openFileForWriting(fileName)
        let temporary = fileName + Self.newSuffix
        do throws(SystemError) {
            try folder.removeFile(temporary)
            let new = try makeAudio(temporary, in: folder, isEncrypted: isEncrypted)
            let journal = audio.journal(byteCount: audio.byteCount)
            try journal.copy(to: new, from: 0, to: start, at: 0)
            try new.write(bytes.span, at: start)
            try journal.copy(
                to: new, from: start + count, to: audio.byteCount, at: start + bytes.count)
            try new.trim()
            try new.sync()
            try folder.renameFile(temporary, to: fileName)
        } catch {
            // On a full disk, half a file is only in the way.
            try? folder.removeFile(temporary)
            throw error
        }
        guard isEncrypted else { return }
        try writeAll(
            [UInt8].random(EncryptedFileHeader.byteCount).span, to: old.number, at: 0)
    }

    /// Overwrites the key in an encrypted file, without which the audio is noise.
    ///
    /// Blocks on the disk. A file system that keeps what was overwritten keeps the key too.
    func destroyKey(in fileName: String) throws(SystemError) {
        guard fileName.contains(Self.encryptedSuffix) else { return }
        try folder.overwriteFile(fileName, with: .random(EncryptedFileHeader.byteCount))
    }
}

extension SystemError {
    var isOfKey: Bool { code == ENOKEY || code == EKEYREJECTED }
}
