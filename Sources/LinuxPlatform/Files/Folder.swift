// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Synchronization

/// A folder held open, in which files are made, replaced and removed durably.
///
/// Names are resolved against the held descriptor, never against a path, so that no other process
/// can replace a folder on the way. Every file is `0600`, every folder `0700`, whatever the
/// umask.
package final class Folder: Sendable {
    package let path: String
    let descriptor: OwnedDescriptor
    let isLocked = Atomic(false)

    private init(path: String, descriptor: consuming OwnedDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// `fork` in another thread copies the descriptor, and the lock with it, until the child runs
    /// its program.
    deinit { if isLocked.load(ordering: .relaxed) { unlock() } }

    /// Opens the folder at `path`, making it and its parents when they are missing.
    ///
    /// - Throws: `SystemError`; `ENOTDIR` or `ELOOP` when `path` is something else or a
    ///   symbolic link, `EPERM` when it belongs to another user.
    package static func make(at path: String) throws(SystemError) -> Folder {
        var parent = path.hasPrefix("/") ? "" : "."
        // A folder that may not be made may be there; if it is not, that is the cause.
        var refused: SystemError?
        func cause(_ error: SystemError) -> SystemError {
            error.code == ENOENT ? refused ?? error : error
        }
        for part in path.split(separator: "/").dropLast() {
            parent += "/\(part)"
            if unsafe mkdir(parent.cPath, 0o700) == 0 {
                // The umask can only have taken permissions away. Without them the next one fails.
                _ = unsafe chmod(parent.cPath, 0o700)
            } else if [EROFS, EACCES].contains(errno) {
                refused = .last("mkdir \(parent)")
            } else if errno != EEXIST {
                throw cause(.last("mkdir \(parent)"))
            }
        }
        do throws(SystemError) {
            try makeFolder(path, at: AT_FDCWD, path: path)
        } catch {
            throw cause(error)
        }
        return try open(path: path, at: AT_FDCWD, name: path)
    }

    package static func open(at path: String) throws(SystemError) -> Folder {
        try open(path: path, at: AT_FDCWD, name: path)
    }

    private static func makeFolder(
        _ name: String, at parent: Int32, path: String
    ) throws(SystemError) {
        guard unsafe mkdirat(parent, name.cPath, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw SystemError.last("mkdir \(path)")
        }
        // The umask can only have taken permissions away, our own among them.
        guard unsafe fchmodat(parent, name.cPath, 0o700, 0) == 0 else {
            throw SystemError.last("chmod \(path)")
        }
    }

    private static func open(
        path: String, at parent: Int32, name: String
    ) throws(SystemError) -> Folder {
        let descriptor = try OwnedDescriptor(of: "open \(path)") {
            unsafe utter_openat(
                parent, name.cPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        }
        guard try fileStatus(of: descriptor.number, "fstat \(path)").st_uid == geteuid() else {
            throw SystemError(call: "\(path) belongs to another user", code: EPERM)
        }
        return Folder(path: path, descriptor: descriptor)
    }

    package func makeFolder(_ name: String) throws(SystemError) -> Folder {
        let path = self.path + "/" + name
        try Self.makeFolder(name, at: descriptor.number, path: path)
        return try Self.open(path: path, at: descriptor.number, name: name)
    }

    /// Makes a folder that is locked before its name can be seen.
    ///
    /// Until then it is called `hidden`, which a killed program leaves behind, and `fill` puts into it
    /// what must be there from the first moment on.
    ///
    /// - Throws: `SystemError`; `EEXIST` when the name is taken.
    package func makeLockedFolder(
        _ name: String, hiddenAs hidden: String,
        filledBy fill: (Folder) throws(SystemError) -> Void = { _ throws(SystemError) in }
    ) throws(SystemError) -> Folder {
        let number = descriptor.number
        try Self.makeFolder(hidden, at: number, path: path + "/" + hidden)
        do throws(SystemError) {
            let folder = try Self.open(path: path + "/" + name, at: number, name: hidden)
            // A file system without locks is no reason to fail.
            guard (try? folder.lock()) != false else {
                throw SystemError(call: "lock \(path)/\(hidden)", code: EWOULDBLOCK)
            }
            try fill(folder)
            try renameFolder(hidden, toNew: name)
            return folder
        } catch {
            // A later run clears away a folder that stays.
            _ = unsafe unlinkat(number, hidden, AT_REMOVEDIR)
            throw error
        }
    }

    /// Durable after `sync`.
    ///
    /// - Throws: `SystemError`; `EEXIST` when the name is taken.
    package func renameFolder(_ name: String, toNew newName: String) throws(SystemError) {
        if unsafe utter_rename_new(descriptor.number, name, newName) == 0 { return }
        guard errno == EINVAL || errno == ENOSYS else {
            throw SystemError.last("rename \(path)/\(newName)")
        }
        // The file system knows the old rename only, which replaces nothing but an empty folder.
        try giveName(newName, to: name)
    }

    package func openFolder(_ name: String) throws(SystemError) -> Folder {
        try Self.open(path: path + "/" + name, at: descriptor.number, name: name)
    }

    /// For reading and writing; `EEXIST` when the name is taken.
    package func createFile(_ name: String) throws(SystemError) -> OwnedDescriptor {
        let file = try openFile(name, flags: O_RDWR | O_CREAT | O_EXCL)
        // The umask can only have taken permissions away, our own among them.
        guard fchmod(file.number, 0o600) == 0 else {
            throw SystemError.last("chmod \(path)/\(name)")
        }
        return file
    }

    package func openFile(_ name: String) throws(SystemError) -> OwnedDescriptor {
        // O_NONBLOCK means nothing for files; a named pipe must not make us wait.
        try openFile(name, flags: O_RDONLY | O_NONBLOCK)
    }

    package func openFileForWriting(_ name: String) throws(SystemError) -> OwnedDescriptor {
        try openFile(name, flags: O_WRONLY)
    }

    package func openFileForBoth(_ name: String) throws(SystemError) -> OwnedDescriptor {
        try openFile(name, flags: O_RDWR)
    }

    /// For reading and writing; of one that is there, all stays.
    package func openOrCreateFile(_ name: String) throws(SystemError) -> OwnedDescriptor {
        size(of: name) == nil ? try createFile(name) : try openFileForBoth(name)
    }

    private func openFile(_ name: String, flags: Int32) throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor(of: "open \(path)/\(name)") {
            unsafe utter_openat(descriptor.number, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
    }

    /// - Throws: `SystemError`; `EFBIG` when the file is longer than `limit`.
    package func contents(of name: String, limit: Int) throws(SystemError) -> [UInt8] {
        let file = try openFile(name)
        do throws(SystemError) {
            // A named pipe is not a file, and would be found empty.
            try retryingInterrupts("lseek") { lseek(file.number, 0, SEEK_CUR) }
            return try readAll(file.number, limit: limit)
        } catch {
            throw SystemError(call: "read \(path)/\(name)", code: error.code)
        }
    }

    /// Replaces a file so that after a crash it is either the old one or the new one, whole.
    ///
    /// Writes a new file, `fdatasync`, `renameat`, `fsync` of this folder. Blocks on the disk.
    /// Without the two syncs (`isDurable` is false) it does not, and that holds when this program
    /// is killed, but not for a power cut.
    package func replaceFile(
        _ name: String, with bytes: [UInt8], isDurable: Bool = true
    ) throws(SystemError) {
        let temporary = name + ".new"
        // A leftover of a crash; that it is missing is the usual case.
        _ = unsafe unlinkat(descriptor.number, temporary, 0)
        let file = try createFile(temporary)
        do throws(SystemError) {
            try writeAll(bytes.span, to: file.number, at: 0)
            if isDurable {
                try retryingInterrupts("fdatasync \(path)/\(temporary)") { fdatasync(file.number) }
            }
            try giveName(name, to: temporary)
            if isDurable { try sync() }
        } catch {
            // On a full disk, half a file is only in the way; after the rename, there is none.
            _ = unsafe unlinkat(descriptor.number, temporary, 0)
            throw error
        }
    }

    /// Replaces what has the new name, durably unless that is not wanted; blocks on the disk.
    package func renameFile(
        _ name: String, to newName: String, isDurable: Bool = true
    ) throws(SystemError) {
        try giveName(newName, to: name)
        if isDurable { try sync() }
    }

    private func giveName(_ newName: String, to name: String) throws(SystemError) {
        guard unsafe renameat(descriptor.number, name, descriptor.number, newName) == 0 else {
            throw SystemError.last("rename \(path)/\(newName)")
        }
    }

    /// A missing file is not an error.
    package func removeFile(_ name: String) throws(SystemError) {
        if unsafe unlinkat(descriptor.number, name, 0) != 0, errno != ENOENT {
            throw SystemError.last("unlink \(path)/\(name)")
        }
    }

    /// A missing folder is not an error.
    package func removeFolder(_ name: String) throws(SystemError) {
        if unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) != 0, errno != ENOENT {
            throw SystemError.last("rmdir \(path)/\(name)")
        }
    }

    package func byteCount(of name: String) throws(SystemError) -> Int {
        Int(try status(of: name).st_size)
    }

    /// Bytes of a file; nil for a missing one, which is much cheaper than a thrown error.
    package func size(of name: String) -> Int? { entry(name).map { Int($0.st_size) } }

    /// Bytes that a file may hold without a further block of the disk.
    package func room(of name: String) throws(SystemError) -> Int {
        Int(try status(of: name).st_blocks) * 512
    }

    private func status(of name: String) throws(SystemError) -> stat {
        guard let status = entry(name) else { throw SystemError.last("stat \(path)/\(name)") }
        return status
    }

    /// Follows no link; nil, with `errno`, when there is no such entry.
    func entry(_ name: String) -> stat? {
        var status = stat()
        let flags = AT_SYMLINK_NOFOLLOW
        return unsafe fstatat(descriptor.number, name, &status, flags) == 0 ? status : nil
    }

    /// Durable; blocks on the disk.
    package func truncateFile(_ name: String, to byteCount: Int) throws(SystemError) {
        let file = try openFileForWriting(name)
        try retryingInterrupts("truncate \(path)/\(name)") {
            ftruncate(file.number, off_t(byteCount))
        }
        try retryingInterrupts("fdatasync \(path)/\(name)") { fdatasync(file.number) }
    }

    /// Overwrites the first bytes, durably; blocks on the disk.
    package func overwriteFile(_ name: String, with bytes: [UInt8]) throws(SystemError) {
        let file = try openFileForWriting(name)
        try writeAll(bytes.span, to: file.number, at: 0)
        try retryingInterrupts("fdatasync \(path)/\(name)") { fdatasync(file.number) }
    }

    package func isGone() throws(SystemError) -> Bool { try isRemoved(descriptor.number) }

    /// Makes the names in this folder durable; blocks on the disk.
    package func sync() throws(SystemError) {
        try retryingInterrupts("fsync \(path)") { fsync(descriptor.number) }
    }

    /// The folders above this one that are ours, from the nearest on.
    ///
    /// The process that made them may have died before their names were durable.
    package func ancestors() throws(SystemError) -> [Folder] {
        var (inode, up) = (try fileStatus(of: descriptor.number, "fstat \(path)").st_ino, "..")
        var ancestors: [Folder] = []
        while true {
            let parent = unsafe utter_openat(
                descriptor.number, up, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
            // A folder that we cannot open was not made by us.
            guard parent >= 0 else { return ancestors }
            let folder = Folder(path: "\(path)/\(up)", descriptor: OwnedDescriptor(taking: parent))
            let status = try fileStatus(of: folder.descriptor.number, "fstat \(path)/\(up)")
            // The root is its own parent.
            guard status.st_uid == geteuid(), status.st_ino != inode else { return ancestors }
            ancestors.append(folder)
            (inode, up) = (status.st_ino, up + "/..")
        }
    }

    package func names() throws(SystemError) -> [String] {
        let stream = try unsafe openEntries()
        defer { unsafe closedir(stream) }
        return try unsafe Self.names(in: stream, path)
    }

    package static func names(at path: String) throws(SystemError) -> [String] {
        guard let stream = unsafe opendir(path.cPath) else {
            throw SystemError.last("open \(path)")
        }
        defer { unsafe closedir(stream) }
        return try unsafe names(in: stream, path)
    }

    private static func names(
        in stream: OpaquePointer, _ path: String
    ) throws(SystemError) -> [String] {
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw SystemError.last("readdir \(path)") }
        return names.sorted()
    }

    func openEntries() throws(SystemError) -> OpaquePointer {
        let number = try retryingInterrupts("open \(path)") {
            unsafe utter_openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard let stream = unsafe fdopendir(number) else {
            let error = SystemError.last("fdopendir \(path)")
            _ = close(number)
            throw error
        }
        return unsafe stream
    }
}

/// Gives a file another length; blocks on the disk.
package func truncateFile(_ descriptor: Int32, to byteCount: Int) throws(SystemError) {
    try retryingInterrupts("truncate") { ftruncate(descriptor, off_t(byteCount)) }
}

/// - Throws: `SystemError`; what was written before stays written.
package func writeAll(
    _ bytes: Span<UInt8>, to descriptor: Int32, at offset: Int
) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let count = try retryingInterrupts("write") {
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + written },
                    buffer.count - written, off_t(offset + written))
            }
        }
        // Not known to happen, and nothing to be repeated for ever.
        guard count > 0 else { throw SystemError(call: "write", code: EIO) }
        written += count
    }
}
