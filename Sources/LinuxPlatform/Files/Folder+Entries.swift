// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

extension Folder {
    /// Why a folder that exists must not hold private files; nil when it may.
    ///
    /// Others could have planted it, so these are not trusted: a symbolic link, a folder of
    /// another user, or one in which others may write.
    package static func danger(at path: String) -> String? {
        var status = stat()
        guard unsafe lstat(path.cPath, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFLNK { return "it is a symbolic link" }
        if status.st_uid != geteuid() { return "it belongs to another user" }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o022 != 0 else { return nil }
        let mode = String(status.st_mode & 0o777, radix: 8)
        return "others may write in it (mode 0\(mode))"
    }

    /// True also when only opening it would tell.
    package static func mayExist(at path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path.cPath, &status) == 0 || errno != ENOENT
    }

    /// The device and the inode to which a path leads; nil when there is nothing.
    package static func identity(at path: String) -> String? {
        var status = stat()
        guard unsafe stat(path.cPath, &status) == 0 else { return nil }
        return "\(status.st_dev) \(status.st_ino)"
    }

    package func closeToOthers() throws(SystemError) {
        let status = try fileStatus(of: descriptor.number, "fstat \(path)")
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(descriptor.number, 0o700) == 0 else {
            throw SystemError.last("chmod \(path)")
        }
    }

    /// False when it was removed or moved since it was opened.
    package func isStill(_ name: String, in parent: Folder) -> Bool {
        isFolder(named: name, at: parent.descriptor.number)
    }

    /// False when it was removed or moved away.
    package var isAtItsPath: Bool { isFolder(named: path, at: AT_FDCWD) }

    private func isFolder(named name: String, at parent: Int32) -> Bool {
        var (own, named) = (stat(), stat())
        guard unsafe fstat(descriptor.number, &own) == 0,
            unsafe fstatat(parent, name.cPath, &named, AT_SYMLINK_NOFOLLOW) == 0
        else { return false }
        return own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    package func hasOwnFolder(_ name: String) -> Bool {
        guard let status = entry(name) else { return false }
        return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    /// Makes the new name durable; blocks on the disk.
    ///
    /// - Throws: `SystemError`; `EEXIST` or `ENOTEMPTY` when the new name is that of a folder with
    ///   something in it.
    package func move(
        _ name: String, to folder: Folder, as newName: String
    ) throws(SystemError) {
        let result = unsafe renameat(descriptor.number, name, folder.descriptor.number, newName)
        guard result == 0 else { throw SystemError.last("rename \(path)/\(name)") }
        try folder.sync()
        try sync()
    }

    /// Gives a file of another folder a second name here, or copies it where that cannot be, or is not
    /// wanted; durable after `sync`.
    ///
    /// A copy is called `temporary` until it is whole.
    ///
    /// - Throws: `SystemError`; `EEXIST` when there is such a file.
    package func adopt(
        _ name: String, of other: Folder, copyingAs temporary: String, copies: Bool
    ) throws(SystemError) {
        if !copies {
            let number = other.descriptor.number
            if unsafe linkat(number, name, descriptor.number, name, 0) == 0 { return }
            let error = SystemError.last("link \(path)/\(name)")
            guard [EXDEV, EPERM, EMLINK, EOPNOTSUPP].contains(error.code) else { throw error }
        }
        let old = try other.openFile(name)
        try removeFile(temporary)
        let new = try createFile(temporary)
        try copy(old.number, to: new.number)
        try renameFile(temporary, to: name)
    }

    /// Copies a whole file, durably.
    private func copy(_ old: Int32, to new: Int32) throws(SystemError) {
        var end = 0
        while true {
            let bytes = try readSome(of: old, at: end)
            guard !bytes.isEmpty else { break }
            try writeAll(bytes.span, to: new, at: end)
            end += bytes.count
        }
        try retryingInterrupts("fdatasync \(path)") { fdatasync(new) }
    }

    private func readSome(of file: Int32, at offset: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try retryingInterrupts("read \(path)") {
            unsafe pread(file, &bytes, bytes.count, off_t(offset))
        }
        return Array(bytes.prefix(count))
    }

    package func touch() throws(SystemError) {
        guard futimens(descriptor.number, nil) == 0 else {
            throw SystemError.last("touch \(path)")
        }
    }

    /// Blocks on the disk.
    package func syncFile(_ name: String) throws(SystemError) {
        let file = try openFile(name)
        try retryingInterrupts("fdatasync \(path)/\(name)") { fdatasync(file.number) }
    }

    /// In seconds since 1970; nil when there is no such entry.
    package func modificationTime(of name: String) -> Double? {
        entry(name).map { Double($0.st_mtim.tv_sec) + Double($0.st_mtim.tv_nsec) / 1e9 }
    }

    /// Looks at names only: fast enough for every start.
    package func entryCount(upTo limit: Int) throws(SystemError) -> Int {
        let stream = try unsafe openEntries()
        defer { unsafe closedir(stream) }
        // "." and ".." are among them.
        var count = -2
        while count < limit, unsafe readdir(stream) != nil { count += 1 }
        return max(0, count)
    }

    /// Bytes that this user may still write; nil when the system does not say.
    package var freeByteCount: Int? {
        var status = statvfs()
        guard unsafe fstatvfs(descriptor.number, &status) == 0 else { return nil }
        return status.freeByteCount
    }
}

extension Folder {
    /// The kernel's name for this boot of the machine; empty where it does not say.
    package static let bootName: String = {
        let path = "/proc/sys/kernel/random/boot_id"
        // Without it, only what was synced counts.
        let bytes = (try? readFile(path, limit: 100)) ?? []
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }()

    /// By the words of the path alone.
    package static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func isFolder(at path: String) -> Bool {
        var status = stat()
        return unsafe stat(path.cPath, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Gives a file of this folder another place, where nothing is, or copies it where that cannot be.
    ///
    /// It appears whole, and goes from here; with `replaces`, what is there goes once the file has its
    /// place. Blocks on the disk.
    ///
    /// - Throws: `SystemError`; `EEXIST` when there is something else.
    package func place(
        _ name: String, at path: String, replaces: Bool = false
    ) throws(SystemError) {
        if replaces {
            guard unsafe renameat(descriptor.number, name, AT_FDCWD, path.cPath) != 0 else {
                return
            }
            let error = SystemError.last("rename \(path)")
            guard error.code == EXDEV else { throw error }
            try copy(name, to: path, replaces: true)
        } else if unsafe linkat(descriptor.number, name, AT_FDCWD, path.cPath, 0) != 0 {
            let error = SystemError.last("link \(path)")
            if error.code == EEXIST {
                var other = stat()
                guard let own = entry(name), unsafe lstat(path.cPath, &other) == 0,
                    own.st_ino == other.st_ino, own.st_dev == other.st_dev
                else { throw error }
            } else {
                guard [EXDEV, EPERM, EMLINK, EOPNOTSUPP].contains(error.code) else { throw error }
                try copy(name, to: path)
            }
        }
        try removeFile(name)
    }

    private func copy(
        _ name: String, to path: String, replaces: Bool = false
    ) throws(SystemError) {
        let old = try openFile(name)
        let temporary = "\(path).\(getpid()).part"
        let new = try OwnedDescriptor(of: "open \(temporary)") {
            unsafe utter_openat(
                AT_FDCWD, temporary.cPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        defer { _ = unsafe unlink(temporary.cPath) }
        try copy(old.number, to: new.number)
        let result =
            unsafe replaces
            ? rename(temporary.cPath, path.cPath)
            : utter_rename_new(AT_FDCWD, temporary.cPath, path.cPath)
        guard result == 0 else { throw SystemError.last("rename \(path)") }
    }
}
