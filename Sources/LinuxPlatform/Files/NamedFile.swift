// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A file that a person names: written whole, or not at all.
///
/// Every call blocks on the disk.
package struct NamedFile: Sendable {
    /// How long a pipe or a terminal may take nothing.
    private static let patience = Duration.seconds(10)

    let path: String

    package init(_ path: String) { self.path = path }

    /// Looks whether the file could be written; writes nothing.
    ///
    /// - Throws: `SystemError`: `EISDIR` for a folder, `ENOENT` without the folder around it,
    ///   `EACCES` when that, or another kind of file, may not be written to.
    package func check() throws(SystemError) {
        let kind = try kind()
        guard kind != .folder else { throw SystemError(call: "open \(path)", code: EISDIR) }
        let (place, mode) =
            kind == .other ? (path, W_OK) : (Folder.parent(of: target), W_OK | X_OK)
        guard unsafe access(place.cPath, mode) == 0 else { throw SystemError.last("open \(place)") }
    }

    /// Puts the bytes in the place of the file, which is the old one or the new one at any time.
    ///
    /// A link is followed, and the file keeps its permissions; a new one is its owner's alone. A
    /// pipe or a device is written to as it is, and so is a file behind one of this process's own
    /// descriptors, such as `/dev/stdout`: another process writes there too.
    ///
    /// - Throws: `SystemError`; what was there before is there still.
    package func replace(with bytes: [UInt8]) throws(SystemError) {
        switch try kind() {
        case .folder: throw SystemError(call: "open \(path)", code: EISDIR)
        case .other: try write(bytes, to: try opened(O_WRONLY | O_NONBLOCK | O_NOCTTY))
        case .file:
            if let descriptor {
                let duplicate = try OwnedDescriptor(of: "open \(path)") {
                    fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                }
                try write(bytes, to: duplicate)
            } else {
                try place(bytes, isNew: false)
            }
        case .missing: try place(bytes, isNew: false)
        }
    }

    /// The file appears whole.
    ///
    /// - Throws: `SystemError`: `EEXIST` when there is something of that name.
    package func create(with bytes: [UInt8]) throws(SystemError) {
        try place(bytes, isNew: true)
    }

    /// In one step unless the disk is full.
    ///
    /// - Throws: `SystemError`: `ENOENT` when the file is gone.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        let isOther = try kind() == .other
        let flags = O_WRONLY | O_APPEND | O_NOCTTY | (isOther ? O_NONBLOCK : 0)
        try write(bytes, to: try opened(flags))
    }

    /// The descriptor that the path stands for.
    private var descriptor: Int32? {
        let start = ProgramStart.current
        let names = ["/dev/stdout": start.output, "/dev/stderr": start.error]
        if let number = names[path] { return number }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    // MARK: - Kinds

    private enum Kind {
        case file, folder, other, missing
    }

    private func kind() throws(SystemError) -> Kind {
        var status = stat()
        guard unsafe stat(path.cPath, &status) == 0 else {
            if errno == ENOENT { return .missing }
            throw SystemError.last("open \(path)")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    private var target: String {
        if let resolved = path.resolvedPath { return resolved }
        // A link may lead to a file that is not there yet.
        var place = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard unsafe readlink(path.cPath, &place, place.count - 1) > 0 else { return path }
        let link = unsafe String(cPath: place)
        return NamedFile(link.hasPrefix("/") ? link : Folder.parent(of: path) + "/" + link).target
    }

    // MARK: - Writing

    private func place(_ bytes: [UInt8], isNew: Bool) throws(SystemError) {
        let target = isNew ? path : self.target
        let place = Folder.parent(of: target)
        let folder = try OwnedDescriptor(of: "open \(place)") {
            unsafe open(place.cPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        let name = String(
            target[(target.lastIndex(of: "/").map(target.index(after:)) ?? target.startIndex)...])
        // No other writer has this name.
        let temporary = ".utter-\(getpid())-\(UInt32.random(in: .min ... .max)).new"
        let file = try OwnedDescriptor(of: "open \(path)") {
            unsafe utter_openat(
                folder.number, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        do throws(SystemError) {
            var before = stat()
            let mode = unsafe stat(target.cPath, &before) == 0 ? before.st_mode & 0o7777 : 0o600
            // The umask can only have taken permissions away, our own among them.
            try retryingInterrupts("chmod \(path)") { fchmod(file.number, mode) }
            try writeAll(bytes.span, to: file.number, at: 0)
            try retryingInterrupts("fdatasync \(path)") { fdatasync(file.number) }
            try rename(temporary, to: name, in: folder.number, isNew: isNew)
            // A folder that cannot be synced, as on some network file systems, has the file anyway.
            _ = fsync(folder.number)
        } catch {
            _ = unsafe unlinkat(folder.number, temporary, 0)
            throw error
        }
    }

    private func rename(
        _ temporary: String, to name: String, in folder: Int32, isNew: Bool
    ) throws(SystemError) {
        guard isNew else {
            guard unsafe renameat(folder, temporary, folder, name.cPath) == 0 else {
                throw SystemError.last("rename \(path)")
            }
            return
        }
        if unsafe utter_rename_new(folder, temporary, name.cPath) == 0 { return }
        guard errno == EINVAL || errno == ENOSYS else { throw SystemError.last("rename \(path)") }
        // The file system knows the old rename only, which would replace a file; a second name
        // does not.
        guard unsafe linkat(folder, temporary, folder, name.cPath, 0) == 0 else {
            throw SystemError.last("link \(path)")
        }
        _ = unsafe unlinkat(folder, temporary, 0)
    }

    private func opened(_ flags: Int32) throws(SystemError) -> OwnedDescriptor {
        try OwnedDescriptor(of: "open \(path)") { unsafe open(path.cPath, flags | O_CLOEXEC) }
    }

    /// Writes at the descriptor's position; waits for a full pipe, fails without a reader.
    private func write(
        _ bytes: [UInt8], to file: borrowing OwnedDescriptor
    ) throws(SystemError) {
        let number = file.number
        var rest = bytes[...]
        while !rest.isEmpty {
            let present = rest
            do throws(SystemError) {
                let count = try retryingInterrupts("write \(path)") {
                    unsafe present.withUnsafeBytes {
                        unsafe Glibc.write(number, $0.baseAddress, $0.count)
                    }
                }
                rest = rest.dropFirst(count)
            } catch {
                guard error.code == EAGAIN else { throw error }
                var writable = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                let milliseconds = Int32(Self.patience / .milliseconds(1))
                if unsafe poll(&writable, 1, milliseconds) == 0 {
                    throw SystemError(call: "write \(path)", code: ETIMEDOUT)
                }
            }
        }
    }
}
